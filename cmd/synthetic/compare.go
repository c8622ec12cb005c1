package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"dsbo/experiment"
	"dsbo/train"
)

// A contestant is a method with the steps of x that are tried for it.
type contestant struct {
	name   string // for people
	folder string
	flags  []string
	ours   bool // MA-DSBO
	letter bool // to the letter: no step above 1
	step   func(c float64) []string
	symbol string // of the step
	grid   []float64
}

// contestants lists who runs. All take auto steps of y and z, and the same T and N, so that what they do in an
// iteration differs in how it is done alone; our tuned variant comes with its own.
func (c *command) contestants() []contestant {
	alpha := func(v float64) []string { return []string{fmt.Sprintf("-alpha=%g*(1-k/K)", v)} }
	set := func(name string) func(float64) []string {
		return func(v float64) []string { return []string{fmt.Sprintf("-set=%s=%g*(1-k/K)", name, v)} }
	}
	// u is a sum over examples, or a mean: steps that go as far are as much smaller, or larger.
	scale := 500 / float64(c.task.Train)
	if c.task.Reduce == "mean" {
		scale = 500
	}
	var grid []float64
	for _, v := range []float64{50, 100, 200, 400} {
		grid = append(grid, v*scale)
	}
	list := []contestant{
		{
			name: "MA-DSBO to the letter", folder: "madsbo", ours: true, letter: true,
			flags: []string{"-algorithm=madsbo", "-K=400", "-eval-every=5"},
			step:  func(v float64) []string { return []string{fmt.Sprintf("-alpha=%g", v)} }, symbol: "α = %g", grid: []float64{0.3, 1},
		},
		{
			name: "MA-DSBO, step η", folder: "madsbo_eta", ours: true,
			flags: []string{"-algorithm=madsbo_tuned", "-alpha=1", "-set=xstep=sgd"},
			step:  set("eta"), symbol: "η = %g(1−k/K)", grid: grid,
		},
		{name: "DSBO-JHIP", folder: "jhip", flags: []string{"-algorithm=jhip"}, step: alpha, symbol: "α = %g(1−k/K)", grid: grid},
		{name: "GBDSBO", folder: "gbdsbo", flags: []string{"-algorithm=gbdsbo"}, step: alpha, symbol: "α = %g(1−k/K)", grid: grid},
	}
	for i := range list {
		list[i].flags = append([]string{"-preset=paper", "-K=40", "-T=1", "-N=10", "-eval-every=1"}, list[i].flags...)
	}
	return append(list, contestant{
		name: "MA-DSBO tuned", folder: "madsbo_tuned", ours: true,
		flags: []string{"-preset=tuned", "-eval-every=1"},
		step:  set("lr"), symbol: "lr = %g(1−k/K)", grid: []float64{0.03, 0.1, 0.3},
	})
}

// shared are the flags of -compare that each run takes over; without them every run would have the defaults of a
// run alone.
func (c *command) shared() []string {
	flags := []string{"-compare=false", fmt.Sprintf("-r=%v", &c.rates), fmt.Sprintf("-p=%d", c.task.Features)}
	for _, name := range []string{"K", "T", "N", "eval-every"} {
		if c.given[name] {
			flags = append(flags, fmt.Sprintf("-%s=%d", name, map[string]int{
				"K": c.Settings.K, "T": c.Settings.T, "N": c.Settings.N, "eval-every": c.Settings.EvalEvery,
			}[name]))
		}
	}
	return flags
}

// A trial is a contestant's runs, one a seed, with the step that did best.
type trial struct {
	contestant
	value float64 // of the step
	runs  []experiment.Outcome
}

// comparison runs everybody and prints who spent what.
func (c *command) comparison(ctx context.Context, stdout, stderr io.Writer) error {
	all := c.contestants()
	s := experiment.Series{Bare: true, Parts: c.parts(all), Make: func(flags []string) (*experiment.Job, error) {
		return remake(slices.DeleteFunc(slices.Clone(flags), func(f string) bool {
			return strings.HasPrefix(f, "-seeds=") || strings.HasPrefix(f, "-phi=")
		}))
	}}
	if err := s.Open(c.Job, stderr); err != nil {
		return err
	}
	var trials []trial
	var outcomes []experiment.Outcome
	for _, who := range all {
		t, err := c.try(ctx, &s, who)
		if err != nil {
			return s.Failed(err)
		}
		trials = append(trials, t)
		outcomes = append(outcomes, t.runs...)
	}
	res, err := c.analyze(trials)
	if err != nil {
		return s.Failed(err)
	}
	page, err := s.Close("Methods on the synthetic task", res, outcomes)
	if err != nil {
		return s.Failed(err)
	}
	return res.print(stdout, c, page)
}

// parts counts the runs: every step with one seed, and the best with the others.
func (c *command) parts(all []contestant) int {
	n := 0
	for _, who := range all {
		n += len(who.grid) + c.seeds - 1
	}
	return n
}

// try runs a contestant with all steps on the first seed, and with the best one on the others. Best is the
// lowest exact Φ at the end; a run that diverges has no end.
func (c *command) try(ctx context.Context, s *experiment.Series, who contestant) (trial, error) {
	best := trial{contestant: who}
	low := math.Inf(1)
	for i, v := range who.grid {
		o, err := c.one(ctx, s, who, v, 0)
		if err != nil {
			return best, err
		}
		end := math.Inf(1)
		if o.Summary.State == train.Finished {
			end = float64(o.Summary.PhiEnd)
		}
		if i == 0 || end < low {
			best.value, best.runs, low = v, []experiment.Outcome{o}, end
		}
	}
	for i := 1; i < c.seeds; i++ {
		o, err := c.one(ctx, s, who, best.value, i)
		if err != nil {
			return best, err
		}
		best.runs = append(best.runs, o)
	}
	return best, nil
}

// one is one run.
func (c *command) one(ctx context.Context, s *experiment.Series, who contestant, step float64, i int) (experiment.Outcome, error) {
	seed := c.Settings.Seed + uint64(i)
	flags := slices.Concat(who.flags, c.shared(), who.step(step), []string{fmt.Sprintf("-seed=%d", seed)})
	o, err := s.Run(ctx, experiment.Part{Name: fmt.Sprintf("%s-%g-seed%d", who.folder, step, seed), Label: who.name, Flags: flags})
	if err == nil && len(o.Records) == 0 {
		err = fmt.Errorf("%s has no records", o.Folder)
	}
	return o, err
}
