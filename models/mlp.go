package models

import (
	"math"
	"math/rand/v2"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// MLP is a network of dense layers that ends in a softmax, with the cross-entropy L and a log-penalty
// per group of weights,
//
//	f_i(x, y) = mean_e L(F(a_e; y), t_e)      g_i(x, y) = mean_e L(F(a_e; y), t_e) + 1/q Σ_r e^{x_r} ‖y_r‖²
//
// Layer l maps h to W_l h + b_l; y holds W_0 row by row, then b_0, then W_1 and so on. Of its D layers,
// the weights of each input feature are a group, x_0 ... x_{d-1}, and so are the first layer's biases,
// x_d, and every later layer, x_{d+l}: p = d + D. With PerLayer each layer is one group: p = D.
//
// g_i is not convex in y: what the methods' theory promises for softmax is here an experiment.
// At y = 0 the hidden units are alike and nearly all derivatives vanish, so a run begins at [MLP.Start].
type MLP struct {
	Features, Classes int
	Hidden            []int  // units of the hidden layers, first to last; nil: one layer of 32
	ReLU              bool   // hidden units max(a, 0) in place of tanh a
	PerLayer          bool   // one penalty a layer
	Seed              uint64 // of Start
}

// A dense is the position of a dense layer in y: out×in weights from offset off on, then out biases.
type dense struct{ off, in, out int }

// size returns the number of weights and biases of the layer.
func (l dense) size() int { return l.out * (l.in + 1) }

// layers returns the positions of all layers, first to last.
func (m MLP) layers() []dense {
	hidden := m.Hidden
	if hidden == nil {
		hidden = []int{32}
	}
	var ls []dense
	off, in := 0, m.Features
	for _, out := range append(hidden[:len(hidden):len(hidden)], m.Classes) {
		l := dense{off, in, out}
		ls = append(ls, l)
		off, in = off+l.size(), out
	}
	return ls
}

// Dims implements [Model].
func (m MLP) Dims() (p, q int) {
	ls := m.layers()
	p = len(ls)
	if !m.PerLayer {
		p += m.Features
	}
	last := ls[len(ls)-1]
	return p, last.off + last.size()
}

// Check implements [Checker].
func (m MLP) Check(s data.Shard) error {
	for l, units := range m.Hidden {
		if units < 1 {
			return dsbo.Errorf(dsbo.ErrConfig, "hidden layer %d must have at least 1 unit; it has %d", l, units)
		}
	}
	return checkClasses(s, m.Features, m.Classes)
}

// Lower implements [Model].
func (m MLP) Lower(x, y *ad.Node, b Batch) *ad.Node {
	penalties := make([]*ad.Node, 0, 4)
	e := ad.Exp(x)
	weigh := func(group int, part *ad.Node) {
		penalties = append(penalties, ad.ScaleBy(ad.SumAll(ad.PartVec(e, group, 1)), ad.Dot(part, part)))
	}
	ls := m.layers()
	for i, l := range ls {
		switch first := m.Features; {
		case m.PerLayer:
			weigh(i, ad.PartVec(y, l.off, l.size()))
		case i == 0:
			w := ad.Part(y, l.off, l.out, l.in)
			penalties = append(penalties, ad.Dot(ad.PartVec(e, 0, first), ad.ColDot(w, w)))
			weigh(first, ad.PartVec(y, l.off+l.out*l.in, l.out))
		default:
			weigh(first+i, ad.PartVec(y, l.off, l.size()))
		}
	}
	_, q := m.Dims()
	return ad.Add(m.Upper(x, y, b), ad.Scale(1/float64(q), ad.Sum(penalties[0], penalties[1:]...)))
}

// Upper implements [Model].
func (m MLP) Upper(_, y *ad.Node, b Batch) *ad.Node { return crossEntropy(m.logits(y, b.X), b.T) }

// logits builds the outputs of the last layer for the rows of h.
func (m MLP) logits(y, h *ad.Node) *ad.Node {
	ls := m.layers()
	for i, l := range ls {
		h = ad.AddRow(ad.MatMul(h, ad.Part(y, l.off, l.out, l.in), false, true), ad.PartVec(y, l.off+l.out*l.in, l.out))
		switch {
		case i == len(ls)-1:
		case m.ReLU:
			h = ad.ReLU(h)
		default:
			h = ad.Tanh(h)
		}
	}
	return h
}

// Score implements [Scorer].
func (m MLP) Score(y *ad.Node, b Batch) (loss, accuracy *ad.Node) {
	return scoreClasses(m.logits(y, b.X), b.T)
}

// Start implements [Starter]: normal weights of variance 1/in (2/in for ReLU), which keep the
// size of the signal from layer to layer, and biases 0.
func (m MLP) Start(y []float64) {
	gain := 1.0
	if m.ReLU {
		gain = 2
	}
	r := rand.New(rand.NewPCG(m.Seed, 0))
	clear(y)
	for _, l := range m.layers() {
		deviation := math.Sqrt(gain / float64(l.in))
		for j := range l.in * l.out {
			y[l.off+j] = deviation * r.NormFloat64()
		}
	}
}
