package models

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A Prior is the expected spread of the log-penalties. It prevents many of them from overfitting
// few validation examples. It adds
//
//	1/(2 σ² m) Σ_r (x_r − x̄)²      with x̄ the mean of x and m = Rows
//
// to f_i. If the losses are negative log-likelihoods, m f_i is then the negative log-posterior with
// log-penalties normal around a common value. Equal penalties cost nothing, and with many examples
// the term vanishes. x is measured from Center, an earlier estimate of how penalties differ. The
// zero value adds nothing.
//
// Half the squared residual is a negative log-likelihood only in units of the residual variance v,
// which is not known beforehand. With the best variance v = 2f at each x, the negative
// log-likelihood is m/2 log f plus the penalties' term. To first order in this term it has the same
// minimum as
//
//	f_i + f_i · 1/(σ² m) Σ_r (x_r − x̄)²
//
// has by its mean over the agents. This is the prior if Residuals is set.
type Prior struct {
	Deviation float64   // σ, positive and finite; 0: there is no prior
	Rows      float64   // m, validation examples of all agents together
	Residuals bool      // the loss is in the units of the squared residuals
	Center    []float64 // the origin of x, length p; nil: 0
}

// A Restrained is a [Model] whose f has a [Prior] on x.
type Restrained interface {
	Restraint() Prior // the zero value: none
}

// Restraint implements [Restrained], as do all that follow.
func (l Linear) Restraint() Prior { return l.Prior }

func (m MLP) Restraint() Prior { return m.Prior }

func (m Folds) Restraint() Prior { return m.Of.Prior }

// check returns an error unless the prior is the zero value, or has a positive finite deviation and
// at least one row. NaN fails it.
func (p Prior) check() error {
	if p.Deviation == 0 && p.Rows == 0 || p.Deviation > 0 && !math.IsInf(p.Deviation, 1) && p.Rows >= 1 {
		return nil
	}
	return dsbo.ConfigErrorf(
		"a prior must have a positive deviation and a number of examples; they are %g and %g", p.Deviation, p.Rows)
}

// Factor returns the prior's factor on the loss at x: 1 unless Residuals is set.
func (p Prior) Factor(x []float64) float64 {
	if !p.Residuals {
		return 1
	}
	if p.Center != nil {
		x = slices.Clone(x)
		linalg.Axpy(x, -1, p.Center)
	}
	sum := kernel.Sum(x)
	return 1 + float64(2*p.weight()*(linalg.Dot(x, x)-float64(sum*sum)/float64(len(x))))
}

// weight is 1/(2 σ² m).
func (p Prior) weight() float64 { return 1 / (2 * p.Deviation * p.Deviation * p.Rows) }

// add builds f with the prior of x.
func (p Prior) add(f, x *ad.Node) *ad.Node {
	if p.Deviation == 0 {
		return f
	}
	if p.Center != nil {
		x = ad.Sub(x, ad.NewConst(x, "center", len(p.Center), 0, p.Center))
	}
	n := float64(x.Shape()[0])
	apart := ad.Sub(ad.Dot(x, x), ad.Scale(1/n, ad.Square(ad.SumAll(x))))
	term := ad.Scale(p.weight(), apart)
	if p.Residuals {
		term = ad.Mul(ad.Scale(2, f), term)
	}
	return ad.Add(f, term)
}
