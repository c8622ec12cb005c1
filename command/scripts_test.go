package command

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// runScripts runs the scripts in a folder, each after its setup. They run one after the other, as
// the lines of the command change the folder of this process.
func runScripts(t *testing.T, folder string, setup func(*testscript.Env) error) {
	testscript.RunT(inOrder{t}, testscript.Params{
		Dir:                 folder,
		RequireExplicitExec: true,
		Setup:               setup,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){ // beyond testscript's own
			"exits":       exits,
			"oneline":     oneline,
			"refused":     refused,
			"samerecords": samerecords,
			"samebytes":   samebytes,
			"edit":        spoil,
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

// runLine runs a command line in the folder of a script. It does so in this process, as a process
// of its own takes most of its time to begin. An argument that was a variable may be several.
func runLine(ts *testscript.TestScript, args []string, stdout, stderr io.Writer) error {
	home := testkit.Get(os.Getwd())
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer os.Chdir(home)
	return run(context.Background(), strings.Fields(strings.Join(args, " ")), stdout, stderr)
}

// refused TEXT ARGUMENTS...: a command line ends with the exit code of wrong use, an error with
// this text, and no output.
func refused(ts *testscript.TestScript, _ bool, args []string) {
	var out bytes.Buffer
	err := runLine(ts, args[1:], &out, &out)
	if cli.Code(err) != cli.Usage || !strings.Contains(cli.OneLine(err), args[0]) || out.Len() > 0 {
		ts.Fatalf("error %v with exit code %d, want %q with %d; output %q, want nothing", err, cli.Code(err),
			args[0], cli.Usage, out.String())
	}
}

// exits CODE ARGUMENTS...: a command line ends with that exit code. Scripts start a process of the
// command by exec.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := runLine(ts, args[1:], ts.Stdout(), ts.Stderr())
	if err != nil {
		cli.Report(ts.Stderr(), "dsbo", err)
	}
	if code := strconv.Itoa(cli.Code(err)); code != args[0] {
		ts.Fatalf("exit code %s, want %s: %v", code, args[0], err)
	}
}

// oneline TEXT: stderr is one line of the command with this text, and stdout is empty.
func oneline(ts *testscript.TestScript, _ bool, args []string) {
	text, out := ts.ReadFile("stderr"), ts.ReadFile("stdout")
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "dsbo: ") || !strings.Contains(text, args[0]) ||
		out != "" {
		ts.Fatalf("stderr is %q, want one line with %q, and stdout %q, want nothing", text, args[0], out)
	}
}

// samerecords RUN RUN: the metrics agree in all but times and memory.
func samerecords(ts *testscript.TestScript, _ bool, args []string) {
	diff, err := experimenttest.Difference(ts.MkAbs(args[0]), ts.MkAbs(args[1]))
	ts.Check(err)
	if diff != "" {
		ts.Fatalf("difference:\n%s", diff)
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

// spoil: edit FILE flip OFFSET | cut BYTES: spoils a file.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
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
