package models

import (
	"cmp"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
)

// HyperClean is data hyper-cleaning: some training labels are wrong, the validation labels are
// right, and the upper level learns how much to trust each training example,
//
//	f_i(x, y) = mean_e L(Y a_e, t_e)      g_i(x, y) = mean_e σ(x_e) L(Y a_e, t_e) + C ‖Y‖²
//
// with the cross-entropy L, σ(x) = 1/(1+e^{-x}), and y the c×d matrix Y, row by row.
// x has one entry for each training example of all agents, found by its ID: p = Examples, q = c·d.
type HyperClean struct {
	Features, Classes int
	Examples          int     // training examples of all agents together
	Ridge             float64 // C; 0: 0.001
}

// linear returns the classifier that is trained on the weighted examples.
func (h HyperClean) linear() Softmax { return Softmax{h.Features, h.Classes} }

// ridge returns C, with its default for 0.
func (h HyperClean) ridge() float64 {
	return cmp.Or(h.Ridge, .001)
}

// Dims implements [Model].
func (h HyperClean) Dims() (p, q int) { return h.Examples, h.Classes * h.Features }

// Check implements [Checker].
func (h HyperClean) Check(s data.Shard) error {
	if s.Train.ID == nil {
		return dsbo.ShapeErrorf("data hyper-cleaning needs the ID of each training example")
	}
	for row, id := range s.Train.ID {
		if id < 0 || id >= h.Examples {
			return dsbo.ShapeErrorf("IDs of training examples must be from 0 to %d; example %d has %d",
				h.Examples-1, row, id)
		}
	}
	return cmp.Or(checkRidge("data hyper-cleaning", h.Ridge),
		checkOutputs(s, h.Features, h.Classes, CrossEntropy{}, 1))
}

// Lower implements [Model].
func (h HyperClean) Lower(x, y *ad.Node, b Batch) *ad.Node {
	return h.lower(x, y, h.linear().logits(y, b), b)
}

// lower builds g_i of a classifier with these logits, linear or not.
func (h HyperClean) lower(x, y, outputs *ad.Node, b Batch) *ad.Node {
	b.W = exampleWeights(x, b)
	return ad.Add(meanLoss(CrossEntropy{}, outputs, b), ad.Scale(h.ridge(), ad.Dot(y, y)))
}

// exampleWeights builds σ(x_e) of each example e of the batch, times its weight where there
// are weights.
func exampleWeights(x *ad.Node, b Batch) *ad.Node { return b.weighted(ad.Sigmoid(ad.Gather(x, b.ID))) }

// Upper implements [Model].
func (h HyperClean) Upper(x, y *ad.Node, b Batch) *ad.Node { return h.linear().Upper(x, y, b) }

// Score implements [Scorer].
func (h HyperClean) Score(x, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return h.linear().Score(x, y, b)
}

// Penalty implements [Penalized]: 2C in each entry.
func (h HyperClean) Penalty(dst, _ []float64) { linalg.Fill(dst, 2*h.ridge()) }

// Diagonal implements [Curved]: mean_e σ(x_e) P_ek (1 − P_ek) a_ej², with P the softmax of
// the logits.
func (h HyperClean) Diagonal(x, y *ad.Node, b Batch) *ad.Node {
	weights := ad.Scale(1/float64(b.Rows), exampleWeights(x, b))
	return denseDiagonal(ad.RowScale(CrossEntropy{}.Curvature(h.linear().logits(y, b), b.T), weights), b.X)
}

// Modulus implements [StronglyConvex].
func (h HyperClean) Modulus([]float64) float64 { return 2 * h.ridge() }

// Meaning implements [Meant].
func (h HyperClean) Meaning() Meaning {
	return Meaning{Symbol: "x", One: "example weight", Many: "example weights",
		About: "A training example counts as σ(x) = 1/(1+e^{−x}): the smaller its x, the less it is trusted."}
}

// Baselines implements [Baselined]: all examples weigh ½, as if all labels were right.
func (h HyperClean) Baselines() []Baseline {
	return []Baseline{{Name: "all labels trusted alike", X: make([]float64, h.Examples)}}
}
