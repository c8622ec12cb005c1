package main

import (
	"fmt"
	"math/rand/v2"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models/nn"
)

// A node is one of a loss.
type node = *ad.Node

// A lossModel is a loss of q parameters and of data of some rows.
type lossModel struct {
	rows, q int
	inputs  []ad.Input
	tables  []*ad.Table
	loss    func(y node, in []node) node
}

// differentiate compiles a model and binds its data.
func (m *lossModel) differentiate(single bool) *ad.Derivs {
	d := testkit.Get(ad.Differentiate(ad.Loss{Q: m.q, Rows: m.rows, Inputs: m.inputs, Float32: single,
		Build: func(_, y node, in []node) node { return m.loss(y, in) }}))
	for i, in := range m.inputs {
		table := m.tables[i]
		if single {
			table = testkit.Get(table.Float32())
		}
		testkit.OK(d.Bind(in.Name, table, nil))
	}
	return d
}

// A deepModel is a network that tells ten classes apart.
type deepModel struct {
	params nn.Params
	inputs int // numbers of an example
	scores func(y, x node) node
	count  productCount // 0: not counted
}

// newDeep returns the network of a name, as the peer's programs have it; any other name than these
// is the sizes of dense layers.
func newDeep(name string) *deepModel {
	n := &deepModel{inputs: 784}
	n.params.Gain = 2
	switch name {
	case "lenet":
		n.buildLeNet()
	case "colours":
		n.buildColours()
	case "recurrent":
		n.buildRecurrent()
	case "transformer":
		n.buildTransformer()
	default:
		n.buildDense(sizesOf(name))
	}
	return n
}

// on returns the loss of some examples, with a decay of all weights.
func (n *deepModel) on(e data.Examples) *lossModel {
	return &lossModel{rows: e.X.Rows(), q: n.params.Len(), tables: []*ad.Table{e.X, e.Target},
		inputs: []ad.Input{{Name: "x", Shape: []int{n.inputs}, Batch: true},
			{Name: "t", Shape: []int{10}, Batch: true}},
		loss: func(y node, in []node) node {
			return ad.Add(ad.Mean(nn.CrossEntropy(n.scores(y, in[0]), in[1])), ad.Scale(.01, ad.Dot(y, y)))
		}}
}

// buildDense has layers of these sizes, with ReLU between them.
func (n *deepModel) buildDense(sizes []int) {
	var layers []nn.Dense
	for i, out := range sizes[1:] {
		layers = append(layers, nn.NewDense(&n.params, fmt.Sprint("layer ", i), sizes[i], out))
		n.count.add(2*sizes[i]*out, i == 0)
	}
	n.scores = func(y, x node) node {
		h := layers[0].Outputs(y, x)
		for _, l := range layers[1:] {
			h = l.Outputs(y, ad.ReLU(h))
		}
		return h
	}
}

// buildLeNet has two convolutions of 5×5 pixels with stride 2, to 8 and 16 channels.
func (n *deepModel) buildLeNet() {
	first := nn.NewConv(&n.params, "conv1", ad.Window{H: 28, W: 28, C: 1, KH: 5, KW: 5, Stride: 2}, 8)
	second := nn.NewConv(&n.params, "conv2", first.Behind(5, 5, 2), 16)
	last := nn.NewDense(&n.params, "last", 4*4*16, 10)
	for i, c := range []nn.Conv{first, second} {
		n.count.add(2*c.Window.OutH()*c.Window.OutW()*c.W.Len(), i == 0)
	}
	n.count.add(2*last.W.Len(), false)
	n.scores = func(y, x node) node {
		return last.Outputs(y, ad.ReLU(second.Outputs(y, ad.ReLU(first.Outputs(y, x)))))
	}
}

// buildColours is for images of 32×32 pixels with 3 channels: two padded convolutions of 3×3 pixels
// to 32 and 64 channels, each with normalization over the batch, ReLU and the largest of
// 2×2 pixels.
func (n *deepModel) buildColours() {
	n.inputs = 32 * 32 * 3
	first := nn.NewConv(&n.params, "conv1", same(32, 3), 32)
	norm1 := nn.NewBatchNorm(&n.params, "norm1", 32)
	second := nn.NewConv(&n.params, "conv2", same(16, 32), 64)
	norm2 := nn.NewBatchNorm(&n.params, "norm2", 64)
	last := nn.NewDense(&n.params, "last", 8*8*64, 10)
	n.scores = func(y, x node) node {
		h := ad.MaxPool(ad.ReLU(norm1.Outputs(y, first.Outputs(y, x))), first.Pool(2))
		h = ad.MaxPool(ad.ReLU(norm2.Outputs(y, second.Outputs(y, h))), second.Pool(2))
		return last.Outputs(y, h)
	}
}

// buildRecurrent reads a picture row by row with a gated recurrent unit of 128 numbers.
func (n *deepModel) buildRecurrent() {
	unit, last := nn.NewGRU(&n.params, "unit", 28, 128), nn.NewDense(&n.params, "last", 128, 10)
	n.scores = func(y, x node) node {
		var state node
		for row := range 28 {
			state = unit.Next(y, ad.Cols(x, 28*row, 28), state)
		}
		return last.Outputs(y, state)
	}
}

// same is a convolution of 3×3 pixels that leaves a square of a side and some channels its size.
func same(side, channels int) ad.Window {
	return ad.Window{H: side, W: side, C: channels, KH: 3, KW: 3, Stride: 1, PadH: 1, PadW: 1}
}

// buildTransformer reads a picture's rows as a sequence of 28, whose places it adds to them, with a
// block of four heads and 256 hidden units for rows of 64 numbers.
func (n *deepModel) buildTransformer() {
	const width = 64
	ps := &n.params
	embed, places := nn.NewDense(ps, "embed", 28, width), ps.Vector("places", 28*width, nn.Init{Deviation: .1})
	block, last := nn.NewTransformerBlock(ps, "0", width, 4, 4*width), nn.NewDense(ps, "last", 28*width, 10)
	n.scores = func(y, x node) node {
		rows, _ := ad.Dims(x)
		h := ad.Reshape(embed.Outputs(y, ad.Reshape(x, 28*rows, 28)), rows, 28*width)
		h = ad.Reshape(ad.AddRow(h, places.Node(y)), 28*rows, width)
		return last.Outputs(y, ad.Reshape(block.Outputs(y, h, rows), rows, 28*width))
	}
}

// A productCount is how many multiplications and additions of matrix products an example takes at
// the least. The gradient takes one product a layer forwards, and two backwards. A Hessian-vector
// product that nothing is known for takes these but for the weights' gradient, and the ones of the
// sweeps in which each factor's derivative stands in for the factor. What goes into the first
// layer, and only that, has no derivative.
type productCount struct{ gradient, product float64 }

// add counts a layer that takes n forwards.
func (c *productCount) add(forwards int, first bool) {
	flops := float64(forwards)
	if first {
		c.gradient, c.product = c.gradient+2*flops, c.product+3*flops
		return
	}
	c.gradient, c.product = c.gradient+3*flops, c.product+8*flops
}

// pictures makes n random examples of some numbers.
func pictures(rows, inputs int) data.Examples {
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	pixels, labels := make([]uint8, rows*inputs), make([]uint8, rows)
	for i := range pixels {
		pixels[i] = uint8(r.IntN(256))
	}
	for i := range labels {
		labels[i] = uint8(r.IntN(10))
	}
	return data.Examples{X: testkit.Get(ad.ByteTable(rows, inputs, pixels, 1./255)),
		Target: testkit.Get(ad.LabelTable(labels, 10))}
}
