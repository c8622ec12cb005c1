package command

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
	"dsbo/tasks"
)

// testProgram is a program like that of cmd/dsbo.
var testProgram = newProgram("dsbo",
	tasks.MNIST(), tasks.Synthetic())

// run runs a command line of dsbo.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return testProgram.run(ctx, args, stdout, stderr)
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"dsbo": func() { os.Exit(cli.Main("dsbo", run)) },
		"wine": func() { os.Args[0] = "/usr/bin/wine"; Main(testProgram.tasks[1]) }, // a program for one task
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds:                experimenttest.Commands("dsbo"),
	})
}
