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

// divergenceRate returns D(α)/α, the Rényi divergence of a number of answers divided by its order:
// Σ 1/(2σ²), which is the same for all α. σ, the multiplier, is the deviation of the noise in units
// of the answers' sensitivity. Rates of further answers add up.
func divergenceRate(multiplier float64, answers int) float64 {
	return float64(answers) / (2 * multiplier * multiplier)
}

// epsilonOf returns the least ε for which answers with a positive rate of divergence, D(α)/α, are
// (ε, δ)-differentially private:
//
//	ε = inf_{α>1}  D(α) + log(1 − 1/α) + (log(1/δ) − log α)/(α − 1)
//
// (Canonne, Kamath, Steinke 2020, proposition 12; Balle et al. 2020, theorem 21), and never more
// than classicEpsilon.
func epsilonOf(rate, delta float64) float64 {
	bound := func(t float64) float64 { // at order α = 1 + e^t
		excess := num.Exp(t) // α − 1
		alpha := 1 + excess
		// log(1 − 1/α) = t − log α
		return float64(alpha*rate) + t - num.Log(alpha) + (num.Log(1/delta)-num.Log(alpha))/excess
	}
	// The classic bound has its minimum at α − 1 = √(log(1/δ)/rate). The minimum of this one is
	// near, within a factor of e^5, and the function is unimodal there.
	middle := float64(num.Log(num.Log(1/delta)/rate) / 2)
	return max(0, min(bound(argmin(bound, middle-5, middle+5)), classicEpsilon(rate, delta)))
}

// classicEpsilon returns the ε of the bound D(α) + log(1/δ)/(α − 1) of Mironov 2017, proposition 3,
// at its best order: rate + 2√(rate log(1/δ)).
func classicEpsilon(rate, delta float64) float64 {
	return rate + float64(2*math.Sqrt(rate*num.Log(1/delta)))
}

// argmin returns the minimizer of a unimodal function between lo and hi, by golden-section search.
// Of the points lo < a < b < hi, the end next to the larger inner value is dropped; the other inner
// point is reused, so that each step takes one evaluation.
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

// noiseMultiplier returns the smallest deviation of noise, in units of the sensitivity, with which
// a number of answers, at least 1, keep within a budget. Bisection stops at a relative width of
// 1e-9, with the upper end, so that it errs on the safe side. The budget must have been checked.
func noiseMultiplier(b Budget, answers int) float64 {
	kept := func(multiplier float64) bool {
		return epsilonOf(divergenceRate(multiplier, answers), b.Delta) <= b.Epsilon
	}
	lo, hi := 1e-6, 1.0 // so little noise is only enough for budgets that protect nobody
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
