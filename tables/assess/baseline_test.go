package assess_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo/tables/assess"
)

// ExampleBaseline is a hazard of 0.1 a month up to month 10.
func ExampleBaseline() {
	b := assess.NewBaseline([]float64{0, 10}, []float64{20, 200})
	fmt.Printf("%.3f of mean rows, %.3f of rows with twice their hazard\n", b.Survival(5, 1), b.Survival(5, 2))
	// Output: 0.607 of mean rows, 0.368 of rows with twice their hazard
}

// pooled returns the grid of sites, by the sums that they send.
func pooled(times [][]float64) (grid []float64) {
	sum := func(n int, add func(part, times, rows []float64)) []float64 {
		all := make([]float64, n)
		for _, site := range times {
			part := make([]float64, n)
			add(part, site, slices.Repeat([]float64{1}, len(site)))
			for k, v := range part {
				all[k] += v
			}
		}
		return all
	}
	edges := assess.Bins(sum(len(assess.Ladder()), assess.Beyond))
	counts := sum(assess.BinNumbers, func(part, times, rows []float64) {
		assess.CountBins(part, edges, times, rows)
	})
	return assess.Grid(edges, counts, len(times))
}

// TestLimitsOfGrid: each number of a rule is itself enough, and one less is not; runs of fewer than
// 3 sites need rows of all of them.
func TestLimitsOfGrid(t *testing.T) {
	for _, c := range []struct {
		events, rows, with float64
		sites              int
		joined             bool
	}{
		{5, 10, 3, 4, true}, {4, 10, 3, 4, false}, {5, 9, 3, 4, false}, {5, 10, 2, 4, false}, {5, 10, 2, 2, true},
		{5, 10, 1, 2, false}, {5, 10, 1, 1, true},
	} {
		got := assess.Grid([]float64{0, 1}, []float64{c.events, c.rows, c.with}, c.sites)
		if (len(got) == 2) != c.joined {
			t.Errorf("%+v: the grid is %v", c, got)
		}
	}
	beyond := make([]float64, len(assess.Ladder()))
	assess.Beyond(beyond, []float64{-2, 1.5}, []float64{1, 1})
	if edges := assess.Bins(beyond); len(edges) != 41 || edges[40] != 2 {
		t.Errorf("of times up to 2 the bins are %v; they must be 40 of 0.05", edges)
	}
}

// TestTimesAtEdges: a time at an edge is of the bin that ends there, and 0 of the first one.
func TestTimesAtEdges(t *testing.T) {
	counts := make([]float64, assess.BinNumbers)
	assess.CountBins(counts, []float64{0, 1, 2}, []float64{0, math.Copysign(0, -1), 1, -1, 2},
		[]float64{1, 1, 2, 1, 1})
	if want := []float64{3, 6, 1, 1, 1, 1}; !slices.Equal(counts[:6], want) {
		t.Errorf("events, rows and sites of the bins are %v, want %v", counts[:6], want)
	}
	// a row at 0, one with an event at 0.3 and twice the mean row's hazard, and two that end at 0.6
	grid, times, rows := []float64{0, .4, 1}, []float64{0, .3, -.6}, []float64{1, 1, 2}
	hazards, curve := make([]float64, assess.HazardNumbers), make([]float64, assess.CurveNumbers)
	assess.AddHazard(hazards, grid, times, rows, []float64{1, 2, 1})
	assess.AddCurve(curve, grid, times, rows)
	for k, want := range []float64{2, .3*2 + 2*.4, 0, 2 * .2} {
		if !(math.Abs(hazards[k]-want) <= 1e-15) {
			t.Errorf("events and time at risk are %v; number %d must be %g", hazards[:4], k, want)
		}
	}
	if b := assess.NewBaseline([]float64{0, 1, 3}, []float64{1, 2, 0, 0}); b.Horizon() != 3 ||
		!(math.Abs(b.Survival(3, 1)-math.Exp(-.5)) <= 1e-15) { // nobody is at risk in the last bin
		t.Errorf("up to %g: %g", b.Horizon(), b.Survival(3, 1))
	}
	if c := assess.NewCurve(grid, curve); c.Times[0] != 0 || c.Share[0] != 1 || c.Low[0] != 1 || c.High[0] != 1 {
		t.Errorf("the curve begins at %+v", c)
	}
	if curve[0] != 4 || curve[3] != 2 {
		t.Errorf("at risk are %g and %g rows, want 4 and 2", curve[0], curve[3])
	}
}

// TestBaselineByEvents: survival by the grid is within 0.016 of Breslow's curve of the rows as one
// site, the bound that was measured on its tables.
func TestBaselineByEvents(t *testing.T) {
	for _, name := range []string{"lung", "veteran"} {
		_, sites, ofSites := readPublished(name)
		times, hazards, grid := slices.Concat(sites...), slices.Concat(ofSites...), pooled(sites)
		sums := make([]float64, assess.HazardNumbers)
		assess.AddHazard(sums, grid, times, slices.Repeat([]float64{1}, len(times)), hazards)
		b := assess.NewBaseline(grid, sums)
		if !b.IsValid() {
			t.Errorf("%s: %+v", name, b)
		}
		for _, end := range grid {
			breslow := 0.0
			for _, v := range times {
				risk := 0.0
				for other, u := range times {
					if math.Abs(u) >= v {
						risk += hazards[other]
					}
				}
				if v > 0 && v <= end {
					breslow += 1 / risk
				}
			}
			if got, want := b.Survival(end, 1), math.Exp(-breslow); !(math.Abs(got-want) <= 0.016) {
				t.Errorf("%s at %g: %.4f, want %.4f", name, end, got, want)
			}
		}
	}
}

// TestFewBins: where no time is beyond the smallest of the ladder, the bins end there; where some
// are beyond the largest, there.
func TestFewBins(t *testing.T) {
	for beyond, want := range map[float64]float64{0: 1e-9, 1: 5e12} {
		counts := make([]float64, len(assess.Ladder()))
		for k := range counts {
			counts[k] = beyond
		}
		if edges := assess.Bins(counts); edges[0] != 0 || !(math.Abs(edges[len(edges)-1]/want-1) <= 1e-12) {
			t.Errorf("%g rows beyond all: bins up to %g, want up to %g", beyond, edges[len(edges)-1], want)
		}
	}
}

// TestIsValid: the edges of a baseline ascend from 0 and its hazard does not fall, each finite.
func TestIsValid(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		edges, cumulative []float64
		want              bool
	}{
		{[]float64{0}, []float64{0}, true},
		{[]float64{0, 1, 2}, []float64{0, 1, 1}, true},
		{nil, nil, false},
		{[]float64{0, 1}, []float64{0}, false},
		{[]float64{1, 2}, []float64{0, 1}, false},
		{[]float64{-1, 2}, []float64{0, 1}, false},
		{[]float64{0, 1}, []float64{0.1, 1}, false},
		{[]float64{0, 1, 1}, []float64{0, 1, 2}, false},
		{[]float64{0, 2, 1}, []float64{0, 1, 2}, false},
		{[]float64{0, 1, 2}, []float64{0, 1, 0.9}, false},
		{[]float64{0, 1, inf}, []float64{0, 1, 2}, false},
		{[]float64{0, 1, 2}, []float64{0, 1, inf}, false},
		{[]float64{0, math.NaN()}, []float64{0, 1}, false},
		{[]float64{0, 1}, []float64{0, math.NaN()}, false},
	} {
		if got := (assess.Baseline{Edges: c.edges, Cumulative: c.cumulative}).IsValid(); got != c.want {
			t.Errorf("edges %v with hazards %v: valid %t, want %t", c.edges, c.cumulative, got, c.want)
		}
	}
}
