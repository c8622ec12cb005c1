package models

import (
	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
)

// LeNet is a network for square pictures: twice a convolution with ReLU and pooling, then two dense
// layers, with the cross-entropy L of a softmax and a log-penalty for the weights of each input of
// each layer,
//
//	f_i(x, y) = mean_e w_e L(F(a_e; y), t_e)
//	g_i(x, y) = mean_e w_e L(F(a_e; y), t_e) + 1/q Σ_r e^{x_r} ‖y_r‖²
//
// A convolution has 5×5 filters without padding, and pooling takes the largest of 2×2. y is the
// layers first to last, each its weights, row by row, then its biases; a row of a convolution is a
// filter, channels last. x is, layer by layer, a log-penalty for each input, a column of the
// layer's weights, then one for its biases. The network is LeCun et al. (1998) with ReLU units.
//
// g_i is not convex in y: see [MLP].
type LeNet struct {
	Side, Classes int    // pictures are of Side×Side pixels, at least 16
	Filters       [2]int // of the convolutions; 0: 8 and 16
	Hidden        int    // units of the dense layer between; 0: 64
	Seed          uint64 // of Start
	// PerLayer has all weights and biases of a layer share a penalty: p = 4.
	PerLayer bool
}

// kernelSide is the side of a filter, poolSide of a pooling window.
const kernelSide, poolSide = 5, 2

// withDefaults returns the network with its defaults.
func (m LeNet) withDefaults() LeNet {
	for i, filters := range []int{8, 16} {
		if m.Filters[i] == 0 {
			m.Filters[i] = filters
		}
	}
	if m.Hidden == 0 {
		m.Hidden = 64
	}
	return m
}

// window returns the window of convolution i, 0 or 1, and the window of the pooling after it. The
// second convolution reads the output of the first pooling. m must have its defaults set.
func (m LeNet) window(i int) (conv, pool ad.Window) {
	conv = ad.Window{H: m.Side, W: m.Side, C: 1, KH: kernelSide, KW: kernelSide, Stride: 1}
	if i > 0 {
		_, before := m.window(i - 1)
		conv.H, conv.W, conv.C = before.OutH(), before.OutW(), before.C
	}
	return conv, ad.Window{H: conv.OutH(), W: conv.OutW(), C: m.Filters[i], KH: poolSide, KW: poolSide,
		Stride: poolSide}
}

// layers returns the places of all layers in y, first to last. A convolution is a dense layer
// on patches.
func (m LeNet) layers() [4]dense {
	m = m.withDefaults()
	var ls [4]dense
	off := 0
	for i := range ls {
		in, out := m.Hidden, m.Classes // of the last layer; the others follow
		switch i {
		case 0, 1:
			conv, _ := m.window(i)
			in, out = conv.KH*conv.KW*conv.C, m.Filters[i]
		case 2:
			_, pool := m.window(1)
			in, out = pool.OutH()*pool.OutW()*pool.C, m.Hidden
		}
		ls[i] = dense{off, in, out}
		off += ls[i].size()
	}
	return ls
}

// Dims implements [Model].
func (m LeNet) Dims() (p, q int) {
	for _, l := range m.layers() {
		p, q = p+m.penalties(l), q+l.size()
	}
	return p, q
}

// leastSide is the side of the smallest pictures that leave a pixel after two convolutions and
// poolings.
const leastSide = 16

// Check implements [Checker].
func (m LeNet) Check(s data.Shard) error {
	switch {
	case m.Side < leastSide:
		return dsbo.ConfigErrorf("pictures for LeNet must have at least %d×%d pixels; they have %d×%d",
			leastSide, leastSide, m.Side, m.Side)
	case min(m.Filters[0], m.Filters[1], m.Hidden) < 0:
		return dsbo.ConfigErrorf(
			"filters and hidden units of LeNet must be at least 1, or 0 for the default; they are %v and %d",
			m.Filters, m.Hidden)
	}
	return checkOutputs(s, m.Side*m.Side, m.Classes, CrossEntropy{}, 1)
}

// outputs builds the outputs of the last layer for a batch.
func (m LeNet) outputs(y *ad.Node, b Batch) *ad.Node {
	m = m.withDefaults()
	ls, h := m.layers(), b.X
	for i := range 2 {
		conv, pool := m.window(i)
		maps := ad.ReLU(ls[i].outputs(y, ad.Im2col(h, conv))) // a row for each place of each picture
		h = ad.MaxPool(ad.Reshape(maps, b.Rows, conv.OutH()*conv.OutW()*ls[i].out), pool)
	}
	return ls[3].outputs(y, ad.ReLU(ls[2].outputs(y, h)))
}

// Lower implements [Model].
func (m LeNet) Lower(x, y *ad.Node, b Batch) *ad.Node {
	_, q := m.Dims()
	e, loss := ad.Exp(x), m.Upper(x, y, b)
	first := 0
	for _, l := range m.layers() {
		loss = ad.Add(loss, ad.Scale(1/float64(q), m.penalty(ad.PartVec(e, first, m.penalties(l)), y, l)))
		first += m.penalties(l)
	}
	return loss
}

// penalties returns how many entries of x a layer has.
func (m LeNet) penalties(l dense) int {
	if m.PerLayer {
		return 1
	}
	return l.in + 1
}

// penalty builds Σ_r e_r ‖y_r‖² of a layer, for the layer's part e of e^x.
func (m LeNet) penalty(e, y *ad.Node, l dense) *ad.Node {
	if m.PerLayer {
		part := ad.PartVec(y, l.off, l.size())
		return ad.ScaleBy(ad.SumAll(e), ad.Dot(part, part))
	}
	weights, biases := l.matrix(y), l.vector(y)
	return ad.Add(ad.Dot(ad.PartVec(e, 0, l.in), ad.ColDot(weights, weights)),
		ad.ScaleBy(ad.SumAll(ad.PartVec(e, l.in, 1)), ad.Dot(biases, biases)))
}

// Upper implements [Model].
func (m LeNet) Upper(_, y *ad.Node, b Batch) *ad.Node {
	return meanLoss(CrossEntropy{}, m.outputs(y, b), b)
}

// Score implements [Scorer].
func (m LeNet) Score(_, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return score(CrossEntropy{}, m.outputs(y, b), b)
}

// Penalty implements [Penalized].
func (m LeNet) Penalty(dst, x []float64) {
	scale := 2 / float64(len(dst))
	for _, l := range m.layers() {
		last := m.penalties(l) - 1 // the entry of the biases, and with PerLayer of all weights
		weights, biases := l.weights(dst), l.biases(dst)
		for j := range weights {
			weights[j] = scale * num.Exp(x[min(j%l.in, last)])
		}
		for j := range biases {
			biases[j] = scale * num.Exp(x[last])
		}
		x = x[last+1:] // from here on the entries of the next layer
	}
}

// Start implements [Starter]: normal weights of variance 2/in, and biases 0.
func (m LeNet) Start(y []float64) {
	ls := m.layers()
	startWeights(y, ls[:], 2, m.Seed)
}
