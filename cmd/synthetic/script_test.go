package main

import (
	"context"
	"io"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	testscript.Main(m, map[string]func(){"synthetic": main})
}

// small are flags of a run that takes a moment: so few examples want a penalty, and the best
// constant is near 0.
const small = "-p=2 -agents=3 -train=4 -val=6 -test=20 -K=4 -report=false"

func TestScripts(t *testing.T) {
	experimenttest.Scripts(t, "synthetic", run, func(e *testscript.Env) error {
		e.Setenv("SMALL", small)
		e.Setenv("STEPPED", small+" -preset=madsbo_tuned -T=2 -N=2")
		return nil
	})
}

// run runs a command line in this process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return experiment.Run(ctx, tasks.Synthetic(), args, stdout, stderr)
}
