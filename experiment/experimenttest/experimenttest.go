// Package experimenttest is the conformance test of tasks, [TestTask], scripts about commands,
// [Scripts], and processes that a signal strikes at a line of theirs, [Struck].
package experimenttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// A Command is a program's function for a command line.
type Command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// Scripts runs the scripts in a folder about the command of that name, each after its setup. They
// run one after the other, as the command's lines change the folder of this process.
func Scripts(t *testing.T, folder, name string, command Command, setup func(*testscript.Env) error) {
	testscript.RunT(inOrder{t}, testscript.Params{
		Dir:                 folder,
		RequireExplicitExec: true,
		Setup:               setup,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){ // beyond testscript's own
			"exits":       command.exits(name),
			"oneline":     oneline(name),
			"refused":     command.refused,
			"samerecords": samerecords,
			"samebytes":   samebytes,
			"edit":        edit,
		},
	})
}

// inOrder is a test whose subtests are not parallel.
type inOrder struct{ *testing.T }

func (inOrder) Parallel()     {}
func (inOrder) Verbose() bool { return testing.Verbose() }
func (t inOrder) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inOrder{t}) })
}

// line runs a command line in the folder of a script. It does so in this process, as a process of
// its own takes most of its time to begin. An argument that was a variable may be several.
func (command Command) line(ts *testscript.TestScript, args []string, stdout, stderr io.Writer) error {
	home := testkit.Get(os.Getwd())
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer os.Chdir(home)
	return command(context.Background(), strings.Fields(strings.Join(args, " ")), stdout, stderr)
}

// refused TEXT ARGUMENTS...: a command line ends with the exit code of wrong use, an error with
// this text, and no output.
func (command Command) refused(ts *testscript.TestScript, _ bool, args []string) {
	var out bytes.Buffer
	err := command.line(ts, args[1:], &out, &out)
	if cli.Code(err) != cli.Usage || !strings.Contains(cli.OneLine(err), args[0]) || out.Len() > 0 {
		ts.Fatalf("error %v with exit code %d, want %q with %d; output %q, want nothing", err, cli.Code(err),
			args[0], cli.Usage, out.String())
	}
}

// exits CODE ARGUMENTS...: a command line ends with that exit code. Scripts start a process of the
// command by exec.
func (command Command) exits(name string) func(ts *testscript.TestScript, _ bool, args []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		err := command.line(ts, args[1:], ts.Stdout(), ts.Stderr())
		if err != nil {
			cli.Report(ts.Stderr(), name, err)
		}
		if code := strconv.Itoa(cli.Code(err)); code != args[0] {
			ts.Fatalf("exit code %s, want %s: %v", code, args[0], err)
		}
	}
}

// oneline TEXT: stderr is one line of the command with this text, and stdout is empty.
func oneline(name string) func(ts *testscript.TestScript, _ bool, args []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		text, out := ts.ReadFile("stderr"), ts.ReadFile("stdout")
		if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, name+": ") || !strings.Contains(text, args[0]) ||
			out != "" {
			ts.Fatalf("stderr is %q, want one line with %q, and stdout %q, want nothing", text, args[0], out)
		}
	}
}

// samerecords RUN RUN: the metrics agree in all but times and memory.
func samerecords(ts *testscript.TestScript, _ bool, args []string) {
	diff, err := Difference(ts.MkAbs(args[0]), ts.MkAbs(args[1]))
	ts.Check(err)
	if diff != "" {
		ts.Fatalf("difference:\n%s", diff)
	}
}

// Difference says in what the metrics of two run folders differ, times and memory left aside; "" if
// in nothing.
func Difference(a, b string) (string, error) {
	var metrics [2][]runs.Record
	for i, dir := range []string{a, b} {
		records, err := runs.Folder(dir).Records()
		if err != nil {
			return "", err
		}
		if len(records) == 0 {
			return dir + " has no records", nil
		}
		metrics[i] = records
	}
	if n, m := len(metrics[0]), len(metrics[1]); n != m {
		return fmt.Sprintf("%d records and %d", n, m), nil
	}
	for k, r := range metrics[0] {
		if d, err := runs.Diff(r.Timeless(), metrics[1][k].Timeless()); err != nil || len(d) > 0 {
			return fmt.Sprintf("record %d: %v", k, d), err
		}
	}
	return "", nil
}

// SameRun checks that two run folders have the same metrics, times and memory left aside, λ
// and model.
func SameRun(t *testing.T, got, want string) {
	t.Helper()
	if diff, err := Difference(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v %s", got, err, diff)
	}
	for _, name := range []string{runs.LambdaFile, runs.OmegaFile} {
		a, err := os.ReadFile(filepath.Join(want, name))
		b, errGot := os.ReadFile(filepath.Join(got, name))
		if err != nil || errGot != nil || !bytes.Equal(a, b) {
			t.Errorf("%s has another %s (%v, %v)", got, name, err, errGot)
		}
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

// edit FILE flip OFFSET | cut BYTES: spoils a file.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	data, at := testkit.Get(os.ReadFile(path)), testkit.Get(strconv.Atoi(args[2]))
	switch args[1] {
	case "flip":
		data[at] ^= 1
	case "cut":
		data = data[:len(data)-at]
	default:
		ts.Fatalf("edit %s is unknown", args[1])
	}
	ts.Check(os.WriteFile(path, data, 0o644))
}
