package main

import (
	"context"
	"io"
	"path/filepath"
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
	testscript.Main(m, map[string]func(){"mnist": main})
}

// small are the flags of a run that takes a moment on the small data set, and stepped the flags of
// a run with steps and draws.
const (
	small   = "-agents=2 -train=10 -val=10 -K=2 -report=false"
	stepped = small + " -preset=madsbo_tuned -batch=5 -T=2 -N=2 -evaluate=off"
)

func TestScripts(t *testing.T) {
	experimenttest.Scripts(t, "mnist", run, func(e *testscript.Env) error {
		dir := filepath.Join(e.WorkDir, "data")
		t.Setenv("DSBO_DATA", dir)
		e.Setenv("DSBO_DATA", dir)
		e.Setenv("SMALL", small)
		e.Setenv("STEPPED", stepped)
		return testkit.WriteMNIST(dir, 200, 30)
	})
}

// run runs a command line in this process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return experiment.Run(ctx, tasks.MNIST(), args, stdout, stderr)
}
