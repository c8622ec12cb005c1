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

// divergenceRate returns the Rényi divergence of a number of answers at order α, divided by α, for
// noise of deviation multiplier times their sensitivity: Σ 1/(2σ²), the same for all α. Rates of
// further answers are added to it.
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
		beyond := num.Exp(t) // α − 1
		alpha := 1 + beyond
		// log(1 − 1/α) = t − log α
		return float64(alpha*rate) + t - num.Log(alpha) + (num.Log(1/delta)-num.Log(alpha))/beyond
	}
	// The classic bound is least at α − 1 = √(log(1/δ)/rate); the least of this one is near, and
	// the function is unimodal there.
	middle := float64(num.Log(num.Log(1/delta)/rate) / 2)
	return max(0, min(bound(argmin(bound, middle-5, middle+5)), classicEpsilon(rate, delta)))
}

// classicEpsilon returns the ε of the bound D(α) + log(1/δ)/(α − 1) of Mironov 2017, proposition 3,
// at its best order: rate + 2√(rate log(1/δ)).
func classicEpsilon(rate, delta float64) float64 {
	return rate + float64(2*math.Sqrt(rate*num.Log(1/delta)))
}

// argmin returns where a unimodal function is least between two points, by golden sections: of the
// four points lo < a < b < hi the one beyond the larger inner value is left out, and the other
// inner one serves once more.
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
		return epsilonOf(divergenceRate(multiplier, answers), b.Delta) <= b.Epsilon
	}
	lo, hi := 1e-6, 1.0 // a millionth keeps budgets alone that are none: the result is never below it
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
