package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/must"
	"dsbo/models"
	"dsbo/train"
)

// comparison is the settings of the experiment compare: the paper's synthetic task, and how its methods run.
type comparison struct {
	features int     // p = q
	rate     float64 // r, rate of heterogeneity
	seeds    int     // from the lab's seed on
	phi      float64 // the Φ to reach; 0: the lowest that all methods reach
	K, T, N  int     // of all methods; 0: each method's own
	agents   int     // in a ring, w = 1/2
	examples int     // of each agent, for each of training, validation and test
}

// validate reports the first setting that cannot work.
func (c *comparison) validate() error {
	for _, count := range []struct {
		flag        string
		value, from int
	}{{"p", c.features, 1}, {"seeds", c.seeds, 1}, {"K", c.K, 0}, {"T", c.T, 0}, {"N", c.N, 0}} {
		if count.value < count.from {
			return dsbo.Errorf(dsbo.ErrConfig, "-%s must be at least %d; it is %d", count.flag, count.from, count.value)
		}
	}
	if !(c.rate > 0) || math.IsInf(c.rate, 0) {
		return dsbo.Errorf(dsbo.ErrConfig, "-r must be positive and finite; it is %g", c.rate)
	}
	if !(c.phi >= 0) {
		return dsbo.Errorf(dsbo.ErrConfig, "-phi must be positive, or 0 for the lowest that all methods reach; it is %g", c.phi)
	}
	return nil
}

// A candidate is a contestant with the steps of x that are tried for it.
type candidate struct {
	contestant
	ours   bool // MA-DSBO
	letter bool // MA-DSBO to the letter: no step above 1
	every  int  // iterations from one record to the next
	betaL  float64
	gammaL float64 // β and γ as shares of 1/L_max
	grid   []float64
	symbol string // a format of the step
	step   string // the parameter that it is
	fading bool   // whether it falls to 0 over the run
	K      int
}

// candidates lists who runs. All but the tuned variant, which comes with its own, take the same T, N and shares of
// 1/L_max, so that their iterations differ in how the same things are done alone.
func (c *comparison) candidates() []candidate {
	// Losses are sums over examples: with fewer of them a step that goes as far is larger.
	grid := []float64{50, 100, 200, 400}
	for i := range grid {
		grid[i] *= 500 / float64(c.examples)
	}
	all := []candidate{
		{
			contestant: contestant{"MA-DSBO to the letter", &algo.MADSBO{T: 1, N: 10}}, K: 400, ours: true, letter: true, every: 5,
			grid: []float64{0.3, 1}, symbol: "α = %g", step: "alpha",
		},
		{
			contestant: contestant{"MA-DSBO, step η", &algo.Tuned{Alpha: "1", T: 1, N: 10}}, ours: true,
			grid: grid, symbol: "η = %g(1−k/K)", step: "eta", fading: true,
		},
		{contestant: contestant{"DSBO-JHIP", &algo.JHIP{T: 1, N: 10}}, grid: grid, symbol: "α = %g(1−k/K)", step: "alpha", fading: true},
		{contestant: contestant{"GBDSBO", &algo.GBDSBO{N: 10}}, grid: grid, symbol: "α = %g(1−k/K)", step: "alpha", fading: true},
		{
			contestant: contestant{"MA-DSBO tuned", &algo.Tuned{
				T: 20, N: 20, Alpha: "0.5", WarmZ: true, TrackY: true, MomY: 0.95, MomZ: 0.95,
				XStep: "adam", V: 0.95, Clip: []float64{-8, 8},
			}},
			K: 100, ours: true, betaL: 0.7, gammaL: 0.65,
			grid: []float64{0.03, 0.1, 0.3}, symbol: "lr = %g(1−k/K)", step: "lr", fading: true,
		},
	}
	for i := range all {
		a := &all[i]
		a.every = max(1, a.every)
		if a.betaL == 0 {
			a.betaL, a.gammaL = 1, 0.8
		}
		a.K = cmp.Or(c.K, a.K, 40)
		inner := map[string]any{"T": c.T, "N": c.N}
		maps.DeleteFunc(inner, func(_ string, v any) bool { return v == 0 })
		a.method = withParameters(a.method, inner)
	}
	return all
}

// A trial is a candidate's runs, one a seed, with the step that did best.
type trial struct {
	candidate
	value float64 // of the step
	runs  []*train.Result
}

// problem is the task for one seed of its data.
func (c *comparison) problem(seed uint64) train.Problem {
	t := must.Get(data.Synthetic{
		Agents: c.agents, Features: c.features, Train: c.examples, Val: c.examples, Test: c.examples, Rate: c.rate, Seed: seed,
	}.Task())
	return must.Get(train.NewProblem(t, models.Logistic{Features: c.features}, models.Config{Seed: seed}))
}

// run runs a candidate with one step and one seed. A run that diverges has no error and a last Φ of +Inf.
func (c *comparison) run(ctx context.Context, l *lab, who candidate, step float64, seed uint64) (*train.Result, float64) {
	p := c.problem(seed)
	lmax := must.Get(p.Curvature(ctx, make([]float64, c.features), make([]float64, c.features)))
	w := ring(c.agents)
	ofX := algo.Constant(step)
	if who.fading {
		ofX += "*(1-k/K)"
	}
	method := withParameters(who.method, map[string]any{
		"beta": who.betaL / lmax, "gamma": who.gammaL / lmax, "lg": 1.05 * lmax, // a bound, where lmax is right to a percent or so
		who.step: ofX,
	})
	// The tolerances make Φ right to about seven digits.
	res, err := train.Run(ctx, train.Config{
		Problem: p, W: w, Method: method, K: who.K, EvalEvery: who.every, Curvature: lmax, Tol: 1e-4, AdjointTol: 1e-3,
	})
	if err != nil && !errors.Is(err, dsbo.ErrDiverged) {
		must.OK(fmt.Errorf("%s: %w", who.name, err))
	}
	if len(res.Records) == 0 {
		must.OK(fmt.Errorf("%s, step %g, seed %d: no record: %w", who.name, step, seed, err))
	}
	end := math.Inf(1)
	if err == nil {
		end = float64(res.Last().Phi)
		must.OK(checkCounts(method, c.features, w, res))
	}
	l.progress("%s, step %g, seed %d: Φ %.4f to %.4f in %d iterations, %.3g s", who.name, step, seed, float64(res.Records[0].Phi), end, res.Iterations, res.Seconds)
	return res, end
}

// try runs a candidate with all its steps on the first seed, and with the best one on the others. Best is the lowest
// exact Φ at the end.
func (c *comparison) try(ctx context.Context, l *lab, who candidate) trial {
	best, low := trial{candidate: who}, math.Inf(1)
	for i, v := range who.grid {
		res, end := c.run(ctx, l, who, v, l.seed)
		if i == 0 || end < low {
			best.value, best.runs, low = v, []*train.Result{res}, end
		}
	}
	for i := 1; i < c.seeds; i++ {
		res, _ := c.run(ctx, l, who, best.value, l.seed+uint64(i))
		best.runs = append(best.runs, res)
	}
	return best
}

// compare runs MA-DSBO, DSBO-JHIP and GBDSBO on the same data and reports what each spends to reach the same Φ.
func compare(ctx context.Context, l *lab) {
	c := l.comparison
	c.agents, c.examples = 8, 500
	if l.quick {
		c.agents, c.examples, c.features, c.seeds, c.K, c.T, c.N = 3, 200, 4, 2, 5, 2, 3
	}
	var trials []trial
	for _, who := range c.candidates() {
		trials = append(trials, c.try(ctx, l, who))
	}
	c.print(l, trials)
	c.figures(l, trials)
}
