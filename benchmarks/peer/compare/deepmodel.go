package main

import (
	"fmt"
	"math/rand/v2"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/must"
	"dsbo/models"
	"dsbo/models/nn"
)

// A deepModel is a network for pictures of 28×28 pixels and ten classes, with ReLU: so many dense hidden layers or, if there are
// none, two convolutions of 5×5 pixels with stride 2, to 8 and 16 channels. x is the logarithm of the decay of all weights.
type deepModel struct {
	params nn.Params
	convs  []nn.Conv
	layers []nn.Dense
	units  []int // what goes into each dense layer, and the classes
}

func newDeep(hidden ...int) *deepModel {
	n := &deepModel{units: []int{784}}
	n.params.Gain = 2
	if len(hidden) == 0 {
		first := nn.NewConv(&n.params, "conv1", ad.Window{H: 28, W: 28, C: 1, KH: 5, KW: 5, Stride: 2}, 8)
		n.convs = []nn.Conv{first, nn.NewConv(&n.params, "conv2", first.Behind(5, 5, 2), 16)}
		n.units[0] = 4 * 4 * 16
	}
	n.units = append(append(n.units, hidden...), 10)
	for i, out := range n.units[1:] {
		n.layers = append(n.layers, nn.NewDense(&n.params, fmt.Sprint("layer ", i), n.units[i], out))
	}
	return n
}

// Dims implements models.Model.
func (n *deepModel) Dims() (p, q int) { return 1, n.params.Len() }

// Upper implements models.Model.
func (n *deepModel) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	h := b.X
	for _, c := range n.convs {
		h = ad.ReLU(c.Outputs(y, h))
	}
	for i, l := range n.layers {
		if i > 0 {
			h = ad.ReLU(h)
		}
		h = l.Outputs(y, h)
	}
	return ad.Mean(nn.CrossEntropy(h, b.T))
}

// Lower implements models.Model.
func (n *deepModel) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(n.Upper(x, y, b), ad.Mul(ad.Exp(ad.Item(x, 0)), ad.Dot(y, y)))
}

// A productCount is how many multiplications and additions of matrix products an example takes at the least.
type productCount struct{ gradient, cold, warm float64 }

// products counts them. The gradient takes one product a layer forwards, and two backwards. A Hessian-vector product that nothing is known
// for takes those but for the weights' gradient, and those of the sweeps in which each factor's derivative stands in for the factor. What goes into the
// first layer, and only that, has no derivative.
func (n *deepModel) products() (c productCount) {
	add := func(flops float64, first bool) {
		if first {
			c.gradient, c.cold, c.warm = c.gradient+2*flops, c.cold+3*flops, c.warm+2*flops
			return
		}
		c.gradient, c.cold, c.warm = c.gradient+3*flops, c.cold+8*flops, c.warm+6*flops
	}
	for i, v := range n.convs {
		w := v.Window
		add(2*float64(w.OutH()*w.OutW()*v.W.Len()), i == 0)
	}
	for i, l := range n.layers {
		add(2*float64(l.W.Len()), i == 0 && len(n.convs) == 0)
	}
	return c
}

// pictures makes so many random examples for both losses.
func pictures(rows int) data.Shard {
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	pixels, labels := make([]uint8, rows*784), make([]uint8, rows)
	for i := range pixels {
		pixels[i] = uint8(r.IntN(256))
	}
	for i := range labels {
		labels[i] = uint8(r.IntN(10))
	}
	e := data.Examples{X: must.Get(ad.ByteTable(rows, 784, pixels, 1./255)), Target: must.Get(ad.LabelTable(labels, 10))}
	return data.Shard{Train: e, Val: e}
}
