package experiment

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/algo/algotest"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/train"
)

// A still is an oracle whose answers are all zeros but for what it is asked to tell without noise.
type still struct{ p, q int }

func (still) Capabilities() *dsbo.OracleCapabilities { return nil }

func (s still) Dims() (p, q int) { return s.p, s.q }

func (still) UpperGrad(dx, dy, _, _ []float64, _ dsbo.Sample) error {
	clear(dx)
	clear(dy)
	return nil
}
func (still) LowerGrad(dst, _, _ []float64, _ dsbo.Sample) error { clear(dst); return nil }
func (still) HVP(dst, _, _, _ []float64, _ dsbo.Sample) error    { clear(dst); return nil }
func (still) JVP(dst, _, _, _ []float64, _ dsbo.Sample) error    { clear(dst); return nil }

// covered returns the noisy oracle of a still one, whose file is in a folder.
func covered(t *testing.T, folder string, q int, terms privacyTerms) *privateOracle {
	return coveredRows(t, folder, q, terms, "rows")
}

// coveredRows is covered for other rows.
func coveredRows(t *testing.T, folder string, q int, terms privacyTerms, rows string) *privateOracle {
	l := testkit.Get(openNoiseLedger(filepath.Join(folder, "noise")))
	t.Cleanup(func() { l.file.Close() })
	return testkit.Get(newPrivateOracle(still{2, q}, rowBound{Gradient: 0.02, Product: 0.01},
		rowBound{Gradient: 0.04}, &curator{terms, l, rows}))
}

// deviation is the root mean square of numbers.
func deviation(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum / float64(len(v)))
}

// TestNoiseFitsTheSensitivity: each answer has the deviation that the accountant counts with, times
// what one row can move it.
func TestNoiseFitsTheSensitivity(t *testing.T) {
	const q = 4000
	terms := newPrivacyTerms(Budget{Epsilon: 2, Delta: 1e-6}, [3]int{10, 3, 0})
	o := covered(t, t.TempDir(), q, terms)
	x, y, v, got := make([]float64, 2), make([]float64, q), make([]float64, q), make([]float64, q)
	v[0] = 3
	for _, c := range []struct {
		name string
		ask  func() error
		want float64
	}{
		{"gradient of f", func() error { return o.UpperGrad(nil, got, x, y, dsbo.Sample{}) },
			0.04 * terms.Multipliers[validationRows]},
		{"gradient of g", func() error { return o.LowerGrad(got, x, y, dsbo.Sample{}) },
			0.02 * terms.Multipliers[trainingRows]},
		{"product", func() error { return o.HVP(got, x, y, v, dsbo.Sample{}) },
			0.03 * terms.Multipliers[trainingRows]},
	} {
		testkit.OK(c.ask())
		// The deviation of q normal numbers is itself off by 1/√(2q) of it; the grid and the margin
		// add less than that.
		if off := deviation(got)/c.want - 1; math.Abs(off) > 5/math.Sqrt(2*q) {
			t.Errorf("%s: noise is %.3g of what it should be, off", c.name, off)
		}
	}
	if testkit.OK(o.HVP(got, x, y, x[:0:0], dsbo.Sample{})); deviation(got) != 0 {
		t.Error("a product with 0 tells nothing and must be 0")
	}
	if testkit.OK(o.JVP(x, x, y, v, dsbo.Sample{})); deviation(x) != 0 {
		t.Error("products with a penalty's Jacobian must be without noise")
	}
}

// TestOneQuestionHasOneAnswer: whoever asks again learns nothing more, and spends nothing.
func TestOneQuestionHasOneAnswer(t *testing.T) {
	terms := newPrivacyTerms(Budget{Epsilon: 1, Delta: 1e-6}, [3]int{2, 1, 0})
	o := covered(t, t.TempDir(), 5, terms)
	x, y, first, again := make([]float64, 2), make([]float64, 5), make([]float64, 5), make([]float64, 5)
	testkit.OK(o.LowerGrad(first, x, y, dsbo.Sample{Set: dsbo.Lower, K: 1}))
	testkit.OK(o.LowerGrad(again, x, y, dsbo.Sample{Set: dsbo.Lower, K: 2}))
	if !slices.Equal(first, again) {
		t.Errorf("%v and then %v", first, again)
	}
	y[0] = 1
	testkit.OK(o.LowerGrad(again, x, y, dsbo.Sample{}))
	y[0] = 2
	if err := o.LowerGrad(again, x, y, dsbo.Sample{}); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a third answer of two: error %v", err)
	}
}

// TestOtherRowsHaveOtherNoise: the difference of two answers to one question would else be the
// difference of the rows alone.
func TestOtherRowsHaveOtherNoise(t *testing.T) {
	const q = 5
	terms := newPrivacyTerms(Budget{Epsilon: 1, Delta: 1e-6}, [3]int{2, 1, 0})
	folder, answers := t.TempDir(), [2][]float64{}
	for k, rows := range []string{"rows", "rows, and one more"} {
		answers[k] = make([]float64, q)
		testkit.OK(coveredRows(t, folder, q, terms, rows).LowerGrad(answers[k], make([]float64, 2),
			make([]float64, q), dsbo.Sample{}))
	}
	if slices.Equal(answers[0], answers[1]) {
		t.Errorf("both answers are %v", answers[0])
	}
}

// TestAnswersThatTheGridCannotHold are refused, not given with less noise.
func TestAnswersThatTheGridCannotHold(t *testing.T) {
	const q = 10_000
	terms := newPrivacyTerms(Budget{Epsilon: 1e-3, Delta: 1e-9}, [3]int{10, 0, 0})
	o := covered(t, t.TempDir(), q, terms)
	got := make([]float64, q)
	if err := o.LowerGrad(got, make([]float64, 2), got, dsbo.Sample{}); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("error %v, want one that matches ErrConfig", err)
	}
}

var budgets = []Budget{{0.1, 1e-6}, {1, 1e-5}, {3, 1e-5}, {8, 1e-3}, {50, 1e-9}}

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
			rate := divergenceRate(sigma, answers)
			for _, b := range budgets {
				best := math.Inf(1)
				for order := 1 + 1e-4; order < 1e7; order *= 1 + 2e-4 {
					best = min(best, order*rate+math.Log(1/b.Delta)/(order-1))
				}
				T := float64(answers)
				closed := T/(2*sigma*sigma) + math.Sqrt(2*T*math.Log(1/b.Delta))/sigma
				// Between two orders of the grid the second-order error is (2e-4)² of ε at most.
				if got := classicEpsilon(rate, b.Delta); math.Abs(got-closed) > 1e-12*closed ||
					math.Abs(got-best) > 1e-6*closed {
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
			rate, best := divergenceRate(sigma, 60), math.Inf(1)
			for order := 1 + 1e-4; order < 1e7; order *= 1 + 2e-4 {
				best = min(best, order*rate+math.Log1p(-1/order)+
					(math.Log(1/b.Delta)-math.Log(order))/(order-1))
			}
			if got := epsilonOf(rate, b.Delta); math.Abs(got-best) > 1e-6*max(1, best) {
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
			sigma := noiseMultiplier(b, answers)
			rate := divergenceRate(sigma, answers)
			epsilon := epsilonOf(rate, b.Delta)
			if epsilon > b.Epsilon || epsilon < b.Epsilon*(1-1e-6) {
				t.Errorf("%+v, %d answers: σ = %g spends ε = %g", b, answers, sigma, epsilon)
			}
			if c := classicEpsilon(rate, b.Delta); epsilon > c {
				t.Errorf("%+v, %d answers: ε = %g is above the classic %g", b, answers, epsilon, c)
			}
			if d := exactDelta(epsilon, sigma, answers); !(d <= b.Delta) || d < b.Delta/100 {
				t.Errorf("%+v, %d answers: at σ = %g the exact δ is %g", b, answers, sigma, d)
			}
		}
	}
}

// TestAnswersAddUp: sixty answers of one multiplier are as many in two parts, and one of a
// multiplier smaller by √60.
func TestAnswersAddUp(t *testing.T) {
	w, p, o := epsilonOf(divergenceRate(5, 60), 1e-5), epsilonOf(divergenceRate(5, 20)+divergenceRate(5, 40), 1e-5),
		epsilonOf(divergenceRate(5/math.Sqrt(60), 1), 1e-5)
	if math.Abs(w-p) > 1e-12 || math.Abs(w-o) > 1e-12 {
		t.Errorf("ε = %g at once, %g in parts, %g as one", w, p, o)
	}
}

func TestBudgetsThatCannotBe(t *testing.T) {
	for _, b := range []Budget{{0, 1e-5}, {-1, 1e-5}, {math.Inf(1), 1e-5}, {math.NaN(), 1e-5}, {1, 0},
		{1, 1}, {1, math.NaN()}} {
		if err := b.Check(); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%+v: error %v, want one that matches ErrConfig", b, err)
		}
	}
	testkit.OK(Budget{math.MaxFloat64, .999}.Check())
}

// TestOraclePassesOn: noise is on what is passed on; values, diagonals, matrices and batches, whose
// answers would tell of rows, are not.
func TestOraclePassesOn(t *testing.T) {
	algotest.CheckCapabilities(t, func(o dsbo.Oracle) dsbo.Oracle {
		l := testkit.Get(openNoiseLedger(filepath.Join(t.TempDir(), "noise")))
		t.Cleanup(func() { l.file.Close() })
		terms := newPrivacyTerms(Budget{Epsilon: 2, Delta: 1e-6}, [3]int{10, 3, 0})
		return testkit.Get(newPrivateOracle(o, rowBound{Gradient: 1, Product: 1},
			rowBound{Gradient: 1},
			&curator{terms, l, "rows"}))
	}, "Values", "Batch", "Hessian", "Jacobian", "Diagonal", "GaussNewton")
}

// TestEntriesRunWild: an entry beyond what the grid can count is cut off at 2^51 units to either
// side, and one within it is not.
func TestEntriesRunWild(t *testing.T) {
	l := testkit.Get(openNoiseLedger(filepath.Join(t.TempDir(), "noise")))
	t.Cleanup(func() { l.file.Close() })
	c := &curator{newPrivacyTerms(Budget{8, 1e-3}, [3]int{1, 1, 1}), l, "rows"}
	dst := []float64{1e300, -1e300, math.Inf(1), math.Inf(-1), 1000, -1000}
	grid := testkit.Get(gridOf(c.terms.Multipliers[0]*(1+margin), 1, len(dst)))
	testkit.OK(c.AddNoise(dst, 0, 1, "gradient"))
	noise := 20 * float64(1<<gridBits) * grid // 20 deviations
	for i, want := range []float64{1 << 51, -1 << 51, 1 << 51, -1 << 51, 1000 / grid, -1000 / grid} {
		if !(math.Abs(dst[i]-want*grid) <= noise) {
			t.Errorf("entry %d is %g, want %g", i, dst[i], want*grid)
		}
	}
}

// TestGuarded: a score's losses are cut to 8, of which noise is a share, and a Hessian's bound is
// the losses' with the largest penalty.
func TestGuarded(t *testing.T) {
	const n, y = 4000, 100.
	x := testkit.Get(ad.FloatTable(n, 1, slices.Repeat([]float64{1}, n)))
	m := models.Logistic{Features: 1, Mean: true}
	g := &guard{curve: 2, scores: map[int]*models.Score{0: testkit.Get(models.NewScore(m, data.Examples{X: x,
		Target: testkit.Get(ad.FloatTable(n, 1, append(slices.Repeat([]float64{-1}, n/2),
			slices.Repeat([]float64{1}, n/2)...)))}, false))}}
	l := testkit.Get(openNoiseLedger(filepath.Join(t.TempDir(), "noise")))
	t.Cleanup(func() { l.file.Close() })
	c := &curator{newPrivacyTerms(Budget{8, 1e-3}, [3]int{1, 1, 1}), l, "rows"}
	// half the rows have losses of 0 and 100; a share of noise is below .001
	if s := testkit.Get(g.score(0, train.Fit{X: []float64{0}, Y: []float64{y}}, c)).Test; s.Rows != n ||
		!(math.Abs(s.Losses/n-4) <= .05) || !(math.Abs(s.Right/n-.5) <= .01) {
		t.Errorf("%+v", s)
	}
	if got := testkit.Get(g.curvature(penalized{high: 3}, []float64{1})); got != 5 {
		t.Errorf("a curvature of %g", got)
	}
}
