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
	"os/signal"
	"slices"
	"strings"
	"time"
)

// An experiment is one part of the command.
type experiment struct {
	name, about string
	run         func(ctx context.Context, l *lab) error
}

func experiments() []experiment {
	return []experiment{
		{"convergence", "Theorem 3.3: slopes of the gradient and of the consensus error against K", convergence},
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command runs a command line and returns the exit code: 0, 1 for a failure, 2 for a command line that cannot be.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	l, chosen, err := parse(args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "paper:", err)
		return 2
	}
	for _, e := range chosen {
		start := time.Now()
		fmt.Fprintf(stdout, "\n## %s: %s\n\n", e.name, e.about)
		if err := e.run(ctx, l); err != nil {
			fmt.Fprintf(stderr, "paper: %s: %v\n", e.name, err)
			return 1
		}
		fmt.Fprintf(stderr, "%s took %.0f s\n", e.name, time.Since(start).Seconds())
	}
	return 0
}

// parse reads the command line. Without an error and without experiments there is nothing left to do.
func parse(args []string, stdout, stderr io.Writer) (*lab, []experiment, error) {
	l := &lab{out: stdout}
	f := flag.NewFlagSet("paper", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "experiments to run, with commas between (default all; see -list)")
	list := f.Bool("list", false, "list the experiments")
	f.StringVar(&l.dir, "figures", "", "folder to write the figures to, as SVG and PNG, such as benchmarks/figures; it must exist (default none)")
	f.BoolVar(&l.quick, "quick", false, "small and short versions: they show that all works, not what holds")
	f.Uint64Var(&l.seed, "seed", 1, "seed of problems and draws")
	if err := f.Parse(args); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			err = errors.New("see -h")
		}
		return nil, nil, err
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
		return nil, nil, fmt.Errorf("argument %q: there are flags only", f.Arg(0))
	}
	if l.dir != "" {
		if s, err := os.Stat(l.dir); err != nil || !s.IsDir() {
			return nil, nil, fmt.Errorf("-figures %s: want a folder that exists", l.dir)
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
			return nil, fmt.Errorf("-only %s: there is no experiment %q, want some of %s", only, w, strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(all, func(e experiment) bool { return !slices.Contains(wanted, e.name) }), nil
}
