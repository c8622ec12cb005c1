package algo_test

import (
	"math"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

// A runaway problem is one whose y runs away as the penalty falls, with a curvature that is almost
// 0 on both sides of the solution: g = Σ log cosh(2 (y_j − c_j)) + ½ eˣ ‖y‖², f = Σ (y_j − 6)². A
// full Newton step from |y − c| > 0.55 passes over the solution, to a place further away.
type runaway struct {
	penalized
	values *int // that were asked for
}

func newRunaway(q int) runaway {
	return runaway{penalized{separable{q: q, tuned: true,
		upper: func(y float64) (f, slope float64) { return (y - 6) * (y - 6), 2 * (y - 6) },
		lower: func(j int, y float64) (g, slope, curvature float64) {
			u := 2 * (y - 8 - float64(j)/8)
			tanh := math.Tanh(u)
			return math.Abs(u) + math.Log1p(math.Exp(-2*math.Abs(u))), 2 * tanh, 4 * (1 - tanh*tanh)
		}}}, new(int)}
}

func (o runaway) Capabilities() *dsbo.OracleCapabilities {
	of := o.penalized.Capabilities()
	of.Of, of.Values = o, o.Values
	return of
}

func (o runaway) Values(x, y []float64, s dsbo.Sample) (f, g float64, err error) {
	*o.values++
	return o.penalized.Values(x, y, s)
}

// TestOvershoot: where a full step of y is too long, y goes back, and x comes to the least f, for
// starts and speeds of x of several kinds. Without it f is 144 at the end of the second one. The
// values that choose shares of steps are in the iterations' cost, and in the forecast.
func TestOvershoot(t *testing.T) {
	for _, c := range []struct {
		start float64
		lr    algo.Schedule
	}{
		{3, "0.8*(1-k/K)"}, {2, "2*(1-k/K)"}, {1, "2*(1-k/K)"}, {0, "1.5*(1-k/K)"}, {4, "1.2*(1-k/K)"},
	} {
		const K = 100
		o := newRunaway(4)
		a := ready(t, &algo.NewtonCG{Start: "x0", C: 2, Cold: 2, Lr: c.lr}, 1, o.q)
		a.X()[0] = c.start
		alone(t, K, a, o)
		stated := 0
		for k := range K {
			stated += a.Cost(k).Calls.Value
			if least, most := algo.ForecastOf(a, k); least.Shorter != 0 || most.Shorter != min(k, 1) {
				t.Errorf("%+v, iteration %d: of %d to %d averages for shares in the forecast", c, k, least.Shorter,
					most.Shorter)
			}
		}
		if stated == 0 || stated != *o.values {
			t.Errorf("%+v: the cost has %d values; %d were asked for", c, stated, *o.values)
		}
		if f, _, _ := o.penalized.Values(a.X(), a.Y(), whole); !(f <= 0.03) {
			t.Errorf("%+v: f is %g at x = %v, y = %v; want at most 0.03", c, f, a.X(), a.Y())
		}
	}
}

// TestYStaysWithoutBound: where no share of a step has a lower loss that is a number, y stays, also
// where the step has no length, as where the curvature is almost none.
func TestYStaysWithoutBound(t *testing.T) {
	flat := false
	o := penalized{separable{q: 1, upper: squares(.5), lower: func(_ int, y float64) (g, slope, curvature float64) {
		if flat {
			return math.Abs(y), 1, math.SmallestNonzeroFloat64
		}
		return y * y / 2, y - 1, 1
	}}}
	a := ready(t, &algo.NewtonCG{Start: "x0"}, 1, o.q)
	alone(t, 1, a, o)
	copy(stateOf(a, "overshoot"), []float64{1, 1, 1}) // once a step was too long
	flat = true
	testkit.OK(a.Step(t.Context(), 1, o, algotest.NewMixers(algotest.Ring(1, 0.5))[0]))
	if y := a.Y()[0]; y != 1 {
		t.Errorf("y is %g, want 1, where it was", y)
	}
}

// TestOvershootRules: a gain of more than 8 times the largest one of full steps shows a step that
// was too long. From then on x's step is shorter where a gain is larger than the least one since,
// or than 1/1024 of the largest.
func TestOvershootRules(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		record      [3]float64 // the largest gain; 1 once a step was too long; the least gain since
		gain, share float64
		found       bool
		of          float64 // the share of x's step
		after       [3]float64
	}{
		"the first one":       {[3]float64{}, 5, 1, false, 1, [3]float64{5}},
		"8 times":             {[3]float64{2}, 16, 1, false, 1, [3]float64{16}},
		"more than 8 times":   {[3]float64{2}, 16.1, 1, true, 1, [3]float64{16.1}},
		"no number":           {[3]float64{2}, nan, .25, true, .25, [3]float64{2}},
		"a smaller one":       {[3]float64{2}, 1, 1, false, 1, [3]float64{2}},
		"a share":             {[3]float64{2}, 4, .25, false, .25, [3]float64{2}},
		"the least share":     {[3]float64{2}, 4, .0625, false, .0625, [3]float64{2}},
		"past, the first":     {[3]float64{2, 1}, 1, 1, false, 1, [3]float64{2, 1, 1}},
		"past, any gain":      {[3]float64{2, 1, 1}, 99, .25, false, .25 / 99, [3]float64{2, 1, 1}},
		"past, the largest":   {[3]float64{2, 1, 1}, 4, 1, false, .25, [3]float64{4, 1, 1}},
		"past, the least":     {[3]float64{2, 1, 1}, .5, 1, false, 1, [3]float64{2, 1, .5}},
		"past, no number":     {[3]float64{2, 1, 1}, nan, .0625, false, .0625, [3]float64{2, 1, 1}},
		"past, almost solved": {[3]float64{1024, 1, .01}, 2, 1, false, .5, [3]float64{1024, 1, .01}},
	} {
		o := algo.Overshoot(c.record[:])
		found := o.Found(c.gain)
		if of := o.ShareOfX(c.gain, c.share); found != c.found || of != c.of || c.record != c.after {
			t.Errorf("%s: found %t, share %g, record %v; want %t, %g, %v", name, found, of, c.record, c.found, c.of,
				c.after)
		}
	}
}
