package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/algo"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// tiny is a task that runs in milliseconds.
func tiny(t *testing.T) task {
	t.Helper()
	all := tasks()
	c := all[slices.IndexFunc(all, func(c task) bool { return c.name == "p100" })]
	c.features, c.k = 5, 3
	return c
}

// TestOurs holds the counted numbers against what the method says it sends.
func TestOurs(t *testing.T) {
	c := tiny(t)
	r := ours(t.Context(), c)
	m := algo.Clone(c.method)
	testkit.OK(m.Init(c.features, c.features, c.k))
	cost := m.Cost(0)
	if want := float64(2 * cost.Floats); r.Floats != want { // two neighbours on the ring
		t.Errorf("%g numbers sent, want %g", r.Floats, want)
	}
	if len(r.Ms) != c.k || r.ms() <= 0 {
		t.Errorf("times %v, want %d positive ones", r.Ms, c.k)
	}
	if !(r.Loss > 0 && r.Loss < math.Ln2) { // it starts at y = 0 with log 2
		t.Errorf("loss %g, want one between 0 and log 2", r.Loss)
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

// TestFlagsExist finds every flag that the peer is given in its program.
func TestFlagsExist(t *testing.T) {
	for _, c := range tasks() {
		for _, f := range append(c.flags(), "--out", "--mnist") {
			if strings.HasPrefix(f, "--") && !bytes.Contains(torchProgram, []byte(`a("`+f+`"`)) {
				t.Errorf("%s: the peer's program has no flag %s", c.name, f)
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
	r, err := readResult([]byte(
		`{"iter_ms_median": 1.5, "rss_MiB_sum": 400, "floats_sent_per_agent_iter": 7, "log": [{"test_loss": ` +
			`1}, {"test_loss": 0.25}]}`))
	if err != nil || r.ms() != 1.5 || r.mib() != 400 || r.Floats != 7 || r.Loss != .25 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{"", "{}", `{"iter_ms_median": 1}`, `{"iter_ms_median": 1, "log": []}`} {
		if _, err := readResult([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// TestNoPeer says what is missing.
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
	text := `#!/bin/sh
while [ $# -gt 0 ]; do
	if [ "$1" = --out ]; then
		echo '{"iter_ms_median": 2, "log": [{"test_loss": 1}]}' > "$2"
	fi
	shift
done
`
	testkit.OK(os.WriteFile(script, []byte(text), 0o700))
	r, err := newRival(t.Context(), dir, options{mpirun: script, python: script, ranks: 2})
	if err != nil {
		t.Skipf("no shell here: %v", err)
	}
	if got, err := r.run(t.Context(), tiny(t)); err != nil || got.ms() != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	testkit.OK(os.WriteFile(script, []byte("#!/bin/sh\necho first\necho no such task\nexit 1\n"), 0o700))
	if _, err := r.run(t.Context(), tiny(t)); err == nil || !strings.HasSuffix(err.Error(), ": no such task") {
		t.Errorf("error %v, want the program's last words", err)
	}
}

func TestRows(t *testing.T) {
	c := tiny(t)
	c.features = 0 // MNIST's row says more
	mine := []run{{Ms: []float64{1, 3}, MiB: 10}, {Ms: []float64{4}, MiB: 10}}
	other := []run{{Ms: []float64{4}, MiB: 40}, {Ms: []float64{16}, MiB: 40}}
	for name, c := range map[string]struct {
		peer []run
		want []string
	}{
		"both":  {other, []string{"3.00", "10.00", "0.375", "0.25", "0.3"}},
		"alone": {nil, []string{"3.00"}},
	} {
		cells := append(tiny(t).row(mine, c.peer), tasks()[0].row(mine, c.peer)...)
		for _, want := range c.want {
			if !slices.Contains(cells, want) {
				t.Errorf("%s: %q lacks %s", name, cells, want)
			}
		}
	}
}

// TestWork counts by hand: 20 gradients of two products and 9 Hessian-vector products of three, for
// each of 8 agents, each product 2·1000·784·10 flops.
func TestWork(t *testing.T) {
	flops, bytes := iterationWork()
	if want := 8. * (20*2 + 9*3) * 2 * 1000 * 784 * 10; flops != want {
		t.Errorf("%g flops, want %g", flops, want)
	}
	if least := 8. * 29 * 1000 * 784; bytes < least {
		t.Errorf("%g bytes, want at least the %g of the pictures", bytes, least)
	}
	l := limit{GFLOPS: flops / 1e9 * 10, GBs: bytes / 1e9 * 20}
	if ms, why := l.floor(); math.Abs(ms-100) > 1e-9 || why != "products" {
		t.Errorf("floor %g ms by %s, want 100 by products", ms, why)
	}
	l.GBs = bytes / 1e9
	if ms, why := l.floor(); math.Abs(ms-1000) > 1e-9 || why != "memory" {
		t.Errorf("floor %g ms by %s, want 1000 by memory", ms, why)
	}
	var out strings.Builder
	if l.compare(&out, 2500); !strings.Contains(out.String(), "2.50 times") {
		t.Errorf("%q, want 2.50 times", out.String())
	}
}

func TestLimitPart(t *testing.T) {
	if testing.Short() {
		t.Skip("copies 256 MB")
	}
	if l := measureLimit(1); !(l.GFLOPS > 0 && l.GBs > 0) {
		t.Errorf("%+v: want positive rates", l)
	}
}

// BenchmarkIteration is one outer iteration of all agents of each task.
func BenchmarkIteration(b *testing.B) {
	for _, t := range tasks() {
		b.Run(t.name, func(b *testing.B) {
			m, d := t.problem(agents)
			c := newTeam(m, d, t)
			b.ReportAllocs()
			k := 0
			step := func() {
				c.iterate(b.Context(), k)
				k++
			}
			step() // compiles
			for b.Loop() {
				step()
			}
		})
	}
}
