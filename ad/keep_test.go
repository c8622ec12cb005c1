package ad

import (
	"testing"

	"dsbo/internal/testkit"
)

// TestKeptProducts: where there is no room for all that another product at the point would begin
// with, the products of matrices are kept, and the next product has the bits of one by a new
// program.
func TestKeptProducts(t *testing.T) {
	const rows, width, steps = 40, 160, 6
	d, x, y, v := recurrent(rows, width, steps, false)
	// Each step keeps 2 values forwards, and each but the first 1 backwards.
	budget := (3*steps - 1) * rows * width
	d.template.Limit(0, budget)
	got, want := make([]float64, len(y)), make([]float64, len(y))
	testkit.OK(d.HVP(got, x, y, y))
	r := d.template.Report(d.known[1<<hvp])
	if r.Products != 2*steps-1 || r.Kept != r.Products || r.Numbers != budget {
		t.Errorf("%d of %d products and %d numbers are kept, want all of %d, and %d", r.Kept, r.Products, r.Numbers,
			2*steps-1, budget)
	}
	testkit.OK(d.HVP(got, x, y, v))
	fresh, _, _, _ := recurrent(rows, width, steps, false)
	testkit.OK(fresh.HVP(want, x, y, v))
	sameBits(t, "HVP", got, want)
}

// TestShortGradientIsKept: ∇_y is found once at a point and batch, and anew at others.
func TestShortGradientIsKept(t *testing.T) {
	w := newWalker(t)
	d := w.program(t)
	at := state{}
	want := w.derivative(t, d, at, "both")[:24]
	clear(d.gradY) // what is given out again shows it
	sameBits(t, "the same point", w.derivative(t, d, at, "∇_y"), make([]float64, 24))
	for _, other := range []state{{x: 1}, {y: 1}, {batch: 1}} {
		sameBits(t, "another point", w.derivative(t, d, other, "∇_y"), w.derivative(t, w.program(t), other, "∇_y"))
		sameBits(t, "and back", w.derivative(t, d, at, "∇_y"), want)
	}
}
