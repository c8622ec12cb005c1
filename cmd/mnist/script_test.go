package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"dsbo/cmd/internal/minimnist"
	"dsbo/internal/cli"
	"dsbo/train"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mnist": func() { os.Exit(cli.Main("mnist", run)) }})
}

// small are the flags of a run that takes a moment on the small data set.
const small = "-agents=4 -train=40 -val=40 -batch=10 -K=6 -T=2 -N=2"

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			dir := filepath.Join(e.WorkDir, "data")
			e.Setenv("DSBO_DATA", dir)
			e.Setenv("SMALL", small)
			return minimnist.Write(dir, 400, 60)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":       exits,
			"oneline":     oneline,
			"samerecords": samerecords,
			"samebytes":   samebytes,
			"edit":        edit,
		},
	})
}

// exits CODE COMMAND...: the command ends with that exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	var flags []string
	for _, a := range args[2:] {
		flags = append(flags, strings.Fields(a)...) // $SMALL is several
	}
	err := ts.Exec(args[1], flags...)
	code := 0
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		code = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// oneline TEXT: stderr is one line with this text, and stdout is empty.
func oneline(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile("stderr")
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "mnist: ") || !strings.Contains(text, args[0]) || ts.ReadFile("stdout") != "" {
		ts.Fatalf("stderr is %q, want one line with %q, and stdout %q, want nothing", text, args[0], ts.ReadFile("stdout"))
	}
}

// samerecords RUN RUN: the metrics agree in all but times and memory.
func samerecords(ts *testscript.TestScript, _ bool, args []string) {
	var runs [2][]train.Record
	for i := range runs {
		records, err := train.ReadRecords(args[i], strings.NewReader(ts.ReadFile(filepath.Join(args[i], "metrics.jsonl"))))
		ts.Check(err)
		for _, r := range records {
			runs[i] = append(runs[i], r.Timeless())
		}
	}
	equal := cmp.Comparer(func(a, b train.Number) bool { return a == b || !a.Known() && !b.Known() })
	if diff := cmp.Diff(runs[0], runs[1], equal); diff != "" || len(runs[0]) == 0 {
		ts.Fatalf("%d records; difference:\n%s", len(runs[0]), diff)
	}
}

// samebytes [!] RUN RUN FILE...: the files of two runs are equal.
func samebytes(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args[2:] {
		a, b := ts.ReadFile(filepath.Join(args[0], name)), ts.ReadFile(filepath.Join(args[1], name))
		if (a == b) == neg {
			ts.Fatalf("%s: equal is %t", name, a == b)
		}
	}
}

// edit FILE flip OFFSET | cut BYTES | gzip-cut BYTES: spoils a file.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	at, err := strconv.Atoi(args[2])
	ts.Check(err)
	switch args[1] {
	case "flip":
		data[at] ^= 1
	case "cut":
		data = bytes.Clone(data[:len(data)-at])
	default:
		ts.Fatalf("edit %s is unknown", args[1])
	}
	ts.Check(os.WriteFile(path, data, 0o644))
}
