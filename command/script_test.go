package command

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dsbo": func() { os.Exit(cli.Main("dsbo", run)) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds:                experimenttest.Commands("dsbo"),
	})
}
