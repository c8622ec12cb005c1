package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/algo"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// tiny is a task that runs in milliseconds.
func tiny(t *testing.T) task {
	t.Helper()
	all := tasks()
	c := all[slices.IndexFunc(all, func(c task) bool { return c.name == "p100" })]
	c.features, c.k = 5, 3
	return c
}

// TestOurs compares the counted numbers with the method's own.
func TestOurs(t *testing.T) {
	c := tiny(t)
	r := ours(t.Context(), c)
	m := algo.Clone(c.method)
	testkit.OK(m.Init(c.features, c.features, c.k))
	cost := m.Cost(0)
	if want := runs.Number(2 * cost.Floats); r["floats"] != want { // to two neighbours, in each iteration
		t.Errorf("%g numbers sent, want %g", r["floats"], want)
	}
	if !(r["ms"] > 0 && r["loss"] > 0 && r["loss"] < math.Ln2) { // it starts at y = 0 with log 2
		t.Errorf("%v: want a positive time and a loss between 0 and log 2", r)
	}
}

func TestTasksAreValid(t *testing.T) {
	for _, c := range tasks() {
		name := algo.NameOf(c.method)
		if err := algo.Clone(c.method).Init(1, 1, c.k); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if f := strings.Join(c.flags(), " "); !strings.Contains(f, "--algo "+name+" ") {
			t.Errorf("%s: flags %q do not name the method %s", c.name, f, name)
		}
	}
}

// TestFlagsExist: each row can be measured, and each flag that the peer is given is in its program.
func TestFlagsExist(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range tables() {
		declares := `a("`
		if table.compiled {
			declares = `{"`
		}
		for _, w := range table.rows {
			if seen[w.title] {
				t.Errorf("two rows are %s", w.title)
			}
			seen[w.title] = true
			if workerOf(w.title) == nil || !slices.Contains(parts(), w.part) {
				t.Errorf("%s of %s cannot be chosen", w.title, w.part)
			}
			if w.mnist {
				w.args = append(w.args, "--mnist")
			}
			for _, f := range append(w.args, "--out") {
				if strings.HasPrefix(f, "--") && !bytes.Contains(w.program, []byte(declares+f+`"`)) {
					t.Errorf("%s: the peer's program has no flag %s", w.title, f)
				}
			}
		}
	}
}

// TestUsage: a command line that cannot be is one line and the code for it, before anything runs.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"mnist", `unexpected argument "mnist"`, cli.Usage},
		{"-rounds 0", "-rounds, -procs and -ranks must be at least 1; they are 0, 2 and 2", cli.Usage},
		{"-rounds many", "-rounds", cli.Usage},
		{"-ranks 3", "-ranks must divide 8 agents; it is 3", cli.Usage},
		{"-worker p300", `"p300"`, cli.Usage},
		{"-only p200,p300", `-only must name some of mnist-f32`, cli.Usage},
		{"-only ,", `"" is none of them`, cli.Usage},
		{"-speed 9", "-speed", cli.Usage},
		{"-h", "-peer-args", cli.OK},
	} {
		var out bytes.Buffer
		err := command(t.Context(), strings.Fields(c.args), &out, io.Discard)
		text := out.String()
		if c.code != cli.OK {
			text += cli.OneLine(err)
		}
		if cli.Code(err) != c.code || !strings.Contains(text, c.want) || c.code != cli.OK &&
			strings.Contains(text, "\n") {
			t.Errorf("%s: exit code %d, %q; want %d and %q", c.args, cli.Code(err), text, c.code, c.want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := command(ctx, []string{"-only", "p100", "-rounds", "1"}, io.Discard,
		io.Discard); cli.Code(err) != cli.Interrupted {
		t.Errorf("exit code %d (%v), want %d", cli.Code(err), err, cli.Interrupted)
	}
}

func TestReadResult(t *testing.T) {
	job, w := row{mpi: true}, taskTable()
	r, err := readResult([]byte(
		`{"iter_ms_median": 1.5, "rss_MiB_sum": 400, "floats_sent_per_agent_iter": 7, "log": [{"test_loss": `+
			`1}, {"test_loss": 0.25}]}`), job, w.columns)
	if want := (result{"ms": 1.5, "MiB": 400, "floats": 7, "loss": .25}); err != nil || !maps.Equal(r, want) {
		t.Errorf("%v, %v; want %v", r, err, want)
	}
	const rest = `"rss_MiB_sum": 1, "floats_sent_per_agent_iter": 1`
	for _, text := range []string{"", "{}", `{"iter_ms_median": 1, ` + rest + `}`,
		`{"log": [{"test_loss": 1}], ` + rest + `}`, `{"iter_ms_median": 1, "log": [], ` + rest + `}`} {
		if _, err := readResult([]byte(text), job, w.columns); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// TestNoPeer: the error names the missing part.
func TestNoPeer(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := newRival(t.Context(), t.TempDir(), options{mpirun: missing, python: missing}); err == nil ||
		!strings.Contains(err.Error(), missing) {
		t.Errorf("error %v, want one that names %s", err, missing)
	}
}

// TestRival runs stand-ins for mpirun and Python that write a result where they are told to.
func TestRival(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "stand-in")
	r := &rival{mpirun: script, python: script, ranks: 2, dir: dir}
	tasks, deep := taskTable(), deepTable()
	tasks.rows[0].mnist = false
	for _, c := range []struct {
		table table
		text  string
		want  result // nil: an error
	}{
		{tasks, `{"iter_ms_median": 2, "rss_MiB_sum": 3, "floats_sent_per_agent_iter": 4, "log": [{"test_loss": 1}]}`,
			result{"ms": 2, "MiB": 3, "floats": 4, "loss": 1}},
		{deep, `{"Gradient": 1, "Cold": 2, "Warm": 3}`, result{"Gradient": 1, "Cold": 2, "Warm": 3}},
		{deep, `{}`, nil},
	} {
		text := "#!/bin/sh\nwhile [ $1 != --out ]; do shift; done\necho '" + c.text + "' > $2\n"
		testkit.OK(os.WriteFile(script, []byte(text), 0o700))
		if exec.Command(script, "--out", os.DevNull).Run() != nil {
			t.Skip("no shell here")
		}
		got, err := r.measure(t.Context(), c.table.rows[0], c.table.columns)
		if (err != nil) != (c.want == nil) || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", c.text, got, err)
		}
	}
	testkit.OK(os.WriteFile(script, []byte("#!/bin/sh\necho first\necho no such task\nexit 1\n"), 0o700))
	if _, err := r.measure(t.Context(), tasks.rows[0], nil); err == nil ||
		!strings.HasSuffix(err.Error(), ": no such task") {
		t.Errorf("error %v, want the program's last words", err)
	}
}

// TestRows: a line has the medians of rounds and of their quotients, and of ours alone no others.
func TestRows(t *testing.T) {
	tasks, deep := taskTable(), deepTable()
	mine := []result{{"ms": 2, "MiB": 10, "Gradient": 1, "Cold": 2, "Warm": 1.5}, {"ms": 4, "MiB": 10, "Gradient": 1,
		"Cold": 2, "Warm": 1.5}}
	other := []result{{"ms": 4, "MiB": 40, "Gradient": 4, "Cold": 8, "Warm": 2}, {"ms": 16, "MiB": 40, "Gradient": 4,
		"Cold": 8, "Warm": 2}}
	for name, c := range map[string]struct {
		table table
		peer  []result
		want  []string
	}{
		"both":       {tasks, other, []string{"3.00", "10.00", "0.375", "0.25", "0.3"}},
		"alone":      {tasks, nil, []string{"3.00"}},
		"deep":       {deep, other, []string{"1.00", "4.00", "0.250", "0.7", "2.00", "8.00", "0.6", "1.50", "0.750"}},
		"deep alone": {deep, nil, []string{"1.00"}},
	} {
		cells := c.table.line(c.table.rows[0], mine, c.peer)
		for _, want := range c.want {
			if !slices.Contains(cells, want) {
				t.Errorf("%s: %q lacks %s", name, cells, want)
			}
		}
		if len(cells) != len(c.table.headers()) || c.peer == nil && cells[2] != "" {
			t.Errorf("%s: %q: want %d cells, and none of a peer", name, cells, len(c.table.headers()))
		}
	}
}

func TestMeasureDeep(t *testing.T) {
	for _, kind := range []dtype{f32, f64} {
		if times := measureDeep("784-3-10", 5, kind, 0); !(min(times["Gradient"], times["Cold"], times["Warm"]) > 0) {
			t.Errorf("%v: want positive times", times)
		}
	}
}

// TestCommandsOfDocuments: the flags of this command in documents are there.
func TestCommandsOfDocuments(t *testing.T) {
	for name, text := range testkit.Documents("../../..") {
		for _, words := range testkit.Commands(text, "go run ./benchmarks/peer/compare") {
			err := command(t.Context(), append(words[3:], "-h"), io.Discard, io.Discard)
			if !errors.Is(err, flag.ErrHelp) {
				t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
			}
			for i, w := range words {
				if w == "-only" {
					if _, err := cli.Choose("only", words[i+1], parts()); err != nil {
						t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
					}
				}
			}
		}
	}
}
