package assess

import (
	"fmt"
	"math"
	"testing"
)

func TestResiduals(t *testing.T) {
	r := NewResiduals(10, 2)
	for _, e := range []struct{ predicted, truth float64 }{{10.1, 11.1}, {10.1, 9.1}, {14.1, 14.1}, {1e300, -1e300}} {
		r.Add(e.predicted, e.truth, 1)
	}
	residual, share := r.Histogram()
	total := 0.0
	for i := range residual {
		total += share[i]
	}
	wantNumbers(t, map[string][2]float64{"all shares": {total, 1}, "width of a bin": {residual[31] - residual[30], .2},
		"middle": {residual[30], .1}})
	predicted, mean, size := r.ByPrediction()
	if predicted[0] != 10.25 || predicted[1] != 14.25 { // bins of half a unit, which meet at the mean
		t.Errorf("the middles of bins are %v", predicted)
	}
	if len(predicted) != 3 || !(math.Abs(mean[0]) <= 1e-12) || !(math.Abs(size[0]-1) <= 1e-12) {
		t.Errorf("predictions around %v have residuals of mean %v and size %v", predicted, mean, size)
	}
}

func ExampleClasses() {
	sites := []*Classes{NewClasses(2), NewClasses(2)}
	sites[0].Add([]float64{.9, .1}, 0, 1)
	sites[0].Add([]float64{.4, .6}, 1, 1)
	sites[1].Add([]float64{.3, .7}, 0, 1) // wrong
	sites[1].Add([]float64{.2, .8}, 1, 1)
	all := NewClasses(2)
	for i := range all.Numbers() {
		all.Numbers()[i] = sites[0].Numbers()[i] + sites[1].Numbers()[i]
	}
	fmt.Println(all.AUC(1).Value)
	// Output: 0.75
}

// wantNumbers wants each pair of numbers to be one, but for roundings.
func wantNumbers(t *testing.T, pairs map[string][2]float64) {
	t.Helper()
	for name, pair := range pairs {
		if !(math.Abs(pair[0]-pair[1]) <= 1e-12) {
			t.Errorf("%s: %g, want %g", name, pair[0], pair[1])
		}
	}
}

// TestThresholdOfTies: of thresholds that cost the same the one is taken that right probabilities
// would have, 1/(1 + cost), or what is nearest to it.
func TestThresholdOfTies(t *testing.T) {
	c := NewClasses(2)
	c.Add([]float64{.9, .1}, 0, 1)
	c.Add([]float64{.05, .95}, 1, 1)
	for cost, want := range map[float64]float64{1: .5, 3: .25, 4: .2, .25: .8, 99: .1, .01: .95} {
		if at := c.Threshold(1, cost); !(math.Abs(at-want) <= 2.01/bins) {
			t.Errorf("a missed one costs %g: threshold %g, want %g", cost, at, want)
		}
	}
}

func TestCounts(t *testing.T) {
	c := NewCounts(2)
	c.Add(2, 3, 1)
	c.Add(1, 0, 1)
	deviance := (2*(3*math.Log(1.5)-1) + 2) / 2
	null := 2 * (3*math.Log(3) - 3*math.Log(1.5)) / 2 // of the mean 1.5
	wantNumbers(t, map[string][2]float64{"deviance": {c.Deviance().Value, deviance}, "MAE": {c.MAE().Value, 1},
		"RMSE": {c.RMSE().Value, 1}, "explained": {c.Explained().Value, 1 - deviance/null}})
	c.Add(8, 1, 1)
	wantNumbers(t, map[string][2]float64{"MAE": {c.MAE().Value, 3}, "RMSE": {c.RMSE().Value, math.Sqrt(51. / 3)}})
	c = NewCounts(2)
	c.Add(2, 0, 1)
	if i := c.Explained(); i.Value == i.Value {
		t.Errorf("where all counts are 0 there is nothing to explain; %g is explained", i.Value)
	}
}

// TestCountBins: predicted counts are shown by quarters of their logarithm around the mean's, the
// outermost of 24 with all beyond.
func TestCountBins(t *testing.T) {
	c := NewCounts(2)
	for _, quarter := range []float64{-99, -11.9, -1.9, -1.1, -.1, .1, .9, 1.1, 10.9, 11.1, 99} {
		c.Add(2*math.Exp(quarter/4), 3, 1)
	}
	if predicted, truth := c.ByPrediction(); len(predicted) != 7 || truth[2] != 3 ||
		!(math.Abs(predicted[2]-2*math.Exp(-.1/4)) <= 1e-12) {
		t.Errorf("%d bins, predictions %.3g", len(predicted), predicted)
	}
}

// TestUnits: errors of numbers in their unit.
func TestUnits(t *testing.T) {
	r := NewResiduals(10, 2)
	for _, e := range []struct{ predicted, truth float64 }{{11, 12}, {8, 6}, {9, 9}, {13, 15}} {
		r.Add(e.predicted, e.truth, 1)
	}
	// true numbers around their mean 10.5: squares 2.25, 20.25, 2.25, 20.25
	wantNumbers(t, map[string][2]float64{"RMSE": {r.RMSE().Value, 1.5}, "MAE": {r.MAE().Value, 1.25},
		"R²": {r.Explained().Value, 1 - 9./45}})
}
