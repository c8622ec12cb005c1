package privacy_test

import (
	"errors"
	"math"
	"testing"

	"dsbo"
	"dsbo/experiment/privacy"
)

var budgets = []privacy.Budget{{0.1, 1e-6}, {1, 1e-5}, {3, 1e-5}, {8, 1e-3}, {50, 1e-9}}

// exactDelta returns the least δ for which T answers with noise σ are (ε, δ)-private, with nothing
// lost: T Gaussian answers are one of multiplier σ/√T (Dong, Roth, Su 2019), whose δ is
// Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), μ = √T/σ (Balle, Wang 2018, theorem 8).
func exactDelta(epsilon, sigma float64, answers int) float64 {
	mu := math.Sqrt(float64(answers)) / sigma
	normal := func(t float64) float64 { return math.Erfc(-t/math.Sqrt2) / 2 }
	return normal(mu/2-epsilon/mu) - math.Exp(epsilon)*normal(-mu/2-epsilon/mu)
}

// TestClassicIsTheLeastOverOrders compares the closed form at the best order with Mironov's bound
// at all of them.
func TestClassicIsTheLeastOverOrders(t *testing.T) {
	for _, sigma := range []float64{0.7, 3, 40} {
		for _, answers := range []int{1, 60, 1000} {
			var a privacy.Accountant
			a.Add(sigma, answers)
			for _, b := range budgets {
				best := math.Inf(1)
				for order := 1 + 1e-4; order < 1e7; order *= 1 + 2e-4 {
					best = min(best, a.Divergence(order)+math.Log(1/b.Delta)/(order-1))
				}
				T := float64(answers)
				closed := T/(2*sigma*sigma) + math.Sqrt(2*T*math.Log(1/b.Delta))/sigma
				// Between two orders of the grid the second-order error is (2e-4)² of ε at most.
				if got := a.Classic(b.Delta); math.Abs(got-closed) > 1e-12*closed || math.Abs(got-best) > 1e-6*closed {
					t.Errorf("σ = %g, %d answers, δ = %g: ε = %g, want %g in closed form, %g over orders", sigma,
						answers, b.Delta, got, closed, best)
				}
			}
		}
	}
}

// TestEpsilonIsTheLeastOverOrders compares golden sections with a walk over all orders.
func TestEpsilonIsTheLeastOverOrders(t *testing.T) {
	for _, sigma := range []float64{0.7, 3, 40} {
		for _, b := range budgets {
			var a privacy.Accountant
			a.Add(sigma, 60)
			best := math.Inf(1)
			for order := 1 + 1e-4; order < 1e7; order *= 1 + 2e-4 {
				best = min(best, a.Divergence(order)+math.Log1p(-1/order)+
					(math.Log(1/b.Delta)-math.Log(order))/(order-1))
			}
			if got := a.Epsilon(b.Delta); math.Abs(got-best) > 1e-6*max(1, best) {
				t.Errorf("σ = %g, δ = %g: ε = %g, want %g", sigma, b.Delta, got, best)
			}
		}
	}
}

// TestEpsilonIsBetweenExactAndClassic: no accountant may promise more than is true, and the better
// conversion is the better one.
func TestEpsilonIsBetweenExactAndClassic(t *testing.T) {
	for _, b := range budgets {
		for _, answers := range []int{1, 20, 500} {
			sigma := privacy.Multiplier(b, answers)
			var a privacy.Accountant
			a.Add(sigma, answers)
			epsilon := a.Epsilon(b.Delta)
			if epsilon > b.Epsilon || epsilon < b.Epsilon*(1-1e-6) {
				t.Errorf("%+v, %d answers: σ = %g spends ε = %g", b, answers, sigma, epsilon)
			}
			if c := a.Classic(b.Delta); epsilon > c {
				t.Errorf("%+v, %d answers: ε = %g is above the classic %g", b, answers, epsilon, c)
			}
			if d := exactDelta(epsilon, sigma, answers); !(d <= b.Delta) || d < b.Delta/100 {
				t.Errorf("%+v, %d answers: at σ = %g the exact δ is %g", b, answers, sigma, d)
			}
		}
	}
}

func TestNoAnswersTellNothing(t *testing.T) {
	if e := new(privacy.Accountant).Epsilon(1e-5); e != 0 {
		t.Errorf("ε = %g without answers", e)
	}
}

// TestAnswersAddUp: sixty answers of one multiplier are as many in two parts, and one of a
// multiplier smaller by √60.
func TestAnswersAddUp(t *testing.T) {
	var whole, parts, one privacy.Accountant
	whole.Add(5, 60)
	parts.Add(5, 20)
	parts.Add(5, 40)
	one.Add(5/math.Sqrt(60), 1)
	if w, p, o := whole.Epsilon(1e-5), parts.Epsilon(1e-5), one.Epsilon(1e-5); math.Abs(w-p) > 1e-12 ||
		math.Abs(w-o) > 1e-12 {
		t.Errorf("ε = %g at once, %g in parts, %g as one", w, p, o)
	}
}

func TestBudgetsThatCannotBe(t *testing.T) {
	for _, b := range []privacy.Budget{{0, 1e-5}, {-1, 1e-5}, {math.Inf(1), 1e-5}, {math.NaN(), 1e-5}, {1, 0}, {1, 1},
		{1, math.NaN()}} {
		if err := b.Check(); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%+v: error %v, want one that matches ErrConfig", b, err)
		}
	}
}
