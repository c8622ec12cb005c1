package models

import (
	"slices"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
)

// Softmax is the paper's MNIST task: linear classification with the cross-entropy L and one
// log-penalty per feature,
//
//	f_i(x, y) = mean_e L(Y a_e, t_e)      g_i(x, y) = mean_e L(Y a_e, t_e) + 1/(cd) Σ_kj e^{x_j} Y_kj²
//
// where y is the c×d matrix Y, row by row, and L is times the example's weight where there are
// weights. p = d = Features, q = c·d with c = Classes.
type Softmax struct{ Features, Classes int }

// Dims implements [Model].
func (s Softmax) Dims() (p, q int) { return s.Features, s.Classes * s.Features }

// Shape implements [Shaper]: a row is a class.
func (s Softmax) Shape() (rows, cols int) { return s.Classes, s.Features }

// Check implements [Checker].
func (s Softmax) Check(d data.Shard) error {
	return checkOutputs(d, s.Features, s.Classes, CrossEntropy{}, 1)
}

// Lower implements [Model].
func (s Softmax) Lower(x, y *ad.Node, b Batch) *ad.Node {
	w := s.weights(y)
	ridge := ad.SumAll(ad.ColScale(ad.Square(w), ad.Exp(x)))
	return ad.Add(s.Upper(x, y, b), ad.Scale(1/float64(s.Classes*s.Features), ridge))
}

// Upper implements [Model].
func (s Softmax) Upper(_, y *ad.Node, b Batch) *ad.Node {
	return meanLoss(CrossEntropy{}, s.logits(y, b), b)
}

// weights returns y as the matrix Y.
func (s Softmax) weights(y *ad.Node) *ad.Node { return ad.Part(y, 0, s.Classes, s.Features) }

// logits builds Y a_e for each row a_e of the batch.
func (s Softmax) logits(y *ad.Node, b Batch) *ad.Node {
	return ad.MatMul(b.X, s.weights(y), false, true)
}

// Score implements [Scorer].
func (s Softmax) Score(_, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return score(CrossEntropy{}, s.logits(y, b), b)
}

// Penalty implements [Penalized].
func (s Softmax) Penalty(dst, x []float64) {
	class := dst[:s.Features]
	for j, v := range x {
		class[j] = 2 / float64(s.Classes*s.Features) * num.Exp(v)
	}
	for k := 1; k < s.Classes; k++ {
		copy(dst[k*s.Features:], class)
	}
}

// Diagonal implements [Curved]: mean_e w_e P_ek (1 − P_ek) a_ej², with P the softmax of the logits.
func (s Softmax) Diagonal(_, y *ad.Node, b Batch) *ad.Node {
	return denseDiagonal(meanCurvature(CrossEntropy{}, s.logits(y, b), b), b.X)
}

// Modulus implements [StronglyConvex].
func (s Softmax) Modulus(x []float64) float64 {
	return 2 / float64(s.Classes*s.Features) * num.Exp(slices.Min(x))
}
