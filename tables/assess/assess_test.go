package assess

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestAUC: the area under the curve is how often a pair of examples is in the right order.
func TestAUC(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	const n = 400
	c, p, class := NewClasses(2), make([]float64, n), make([]int, n)
	for e := range n {
		class[e] = r.IntN(2)
		p[e] = 1 / (1 + math.Exp(-r.NormFloat64()-float64(2*class[e]-1)))
		c.Add([]float64{1 - p[e], p[e]}, class[e])
	}
	pairs, right := 0.0, 0.0
	for a := range n {
		for b := range n {
			if class[a] == 1 && class[b] == 0 {
				pairs++
				if p[a] > p[b] {
					right++
				}
			}
		}
	}
	// Pairs within a bin count half: at most their share of all pairs is wrong, about 1/Bins times
	// the density.
	if auc, want := c.AUC(1), right/pairs; math.Abs(auc-want) > 1.0/Bins {
		t.Errorf("area %.4f, by pairs %.4f", auc, want)
	}
	if a, b := c.AUC(0), c.AUC(1); math.Abs(a-b) > 1.0/Bins {
		t.Errorf("areas of two classes %.4f and %.4f, which must be alike", a, b)
	}
}

// TestSums: counts of two sites add up to the counts of one site with all examples.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	all, parts := NewResiduals(5, 2), []*Residuals{NewResiduals(5, 2), NewResiduals(5, 2)}
	for e := range 100 {
		predicted, truth := 5+2*r.NormFloat64(), 5+30*r.NormFloat64()
		all.Add(predicted, truth)
		parts[e%2].Add(predicted, truth)
	}
	for i, v := range all.Numbers() {
		if got := parts[0].Numbers()[i] + parts[1].Numbers()[i]; math.Abs(got-v) > 1e-12*math.Abs(v) {
			t.Errorf("number %d: %g, want %g", i, got, v)
		}
	}
}

func TestResiduals(t *testing.T) {
	r := NewResiduals(10, 2)
	for _, e := range []struct{ predicted, truth float64 }{{10.1, 11.1}, {10.1, 9.1}, {14.1, 14.1}, {1e300, -1e300}} {
		r.Add(e.predicted, e.truth)
	}
	residual, share := r.Histogram()
	total := 0.0
	for i := range residual {
		total += share[i]
	}
	if math.Abs(total-1) > 1e-12 {
		t.Errorf("shares add up to %g", total)
	}
	predicted, mean, size := r.ByPrediction()
	if len(predicted) != 3 || math.Abs(mean[0]) > 1e-12 || math.Abs(size[0]-1) > 1e-12 {
		t.Errorf("predictions around %v have residuals of mean %v and size %v", predicted, mean, size)
	}
}

func ExampleClasses() {
	sites := []*Classes{NewClasses(2), NewClasses(2)}
	sites[0].Add([]float64{.9, .1}, 0)
	sites[0].Add([]float64{.4, .6}, 1)
	sites[1].Add([]float64{.3, .7}, 0) // wrong
	sites[1].Add([]float64{.2, .8}, 1)
	all := NewClasses(2)
	for i := range all.Numbers() {
		all.Numbers()[i] = sites[0].Numbers()[i] + sites[1].Numbers()[i]
	}
	fmt.Println(all.AUC(1))
	// Output: 0.75
}
