package ad

import (
	"testing"

	"dsbo/internal/testkit"
)

// TestDetached: derivatives stop at what is detached, and a copy is no other node's value.
func TestDetached(t *testing.T) {
	y := []float64{1.5, -2}
	grad := func(build func(x, y *Node) *Node) []float64 {
		d := testkit.Get(Differentiate(Loss{P: 1, Q: 2,
			Build: func(x, y *Node, _ []*Node) *Node { return build(x, y) }}))
		dy := make([]float64, 2)
		testkit.OK(d.Grad(nil, dy, []float64{0}, y))
		return dy
	}
	of := func(c float64) []float64 { return []float64{c * y[0], c * y[1]} }
	along := func(h func(y *Node) *Node) func(_, y *Node) *Node {
		return func(_, y *Node) *Node { // half of the square of the derivative of (2y)'h by h
			by := h(y)
			g := testkit.Get(Grad(Dot(Scale(2, y), by), by))[0]
			return Scale(.5, Dot(g, g))
		}
	}
	double := func(y *Node) *Node { return Scale(2, y) }
	for _, c := range []struct {
		name string
		got  []float64
		want []float64
	}{
		{"the square of a stopped vector", grad(func(_, y *Node) *Node { return Dot(StopGradient(y), y) }), of(1)},
		{"a stopped sum", grad(func(_, y *Node) *Node { return StopGradient(Dot(y, y)) }), of(0)},
		{"equal expressions are one node: 4y", grad(along(double)), of(16)},
		{"a copy is none: 2y", grad(along(func(y *Node) *Node { return Detached(double(y)) })), of(4)},
	} {
		within(t, c.name, c.got, c.want, 1e-15)
	}
	var a, b *Node
	testkit.Get(Differentiate(Loss{P: 1, Q: 2, Build: func(x, y *Node, _ []*Node) *Node {
		a, b = Detached(y), Detached(y)
		return SumAll(Add(a, b))
	}}))
	if a == b {
		t.Error("two copies of a node must be two nodes")
	}
}
