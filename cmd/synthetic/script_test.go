package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"synthetic": func() { os.Exit(cli.Main("synthetic", run)) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SMALL", "-p=4 -agents=3 -train=30 -val=30 -test=20 -K=6 -T=2 -N=2 -report=false")
			return nil
		},
		Cmds: experimenttest.Commands("synthetic"),
	})
}
