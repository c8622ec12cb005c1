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
	"dsbo/experiment"
	"dsbo/internal/cli"
	"dsbo/tasks"
)

func main() { os.Exit(cli.Main("synthetic", run)) }

const intro = tasks.SyntheticIntro + `
Without -compare the task is solved at each rate; each has its run folder, and one report shows them all.
With -compare, MA-DSBO, DSBO-JHIP and GBDSBO run on the same data, each with the best of a few steps of x, and tables
say what each spends, in time, oracle calls and traffic, to reach the same Φ.`

// A command is a command line that has been read.
type command struct {
	*experiment.Job
	task    *tasks.SyntheticTask
	rates   rates
	compare bool
	seeds   int
	phi     float64

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
	t := tasks.NewSynthetic()
	c := &command{Job: t.Job(), task: t, rates: rates{0.5, 1, 1.5}}
	f := cli.NewFlags("synthetic", intro, experiment.Explain(c.Presets, tasks.SyntheticOrder()))
	f.Var(&c.rates, "r", "r, heterogeneity rates, one `number` or more with commas between: features of agent i are N(0, i²r²)")
	t.TaskFlags(f)
	f.Var(compareFlag{c}, "compare", "compare MA-DSBO with DSBO-JHIP and GBDSBO at one rate, by default with -r 1 -p 100; the methods and their steps are this command's own, -K, -T and -N hold for all of them")
	f.IntVar(&c.seeds, "seeds", 3, "with -compare, `number` of seeds, from -seed on")
	f.Float64Var(&c.phi, "phi", 0, "with -compare, the Φ to reach, a `number` (default: the lowest that all reach)")
	f.Group("Comparison", "compare", "seeds", "phi")
	t.Flags(f, tasks.SyntheticOrder())
	if err := c.Parse(f, args, help); err != nil {
		return nil, err
	}
	c.given = f.Given()
	c.defaults()
	return c, c.check()
}

// defaults fills in what depends on -compare, and the rate of a run alone.
func (c *command) defaults() {
	if c.compare && !c.given["r"] {
		c.rates = rates{1}
	}
	if c.compare && !c.given["p"] {
		c.task.Features = 100
	}
	c.task.Rate = c.rates[0]
}

// check reports the first flag of this command that cannot work.
func (c *command) check() error {
	if err := c.task.Validate(); err != nil {
		return err
	}
	if c.seeds < 1 {
		return bad("-seeds %d: want at least 1", c.seeds)
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

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", dsbo.ErrConfig, fmt.Sprintf(format, args...))
}
