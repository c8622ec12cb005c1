package ad

import (
	"testing"

	"dsbo/internal/must"
)

// TestDepth: the nodes of a product, and the scratch memory of its plan, are proportional to the layers, though each layer has a part of
// y of its own: the parts of the product are written into one vector.
func TestDepth(t *testing.T) {
	const width = 8
	size := func(layers int) (nodes, numbers int) {
		q := layers * width * width
		d := must.Get(Differentiate(Loss{P: 1, Q: q, Build: func(x, y *Node, _ []*Node) *Node {
			h := Uniform(.5, PartVec(y, 0, width))
			for l := range layers {
				h = Tanh(MatVec(Part(y, l*width*width, width, width), h, false))
			}
			return Add(SumAll(h), Mul(SumAll(x), Dot(y, y)))
		}}))
		y := make([]float64, q)
		must.OK(d.HVP(make([]float64, q), []float64{1}, y, y))
		return len(d.family.nodes), len(poolOf(d.Program).f64[0])
	}
	nodes, numbers := size(50)
	moreNodes, moreNumbers := size(200)
	// Four times as many, and what does not depend on the layers.
	if moreNodes > 4*nodes || moreNumbers > 4*numbers {
		t.Errorf("50 layers have %d nodes and %d numbers of scratch memory, 200 have %d and %d: more than 4 times as many", nodes, numbers, moreNodes, moreNumbers)
	}
	if q := 200 * width * width; moreNumbers > 4*q {
		t.Errorf("the scratch memory of a product is %d numbers, more than 4 vectors of %d", moreNumbers, q)
	}
}
