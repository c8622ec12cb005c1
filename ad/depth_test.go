package ad

import (
	"testing"

	"dsbo/internal/testkit"
)

// TestDepth: the nodes of a product, the scratch memory of its plan and the steps of its tail's
// blocks are proportional to the layers, though each layer has a part of y of its own: the parts
// of the product are written into one vector.
func TestDepth(t *testing.T) {
	const width = 16
	size := func(layers int) (nodes, numbers, steps int) {
		q := layers * width * width
		d := testkit.Get(Differentiate(Loss{P: 1, Q: q, Build: func(x, y *Node, _ []*Node) *Node {
			h := Uniform(.5, PartVec(y, 0, width))
			for l := range layers {
				h = Tanh(MatVec(Part(y, l*width*width, width, width), h, false))
			}
			return Add(SumAll(h), Mul(SumAll(x), Dot(y, y)))
		}}))
		y := make([]float64, q)
		testkit.OK(d.HVP(make([]float64, q), []float64{1}, y, y))
		scratch, _ := poolOf(d.Program).Scratch()
		return len(d.family.nodes), len(scratch[0]), d.template.Report(d.known[1<<hvp]).TailWork
	}
	nodes, numbers, steps := size(50)
	moreNodes, moreNumbers, moreSteps := size(200)
	if steps < 50 {
		t.Errorf("the tail's blocks have %d steps of 50 layers: each has a part there", steps)
	}
	// Four times as many, and what does not depend on the layers.
	if moreNodes > 4*nodes || moreNumbers > 4*numbers || moreSteps > 4*steps {
		t.Errorf(
			"50 layers have %d nodes, %d numbers of scratch memory and %d steps of blocks, 200 have %d, %d and %d: "+
				"more than 4 times as many",
			nodes, numbers, steps, moreNodes, moreNumbers, moreSteps)
	}
	if q := 200 * width * width; moreNumbers > 4*q {
		t.Errorf("the scratch memory of a product is %d numbers, more than 4 vectors of %d", moreNumbers, q)
	}
}
