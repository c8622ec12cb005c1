package ad

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"dsbo/ad/adtest"
	"dsbo/internal/testkit"
)

// recurrentLoss has one matrix, an offset and gates in each step, over rows of a width.
func recurrentLoss(rows, width, steps int, float32 bool) Loss {
	return Loss{P: 1, Q: width*2*width + width, Rows: rows, Float32: float32,
		Inputs: []Input{{Name: "X", Shape: []int{width}, Batch: true}},
		Build: func(x, y *Node, in []*Node) *Node {
			w, offset := Part(y, 0, 2*width, width), PartVec(y, 2*width*width, width)
			h := in[0]
			for range steps {
				both := MatMul(h, w, false, true)
				gate := Sigmoid(Cols(both, width, width))
				h = Add(h, Mul(gate, Tanh(AddRow(Cols(both, 0, width), ScaleBy(Exp(Item(x, 0)), offset)))))
			}
			return Mean(Square(h))
		}}
}

// recurrent returns the derivatives of such a loss on some rows, and a point and a direction.
func recurrent(rows, width, steps int, float32 bool) (d *Derivs, x, y, v []float64) {
	d = testkit.Get(Differentiate(recurrentLoss(rows, width, steps, float32)))
	data := make([]float64, rows*width)
	for i := range data {
		data[i] = math.Sin(float64(i))
	}
	testkit.OK(d.Bind("X", testkit.Get(FloatTable(rows, width, data)), nil))
	y, v = make([]float64, d.f.Q), make([]float64, d.f.Q)
	for i := range y {
		y[i], v[i] = math.Cos(float64(3*i))/math.Sqrt(float64(width)), math.Sin(float64(2*i))
	}
	return d, []float64{.3}, y, v
}

// TestStrips: strips of a tile leave the bits of derivatives alone.
func TestStrips(t *testing.T) {
	for _, float32 := range []bool{false, true} {
		var want []float64
		for _, tile := range []int{0, 8, 33} {
			const rows, width = 130, 160
			d, x, y, v := recurrent(rows, width, 1, float32)
			if tile > 0 {
				setTile(d.Program, tile)
			}
			gradient, product := make([]float64, len(y)), make([]float64, len(y))
			testkit.OK(errors.Join(d.Grad(nil, gradient, x, y), d.HVP(product, x, y, v)))
			if cut := strips(d); (tile == 0) != cut && tile != 33 {
				t.Errorf("in tiles of %d examples (0: its own) the program has strips: %t", tile, cut)
			}
			got := append(gradient, product...)
			if want == nil {
				want = got
			}
			sameBits(t, fmt.Sprintf("float32=%t, tiles of %d", float32, tile), got, want)
		}
	}
}

// strips reports whether a step of the product runs in strips.
func strips(d *Derivs) bool {
	return d.template.Report(d.plans[0][1<<hvp].Load()).Strips
}

// TestSeries: where a matrix is a factor again and again, the sums for it are one sum; derivatives
// are those of finite differences, in tiles too.
func TestSeries(t *testing.T) {
	for _, tile := range []int{11, 4} {
		d, x, y, v := recurrent(11, 3, 6, false)
		setTile(d.Program, tile)
		adtest.Check(t, d, x, y)
		testkit.OK(d.HVP(make([]float64, len(y)), x, y, v))
		if n := d.template.Report(d.plans[0][1<<hvp].Load()).Resumed; n < 8 {
			t.Errorf("%d sums of a product of 6 steps go on where others stand, want at least 8", n)
		}
		single, _, _, _ := recurrent(11, 3, 6, true)
		adtest.Compare(t, single, d, x, y, 1e-4)
	}
}

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
		return len(d.family.nodes), len(scratch[0]), d.template.Report(d.plans[0][1<<hvp].Load()).TailWork
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
