package assess

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func threeOf(a, b, c []float64) [][]float64 { return [][]float64{a, b, c} }

// TestWeightsAreRepetitions: an example that stands for k rows is k examples, in each measure with
// its interval and in each curve. Sums differ by their order alone, some 100 units of rounding.
func TestWeightsAreRepetitions(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	classes, residuals, counts := [2]*Classes{}, [2]*Residuals{}, [2]*Counts{}
	for k := range classes {
		classes[k], residuals[k], counts[k] = NewClasses(3), NewResiduals(2, 1.5), NewCounts(2)
	}
	type example struct {
		p         []float64
		predicted float64
		class     int
		rows      float64
	}
	var all []example
	for range 90 {
		a, b := r.Float64()/2, r.Float64()/2
		all = append(all, example{[]float64{a, b, 1 - a - b}, .5 + 4*r.Float64(), r.IntN(3), float64(1 + r.IntN(5))})
	}
	for pass := range 3 {
		add := func(k int, e example, rows float64) {
			truth := float64(3 * e.class)
			if pass < 2 {
				[]func([]float64, int, float64){classes[k].Add, classes[k].AddError}[pass](e.p, e.class, rows)
			}
			[]func(_, _, _ float64){residuals[k].Add, residuals[k].AddError, residuals[k].AddTrained}[pass](
				e.predicted, truth, rows)
			[]func(_, _, _ float64){counts[k].Add, counts[k].AddError, counts[k].AddTrained}[pass](
				e.predicted, truth, rows)
		}
		for _, e := range all {
			add(0, e, e.rows)
			for range int(e.rows) {
				add(1, e, 1)
			}
		}
	}
	list := func(values ...float64) []float64 { return values }
	ends := func(i Interval) []float64 { return list(i.Value, i.Low, i.High) }
	for name, of := range map[string]func(k int) []float64{
		"examples":   func(k int) []float64 { return list(classes[k].Examples(), residuals[k].examples()) },
		"accuracy":   func(k int) []float64 { return ends(classes[k].Accuracy()) },
		"recall":     func(k int) []float64 { return ends(classes[k].Recall(1)) },
		"precision":  func(k int) []float64 { return ends(classes[k].Precision(1)) },
		"AUROC":      func(k int) []float64 { return ends(classes[k].AUC(1)) },
		"AUPRC":      func(k int) []float64 { return ends(classes[k].AveragePrecision(1)) },
		"Brier":      func(k int) []float64 { return ends(classes[k].Brier()) },
		"confusion":  func(k int) []float64 { return classes[k].Confusion()[2] },
		"threshold":  func(k int) []float64 { return list(classes[k].Threshold(1, 3)) },
		"ROC":        func(k int) []float64 { wrong, right := classes[k].ROC(0); return append(wrong, right...) },
		"calibrated": func(k int) []float64 { p, o := classes[k].Calibration(0, 5); return append(p, o...) },
		"MAE":        func(k int) []float64 { return append(ends(residuals[k].MAE()), ends(counts[k].MAE())...) },
		"RMSE":       func(k int) []float64 { return append(ends(residuals[k].RMSE()), ends(counts[k].RMSE())...) },
		"R²":         func(k int) []float64 { return ends(residuals[k].Explained()) },
		"histogram":  func(k int) []float64 { _, share := residuals[k].Histogram(); return share },
		"predicted":  func(k int) []float64 { return slices.Concat(threeOf(residuals[k].ByPrediction())...) },
		"deviance":   func(k int) []float64 { return ends(counts[k].Deviance()) },
		"explained":  func(k int) []float64 { return ends(counts[k].Explained()) },
		"mean count": func(k int) []float64 { p, truth := counts[k].ByPrediction(); return append(p, truth...) },
	} {
		weighted, repeated := of(0), of(1)
		if len(weighted) != len(repeated) {
			t.Errorf("%s: %d numbers, want %d", name, len(weighted), len(repeated))
			continue
		}
		for k, want := range repeated {
			if got := weighted[k]; !(math.Abs(got-want) <= 1e-11*max(1, math.Abs(want))) && got == got {
				t.Errorf("%s: number %d is %g, of repeated rows %g", name, k, got, want)
			}
		}
	}
}
