// Command synthetic tunes the regularization of a logistic regression whose data differ between agents:
// the paper's synthetic task, at each of several rates of heterogeneity.
//
//	go run ./cmd/synthetic    the three rates of the paper
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

	"dsbo/experiment"
	"dsbo/internal/cli"
	"dsbo/tasks"
)

func main() { os.Exit(cli.Main("synthetic", run)) }

const intro = tasks.SyntheticIntro + `
The task is solved at each rate; each has its run folder, and one report shows them all.`

// A command is a command line that has been read.
type command struct {
	*experiment.Job
	task  *tasks.SyntheticTask
	rates rates
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

// parse reads a command line. help is where -h writes to.
func parse(args []string, help io.Writer) (*command, error) {
	t := tasks.NewSynthetic()
	c := &command{Job: t.Job(), task: t, rates: rates{0.5, 1, 1.5}}
	f := cli.NewFlags("synthetic", intro, experiment.Explain(c.Presets, tasks.SyntheticOrder()))
	f.Var(&c.rates, "r", "r, heterogeneity rates, one `number` or more with commas between: features of agent i are N(0, i²r²)")
	t.TaskFlags(f)
	t.Flags(f, tasks.SyntheticOrder())
	if err := c.Parse(f, args, help); err != nil {
		return nil, err
	}
	t.Rate = c.rates[0]
	return c, t.Validate()
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, err := parse(args, stdout)
	switch {
	case err != nil:
		return err
	case len(c.rates) > 1:
		return c.allRates(ctx, stdout, stderr)
	}
	return c.Run(ctx, stdout, stderr)
}
