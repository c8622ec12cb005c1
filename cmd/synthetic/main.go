// Command synthetic tunes the regularization of a logistic regression whose data differ between agents:
// the paper's synthetic task, at each of several rates of heterogeneity.
//
//	go run ./cmd/synthetic             the three rates of the paper
//	go run ./cmd/synthetic -compare    MA-DSBO against DSBO-JHIP and GBDSBO
//
// -h explains the flags.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/cmd/internal/job"
	"dsbo/data"
	"dsbo/internal/cli"
	"dsbo/models"
	"dsbo/train"
)

func main() { os.Exit(cli.Main("synthetic", run)) }

const intro = `synthetic tunes one log-penalty λ per feature for a logistic regression, decentralized:

  min over λ of Σ_i f_i,  f_i = Σ_e log(1 + exp(-t_e a_e'ω*(λ))) on agent i's validation examples,
  where ω*(λ) minimizes the sum of the same on all training examples + ½ Σ_j e^λ_j ω_j²

x of the paper is λ, y is ω. Agent i draws its features from N(0, i²r²): r is the rate of heterogeneity.
Without -compare the task is solved at each rate; each has its run folder, and one report shows them all.
With -compare, MA-DSBO, DSBO-JHIP and GBDSBO run on the same data, each with the best of a few steps of x, and tables
say what each spends, in time, oracle calls and traffic, to reach the same Φ.`

// A command is a command line that has been read.
type command struct {
	*job.Job
	rates                      rates
	features, train, val, test int
	reduce                     string
	compare                    bool
	seeds                      int
	phi                        float64

	given map[string]bool
}

// rates is a list of heterogeneity rates, as a flag.
type rates []float64

// String writes the list as Set reads it.
func (r *rates) String() string {
	var parts []string
	for _, v := range *r {
		parts = append(parts, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Join(parts, ",")
}

// Set reads numbers with commas between.
func (r *rates) Set(text string) error {
	*r = nil
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%q: want positive numbers with commas between", part)
		}
		for _, u := range *r {
			if u == v {
				return fmt.Errorf("%g is there twice", v)
			}
		}
		*r = append(*r, v)
	}
	return nil
}

// compareFlag is -compare. The task that it names is part of the run folder's name, which is chosen while flags are read.
type compareFlag struct{ c *command }

// IsBoolFlag says that -compare alone is -compare=true.
func (f compareFlag) IsBoolFlag() bool { return true }

// String returns the value.
func (f compareFlag) String() string { return strconv.FormatBool(f.c != nil && f.c.compare) }

// Set takes the value.
func (f compareFlag) Set(text string) (err error) {
	f.c.Task = "synthetic"
	if f.c.compare, err = strconv.ParseBool(text); f.c.compare {
		f.c.Task = "synthetic-compare"
	}
	return err
}

// parse reads a command line. help is where -h writes to.
func parse(args []string, help io.Writer) (*command, error) {
	s := &job.Settings{DType: "float64"}
	c := &command{Job: &job.Job{Task: "synthetic", Settings: s, Presets: presets()}, rates: rates{0.5, 1, 1.5}}
	c.Load = c.load
	order := []string{"tuned", "paper"}
	f := cli.NewFlags("synthetic", intro, job.Explain(c.Presets, order))
	f.Var(&c.rates, "r", "r, heterogeneity rates, one `number` or more with commas between: features of agent i are N(0, i²r²) (default 0.5,1,1.5; with -compare 1)")
	f.IntVar(&c.features, "p", 0, "p = q, `number` of features (default 200; with -compare 100)")
	f.IntVar(&c.train, "train", 500, "training `examples` of each agent, for g_i")
	f.IntVar(&c.val, "val", 500, "validation `examples` of each agent, for f_i")
	f.IntVar(&c.test, "test", 500, "test `examples` drawn like each agent's")
	f.StringVar(&c.reduce, "reduce", "sum", "`how` an agent's losses are put together: sum, as the paper prints it, or mean; against a mean the penalty weighs as much more as there are examples, and -x0 -4 is a better start")
	f.Group("Task", "r", "p", "train", "val", "test", "reduce")
	f.Var(compareFlag{c}, "compare", "compare MA-DSBO with DSBO-JHIP and GBDSBO at one rate; the methods and their steps are this command's own, -K, -T and -N hold for all of them")
	f.IntVar(&c.seeds, "seeds", 3, "with -compare, `number` of seeds, from -seed on")
	f.Float64Var(&c.phi, "phi", 0, "with -compare, the Φ to reach, a `number` (default: the lowest that all reach)")
	f.Group("Comparison", "compare", "seeds", "phi")
	s.Flags(f, order)
	if err := c.Parse(f, args, help); err != nil {
		return nil, err
	}
	c.given = f.Given()
	c.defaults()
	return c, c.check()
}

// defaults fills in what depends on -compare.
func (c *command) defaults() {
	if c.compare && !c.given["r"] {
		c.rates = rates{1}
	}
	if !c.given["p"] {
		c.features = 200
		if c.compare {
			c.features = 100
		}
	}
}

// check reports the first flag of this command that cannot work.
func (c *command) check() error {
	for _, count := range []struct {
		flag  string
		value int
	}{{"p", c.features}, {"train", c.train}, {"val", c.val}, {"test", c.test}, {"seeds", c.seeds}} {
		if count.value < 1 {
			return bad("-%s %d: want at least 1", count.flag, count.value)
		}
	}
	if c.reduce != "sum" && c.reduce != "mean" {
		return bad("-reduce %s: want sum or mean", c.reduce)
	}
	if !c.compare {
		for _, name := range []string{"seeds", "phi"} {
			if c.given[name] {
				return bad("-%s is for -compare", name)
			}
		}
		return nil
	}
	for _, name := range []string{"preset", "algorithm", "alpha", "beta", "gamma", "x0", "set"} {
		if c.given[name] {
			return bad("-%s: -compare chooses methods and steps itself", name)
		}
	}
	if len(c.rates) > 1 {
		return bad("-r %v: -compare runs at one rate", &c.rates)
	}
	if c.given["phi"] && !(c.phi > 0) {
		return bad("-phi %g: want a positive number", c.phi)
	}
	return nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, err := parse(args, stdout)
	switch {
	case err != nil:
		return err
	case c.compare:
		return c.comparison(ctx, stdout, stderr)
	case len(c.rates) > 1:
		return c.allRates(ctx, stdout, stderr)
	}
	return c.Run(ctx, stdout, stderr)
}

// load makes the problem at the first rate.
func (c *command) load() (job.Problem, error) {
	s := c.Settings
	spec := data.Synthetic{
		Agents: s.Agents, Features: c.features, Train: c.train, Val: c.val, Test: c.test, Rate: c.rates[0], Seed: s.Seed,
	}
	task, err := spec.Task()
	if err != nil {
		return job.Problem{}, err
	}
	m := models.Logistic{Features: c.features, Mean: c.reduce == "mean"}
	p := job.Problem{
		Rows: min(c.train, c.val), Convex: true, Lambda: []int{c.features}, Omega: []int{c.features},
		Settings: map[string]any{
			"model": "logistic", "rate": c.rates[0], "features": c.features, "reduce": c.reduce,
			"train": c.train, "val": c.val, "test": c.test,
		},
		Describe: fmt.Sprintf("synthetic task with r = %g, p = q = %d, %d agents with %d training and %d validation examples, losses as a %s",
			c.rates[0], c.features, s.Agents, c.train, c.val, c.reduce),
	}
	p.Problem, err = train.NewProblem(task, m, models.Config{Seed: s.Seed, Batch: s.Batch, Float32: s.DType == "float32"})
	return p, err
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", dsbo.ErrConfig, fmt.Sprintf(format, args...))
}
