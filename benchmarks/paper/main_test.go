package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	file := filepath.Join(t.TempDir(), "file")
	testkit.OK(os.WriteFile(file, nil, 0o644))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, cli.OK, "-only"},
		{[]string{"-list"}, cli.OK, "convergence"},
		{[]string{"-only", "higp,rain"}, cli.Usage,
			`-only must name some of convergence, higp, mismatch, hessian; ` +
				`"rain" is none of them`},
		{[]string{"-only", "higp,"}, cli.Usage, `"" is none of them`},
		{[]string{"mismatch"}, cli.Usage, `unexpected argument "mismatch"`},
		{[]string{"-figures", "no/such/folder"}, cli.Usage,
			"-figures must be a folder that exists; it is no/such/folder"},
		{[]string{"-figures", file}, cli.Usage, "must be a folder that exists"},
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

// figureLine is what the command says of a figure that it has drawn.
var figureLine = regexp.MustCompile(`(?m)^figure: .*\n`)

// Every experiment runs and draws its figures, and one gives the same numbers again.
func TestQuick(t *testing.T) {
	for _, e := range experiments() {
		t.Run(e.name, func(t *testing.T) {
			measuresTime := slices.Contains([]string{"mismatch", "hessian"}, e.name)
			if testing.Short() && (measuresTime || e.name == "higp") {
				t.Skip("takes the longest")
			}
			dir := t.TempDir()
			args := []string{"-quick", "-only", e.name}
			if !testing.Short() { // drawing takes the longest
				args = append(args, "-figures", dir)
			}
			var first, second, errs bytes.Buffer
			if err := command(t.Context(), args, &first, &errs); err != nil {
				t.Fatalf("%v\n%s%s", err, first.String(), errs.String())
			}
			if testing.Short() {
				return
			}
			figures, err := filepath.Glob(filepath.Join(dir, "*.svg"))
			if err != nil || len(figures) == 0 || len(figures) != strings.Count(first.String(), "figure: ") {
				t.Errorf("%d figures (%v) for\n%s", len(figures), err, first.String())
			}
			for _, f := range figures {
				if s, err := os.Stat(f); err != nil || s.Size() > 150<<10 {
					t.Errorf("%s: %v, want at most 150 KiB", f, err)
				}
			}
			if page, err := os.ReadFile(filepath.Join(dir, e.name+".md")); err != nil ||
				strings.Count(string(page), "![") != len(figures) {
				t.Errorf("%v, want a page with %d figures; it is\n%s", err, len(figures), page)
			}
			if e.name != "convergence" { // whose seeds run at once, as the IDs of all others do
				return
			}
			testkit.OK(command(t.Context(), args[:3], &second, &errs)) // draws nothing
			if figureLine.ReplaceAllString(first.String(), "") != second.String() {
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
					if _, err := choose(words[i+1]); err != nil {
						t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
					}
				}
			}
		}
	}
}
