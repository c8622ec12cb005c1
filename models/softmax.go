package models

import "dsbo/ad"

// Softmax is the paper's MNIST task: linear classification with the cross-entropy L and one log-penalty
// per feature,
//
//	f_i(x, y) = mean_e L(Y a_e, t_e)      g_i(x, y) = mean_e L(Y a_e, t_e) + 1/(cd) Σ_kj e^{x_j} Y_kj²
//
// where y is the c×d matrix Y, row by row. p = d = Features, q = c·d with c = Classes.
type Softmax struct{ Features, Classes int }

// Dims implements [Model].
func (s Softmax) Dims() (p, q int) { return s.Features, s.Classes * s.Features }

// Lower implements [Model].
func (s Softmax) Lower(x, y *ad.Node, b Batch) *ad.Node {
	w := s.weights(y)
	ridge := ad.SumAll(ad.ColScale(ad.Square(w), ad.Exp(x)))
	return ad.Add(s.Upper(x, y, b), ad.Scale(1/float64(s.Classes*s.Features), ridge))
}

// Upper implements [Model].
func (s Softmax) Upper(_, y *ad.Node, b Batch) *ad.Node {
	return crossEntropy(ad.MatMul(b.X, s.weights(y), false, true), b.T)
}

func (s Softmax) weights(y *ad.Node) *ad.Node { return ad.Part(y, 0, s.Classes, s.Features) }

// Score implements [Scorer].
func (s Softmax) Score(y *ad.Node, b Batch) (loss, accuracy *ad.Node) {
	logits := ad.MatMul(b.X, s.weights(y), false, true)
	return crossEntropy(logits, b.T), ad.Mean(ad.RowHit(logits, b.T))
}

// crossEntropy is the mean over the rows of log Σ_k e^{l_k} − l_t.
func crossEntropy(logits, onehot *ad.Node) *ad.Node {
	rows := float64(logits.Shape()[0])
	return ad.Scale(1/rows, ad.Sub(ad.SumAll(ad.RowLogSumExp(logits)), ad.Dot(onehot, logits)))
}
