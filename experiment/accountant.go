package experiment

import (
	"math"

	"dsbo"
	"dsbo/internal/num"
)

// A Budget bounds what all answers of a run together reveal of one example: for neighbouring data,
// no event's probability is above e^Epsilon times the other's, plus Delta.
type Budget struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Check returns an error that matches [dsbo.ErrConfig] unless Epsilon is positive and finite and 0
// < Delta < 1.
func (b Budget) Check() error {
	switch {
	case !(b.Epsilon > 0 && b.Epsilon <= math.MaxFloat64):
		return dsbo.ConfigErrorf("ε must be positive; it is %g", b.Epsilon)
	case !(b.Delta > 0 && b.Delta < 1):
		return dsbo.ConfigErrorf("δ must be above 0 and below 1; it is %g", b.Delta)
	}
	return nil
}

// An accountant adds up Gaussian answers in Rényi divergence. The zero value has none.
type accountant struct {
	rate float64 // Rényi divergence of all answers at order α, divided by α: Σ 1/(2σ²)
}

// Add counts n answers with noise of deviation multiplier times their sensitivity.
func (a *accountant) Add(multiplier float64, answers int) {
	a.rate += float64(float64(answers) / (2 * multiplier * multiplier))
}

// Divergence returns a bound of the Rényi divergence of order alpha > 1 between all answers on
// neighbouring data.
func (a accountant) Divergence(alpha float64) float64 { return float64(alpha * a.rate) }

// Epsilon returns the least ε for which the answers are (ε, δ)-differentially private by Rényi
// divergence:
//
//	ε = inf_{α>1}  D(α) + log(1 − 1/α) + (log(1/δ) − log α)/(α − 1)
//
// (Canonne, Kamath, Steinke 2020, proposition 12; Balle et al. 2020, theorem 21), and never more
// than the D(α) + log(1/δ)/(α − 1) of Mironov 2017, proposition 3, which [Accountant.Classic] has
// in closed form. 0 without answers.
func (a accountant) Epsilon(delta float64) float64 {
	if a.rate == 0 {
		return 0
	}
	bound := func(t float64) float64 { // at order α = 1 + e^t
		beyond := num.Exp(t) // α − 1
		alpha := 1 + beyond
		// log(1 − 1/α) = t − log α
		return a.Divergence(alpha) + t - num.Log(alpha) + (num.Log(1/delta)-num.Log(alpha))/beyond
	}
	// The classic bound is least at α − 1 = √(log(1/δ)/rate); the least of this one is near, and
	// the function is unimodal there.
	middle := float64(num.Log(num.Log(1/delta)/a.rate) / 2)
	return max(0, min(bound(argmin(bound, middle-5, middle+5)), a.Classic(delta)))
}

// Classic returns the ε of Mironov's conversion at the best order: rate + 2√(rate log(1/δ)).
func (a accountant) Classic(delta float64) float64 {
	return a.rate + float64(2*math.Sqrt(a.rate*num.Log(1/delta)))
}

// argmin returns where a function is least between two points, by golden sections.
func argmin(f func(float64) float64, lo, hi float64) float64 {
	const golden = 0.6180339887498949
	a, b := hi-float64(golden*(hi-lo)), lo+float64(golden*(hi-lo))
	fa, fb := f(a), f(b)
	for range 100 { // to 1e-20 of the length
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - float64(golden*(hi-lo))
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + float64(golden*(hi-lo))
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}

// noiseMultiplier returns the least deviation of noise, in sensitivities, with which n answers keep
// a budget. It errs on the safe side, by less than 1e-9 of it. The budget must be checked; answers
// must be at least 1.
func noiseMultiplier(b Budget, answers int) float64 {
	kept := func(multiplier float64) bool {
		var a accountant
		a.Add(multiplier, answers)
		return a.Epsilon(b.Delta) <= b.Epsilon
	}
	lo, hi := 1e-6, 1.0
	for !kept(hi) {
		lo, hi = hi, float64(2*hi)
	}
	for hi-lo > 1e-9*hi {
		if middle := float64((lo + hi) / 2); kept(middle) {
			hi = middle
		} else {
			lo = middle
		}
	}
	return hi
}
