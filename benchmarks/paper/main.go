// Command paper measures what the paper states: its theorem, its table and its remarks, with the
// methods that it names. It prints tables and what holds, and draws the figures of benchmarks/README.md.
//
//	go run ./benchmarks/paper                     # all of it, some minutes on 2 cores
//	go run ./benchmarks/paper -only higp,table1
//	go run ./benchmarks/paper -list
//
// The same seed gives the same numbers, times and memory apart.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"dsbo"
	"dsbo/internal/cli"
)

// An experiment is one part of the command.
type experiment struct {
	name, about string
	run         func(ctx context.Context, l *lab) error
}

func experiments() []experiment {
	return []experiment{
		{"convergence", "Theorem 3.3: slopes of the gradient and of the consensus error against K", convergence},
		{"flat", "the theorem's problem whose Φ has no minimum: what limits the method", flat},
		{"higp", "Algorithm 1 alone: linear convergence, against the step and the graph", higp},
		{"loops", "the number T of inner steps", loops},
		{"graphs", "the communication graph", graphs},
		{"mismatch", "eq. 4: the bias of averaged local hypergradients, and MDBO's", mismatch},
		{"table1", "Table 1: time, traffic and oracle calls of an iteration against the dimension", table1},
		{"dsco", "the compositional problem by MA-DSBO and by D-ASCGD", compositional},
		{"methods", "all methods on one logistic problem each: global, personalized, one agent", methods},
		{"hessian", "a Hessian-vector product against the whole Hessian: time and memory", hessian},
	}
}

func main() { os.Exit(cli.Main("paper", command)) }

// command runs a command line.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	l, chosen, err := parse(args, stdout)
	if err != nil {
		return err
	}
	for _, e := range chosen {
		start := time.Now()
		fmt.Fprintf(stdout, "\n## %s: %s\n\n", e.name, e.about)
		if err := e.run(ctx, l); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		fmt.Fprintf(stderr, "%s took %.0f s\n", e.name, time.Since(start).Seconds())
	}
	return nil
}

// parse reads the command line. Without an error and without experiments there is nothing left to do.
func parse(args []string, stdout io.Writer) (*lab, []experiment, error) {
	l := &lab{out: stdout}
	f := flag.NewFlagSet("paper", flag.ContinueOnError)
	f.SetOutput(io.Discard) // an error is one line, and the caller's
	only := f.String("only", "", "`experiments` to run, with commas between (default all; see -list)")
	list := f.Bool("list", false, "list the experiments")
	f.StringVar(&l.dir, "figures", "", "`folder` to write the figures to, as SVG and PNG, such as benchmarks/figures; it must exist (default none)")
	f.BoolVar(&l.quick, "quick", false, "small and short versions: they show that all works, not what holds")
	f.Uint64Var(&l.seed, "seed", 1, "seed of problems and draws")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "usage: paper [flags]\n\nMeasures what the paper states, prints what holds, and draws the figures.\n\nflags:")
		f.SetOutput(stdout)
		f.PrintDefaults()
		return nil, nil, err
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w (-h explains the flags)", dsbo.ErrConfig, err)
	}
	all := experiments()
	if *list {
		for _, e := range all {
			fmt.Fprintf(stdout, "%-12s %s\n", e.name, e.about)
		}
		return l, nil, nil
	}
	chosen, err := choose(all, *only)
	switch {
	case err != nil:
		return nil, nil, err
	case f.NArg() > 0:
		return nil, nil, fmt.Errorf("%w: argument %q: there are flags only", dsbo.ErrConfig, f.Arg(0))
	}
	if l.dir != "" {
		if s, err := os.Stat(l.dir); err != nil || !s.IsDir() {
			return nil, nil, fmt.Errorf("%w: -figures %s: want a folder that exists", dsbo.ErrConfig, l.dir)
		}
	}
	return l, chosen, nil
}

// choose returns the experiments of the given names in the order of all.
func choose(all []experiment, only string) ([]experiment, error) {
	if only == "" {
		return all, nil
	}
	var names []string
	for _, e := range all {
		names = append(names, e.name)
	}
	wanted := strings.Split(only, ",")
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return nil, fmt.Errorf("%w: -only %s: there is no experiment %q, want some of %s", dsbo.ErrConfig, only, w, strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(all, func(e experiment) bool { return !slices.Contains(wanted, e.name) }), nil
}
