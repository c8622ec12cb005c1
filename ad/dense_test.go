package ad

import (
	"errors"
	"fmt"
	"testing"

	"dsbo/internal/testkit"
)

// TestKeptMatrices: a matrix that was asked for twice is kept, whatever the caller does with its
// own. TestSameBitsAfterAnyHistory is about what it must follow.
func TestKeptMatrices(t *testing.T) {
	k, d, _ := softmaxTask(false, false, 100)
	q, p := len(k.y), len(k.x)
	first, h, j := make([]float64, q*q), make([]float64, q*q), make([]float64, p*q)
	for time := range 3 {
		testkit.OK(errors.Join(d.Hessian(h, k.x, k.y), d.Jacobian(j, k.x, k.y)))
		if time == 0 {
			copy(first, h)
		}
		sameBits(t, fmt.Sprint("Hessian ", time), h, first)
		clear(h)
		if kept := d.kept[hvp].numbers != nil; kept != (time > 0) || kept != (d.kept[jvp].numbers != nil) {
			t.Errorf("matrices that were asked for %d times are kept: %t", time+1, kept)
		}
	}
}

// TestEntrywiseJacobian: two products make a Jacobian only where an entry of a product reads no
// other entry of the vector.
func TestEntrywiseJacobian(t *testing.T) {
	const n = 3
	for _, c := range []struct {
		name  string
		build func(x, y *Node) *Node
		want  bool
		j     []float64 // at x = (0, 0, 0), y = (1, −2, 3)
	}{
		{"a penalty for each entry", func(x, y *Node) *Node { return Scale(.5, Dot(Exp(x), Square(y))) }, true,
			[]float64{1, 0, 0, 0, -2, 0, 0, 0, 3}},
		{"a bilinear form", func(x, y *Node) *Node { return Dot(x, y) }, true, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
		{"one penalty, thrice", func(x, y *Node) *Node { return Mul(SumAll(x), SumAll(y)) }, false,
			[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"a part elsewhere", func(x, y *Node) *Node { return Dot(PartVec(x, 0, 2), PartVec(y, 1, 2)) }, false,
			[]float64{0, 1, 0, 0, 0, 1, 0, 0, 0}},
		{"none", func(x, y *Node) *Node { return Add(SumAll(x), Dot(y, y)) }, false, make([]float64, n*n)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := testkit.Get(Differentiate(
				Loss{P: n, Q: n, Build: func(x, y *Node, _ []*Node) *Node { return c.build(x, y) }}))
			if got := testkit.Get(d.isEntrywise(jvp)); got != c.want {
				t.Errorf("entrywise: %v, want %v", got, c.want)
			}
			j := make([]float64, n*n)
			testkit.OK(d.Jacobian(j, make([]float64, n), []float64{1, -2, 3}))
			within(t, "Jacobian", j, c.j, 0)
		})
	}
}
