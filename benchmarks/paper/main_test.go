package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, 0, "-only"},
		{[]string{"-list"}, 0, "convergence"},
		{[]string{"-only", "higp,rain"}, 2, `no experiment "rain", want some of convergence, higp`},
		{[]string{"-only", ""}, 2, "arguments"},
		{[]string{"-figures", "no/such/folder"}, 2, "-figures no/such/folder: want a folder that exists"},
		{[]string{"-speed", "9"}, 2, "-speed"},
	} {
		if c.says == "arguments" {
			c.args, c.says = append(c.args, "table1"), `argument "table1": there are flags only`
		}
		var out bytes.Buffer
		if code := command(t.Context(), c.args, &out, &out); code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%q ends with %d, want %d, and says\n%s\nwant %s", c.args, code, c.code, out.String(), c.says)
		}
	}
}

// Every experiment runs, draws its figures and, times apart, gives the same numbers again.
func TestQuick(t *testing.T) {
	for _, e := range experiments() {
		t.Run(e.name, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"-quick", "-only", e.name}
			if !testing.Short() { // drawing takes the longest
				args = append(args, "-figures", dir)
			}
			var first, second, errs bytes.Buffer
			if code := command(t.Context(), args, &first, &errs); code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, first.String(), errs.String())
			}
			if testing.Short() {
				return
			}
			figures, err := filepath.Glob(filepath.Join(dir, "*.png"))
			if err != nil || len(figures) == 0 || len(figures) != strings.Count(first.String(), "figure: ") {
				t.Errorf("%d figures (%v) for\n%s", len(figures), err, first.String())
			}
			for _, f := range figures {
				if s, err := os.Stat(f); err != nil || s.Size() > 150<<10 {
					t.Errorf("%s: %v, want at most 150 KiB", f, err)
				}
			}
			if e.name == "table1" || e.name == "hessian" {
				return
			}
			command(t.Context(), args, &second, &errs)
			if first.String() != second.String() {
				t.Errorf("first\n%s\nthen\n%s", first.String(), second.String())
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := contextThatEnds(t)
	stop()
	var out bytes.Buffer
	if code := command(ctx, []string{"-quick", "-only", "loops"}, &out, &out); code != 1 {
		t.Errorf("exit code %d after an interrupt, want 1\n%s", code, out.String())
	}
}
