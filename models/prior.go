package models

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A Prior says how far log-penalties are expected to be apart, so that tuning many of them by few
// examples does not fit these examples alone. It adds
//
//	1/(2 σ² m) Σ_r (x_r − x̄)²      with x̄ the mean of x and m = Rows
//
// to f_i: m f_i is then minus the logarithm of a probability, where the losses are, with penalties
// that are normal around a common value. Penalties that are all alike cost nothing, and with many
// examples the term vanishes. Where other rows or fewer numbers have told how penalties differ, x
// counts from there (Center). The zero value adds nothing.
//
// A loss of half of squares v is no such logarithm: it is one in units of the residual variance,
// which nobody knows beforehand. By the best variance, v = 2f at each x, minus the logarithm is
// m/2 log f beside the penalties' term, and to first order in this term as low as
//
//	f_i + f_i · 1/(σ² m) Σ_r (x_r − x̄)²
//
// is by its mean over the agents: the prior of a loss with Residuals.
type Prior struct {
	Deviation float64   // σ, positive and finite; 0: there is no prior
	Rows      float64   // m, validation examples of all agents together
	Residuals bool      // the loss has units, of which the squared residuals are
	Center    []float64 // from which x counts, length p; nil: 0
}

// A Restrained model says by which prior its f keeps x together.
type Restrained interface {
	Restraint() Prior // the zero value: none
}

// Restraint implements [Restrained], as do all that follow.
func (l Linear) Restraint() Prior { return l.Prior }

func (m MLP) Restraint() Prior { return m.Prior }

func (m Folds) Restraint() Prior { return m.Of.Prior }

// check returns an error for settings that cannot work.
func (p Prior) check() error {
	if p.Deviation == 0 && p.Rows == 0 || p.Deviation > 0 && !math.IsInf(p.Deviation, 1) && p.Rows >= 1 {
		return nil
	}
	return dsbo.ConfigErrorf(
		"a prior must have a positive deviation and a number of examples; they are %g and %g", p.Deviation, p.Rows)
}

// Factor returns what the loss is multiplied by at x: 1, but for a loss with Residuals.
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
