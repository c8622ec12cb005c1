package models

import (
	"cmp"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
)

// Temperature is linear classification in which each class has a temperature T_k = e^{x_k}: the
// larger it is, the less sure predictions of the class are, in training as in use,
//
//	P(k) ∝ e^{(Y a)_k / T_k}  f_i(x, y) = mean_e w_e L_e
//	g_i(x, y) = mean_e w_e L_e + C ‖Y‖²
//
// with the cross-entropy L_e of P. Because the penalty is on Y, a temperature also scales the
// penalty on the weights of its class. y is the c×d matrix Y, row by row; p = c, q = c·d.
// Predictions take x.
type Temperature struct {
	Features, Classes int
	Ridge             float64 // C; 0: 0.001
}

// ridge returns C, with its default for 0.
func (m Temperature) ridge() float64 {
	return cmp.Or(m.Ridge, .001)
}

// Dims implements [Model].
func (m Temperature) Dims() (p, q int) { return m.Classes, m.Classes * m.Features }

// Shape implements [Shaper]: a row is a class.
func (m Temperature) Shape() (rows, cols int) { return m.Classes, m.Features }

// Check implements [Checker].
func (m Temperature) Check(s data.Shard) error {
	return cmp.Or(checkRidge("a model with temperatures", m.Ridge),
		checkOutputs(s, m.Features, m.Classes, CrossEntropy{}, 1))
}

// inverseTemperature builds 1/T.
func (m Temperature) inverseTemperature(x *ad.Node) *ad.Node { return ad.Exp(ad.Neg(x)) }

// logits builds (Y a_e)_k / T_k for each row a_e of the batch.
func (m Temperature) logits(x, y *ad.Node, b Batch) *ad.Node {
	return ad.ColScale(Softmax{m.Features, m.Classes}.logits(y, b), m.inverseTemperature(x))
}

// Lower implements [Model].
func (m Temperature) Lower(x, y *ad.Node, b Batch) *ad.Node {
	return ad.Add(m.Upper(x, y, b), ad.Scale(m.ridge(), ad.Dot(y, y)))
}

// Upper implements [Model].
func (m Temperature) Upper(x, y *ad.Node, b Batch) *ad.Node {
	return meanLoss(CrossEntropy{}, m.logits(x, y, b), b)
}

// Score implements [Scorer].
func (m Temperature) Score(x, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return score(CrossEntropy{}, m.logits(x, y, b), b)
}

// Penalty implements [Penalized]: 2C in each entry.
func (m Temperature) Penalty(dst, _ []float64) { linalg.Fill(dst, 2*m.ridge()) }

// Diagonal implements [Curved]: mean_e w_e P_ek (1 − P_ek) a_ej² / T_k².
func (m Temperature) Diagonal(x, y *ad.Node, b Batch) *ad.Node {
	curvature := meanCurvature(CrossEntropy{}, m.logits(x, y, b), b)
	return denseDiagonal(ad.ColScale(curvature, ad.Square(m.inverseTemperature(x))), b.X)
}

// Modulus implements [StronglyConvex].
func (m Temperature) Modulus([]float64) float64 { return 2 * m.ridge() }

// Meaning implements [Meant].
func (m Temperature) Meaning() Meaning {
	return Meaning{Symbol: "log T", One: "temperature", Many: "temperatures",
		About: "The logits of a class are divided by its temperature: the larger it is, the less sure predictions of " +
			"the class are, and the more its weights are held back."}
}
