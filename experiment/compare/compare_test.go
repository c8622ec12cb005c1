package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/train"
)

// TestMain is the program dsbo with the task synthetic where its first argument is that, as
// comparisons call it, and a comparison of endless where it is that.
func TestMain(m *testing.M) {
	switch append(os.Args, "")[1] {
	case "mnist":
		os.Exit(cli.Main("dsbo", func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			return experiment.Run(ctx, tasks.MNIST(), args[1:], stdout, stderr)
		}))
	case "synthetic":
		os.Exit(cli.Main("dsbo", func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			if fd, err := strconv.Atoi(os.Getenv(lifeVariable)); err == nil {
				life = os.NewFile(uintptr(fd), "life")
				fmt.Fprintln(life, os.Getpid())
			}
			return experiment.Run(ctx, tasks.Synthetic(), args[1:], stdout, stderr)
		}))
	case "compare":
		_, err := Run(context.Background(), testkit.Get(Parse([]byte(endless))), Options{Out: os.Args[2], Tasks: all()})
		os.Exit(cli.End("dsbo", err))
	}
	testkit.InMemory()
	os.Exit(m.Run())
}

// lifeVariable holds the number of the file to which a run writes that it has begun, where there
// is one.
const lifeVariable = "DSBO_TEST_LIFE"

// life is that file, which is open until the process ends: not until the collector finds it.
var life *os.File

// endless is a spec of one run that comes to no end by itself.
const endless = `{"tasks": ["synthetic -p=2 -r=1 -train=4 -val=6 -test=20 -agents=2"], "methods": ["dsoba ` +
	`-K=100000000"]}`

// small is two methods with two seeds at two steps, and two that are not made for the task.
const small = `{
	"tasks": [{"task": "synthetic -p=2 -r=1 -train=30 -val=30 -test=20 -agents=3", "name": "small"}],
	"methods": [{"method": "newtoncg -K=4", "grid": {"lr": [0.1, 0.4]}}, {"method": "dsoba -K=10", "grid":
		{"alpha": [0.01, 0.1]}}, "dascgd", "itd"],
	"seeds": [1, 2],
	"flags": ["-holdout=0", "-eval-every=1"]
}`

// runSmall runs the small spec, and returns how many runs it made and how many it kept.
func runSmall(t *testing.T, out string, force bool) (r *Result, made, kept int) {
	t.Helper()
	r = testkit.Get(Run(t.Context(), testkit.Get(Parse([]byte(small))),
		Options{Out: out, Processes: 2, Tasks: all(), Force: force}))
	for _, e := range r.Rankings[0].Entries {
		for _, trial := range e.Trials() {
			if trial.kept {
				kept++
			} else {
				made++
			}
		}
	}
	return r, made, kept
}

// pageOf writes a comparison, and returns its page.
func pageOf(t *testing.T, r *Result, dir string) string {
	t.Helper()
	return string(testkit.Get(os.ReadFile(testkit.Get(r.Write(dir, testkit.Get(r.Parts()))))))
}

// TestRun: a comparison makes all runs, reports inapplicable ones with the reason, and makes again
// only those that are missing.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes, and their pages")
	}
	out := t.TempDir()
	r, made, kept := runSmall(t, out, false)
	if made != 12 || kept != 0 {
		t.Fatalf("%d runs made and %d kept, want 12 and 0", made, kept)
	}
	k := r.Rankings[0]
	for i, want := range []struct {
		began bool
		edges string
	}{{true, "lr"}, {true, "alpha"}, {false, ""}, {false, ""}} {
		e := k.Entries[i]
		if e.began() != want.began || strings.Join(e.Edges, " ") != want.edges ||
			math.IsNaN(k.median(e)) == want.began {
			t.Errorf("%s: began %t, edges %v, Φ %v; want %+v", e.Method.Name, e.began(), e.Edges,
				k.median(e), want)
		}
		if want.began && math.IsNaN(k.costReached(e, megabytes)) {
			t.Errorf("%s has not reached what all reach", e.Method.Name)
		}
	}
	for _, trial := range k.Entries[0].Trials() {
		if m := trial.Summary.Models; len(m) != 1 || trial.testLoss() != float64(m[0].TestLoss) {
			t.Errorf("the test loss of a method must be that of its own λ: %v of %+v", trial.testLoss(), m)
		}
	}
	if v := k.median(k.untuned); math.IsNaN(v) || len(k.untuned.Best) != 2 {
		t.Errorf("the best without tuning has Φ = %v in %d runs", v, len(k.untuned.Best))
	}
	text := strings.Join(k.refusals(), "\n")
	if want :=
		"dascgd: not applicable: dascgd is for compositional problems alone; that of synthetic is none\nitd: not " +
			"applicable: itd runs on one agent, not on 3"; text != want {
		t.Errorf("refusals %s\nwant %s", text, want)
	}
	if err := r.Failure(); err != nil {
		t.Error(err)
	}
	page := pageOf(t, r, out)
	for _, want := range []string{"<h2>small</h2>", "not applicable", "at the edge: lr", `"title":"oracle calls"`,
		`"levels":[{"name":"best constant","y":`, `"name":"dsoba -K=10","color":`,
		"<code>" + filepath.Base(os.Args[0]) + " synthetic "} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, name := range []string{csvFile, "figures/small-phi_bytes.svg", "figures/small-test_loss_seconds.svg"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}

	lost := k.Entries[0].Best[0]
	testkit.OK(os.Remove(lost.Folder.Path(runs.SummaryFile))) // as of a run that was killed
	again, made, kept := runSmall(t, out, false)
	if made != 5 || kept != 7 { // the four that are refused are asked again
		t.Errorf("%d runs made and %d kept, want 5 and 7", made, kept)
	}
	if a, b := lost.end(phi.of), again.Rankings[0].Entries[0].Best[0].end(phi.of); a != b {
		t.Errorf("Φ = %v, and %v of the run that went on", a, b)
	}
}

func TestRunEnds(t *testing.T) {
	s := testkit.Get(Parse([]byte(bad(`"tasks":["synthetic -r=1 -p=3"]`))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := t.TempDir()
	early, err := Run(ctx, s, Options{Out: out, Tasks: all()})
	if !errors.Is(err, train.ErrInterrupted) || cli.Code(err) != cli.Interrupted {
		t.Errorf("interrupted: %v", err)
	}
	pageOf(t, early, out)
	k := early.Rankings[0]
	if e := k.Entries[0]; e.State() != runs.Interrupted || !math.IsNaN(k.median(e)) {
		t.Errorf("of no run there is the state %v and Φ = %v", e.State(), k.median(e))
	}
	if _, err := Run(t.Context(), s, Options{Out: t.TempDir(), Tasks: all(),
		Program: []string{"/no/program"}}); err == nil {
		t.Error("a program that is not there must be an error")
	}
	r := testkit.Get(Run(t.Context(), s, Options{Out: t.TempDir(), Tasks: all(), Program: []string{"false"}}))
	if err := r.Failure(); err == nil || cli.Code(err) != cli.Failure {
		t.Errorf("failed: %v", err)
	}
}
