package models

import (
	"cmp"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
)

// MLP is a network of dense layers with a loss L of its outputs, by default the cross-entropy of a
// softmax, and a log-penalty per group of weights,
//
//	f_i(x, y) = mean_e w_e L(F(a_e; y), t_e)
//	g_i(x, y) = mean_e w_e L(F(a_e; y), t_e) + 1/q Σ_r e^{x_r} ‖y_r‖²
//
// Layer l maps h to W_l h + b_l; y holds W_0 row by row, then b_0, then W_1 and so on. w_e is 1
// where examples have no weights. With D layers and d features, x_0 ... x_{d-1} penalize the
// weights of each input feature, x_d the first layer's biases, and x_{d+l} layer l > 0: p = d + D.
// [Penalties] chooses other groups.
//
// g_i is not convex in y, so the methods' theory, which covers softmax, does not apply. At y = 0
// the hidden units are alike and nearly all derivatives vanish, so a run begins at [MLP.Start].
type MLP struct {
	Features, Outputs int        // Outputs: the number of classes, or of the numbers in a target
	Hidden            []int      // units of the hidden layers, first to last; nil: one layer of 32
	ReLU              bool       // hidden units max(a, 0) in place of tanh a
	Loss              OutputLoss // nil: CrossEntropy
	Penalties         Penalties  // nil: PerFeature
	Intercepts        []float64  // the last layer's biases at the start, such as the logarithm of a mean count; nil: 0
	Prior             Prior      // a term of f_i that keeps x together
	Seed              uint64     // of Start
}

// layers returns the places of all layers in y, first to last.
func (m MLP) layers() []dense {
	var ls []dense
	m.eachLayer(func(_ int, l dense) { ls = append(ls, l) })
	return ls
}

// eachLayer calls visit for each layer, first to last, with its index. It does not allocate, as
// methods call Penalty in their steps.
func (m MLP) eachLayer(visit func(i int, l dense)) {
	hidden := m.Hidden
	if hidden == nil {
		hidden = defaultHidden
	}
	off, in := 0, m.Features
	for i := range len(hidden) + 1 {
		out := m.Outputs
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
	ls, penalties := m.layers(), penaltiesOrDefault(m.Penalties)
	last := ls[len(ls)-1]
	return penalties.layerGroup(len(ls)-1, penalties.number(m.Features)) + 1, last.off + last.size()
}

// Simpler implements [Simplified]: [Linear] with the same loss, and one penalty for all weights.
func (m MLP) Simpler() (name string, simpler Model) {
	return "linear", Linear{Features: m.Features, Outputs: m.Outputs, Loss: m.Loss, Penalties: OnePenalty{},
		Intercepts: m.Intercepts}
}

// Check implements [Checker].
func (m MLP) Check(s data.Shard) error {
	if isJoint(m.Loss) {
		return dsbo.ConfigErrorf("a network must have a loss of single examples; %T is of all of an agent's", m.Loss)
	}
	return cmp.Or(checkHidden(m.Hidden),
		Linear{m.Features, m.Outputs, m.Loss, m.Penalties, m.Intercepts, m.Prior, Level{}}.Check(s))
}

// Lower implements [Model].
func (m MLP) Lower(x, y *ad.Node, b Batch) *ad.Node {
	e, groups := ad.Exp(x), penaltiesOrDefault(m.Penalties)
	count := groups.number(m.Features)
	weigh := func(layer int, part *ad.Node) *ad.Node {
		return ad.ScaleBy(ad.SumAll(ad.PartVec(e, groups.layerGroup(layer, count), 1)), ad.Dot(part, part))
	}
	ls := m.layers()
	penalty := ad.Add(featurePenalty(groups, e, ls[0].matrix(y)), weigh(0, ls[0].vector(y)))
	for i, l := range ls[1:] {
		penalty = ad.Add(penalty, weigh(1+i, ad.PartVec(y, l.off, l.size())))
	}
	_, q := m.Dims()
	return ad.Add(m.fit(lossOrDefault(m.Loss), y, b), ad.Scale(1/float64(q), penalty))
}

// Upper implements [Model].
func (m MLP) Upper(x, y *ad.Node, b Batch) *ad.Node {
	return m.Prior.add(m.fit(judging(m.Loss), y, b), x)
}

// fit builds the mean of a loss over the batch.
func (m MLP) fit(loss OutputLoss, y *ad.Node, b Batch) *ad.Node {
	return meanLoss(loss, m.outputs(y, b.X), b)
}

// units applies the hidden units' nonlinearity to the sums a.
func (m MLP) units(a *ad.Node) *ad.Node {
	if m.ReLU {
		return ad.ReLU(a)
	}
	return ad.Tanh(a)
}

// outputs builds the outputs of the last layer for the rows of h.
func (m MLP) outputs(y, h *ad.Node) *ad.Node {
	ls := m.layers()
	last := len(ls) - 1
	for _, l := range ls[:last] {
		h = m.units(l.outputs(y, h))
	}
	return ls[last].outputs(y, h)
}

// Penalty implements [Penalized].
func (m MLP) Penalty(dst, x []float64) {
	groups := penaltiesOrDefault(m.Penalties)
	count := groups.number(m.Features)
	m.eachLayer(func(i int, l dense) {
		for j := range l.size() {
			group := groups.layerGroup(i, count)
			if i == 0 && j < l.out*l.in {
				group = groups.group(j % l.in)
			}
			dst[l.off+j] = 2 / float64(len(dst)) * num.Exp(x[group])
		}
	})
}

// Diagonal implements [Curved] for networks of at most one hidden layer. With a unit's sum a and
// value h, and the last layer's weights W, the second derivative of an example's loss by a is
//
//	h'(a)² Σ_kl L″_kl W_k W_l + h″(a) Σ_k L'_k W_k
func (m MLP) Diagonal(_, y *ad.Node, b Batch) *ad.Node {
	ls, loss := m.layers(), lossOrDefault(m.Loss)
	_, q := m.Dims()
	switch len(ls) {
	case 1:
		return ls[0].diagonal(meanCurvature(loss, ls[0].outputs(y, b.X), b), b.X, q)
	case 2:
		a := ls[0].outputs(y, b.X)
		h := m.units(a)
		outputs, w := ls[1].outputs(y, h), ls[1].matrix(y)
		slope, bend := m.unitDerivatives(a, h)
		curvature := ad.Mul(ad.Square(slope), loss.CurvatureBehind(w, outputs, b.T))
		if bend != nil {
			curvature = ad.Add(curvature, ad.Mul(bend, ad.MatMul(loss.Slope(outputs, b.T), w, false, false)))
		}
		first := b.weightedRows(ad.Scale(1/float64(b.Rows), curvature))
		return ad.Add(ls[0].diagonal(first, b.X, q), ls[1].diagonal(meanCurvature(loss, outputs, b), h, q))
	}
	return nil // a layer's curvature depends on how the later hidden units' sums vary together
}

// unitDerivatives builds the first and the second derivative (nil: 0) of hidden units with sums a
// and values h.
func (m MLP) unitDerivatives(a, h *ad.Node) (slope, bend *ad.Node) {
	if m.ReLU {
		return ad.Step(a), nil
	}
	slope = ad.Offset(1, ad.Neg(ad.Square(h)))
	return slope, ad.Scale(-2, ad.Mul(h, slope))
}

// Score implements [Scorer].
func (m MLP) Score(_, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return score(judging(m.Loss), m.outputs(y, b.X), b)
}

// Start implements [Starter]: normal weights of variance 1/in (2/in for ReLU), which preserve the
// size of the signal from layer to layer; Intercepts as the last biases; 0 for all other biases.
func (m MLP) Start(y []float64) {
	gain := 1.0
	if m.ReLU {
		gain = 2
	}
	ls := m.layers()
	startWeights(y, ls, gain, m.Seed)
	copy(ls[len(ls)-1].biases(y), m.Intercepts)
}
