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
	var ls []dense
	m.eachLayer(func(_ int, l dense) { ls = append(ls, l) })
	return ls
}

// eachLayer visits the layers with their numbers, first to last, without allocating.
func (m MLP) eachLayer(visit func(i int, l dense)) {
	hidden := m.Hidden
	if hidden == nil {
		hidden = defaultHidden
	}
	off, in := 0, m.Features
	for i := range len(hidden) + 1 {
		out := m.Classes
		if i < len(hidden) {
			out = hidden[i]
		}
		l := dense{off, in, out}
		visit(i, l)
		off, in = off+l.size(), out
	}
}

var defaultHidden = []int{32}

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

// weights returns the layer's weights in y, out×in.
func (l dense) weights(y *ad.Node) *ad.Node { return ad.Part(y, l.off, l.out, l.in) }

// outputs builds the layer's outputs for the rows of h.
func (l dense) outputs(y, h *ad.Node) *ad.Node {
	return ad.AddRow(ad.MatMul(h, l.weights(y), false, true), ad.PartVec(y, l.off+l.out*l.in, l.out))
}

// units builds the values of hidden units whose sums are a.
func (m MLP) units(a *ad.Node) *ad.Node {
	if m.ReLU {
		return ad.ReLU(a)
	}
	return ad.Tanh(a)
}

// logits builds the outputs of the last layer for the rows of h.
func (m MLP) logits(y, h *ad.Node) *ad.Node {
	ls := m.layers()
	last := len(ls) - 1
	for _, l := range ls[:last] {
		h = m.units(l.outputs(y, h))
	}
	return ls[last].outputs(y, h)
}

// Penalty implements [Penalized].
func (m MLP) Penalty(dst, x []float64) {
	m.eachLayer(func(i int, l dense) {
		for j := range l.size() {
			group := i
			switch {
			case m.PerLayer:
			case i > 0 || j >= l.out*l.in:
				group += m.Features
			default:
				group = j % l.in
			}
			dst[l.off+j] = 2 / float64(len(dst)) * math.Exp(x[group])
		}
	})
}

// Diagonal implements [Curved] for networks of at most one hidden layer. With the logits' probabilities P, the last layer's weights
// W, and a unit's sum a and value h, the second derivative of an example's loss by a is
//
//	h'(a)² (Σ_k P_k W_k² − (Σ_k P_k W_k)²) + h″(a) Σ_k (P_k − t_k) W_k
func (m MLP) Diagonal(_, y *ad.Node, b Batch) *ad.Node {
	ls := m.layers()
	_, q := m.Dims()
	diagonal := func(l dense, curvature, h *ad.Node) *ad.Node { // in the layer's part of y
		return ad.Add(ad.Place(denseDiagonal(curvature, h), l.off, q), ad.Place(ad.SumRows(curvature), l.off+l.out*l.in, q))
	}
	mean := 1 / float64(b.Rows)
	switch len(ls) {
	case 1:
		return diagonal(ls[0], ad.Scale(mean, variances(ls[0].outputs(y, b.X))), b.X)
	case 2:
		a := ls[0].outputs(y, b.X)
		h := m.units(a)
		logits, w := ls[1].outputs(y, h), ls[1].weights(y)
		p := ad.RowSoftmax(logits)
		slope, bend := m.unitDerivatives(a, h)
		spread := ad.Sub(ad.MatMul(p, ad.Square(w), false, false), ad.Square(ad.MatMul(p, w, false, false)))
		curvature := ad.Mul(ad.Square(slope), spread)
		if bend != nil {
			curvature = ad.Add(curvature, ad.Mul(bend, ad.MatMul(ad.Sub(p, b.T), w, false, false)))
		}
		return ad.Add(diagonal(ls[0], ad.Scale(mean, curvature), b.X), diagonal(ls[1], ad.Scale(mean, variances(logits)), h))
	}
	return nil // a layer's curvature depends on how the later hidden units' sums vary together
}

// unitDerivatives builds the first and the second derivative (nil: 0) of hidden units with sums a and values h.
func (m MLP) unitDerivatives(a, h *ad.Node) (slope, bend *ad.Node) {
	if m.ReLU {
		return ad.Step(a), nil
	}
	slope = ad.Offset(1, ad.Neg(ad.Square(h)))
	return slope, ad.Scale(-2, ad.Mul(h, slope))
}

// Score implements [Scorer].
func (m MLP) Score(y *ad.Node, b Batch) (losses, hits *ad.Node) {
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
