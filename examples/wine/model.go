package main

import (
	"math"
	"slices"

	"dsbo/ad"
	"dsbo/models"
)

// ridge is linear regression whose log-penalties x, one for each measurement, are tuned:
//
//	f_i(x, y) = mean_e (a_e'y − t_e)²
//	g_i(x, y) = ½ mean_e (a_e'y − t_e)² + ½ Σ_j e^{x_j} y_j²
type ridge struct{ features int }

func (m ridge) Dims() (p, q int) { return m.features, m.features }

func (m ridge) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	penalty := ad.Dot(ad.Exp(x), ad.Square(y))
	return ad.Scale(0.5, ad.Add(m.Upper(x, y, b), penalty))
}

// Upper weighs the wines, so that each counts as much as any other one of all cellars.
func (m ridge) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	losses := m.squares(y, b)
	if b.W != nil {
		losses = ad.Mul(b.W, losses)
	}
	return ad.Mean(losses)
}

// squares builds the squared error of each prediction.
func (ridge) squares(y *ad.Node, b models.Batch) *ad.Node {
	return ad.Square(ad.Sub(ad.MatVec(b.X, y, false), b.T))
}

// Score says how far each prediction is from the truth; none is right or wrong.
func (m ridge) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return m.squares(y, b), nil
}

// Penalty and Diagonal are the parts of the lower Hessian's diagonal: e^{x_j}, and mean_e a_ej².
func (ridge) Penalty(dst, x []float64) {
	for j, v := range x {
		dst[j] = math.Exp(v)
	}
}

func (ridge) Diagonal(_, _ *ad.Node, b models.Batch) *ad.Node {
	rows := b.X
	if b.W != nil {
		rows = ad.RowScale(rows, b.W)
	}
	return ad.Scale(1/float64(b.Rows), ad.ColDot(b.X, rows))
}

// Modulus says that the lower problem has one solution, so that exact values and the best constant
// λ are found.
func (ridge) Modulus(x []float64) float64 { return math.Exp(slices.Min(x)) }
