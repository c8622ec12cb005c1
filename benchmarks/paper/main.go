// Command paper measures what the paper states: its theorem and its remarks, with the
// methods that it names. It prints tables and what holds, and draws the figures
// of benchmarks/README.md.
//
//	go run ./benchmarks/paper                     # all of it, some minutes on 2 cores
//	go run ./benchmarks/paper -only higp,mismatch
//	go run ./benchmarks/paper -list
//
// The same seed gives the same numbers, times and memory apart.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"dsbo"
	"dsbo/internal/cli"
)

// An experiment is one part of the command.
type experiment struct {
	name, about string
	run         func(ctx context.Context, l *lab)
}

func experiments() []experiment {
	return []experiment{
		{"convergence", "Theorem 3.3: slopes of the gradient and of the consensus error against K", convergence},
		{"higp", "Algorithm 1 alone: linear convergence, against the step and the graph", higp},
		{"mismatch", "eq. 4: the bias of averaged local hypergradients, and MDBO's", mismatch},
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
	l.log = stderr
	for _, e := range chosen {
		if err := l.perform(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the command line. Without an error and without experiments there is nothing left
// to do.
func parse(args []string, stdout io.Writer) (*lab, []experiment, error) {
	l := &lab{out: stdout}
	f := cli.NewFlags("paper", "paper measures what the paper states, prints what holds, and draws the figures.", "")
	only := f.String("only", "", "`experiments` to run, with commas between (default all; -list shows them)")
	list := f.Bool("list", false, "list the experiments")
	f.StringVar(&l.dir, "figures", "",
		"`folder` for the figures, as SVG, and for a page of each experiment with its tables; it must exist "+
			"(default none)")
	f.BoolVar(&l.quick, "quick", false, "small and short versions: they show that all works, not what holds")
	f.Uint64Var(&l.seed, "seed", 1, "seed of problems and draws")
	f.Group("Experiments", "only", "list", "figures", "quick", "seed")
	if err := f.Parse(args, stdout); err != nil {
		return nil, nil, err
	}
	if *list {
		for _, e := range experiments() {
			fmt.Fprintf(stdout, "%-12s %s\n", e.name, e.about)
		}
		return l, nil, nil
	}
	chosen, err := choose(*only)
	if err == nil && l.dir != "" {
		if s, e := os.Stat(l.dir); e != nil || !s.IsDir() {
			err = dsbo.ConfigErrorf("-figures must be a folder that exists; it is %s", l.dir)
		}
	}
	return l, chosen, err
}

// choose returns the experiments of a list of names with commas.
func choose(list string) ([]experiment, error) {
	all := experiments()
	names, err := cli.Choose("only", list, column(all, func(e experiment) string { return e.name }))
	return slices.DeleteFunc(all, func(e experiment) bool { return !slices.Contains(names, e.name) }), err
}
