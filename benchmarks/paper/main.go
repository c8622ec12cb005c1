// Command paper measures what the paper states: its theorem and its remarks, with the
// methods that it names. It prints tables, and what holds.
//
//	go run ./benchmarks/paper                     # all of it, some minutes on 2 cores
//	go run ./benchmarks/paper -only higp,mismatch
//
// The same seed gives the same numbers, times and memory apart.
package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

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
		{"order2", "central differences: the bias of methods with a penalty, against λ", order2},
	}
}

func main() { os.Exit(cli.Main("paper", command)) }

// command runs a command line.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	l := &lab{out: stdout, log: stderr}
	f := cli.NewFlags("paper", "paper measures what the paper states, and prints which of it is true.", "")
	names := column(experiments(), func(e experiment) string { return e.name })
	only := f.String("only", "",
		"`experiments` to run, with commas between: "+strings.Join(names, ", ")+" (default all)")
	f.BoolVar(&l.quick, "quick", false, "small and short versions: they show that all works, not which claims are true")
	f.StringVar(&l.figures, "figures", "",
		"existing `folder` for the figures of hessian and order2 (default: none is drawn)")
	f.Uint64Var(&l.seed, "seed", 1, "seed of problems and draws")
	f.Group("Experiments", "only", "quick", "figures", "seed")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	chosen, err := cli.Choose("only", *only, names)
	if err != nil {
		return err
	}
	for _, e := range experiments() {
		if slices.Contains(chosen, e.name) {
			if err := l.perform(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}
