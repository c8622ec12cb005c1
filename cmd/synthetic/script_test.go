package main

import (
	"context"
	"io"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/tasks"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"synthetic": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			const small = "-p=4 -agents=3 -train=30 -val=30 -test=20 -K=6 -report=false"
			e.Setenv("SMALL", small)
			e.Setenv("STEPPED", small+" -preset=madsbo_tuned -T=2 -N=2")
			return nil
		},
		Cmds: experimenttest.Commands("synthetic"),
	})
}

// run runs a command line in this process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return experiment.Run(ctx, tasks.Synthetic(), args, stdout, stderr)
}
