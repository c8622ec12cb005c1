package algo

import (
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// TestMostImproving: the process goes where losses promise most: beyond the better of two ends,
// into the gap beside the least loss, and away from a loss that is not finite.
func TestMostImproving(t *testing.T) {
	for _, c := range []struct {
		name       string
		at, losses []float64
		low, high  float64
	}{
		{"a fall to the right", []float64{0, 0.2, 0.4}, []float64{3, 2, 1}, 0.45, 1},
		{"a fall to the left", []float64{0.6, 0.8, 1}, []float64{1, 2, 3}, 0, 0.55},
		{"a valley", []float64{0, 0.3, 0.45, 0.75, 1}, []float64{4, 1, 1.01, 3, 4}, 0.3, 0.5},
		{"infinite at the right", []float64{0.3, 0.7}, []float64{1, math.Inf(1)}, 0, 0.45},
		{"a fall farther right", []float64{0, 0.2, 0.4, 0.7}, []float64{4, 3, 2, 1}, 0.55, 0.75},
		{"no number at the right", []float64{0.3, 0.7}, []float64{1, math.NaN()}, 0, 0.45},
	} {
		p := newProcess(len(c.at))
		copy(p.at, c.at)
		copy(p.losses, c.losses)
		if got := p.mostImproving(len(c.at)); !(got >= c.low && got <= c.high) {
			t.Errorf("%s: %g, want from %g to %g", c.name, got, c.low, c.high)
		}
	}
}

// TestLike: losses at places a length apart are alike by e^−½.
func TestLike(t *testing.T) {
	if got := like(0.1, 0.1+processLength); !(math.Abs(got-math.Exp(-.5)) <= 1e-12) {
		t.Errorf("%g, want e^−½", got)
	}
}

// TestExpectedImprovement: the mean of max(0, Z), by Simpson's rule on 2,000 parts of at most 16
// deviations, whose error is below 1e-9.
func TestExpectedImprovement(t *testing.T) {
	for _, c := range [][2]float64{{0, 1}, {1, 0.5}, {-2, 1}, {0.3, 2}} {
		mean, deviation := c[0], c[1]
		sum, low := 0.0, max(0, mean-8*deviation)
		h := (mean + 8*deviation - low) / 2000
		for i := range 2001 {
			z := low + float64(i)*h
			weight := []float64{2, 4}[i%2]
			if i == 0 || i == 2000 {
				weight = 1
			}
			u := (z - mean) / deviation
			sum += weight * z * math.Exp(-u*u/2) / (deviation * math.Sqrt(2*math.Pi)) * h / 3
		}
		if got := expectedImprovement(mean, deviation); !(math.Abs(got-sum) < 1e-8) {
			t.Errorf("mean %g, deviation %g: %g, want %g", mean, deviation, got, sum)
		}
	}
	if got := expectedImprovement(-1, 0); got != 0 {
		t.Errorf("a certain loss: %g, want 0", got)
	}
	if got := expectedImprovement(2, 0); got != 2 {
		t.Errorf("a certain gain: %g, want 2", got)
	}
}

// TestProposals: iteration 0 tries the x that was set, a grid's constants are in the middle of even
// parts of the box, and draws lie in it and differ by seed, iteration and, with Each, entry.
func TestProposals(t *testing.T) {
	make := func(s Search) *Search {
		testkit.OK(s.Init(3, 2, 5))
		copy(s.x, []float64{1, 2, 3})
		return &s
	}
	x := []float64{0, 0, 0}
	grid := make(Search{Rule: "grid", Clip: []float64{-4, 4}})
	for k, want := range [][]float64{{1, 2, 3}, {-3, -3, -3}, {-1, -1, -1}, {1, 1, 1}, {3, 3, 3}} {
		if grid.propose(k, x); !slices.Equal(x, want) {
			t.Errorf("grid, iteration %d: %v, want %v", k, x, want)
		}
	}
	// after one loss the process goes to where it knows the least, and then beside the lesser one
	bayes := make(Search{Rule: "bayes", Clip: []float64{-4, 4}})
	for k, want := range [][2]float64{{2, 2}, {-4, -4}, {-4, 0}} {
		bayes.propose(k, x)
		bayes.found[k] = float64(3 - k)
		if got := bayes.tried[k]; !(got >= want[0] && got <= want[1]) {
			t.Errorf("bayes, iteration %d: %v, want from %g to %g", k, got, want[0], want[1])
		}
	}
	var seen []float64
	for seed := range 3 {
		each := make(Search{Each: true, Seed: seed, Clip: []float64{2, 3}})
		for k := 1; k < 5; k++ {
			each.propose(k, x)
			for _, v := range x {
				if !(v >= 2 && v <= 3) || slices.Contains(seen, v) {
					t.Errorf("seed %d, iteration %d: %v, after %v", seed, k, x, seen)
				}
				seen = append(seen, v)
			}
		}
	}
}

// TestSearchRefuses: what a rule cannot do is refused by the parameter's name.
func TestSearchRefuses(t *testing.T) {
	err := (&Search{Rule: "grid", Each: true}).Init(2, 2, 5)
	testkit.WantError(t, "each of a grid", err, dsbo.ErrConfig, "each must be false, but with rule random")
	err = (&Search{Rule: "bayes"}).Init(2, 2, 501)
	testkit.WantError(t, "a long search", err, dsbo.ErrConfig, "K must be at most 500 with rule bayes; it is 501")
}

// TestStandardize: what is not finite counts as the largest, wherever that is.
func TestStandardize(t *testing.T) {
	f := []float64{9, 1, math.Inf(1), 2, math.NaN()}
	least := standardize(f)
	if f[2] != f[0] || f[4] != f[0] || least != f[1] || !(math.Abs(mean(f)) < 1e-15) {
		t.Errorf("losses become %v, the least of them %g", f, least)
	}
	if least := standardize([]float64{math.NaN()}); least != 0 {
		t.Errorf("no finite loss: %g, want 0", least)
	}
}
