package models

import (
	"math"
	"slices"

	"dsbo/ad"
	"dsbo/data"
)

// Softmax is the paper's MNIST task: linear classification with the cross-entropy L and one log-penalty
// per feature,
//
//	f_i(x, y) = mean_e L(Y a_e, t_e)      g_i(x, y) = mean_e L(Y a_e, t_e) + 1/(cd) Σ_kj e^{x_j} Y_kj²
//
// where y is the c×d matrix Y, row by row. p = d = Features, q = c·d with c = Classes.
type Softmax struct{ Features, Classes int }

// Dims implements [Model].
func (s Softmax) Dims() (p, q int) { return s.Features, s.Classes * s.Features }

// Shape implements [Shaper]: a row is a class.
func (s Softmax) Shape() (rows, cols int) { return s.Classes, s.Features }

// Check implements [Checker].
func (s Softmax) Check(d data.Shard) error { return checkClasses(d, s.Features, s.Classes) }

// Lower implements [Model].
func (s Softmax) Lower(x, y *ad.Node, b Batch) *ad.Node {
	w := s.weights(y)
	ridge := ad.SumAll(ad.ColScale(ad.Square(w), ad.Exp(x)))
	return ad.Add(s.Upper(x, y, b), ad.Scale(1/float64(s.Classes*s.Features), ridge))
}

// Upper implements [Model].
func (s Softmax) Upper(_, y *ad.Node, b Batch) *ad.Node { return crossEntropy(s.logits(y, b), b.T) }

// weights returns y as the matrix Y.
func (s Softmax) weights(y *ad.Node) *ad.Node { return ad.Part(y, 0, s.Classes, s.Features) }

// logits builds Y a_e for each row a_e of the batch.
func (s Softmax) logits(y *ad.Node, b Batch) *ad.Node {
	return ad.MatMul(b.X, s.weights(y), false, true)
}

// Score implements [Scorer].
func (s Softmax) Score(y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return scoreClasses(s.logits(y, b), b.T)
}

// Penalty implements [Penalized].
func (s Softmax) Penalty(dst, x []float64) {
	class := dst[:s.Features]
	for j, v := range x {
		class[j] = 2 / float64(s.Classes*s.Features) * math.Exp(v)
	}
	for k := 1; k < s.Classes; k++ {
		copy(dst[k*s.Features:], class)
	}
}

// Diagonal implements [Curved]: mean_e P_ek (1 − P_ek) a_ej², with P the softmax of the logits.
func (s Softmax) Diagonal(_, y *ad.Node, b Batch) *ad.Node {
	return denseDiagonal(ad.Scale(1/float64(b.Rows), variances(s.logits(y, b))), b.X)
}

// Modulus implements [StronglyConvex].
func (s Softmax) Modulus(x []float64) float64 {
	return 2 / float64(s.Classes*s.Features) * math.Exp(slices.Min(x))
}

// crossEntropy builds the mean over the rows of log Σ_k e^{l_k} − l_t.
func crossEntropy(logits, onehot *ad.Node) *ad.Node {
	rows := float64(logits.Shape()[0])
	return ad.Scale(1/rows, ad.Sub(ad.SumAll(ad.RowLogSumExp(logits)), ad.Dot(onehot, logits)))
}

// crossEntropies builds the vector of log Σ_k e^{l_k} − l_t, one entry a row.
func crossEntropies(logits, onehot *ad.Node) *ad.Node {
	return ad.Sub(ad.RowLogSumExp(logits), ad.RowDot(onehot, logits))
}

// scoreClasses builds the cross-entropy and the hit of each row of logits: the Score of every model with classes.
func scoreClasses(logits, onehot *ad.Node) (losses, hits *ad.Node) {
	return crossEntropies(logits, onehot), ad.RowHit(logits, onehot)
}

// variances builds the second derivative of each row's cross-entropy by each of its logits: P(1 − P), with P their softmax.
func variances(logits *ad.Node) *ad.Node {
	p := ad.RowSoftmax(logits)
	return ad.Mul(p, ad.Offset(1, ad.Neg(p)))
}

// denseDiagonal builds the diagonal of the Hessian of a loss of outputs H·Wᵀ by the entries of W, row by row. curvature
// holds the second derivative of the loss by each output; the loss is a sum over the rows of outputs.
func denseDiagonal(curvature, h *ad.Node) *ad.Node {
	return ad.Flatten(ad.MatMul(curvature, ad.Square(h), true, false))
}
