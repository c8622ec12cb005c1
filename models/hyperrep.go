package models

import (
	"cmp"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
)

// HyperRep is a hyper-representation: x is the hidden layers of a network, shared by all agents,
// and y its head, a linear classifier on the outputs of the last hidden layer,
//
//	f_i(x, y) = mean_e w_e L(Y h(a_e; x) + b, t_e)
//	g_i(x, y) = mean_e w_e L(Y h(a_e; x) + b, t_e) + C ‖y‖²
//
// with the cross-entropy L and the rows of Y, then b, in y. Training examples fit the head,
// validation examples the representation h, so h suits heads that it was not fitted with. x has the
// layers in [MLP]'s order; p is their number of weights and biases, q = c(u+1) with u units in the
// last hidden layer. g_i is strongly convex in y, whatever x is.
type HyperRep struct {
	Features, Classes int
	Hidden            []int   // units of the hidden layers, first to last; nil: one layer of 32
	Tanh              bool    // hidden units tanh a in place of max(a, 0)
	Ridge             float64 // C; 0: 0.0001
	Seed              uint64  // of StartX
}

// network returns the hidden layers as a network whose outputs are the last layer's sums, without
// its units, which represented applies.
func (m HyperRep) network() MLP {
	hidden := m.Hidden
	if len(hidden) == 0 {
		hidden = defaultHidden
	}
	last := len(hidden) - 1
	return MLP{Features: m.Features, Hidden: hidden[:last], Outputs: hidden[last], ReLU: !m.Tanh, Seed: m.Seed}
}

// head returns the classifier on the outputs of the last hidden layer.
func (m HyperRep) head() ridgeHead {
	return ridgeHead{dense{0, m.network().Outputs, m.Classes}, m.ridge()}
}

// ridge returns C, with its default for 0.
func (m HyperRep) ridge() float64 { return cmp.Or(m.Ridge, .0001) }

// Dims implements [Model].
func (m HyperRep) Dims() (p, q int) {
	_, p = m.network().Dims()
	return p, m.head().layer.size()
}

// Check implements [Checker].
func (m HyperRep) Check(s data.Shard) error {
	return cmp.Or(checkRidge("a hyper-representation", m.Ridge), checkHidden(m.Hidden),
		checkOutputs(s, m.Features, m.Classes, CrossEntropy{}, 1))
}

// represented builds the batch with h of each row in place of its features.
func (m HyperRep) represented(x *ad.Node, b Batch) Batch {
	n := m.network()
	b.X = n.units(n.outputs(x, b.X))
	return b
}

// Lower implements [Model].
func (m HyperRep) Lower(x, y *ad.Node, b Batch) *ad.Node {
	return m.head().Lower(x, y, m.represented(x, b))
}

// Upper implements [Model].
func (m HyperRep) Upper(x, y *ad.Node, b Batch) *ad.Node {
	return m.head().Upper(x, y, m.represented(x, b))
}

// Score implements [Scorer].
func (m HyperRep) Score(x, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return m.head().Score(x, y, m.represented(x, b))
}

// StartX implements [XStarter]: the start of [MLP].
func (m HyperRep) StartX(x []float64) { m.network().Start(x) }

// Penalty implements [Penalized]: 2C in each entry.
func (m HyperRep) Penalty(dst, x []float64) { m.head().Penalty(dst, x) }

// Diagonal implements [Curved].
func (m HyperRep) Diagonal(x, y *ad.Node, b Batch) *ad.Node {
	return m.head().Diagonal(x, y, m.represented(x, b))
}

// Modulus implements [StronglyConvex].
func (m HyperRep) Modulus(x []float64) float64 { return m.head().Modulus(x) }

// Meaning implements [Meant].
func (m HyperRep) Meaning() Meaning {
	meaning := Meaning{Symbol: "x", One: "weight of the hidden layers", Many: "weights of the hidden layers",
		About: "What the hidden layers make of an example is what all heads are trained on."}
	if side := squareSide(m.Features); side > 0 {
		meaning.Pictures, meaning.Rows, meaning.Cols = m.network().layers()[0].out, side, side
		meaning.About += " Each picture is the weights of a unit of the first layer."
	}
	return meaning
}

// squareSide returns the side of a square image of n pixels, 0 where there is none.
func squareSide(pixels int) int {
	for side := 2; side*side <= pixels; side++ {
		if side*side == pixels {
			return side
		}
	}
	return 0
}

// Baselines implements [Baselined]: heads on the raw features, and on the hidden layers as they
// start, with the same ridge.
func (m HyperRep) Baselines() []Baseline {
	p, _ := m.Dims()
	start := make([]float64, p)
	m.StartX(start)
	return []Baseline{
		{Name: "raw features", X: make([]float64, 1), Of: ridgeHead{dense{0, m.Features, m.Classes}, m.ridge()}},
		{Name: "random hidden layers", X: start},
	}
}

// A ridgeHead is a linear classifier with a fixed ridge, so its x is one unused number.
type ridgeHead struct {
	layer dense
	ridge float64 // C
}

// Dims implements [Model].
func (m ridgeHead) Dims() (p, q int) { return 1, m.layer.size() }

// Lower implements [Model].
func (m ridgeHead) Lower(x, y *ad.Node, b Batch) *ad.Node {
	return ad.Add(m.Upper(x, y, b), ad.Scale(m.ridge, ad.Dot(y, y)))
}

// Upper implements [Model].
func (m ridgeHead) Upper(_, y *ad.Node, b Batch) *ad.Node {
	return meanLoss(CrossEntropy{}, m.layer.outputs(y, b.X), b)
}

// Score implements [Scorer].
func (m ridgeHead) Score(_, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return score(CrossEntropy{}, m.layer.outputs(y, b.X), b)
}

// Penalty implements [Penalized].
func (m ridgeHead) Penalty(dst, _ []float64) { linalg.Fill(dst, 2*m.ridge) }

// Diagonal implements [Curved].
func (m ridgeHead) Diagonal(_, y *ad.Node, b Batch) *ad.Node {
	return m.layer.diagonal(meanCurvature(CrossEntropy{}, m.layer.outputs(y, b.X), b), b.X, m.layer.size())
}

// Modulus implements [StronglyConvex].
func (m ridgeHead) Modulus([]float64) float64 { return 2 * m.ridge }
