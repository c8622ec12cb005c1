package models

import (
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
)

// Logistic is the paper's synthetic task: binary logistic regression with one log-penalty
// per feature,
//
//	f_i(x, y) = R_e ψ(t_e a_e'y)      g_i(x, y) = R_e ψ(t_e a_e'y) + ½ Σ_j e^{x_j} y_j²
//
// with ψ(m) = log(1+e^{-m}), targets t_e = ±1 or, with Real, any numbers, and R the sum over the
// examples or, with Mean, their mean; ψ is times the example's weight where there are weights.
// p = q = Features.
type Logistic struct {
	Features   int
	Mean, Real bool
}

// Dims implements [Model].
func (l Logistic) Dims() (p, q int) { return l.Features, l.Features }

// Check implements [Checker].
func (l Logistic) Check(s data.Shard) error {
	return checkShard(s, l.Features, 1, func(e data.Examples) error {
		if e.Target.Cols() != 1 {
			return dsbo.ShapeErrorf("targets must be one column of +1 and -1; there are %d columns",
				e.Target.Cols())
		}
		for row := range e.Target.Rows() {
			if t := e.Target.At(row, 0); t != 1 && t != -1 && !l.Real {
				return dsbo.ConfigErrorf("targets must be +1 or -1; row %d has %g", row, t)
			}
		}
		return nil
	})
}

// Lower implements [Model].
func (l Logistic) Lower(x, y *ad.Node, b Batch) *ad.Node {
	return ad.Add(l.Upper(x, y, b), ad.Scale(.5, ad.Dot(ad.Exp(x), ad.Square(y))))
}

// Upper implements [Model].
func (l Logistic) Upper(_, y *ad.Node, b Batch) *ad.Node {
	psi := b.weighted(ad.Softplus(ad.Neg(margins(y, b))))
	if l.Mean {
		return ad.Mean(psi)
	}
	return ad.SumAll(psi)
}

// margins builds the margin t_e a_e'y of each example.
func margins(y *ad.Node, b Batch) *ad.Node { return ad.Mul(b.T, ad.MatVec(b.X, y, false)) }

// Score implements [Scorer].
func (l Logistic) Score(_, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	m := margins(y, b)
	return ad.Softplus(ad.Neg(m)), ad.Step(m)
}

// Penalty implements [Penalized].
func (l Logistic) Penalty(dst, x []float64) {
	for j, v := range x {
		dst[j] = num.Exp(v)
	}
}

// Diagonal implements [Curved]: R_e ψ″(t_e a_e'y) t_e² a_ej².
func (l Logistic) Diagonal(_, y *ad.Node, b Batch) *ad.Node {
	m := margins(y, b)
	curvature := b.weighted(ad.Mul(ad.Sigmoid(m), ad.Sigmoid(ad.Neg(m))))
	if l.Real {
		curvature = ad.Mul(curvature, ad.Square(b.T))
	}
	if l.Mean {
		curvature = ad.Scale(1/float64(b.Rows), curvature)
	}
	return ad.MatVec(ad.Square(b.X), curvature, true)
}

// Modulus implements [StronglyConvex].
func (l Logistic) Modulus(x []float64) float64 { return num.Exp(slices.Min(x)) }
