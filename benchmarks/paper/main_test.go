package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	m.Run()
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, cli.OK, "-only"},
		{[]string{"-only", "higp,rain"}, cli.Usage,
			`-only must name some of convergence, higp, mismatch, hessian, order2; ` +
				`"rain" is none of them`},
		{[]string{"-only", "higp,"}, cli.Usage, `"" is none of them`},
		{[]string{"mismatch"}, cli.Usage, `unexpected argument "mismatch"`},
		{[]string{"-figure", "."}, cli.Usage, "-figure"},
		{[]string{"-speed", "9"}, cli.Usage, "-speed"},
		{[]string{"-seed", "one"}, cli.Usage, "-seed"},
	} {
		var out bytes.Buffer
		err := command(t.Context(), c.args, &out, &out)
		text := out.String()
		if c.code != cli.OK {
			text += cli.OneLine(err)
		}
		if cli.Code(err) != c.code || !strings.Contains(text, c.says) || c.code != cli.OK &&
			strings.Contains(text, "\n") {
			t.Errorf("%q ends with %d, want %d, and says\n%s\nwant %s", c.args, cli.Code(err), c.code, text, c.says)
		}
	}
}

// TestQuick: every experiment runs, and one gives the same numbers again.
func TestQuick(t *testing.T) {
	for _, e := range experiments() {
		t.Run(e.name, func(t *testing.T) {
			if e.name != "convergence" {
				testkit.Long(t, "takes the longest")
			}
			var first, second, errs bytes.Buffer
			dir := t.TempDir()
			args := []string{"-quick", "-only", e.name, "-figures", dir}
			if err := command(t.Context(), args, &first, &errs); err != nil {
				t.Fatalf("%v\n%s%s", err, first.String(), errs.String())
			}
			draws := e.name == "hessian" || e.name == "order2"
			if drawn := testkit.Get(filepath.Glob(dir + "/*.svg")); (len(drawn) > 0) != draws {
				t.Errorf("%s draws %q, only hessian and order2 draw", e.name, drawn)
			}
			if e.name != "convergence" { // whose seeds run at once, as the IDs of all others do
				return
			}
			testkit.OK(command(t.Context(), args, &second, &errs))
			if first.String() != second.String() {
				t.Errorf("first\n%s\nthen\n%s", first.String(), second.String())
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	if err := command(ctx, []string{"-quick", "-only", "mismatch"}, &out, &out); cli.Code(err) != cli.Interrupted {
		t.Errorf("exit code %d after an interrupt, want %d: %v", cli.Code(err), cli.Interrupted, err)
	}
}

// TestCommandsOfDocuments: the flags of this command in documents are there.
func TestCommandsOfDocuments(t *testing.T) {
	for name, text := range testkit.Documents("../..") {
		for _, words := range testkit.Commands(text, "go run ./benchmarks/paper") {
			err := command(t.Context(), append(words[3:], "-h"), io.Discard, io.Discard)
			if !errors.Is(err, flag.ErrHelp) {
				t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
			}
			for i, w := range words {
				if w == "-only" {
					names := column(experiments(), func(e experiment) string { return e.name })
					if _, err := cli.Choose("only", words[i+1], names); err != nil {
						t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
					}
				}
			}
		}
	}
}
