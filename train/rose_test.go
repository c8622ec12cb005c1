package train_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train"
)

// A counting method has y = (k) after k iterations, by which losses can be made up for each record.
type counting struct{ x, y []float64 }

func (m *counting) Init(p, q, _ int) error {
	m.x, m.y = make([]float64, p), make([]float64, q)
	return nil
}
func (m *counting) Cost(int) algo.Cost { return algo.Cost{} }
func (m *counting) X() []float64       { return m.x }
func (m *counting) Y() []float64       { return m.y }
func (m *counting) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: m.x}, {Name: "y", Value: m.y}}
}
func (m *counting) Step(context.Context, int, dsbo.Oracle, dsbo.Mixer) error {
	m.y[0]++
	return nil
}

// withLosses returns a run of two agents whose held-out examples have these losses, a row for each
// record; the first agent has one example.
func withLosses(losses [][]float64) train.Config {
	part := func(agent int, m train.Fit) []float64 {
		row := losses[int(m.Y[0])]
		return [][]float64{row[:1], row[1:]}[agent]
	}
	var prob train.Problem
	for _, o := range algotest.NewQuadratics(2, 1, 1, 1) {
		prob.Oracles, prob.Evaluate = append(prob.Oracles, o), append(prob.Evaluate, o)
	}
	prob.Score = func(i int, m train.Fit) (train.Scores, error) {
		s := train.Score{Rows: float64(len(part(i, m))), Right: math.NaN()}
		for _, loss := range part(i, m) {
			s.Losses += loss
		}
		return train.Scores{Holdout: s}, nil
	}
	prob.Each = func(i int, set train.Set, m train.Fit) (train.Each, error) {
		if set != train.HoldoutSet {
			return train.Each{}, fmt.Errorf("held-out examples choose the iterate; it is by set %d", set)
		}
		return train.Each{Losses: part(i, m)}, nil
	}
	return train.Config{Problem: prob, W: testkit.Get(network.Ring(2, 0.5)).W, K: len(losses) - 1, EvalEvery: 1,
		Method: new(counting), Evaluate: train.EvaluateOff}
}

// raisedBy returns losses of n examples: unlike ones first, then these raised so that the paired
// difference has these values of t, its mean over its standard error with n − 1.
func raisedBy(n int, ts ...float64) [][]float64 {
	losses := [][]float64{make([]float64, n)}
	for i := range n {
		losses[0][i] = 10 * math.Abs(math.Sin(float64(1+i)))
	}
	for _, t := range ts {
		row := make([]float64, n)
		for i := range row {
			spread := float64(2*(i%2)-1) * math.Sqrt(float64(n-1)/float64(n)) // n is even
			row[i] = losses[0][i] + spread + t/math.Sqrt(float64(n))
		}
		losses = append(losses, row)
	}
	return losses
}

// TestRose: the losses of held-out examples rise by more than chance from 2.9 standard errors on,
// with Student's quantile in place of 1.96, and the newest iterate is the best up to one error.
func TestRose(t *testing.T) {
	// t(.975, n − 1) of 2, 6 and 2000 examples, from tables
	two, few, many := 2.9*12.7062/1.96, 2.9*2.5706/1.96, 2.9*1.9612/1.96
	for name, c := range map[string]struct {
		losses           [][]float64
		rose, best, ends int // the records after which a run of patience 2 ends
	}{
		"few, just":        {raisedBy(6, 1.005*few, 1.005*few, 1.005*few), 3, 0, 2},
		"two, just":        {raisedBy(2, 1.005*two, 1.005*two, 1.005*two), 3, 0, 2},
		"two, not quite":   {raisedBy(2, 0.995*two, 0.995*two, 0.995*two), 0, 0, 3},
		"few, not quite":   {raisedBy(6, 0.995*few, 0.995*few, 0.995*few), 0, 0, 3},
		"many, just":       {raisedBy(2000, 1.005*many, 1.005*many), 2, 0, 2},
		"many, not quite":  {raisedBy(2000, 0.995*many, 0.995*many), 0, 0, 2},
		"once":             {raisedBy(6, 0.9, 9), 1, 0, 2},
		"not in a row":     {raisedBy(6, 9, 3, 9, 3, 9), 1, 0, 5},
		"over":             {raisedBy(6, 9, 9, 3), 0, 0, 2},
		"within one error": {raisedBy(6, 0.99), 0, 1, 1},
		"beyond one error": {raisedBy(6, 1.01), 0, 0, 1},
		"a new least":      {raisedBy(6, 9, -1, 9), 1, 2, 3},
		"above the least":  {raisedBy(6, -9, -4), 1, 1, 2}, // and far below the start
		"one example":      {[][]float64{{1, 1}, {2, 2}, {3, 3}}, 2, 0, 2},
	} {
		config := withLosses(c.losses)
		r := testkit.Get(train.Run(t.Context(), config))
		if r.Best.Rose != c.rose || r.Best.Iteration != c.best || r.Best.By != "held-out loss" ||
			r.Last().HoldoutAccuracy.Known() {
			t.Errorf("%s: %d records in a row rose, the best is %d; want %d and %d", name, r.Best.Rose,
				r.Best.Iteration, c.rose, c.best)
		}
		if config.Patience = train.LeastRose; testkit.Get(train.Run(t.Context(), config)).Iterations != c.ends {
			t.Errorf("%s: the run must end after %d", name, c.ends)
		}
	}
	config := withLosses(raisedBy(6, 0))
	config.Patience = 1
	if _, err := train.Run(t.Context(), config); err == nil {
		t.Error("a patience of one record must be an error")
	}
}

// TestBestBy: the best iterate is chosen by held-out losses where there are some, else by Φ, else
// by validation losses, and never by test losses. The first Φ that is known is the best so far.
func TestBestBy(t *testing.T) {
	holdout, val, test := []float64{2, 3, 1, 4}, []float64{3, 1, 2, 4}, []float64{4, 3, 2, 1}
	for name, c := range map[string]struct {
		sets     string // that there are
		evaluate bool
		wire     network.Wire
		by       string
		best     int
	}{
		"held-out":           {"holdout val test", true, network.Float64, "held-out loss", 2},
		"Φ":                  {"val test", true, network.Float64, "Φ", 0},
		"Φ of some records":  {"val test", true, network.Float32, "Φ", 1},
		"validation":         {"val test", false, network.Float64, "validation loss", 1},
		"no validation":      {"test", false, network.Float64, "", 3},
		"held-out without Φ": {"holdout val test", false, network.Float64, "held-out loss", 2},
	} {
		config := withLosses([][]float64{{0, 0}, {0, 0}, {0, 0}, {0, 0}})
		config.Problem.Each, config.Problem.Average.Wire = nil, c.wire
		config.Problem.Score = func(_ int, m train.Fit) (s train.Scores, err error) {
			for set, to := range map[string]*train.Score{"holdout": &s.Holdout, "val": &s.Val, "test": &s.Test} {
				losses := map[string][]float64{"holdout": holdout, "val": val, "test": test}[set]
				if strings.Contains(c.sets, set) {
					*to = train.Score{Rows: 1, Losses: losses[int(m.Y[0])], Right: math.NaN()}
				}
			}
			return s, nil
		}
		if c.evaluate {
			config.Evaluate = train.Config{}.Evaluate
		}
		r := testkit.Get(train.Run(t.Context(), config))
		if best := r.Best; best.By != c.by || best.Iteration != c.best {
			t.Errorf("%s: iterate %d by %q, want %d by %q", name, best.Iteration, best.By, c.best, c.by)
		}
		if r.Last().HypergradientError.Known() || r.Best.Z != nil {
			t.Errorf("%s: a method without z and a hypergradient has z = %v and an error", name, r.Best.Z)
		}
	}
}

// A course is how held-out losses go from record to record, in standard errors of 400 examples.
type course struct {
	name    string
	next    func(k int, before, fresh float64) float64 // of one example, by the record before and a fresh number
	drift   func(k int) float64                        // from the record before, in standard errors
	rows    int
	heavy   bool // Student's t with 3 degrees of freedom in place of normal numbers
	overfit bool
}

var courses = []course{
	{name: "random walk", next: walk},
	{name: "independent", next: func(_ int, _, fresh float64) float64 { return fresh }},
	{name: "autoregression", next: func(k int, before, fresh float64) float64 {
		if k == 0 {
			return fresh
		}
		return 0.8*before + 0.6*fresh
	}},
	{name: "decaying walk", next: func(k int, before, fresh float64) float64 {
		return before + (1-float64(k)/courseLength)*fresh
	}},
	{name: "30 examples", next: walk, rows: 30},
	{name: "heavy tails", next: walk, heavy: true},
	{name: "falls, then flat", next: walk, drift: func(k int) float64 { return step(k < 6, -2, 0) }},
	{name: "falls slowly", next: walk, drift: func(int) float64 { return -0.25 }},
	{name: "15 rise by 1.5 errors", next: walk, overfit: true,
		drift: func(k int) float64 { return step(k < 5, -2, 1.5) }},
}

const courseLength = 20

func walk(_ int, before, fresh float64) float64 { return before + fresh }

func step(first bool, a, b float64) float64 {
	if first {
		return a
	}
	return b
}

// losses makes the losses of one run.
func (c course) losses(r *rand.Rand) [][]float64 {
	rows := 400
	if c.rows > 0 {
		rows = c.rows
	}
	all := make([][]float64, courseLength)
	for k := range all {
		all[k] = make([]float64, rows)
		for i := range rows {
			fresh, before := r.NormFloat64(), 0.0
			if c.heavy {
				a, b, d := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
				fresh /= math.Sqrt(a*a + b*b + d*d) // t with 3 degrees of freedom, over √3
			}
			if c.drift != nil {
				fresh += c.drift(k) / math.Sqrt(float64(rows))
			}
			if k > 0 {
				before = all[k-1][i]
			}
			all[k][i] = c.next(k, before, fresh)
		}
	}
	return all
}

// TestFalseAlarms: of runs of 20 records without over-fitting at most one in twenty is ended by
// chance, and of runs where 15 records rise by 1.5 standard errors each nine in ten are. A share of
// n runs is off by three standard errors in one of several hundred cases.
func TestFalseAlarms(t *testing.T) {
	n := 40
	if !testing.Short() {
		n = 400
	}
	for i, c := range courses {
		r, ended := rand.New(rand.NewPCG(uint64(i), 1)), 0
		for range n {
			config := withLosses(c.losses(r))
			config.Patience = train.LeastRose
			if testkit.Get(train.Run(t.Context(), config)).Best.Rose >= train.LeastRose {
				ended++
			}
		}
		share := float64(ended) / float64(n)
		t.Logf("%s: %.3f", c.name, share)
		bound := func(p float64) float64 { return 3 * math.Sqrt(p*(1-p)/float64(n)) }
		if c.overfit && share < 0.9-bound(0.9) || !c.overfit && share > 0.05+bound(0.05) {
			t.Errorf("%s: the held-out losses of %d of %d runs rose by more than chance", c.name, ended, n)
		}
	}
}
