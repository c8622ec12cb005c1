package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/site"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
)

// startAt runs a command line of tiny, and returns its records and its settings.
func startAt(t *testing.T, args string) ([]runs.Record, runs.Config) {
	t.Helper()
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	testkit.OK(runIn(t, newTiny(), string(folder), args+" -agents=3 -K=4 -eval-every=1 -rivals=false"))
	return testkit.Get(folder.Records()), testkit.Get(folder.ReadConfig())
}

// calls returns the oracle calls and the bytes of a record.
func calls(r runs.Record) []int64 {
	c := r.Calls
	return []int64{int64(c.UpperGrad), int64(c.LowerGrad), int64(c.HVP), int64(c.JVP), int64(c.Hessian),
		int64(c.Jacobian), int64(c.Diagonal), int64(c.Value), r.Bytes}
}

// TestStartsAlike: with -best-start all methods start at one constant and its solution, on any
// wire. Φ is less there than at its neighbours, and records count what it took to find it on top of
// their own.
func TestStartsAlike(t *testing.T) {
	var start, loss float64
	var cost []int64 // of the search, by kind of call
	for i, method := range []string{"newtoncg -wire=int8", "dsoba -alpha=0.1", "madsbo", "fedmsa -graph=server",
		"c2dfb -beta=0.01 -gamma=0.1"} {
		args := "-algorithm=" + method
		records, config := startAt(t, args+" -best-start")
		begin := records[0]
		if i == 0 {
			start, cost = config.X0, calls(begin)[:8]
		}
		if !config.X0Best || config.X0 != start || config.X0 == 0 || !slices.Equal(calls(begin)[:8], cost) ||
			begin.HVP == 0 || begin.Bytes == 0 {
			t.Errorf("%s starts at %g after %+v; it must be %g, as the first did, after %v", method, config.X0,
				begin.Calls, start, cost)
		}
		given, _ := startAt(t, args+" -x0="+fmt.Sprint(config.X0))
		last, own := calls(records[4]), calls(given[4])
		for k, n := range calls(begin) {
			if last[k] != own[k]+n {
				t.Errorf("%s: %d calls or bytes of kind %d; the search took %d and the iterations %d",
					method, last[k], k, n, own[k])
			}
		}
		// Φ, a sum over 10 examples, is of the y at which it starts: to the solver's 1e-8 of y
		const sum, tol = 10, 1e-6
		at := sum * float64(begin.ValLoss)
		if phi := float64(begin.Phi); i == 0 {
			loss = at
		} else if !(math.Abs(at-loss) <= tol*at) || !(math.Abs(at-phi) <= tol*at) {
			t.Errorf("%s starts at a loss of %g; Φ is %g, and another method's loss %g", method, at, phi, loss)
		}
	}
	phi := func(x0 float64) float64 {
		records, _ := startAt(t, "-algorithm=dsoba -alpha=0.1 -x0="+fmt.Sprint(x0))
		return float64(records[0].Phi)
	}
	if at := phi(start); !(at < phi(start-1) && at < phi(start+1)) {
		t.Errorf("Φ = %g at %g, which is not the best constant", at, start)
	}
}

// TestBestStartGoesOn: a run from the best constant that was interrupted, one of two ranks, and one
// of two that go on, have the bits of one that was not.
func TestBestStartGoesOn(t *testing.T) {
	const flags = tinyFlags + "-best-start "
	dir := t.TempDir()
	whole, cut, together := filepath.Join(dir, "whole"), filepath.Join(dir, "cut"), filepath.Join(dir, "together")
	testkit.OK(runIn(t, newTiny(), whole, flags))
	testkit.OK(runIn(t, newTiny(), cut, flags+"-keep-checkpoints"))
	testkit.OK(os.Remove(filepath.Join(cut, runs.SummaryFile)))
	testkit.OK(runs.Folder(cut).RemoveCheckpointsAfter(nil, 2))
	testkit.OK(runIn(t, newTiny(), cut, "-resume"))
	leftBy(t, whole).check(t, cut, "resumed")
	for _, err := range runRanks(t, together, flags+"-keep-checkpoints", "", io.Discard) {
		testkit.OK(err)
	}
	leftBy(t, whole).check(t, together, "ranks")
	testkit.OK(os.Remove(filepath.Join(together, runs.SummaryFile)))
	for _, err := range runRanks(t, together, "-resume", "", io.Discard) {
		testkit.OK(err)
	}
	leftBy(t, whole).check(t, together, "ranks that went on")
	if a, b := testkit.Get(runs.Folder(whole).ReadConfig()), testkit.Get(runs.Folder(cut).ReadConfig()); a.X0 != b.X0 ||
		!slices.Contains(b.Flags, "-best-start=true") {
		t.Errorf("x0 %g of the whole run, and %g of the one that went on with %v", a.X0, b.X0, b.Flags)
	}
}

// TestBestStartPlanned: the plan has what the search sends.
func TestBestStartPlanned(t *testing.T) {
	records, _ := startAt(t, "-best-start -wire=float32")
	p := testkit.Get(parseTiny(t, "-best-start -wire=float32 -agents=3").Plan(t.Context(), 0, nil))
	if r, got := p.Phases[site.Loading].Bytes, float64(records[0].Bytes); got < r.Least || got > r.Most {
		t.Errorf("the search sent %g bytes; the plan has %+v", got, r)
	}
}

// TestBestStartRefused: a search has no bound of privacy, and a method whose box leaves the best
// constant out would move away from it at once.
func TestBestStartRefused(t *testing.T) {
	const private = "-best-start and -dp-epsilon are mutually exclusive"
	_, err := runMean(t.Context(), filepath.Join(t.TempDir(), "run"), "-best-start", "-dp-epsilon=100")
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), private) {
		t.Errorf("%v, want %q", err, private)
	}
	_, config := startAt(t, "-best-start -algorithm=adamcg")
	below := fmt.Sprintf("-set=clip=[%g,%g]", config.X0-2, config.X0-1)
	for _, tt := range []struct{ args, want string }{
		{"-best-start -algorithm=adamcg " + below, "clip must contain "},
		{"-best-start -preset=madsbo_tuned " + below, ", the best constant, where x starts"},
		{"-best-start -K=2 -algorithm=newtoncg " + fmt.Sprintf("-set=clip=[%g,%g]", config.X0-1, config.X0), ""},
		{"-best-start -preset=narrow", ""},
	} {
		task := newTiny()
		task.Presets = append(task.Presets, Preset{Name: "narrow", K: 2, // whose box is widened
			Method: &algo.Tuned{Clip: []float64{config.X0 + 1, config.X0 + 2}}})
		err := runIn(t, task, filepath.Join(t.TempDir(), "run"), tt.args+" -agents=3 -rivals=false")
		if refused := errors.Is(err, dsbo.ErrConfig); refused != (tt.want != "") ||
			refused && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
}

// TestBatchOfPreset: a preset's draws are no larger than an agent's examples; -batch may not be.
func TestBatchOfPreset(t *testing.T) {
	task := newTiny()
	task.Presets = []Preset{{Name: "draws", DType: "float64", K: 4, Batch: 1000, Method: &algo.DSOBA{Alpha: "0.1"}}}
	var ends []runs.Number
	for _, flag := range []string{"", " -batch=0"} {
		folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
		testkit.OK(runIn(t, task, string(folder), "-preset=draws -agents=2"+flag))
		ends = append(ends, testkit.Get(folder.ReadSummary()).PhiEnd)
	}
	if ends[0] != ends[1] || !ends[0].Known() {
		t.Errorf("Φ = %v by draws of the preset, and %v by all examples", ends[0], ends[1])
	}
	testkit.OK(runIn(t, task, filepath.Join(t.TempDir(), "run"), "-preset=draws -agents=2 -batch=10"))
	err := runIn(t, task, filepath.Join(t.TempDir(), "run"), "-preset=draws -agents=2 -batch=11")
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "-batch must be at most 10") {
		t.Errorf("%v, want that -batch is refused", err)
	}
}

// TestResumeSetup: a run resumes with its results of loading, if its data, settings and repeated
// results are unchanged.
func TestResumeSetup(t *testing.T) {
	a, b := runs.Found{Sum: []float64{1}}, runs.Found{Texts: []string{"b"}}
	for name, c := range map[string]struct {
		of          string // digest in the folder; "": as it is
		again, kept []runs.Found
		want        string
	}{
		"as it was":       {"", []runs.Found{a}, []runs.Found{a, b}, ""},
		"nothing loaded":  {"", nil, []runs.Found{b}, ""},
		"other settings":  {"other", []runs.Found{a}, []runs.Found{a, b}, "they must be as they were"},
		"other tables":    {"", []runs.Found{b}, []runs.Found{a, b}, "they must be as they were"},
		"an older folder": {"-", []runs.Found{a}, []runs.Found{a, b}, ""},
		"nothing further": {"", []runs.Found{a}, []runs.Found{a}, "they must be as they were"},
	} {
		r := ofJob(new(Job), run{folder: runs.Folder(t.TempDir()), mode: runs.Resume})
		p := &problem{setup: &setup{Setup: runs.Setup{Found: c.again}}}
		of := strings.TrimPrefix(cmp.Or(c.of, testkit.Get(r.settings.digest(p))), "-")
		testkit.OK(r.folder.WriteSetup(runs.Setup{Of: of, Found: c.kept}))
		err := r.resumeSetup(p)
		if c.want != "" {
			testkit.WantError(t, name, err, dsbo.ErrConfig, c.want)
		} else if goes := of != ""; err != nil || goes && (p.setup.next != len(c.again) ||
			len(p.setup.Found) != len(c.kept)) || !goes && len(p.setup.Found) != len(c.again) {
			t.Errorf("%s: %v, goes on with number %d of %v", name, err, p.setup.next, p.setup.Found)
		}
	}
}

// TestFreshSetup: a run that begins anew takes nothing from its folder.
func TestFreshSetup(t *testing.T) {
	r := ofJob(new(Job), run{folder: runs.Folder(t.TempDir()), mode: runs.Fresh})
	testkit.OK(r.folder.WriteSetup(runs.Setup{Of: "other", Found: []runs.Found{{Sum: []float64{1}}}}))
	p := &problem{setup: new(setup)}
	if err := r.resumeSetup(p); err != nil || len(p.setup.Found) != 0 || p.setup.Of == "" {
		t.Errorf("%v, %+v", err, p.setup)
	}
}

// TestStartOfTask: y starts at the task's start.
func TestStartOfTask(t *testing.T) {
	var losses []runs.Number
	for _, start := range []func() (x, y []float64){nil, func() (x, y []float64) { return nil, []float64{3, -3, 3} }} {
		task, folder := newTiny(), runs.Folder(filepath.Join(t.TempDir(), "run"))
		task.Start = start
		testkit.OK(runIn(t, task, string(folder), "-agents=2 -K=1 -algorithm=dsoba -alpha=0.01 -rivals=false"))
		losses = append(losses, testkit.Get(folder.Records())[0].ValLoss)
		if c := testkit.Get(folder.ReadConfig()); !(c.Curvature > 0) {
			t.Errorf("the steps of dsoba follow the curvature %g", c.Curvature)
		}
	}
	if losses[0] == losses[1] {
		t.Errorf("the first record has the loss %g, wherever y starts", losses[0])
	}
	if _, c := startAt(t, "-algorithm=newtoncg"); c.Curvature != 0 {
		t.Errorf("newtoncg has no steps, and a curvature %g was found", c.Curvature)
	}
}

// TestChooseIterations: K is the flag's, else the one of the run that goes on, else six where
// structures follow the preset tuned.
func TestChooseIterations(t *testing.T) {
	structures := Task{CrossFit: func() *CrossFit { return new(CrossFit) }}
	none := Task{CrossFit: func() *CrossFit { return nil }}
	before := Task{CrossFit: func() *CrossFit {
		return &CrossFit{Begin: func([]float64) (m models.Model, err error) { return m, nil }}
	}}
	for _, c := range []struct {
		given   bool
		resumed int
		preset  string
		task    Task
		want    int
	}{
		{true, 4, "tuned", structures, 20}, {false, 4, "tuned", structures, 4}, {false, 1, "tuned", structures, 1},
		{false, 0, "tuned", structures, 6}, {false, 0, "paper", structures, 20}, {false, 0, "tuned", Task{}, 20},
		{false, 0, "tuned", none, 20}, {false, 0, "tuned", before, 20},
	} {
		s := &Settings{resumedK: c.resumed, given: map[string]bool{"K": c.given}}
		s.Iterations, s.Preset = 20, c.preset
		if ofJob(&Job{Settings: s, Task: c.task}, run{}).chooseIterations(); s.Iterations != c.want {
			t.Errorf("%+v: K is %d", c, s.Iterations)
		}
	}
}

// TestFinishDiverges: what a task cannot make of the kept model, as it diverges, is a warning of
// the run, which ends well, and a note in place of the task's; another error is the run's.
func TestFinishDiverges(t *testing.T) {
	task := newTiny()
	for kind, fails := range map[error]bool{dsbo.ErrDiverged: false, dsbo.ErrConfig: true} {
		task.Finish = func(f FinishedRun) error {
			f.Note("The model that is kept is of all rows.")
			return dsbo.Errorf(kind, "the model of all rows")
		}
		folder := filepath.Join(t.TempDir(), "run")
		if err := runIn(t, task, folder, tinyFlags); (err != nil) != fails {
			t.Fatalf("%v: the run ends with %v", kind, err)
		}
		s := testkit.Get(runs.Folder(folder).ReadSummary())
		if !fails && !strings.Contains(strings.Join(s.Warnings, " "), "the model of all rows") {
			t.Errorf("warnings %q", s.Warnings)
		}
		notes := strings.Join(s.Verdict.Notes, " ")
		if !fails && (strings.Contains(notes, "that is kept") ||
			!strings.Contains(notes, "There is no model to predict with: the model of all rows")) {
			t.Errorf("notes %q", s.Verdict.Notes)
		}
	}
}

// TestResumeOfResults: a resumed run knows its folder where -out is empty, so that it finds what is
// there beside the flags.
func TestResumeOfResults(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.OK(runIn(t, newTiny(), "", tinyFlags+"-keep-checkpoints"))
	folders := testkit.Get(filepath.Glob("results/*"))
	testkit.OK(os.Remove(filepath.Join(folders[0], runs.SummaryFile)))
	j := testkit.Get(Parse(newTiny(), []string{"-resume", "-out="}, io.Discard))
	if j.Settings.Out != folders[0] {
		t.Errorf("the folder is %q, want %q", j.Settings.Out, folders[0])
	}
}

// TestLoadedAgain: in a new session data are loaded again where the task has found something with
// the others, and not else; what follows is as that session finds it. Without a session nothing is.
func TestLoadedAgain(t *testing.T) {
	for _, c := range []struct {
		found, session bool
		loads          int
	}{{false, false, 1}, {true, false, 1}, {false, true, 1}, {true, true, 2}} {
		task, loads := newTiny(), 0
		load := task.Load
		task.Load = func(a Agents) (data.Task, models.Model, error) {
			loads++
			return load(a)
		}
		r, _ := testkit.Get2(testkit.Get(Parse(task, []string{"-agents=2"}, io.Discard)).poseHere(t.Context()))
		before, of := r.loaded, r.loaded.setup
		if c.found {
			before.setup.Found = []runs.Found{{Sum: []float64{1}}}
		}
		at := beginning{changes: r.changes}
		if c.session {
			r.folder, at.team, at.setupKept = runs.Folder(t.TempDir()), labelled{}, true
			testkit.OK(r.folder.WriteSetup(runs.Setup{Found: []runs.Found{{Sum: []float64{2}}}}))
		}
		again := testkit.Get(r.load(t.Context(), at, []int{0, 1}))
		if loads != c.loads || (again == before) != (loads == 1) || (again.setup == of) == c.session ||
			c.session && again.setup.Found[0].Sum[0] != 2 {
			t.Errorf("%+v: loaded %d times, %+v", c, loads, again.setup)
		}
	}
}
