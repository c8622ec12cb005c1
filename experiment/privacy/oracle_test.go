package privacy_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"dsbo"
	"dsbo/experiment/privacy"
	"dsbo/internal/testkit"
)

// A still is an oracle whose answers are all zeros but for what it is asked to tell without noise.
type still struct{ p, q int }

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
func covered(t *testing.T, folder string, q int, terms privacy.Terms) *privacy.Oracle {
	return coveredRows(t, folder, q, terms, "rows")
}

// coveredRows is covered for other rows.
func coveredRows(t *testing.T, folder string, q int, terms privacy.Terms, rows string) *privacy.Oracle {
	l := testkit.Get(privacy.OpenLedger(filepath.Join(folder, "noise")))
	t.Cleanup(func() { l.Close() })
	return privacy.NewOracle(still{2, q}, privacy.Bound{Gradient: 0.02, Product: 0.01}, privacy.Bound{Gradient: 0.04},
		privacy.NewCurator(terms, l, rows))
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
	terms := testkit.Get(privacy.NewTerms(privacy.Budget{Epsilon: 2, Delta: 1e-6}, [3]int{10, 3, 0}))
	o := covered(t, t.TempDir(), q, terms)
	x, y, v, got := make([]float64, 2), make([]float64, q), make([]float64, q), make([]float64, q)
	v[0] = 3
	for _, c := range []struct {
		name string
		ask  func() error
		want float64
	}{
		{"gradient of f", func() error { return o.UpperGrad(nil, got, x, y, dsbo.Sample{}) },
			0.04 * terms.Multipliers[privacy.Validation]},
		{"gradient of g", func() error { return o.LowerGrad(got, x, y, dsbo.Sample{}) },
			0.02 * terms.Multipliers[privacy.Training]},
		{"product", func() error { return o.HVP(got, x, y, v, dsbo.Sample{}) },
			0.03 * terms.Multipliers[privacy.Training]},
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
	terms := testkit.Get(privacy.NewTerms(privacy.Budget{Epsilon: 1, Delta: 1e-6}, [3]int{2, 1, 0}))
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
	terms := testkit.Get(privacy.NewTerms(privacy.Budget{Epsilon: 1, Delta: 1e-6}, [3]int{2, 1, 0}))
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
	terms := testkit.Get(privacy.NewTerms(privacy.Budget{Epsilon: 1e-3, Delta: 1e-9}, [3]int{10, 0, 0}))
	o := covered(t, t.TempDir(), q, terms)
	got := make([]float64, q)
	if err := o.LowerGrad(got, make([]float64, 2), got, dsbo.Sample{}); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("error %v, want one that matches ErrConfig", err)
	}
}
