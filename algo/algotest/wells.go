package algotest

import (
	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
)

// NewWells makes the oracle of an agent of a problem whose lower loss is not convex: g_i = c_i Σ_j
// (y_j⁴/4 − b_j y_j²/2) with b_j = 1 + j, and f_i = ½ ‖y − e^x‖², of one x and q numbers in y.
// Where the c_i average to 1 the averaged lower loss has a saddle at 0, with Hessian −diag(b), and
// minima −Σ b_j²/4 at y_j = ±√b_j.
func NewWells(q int, c float64) *models.Oracle {
	o, err := models.NewOracle(wells{q, c}, data.Shard{}, models.Config{})
	if err != nil {
		panic(err)
	}
	return o
}

type wells struct {
	q int
	c float64
}

// Dims implements [models.Model].
func (w wells) Dims() (p, q int) { return 1, w.q }

// Lower implements [models.Model].
func (w wells) Lower(_, y *ad.Node, _ models.Batch) *ad.Node {
	b, squares := make([]float64, w.q), ad.Square(y)
	for j := range b {
		b[j] = 1 + float64(j)
	}
	return ad.Sub(ad.Scale(w.c/4, ad.Dot(squares, squares)),
		ad.Scale(w.c/2, ad.Dot(ad.NewConst(y, "b", w.q, 0, b), squares)))
}

// Upper implements [models.Model].
func (w wells) Upper(x, y *ad.Node, _ models.Batch) *ad.Node {
	off := ad.Sub(y, ad.ScaleBy(ad.SumAll(ad.Exp(x)), ad.Uniform(1, y)))
	return ad.Scale(.5, ad.Dot(off, off))
}
