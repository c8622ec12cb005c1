package ad

import (
	"testing"

	"dsbo/internal/testkit"
)

// TestKeptProducts: where there is no room for all that another product at the point would begin
// with, the products of matrices are kept, and the next product has the bits of one by a
// new program.
func TestKeptProducts(t *testing.T) {
	const rows, width, steps = 40, 160, 6
	d, x, y, v := recurrent(rows, width, steps, false)
	m := d.loss.c.(*template[float64])
	// of each step, 2 values forwards and 1 backwards, which the first does not have
	m.budget = (3*steps - 1) * rows * width
	got, want := make([]float64, len(y)), make([]float64, len(y))
	testkit.OK(d.HVP(got, x, y, y))
	kept := 0
	for _, s := range m.steps {
		v := m.values[s.out]
		if r, ok := s.rule.(matmulRule); ok && !r.tA && v.deps&m.direction == 0 {
			kept++
			if !v.kept {
				t.Errorf("%v of %d×%d numbers is not kept", s.rule, v.r, v.c)
			}
		}
	}
	if kept != 2*steps-1 || m.kept != m.budget {
		t.Errorf("%d products and %d numbers are kept, want %d and %d", kept, m.kept, 2*steps-1, m.budget)
	}
	testkit.OK(d.HVP(got, x, y, v))
	fresh, _, _, _ := recurrent(rows, width, steps, false)
	testkit.OK(fresh.HVP(want, x, y, v))
	sameBits(t, "HVP", got, want)
}
