package experiment

import (
	"context"
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
	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network/membership"
	"dsbo/network/networktest"
	"dsbo/runs"
	"dsbo/train"
)

// TestFailureWritten: a run that ends with an error has the error in its summary, once it has
// begun; with a page if no iteration will follow, and with the way to resume if it was interrupted.
func TestFailureWritten(t *testing.T) {
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		err              error
		over, page, none bool
		records          int
		state            runs.State
		want             string
	}{
		"interrupted": {train.ErrInterrupted, false, false, false, 2, runs.Interrupted, "; -resume -out "},
		"after them": {context.Canceled, true, true, false, 2, runs.Interrupted,
			"after 3 iterations, before all models were found; -resume -out "},
		"diverged":       {dsbo.ErrDiverged, false, true, false, 2, runs.Diverged, "diverged"},
		"at the start":   {dsbo.ErrDiverged, false, false, false, 0, runs.Diverged, "diverged"},
		"failed":         {full, false, false, false, 2, runs.Failed, full.Error()},
		"failed at last": {full, true, true, false, 2, runs.Failed, full.Error()},
		"not begun":      {full, true, false, true, 2, "", full.Error()},
	} {
		folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
		testkit.OK(runIn(t, newTiny(), string(folder), "-agents=2 -K=3"))
		testkit.OK(os.Remove(folder.Path(runs.SummaryFile)))
		r := ofJob(parseTiny(t, ""), run{layout: inProcess{}, folder: folder})
		e := &ending{run: r, over: c.over, result: &train.Result{Iterations: 3}}
		e.problem.setup, e.problem.Sent = new(setup), new(dsbo.Traffic)
		e.result.Records = make([]runs.Record, c.records)
		if c.none {
			e.result = nil
		}
		err := e.writeFailure(c.err)
		if err == nil || !strings.Contains(err.Error(), c.want) || cli.Code(err) != cli.Code(c.err) && !errors.Is(err,
			train.ErrInterrupted) || strings.Contains(c.want, "-resume") != strings.Contains(err.Error(), "-resume") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if s, e := folder.ReadSummary(); c.none != (e != nil) || s.State != c.state {
			t.Errorf("%s: the summary is of a run that is %q, %v", name, s.State, e)
		}
		if _, e := os.Stat(folder.Path("report.html")); (e == nil) != c.page {
			t.Errorf("%s: the page is there %t", name, e == nil)
		}
	}
}

// follower is a layout of a process that does not lead.
type follower struct{ inProcess }

func (follower) leads() bool { return false }

// TestFollower: a process that does not lead writes nothing of what the run has found.
func TestFollower(t *testing.T) {
	folder := runs.Folder(t.TempDir())
	e := &ending{run: ofJob(parseTiny(t, ""), run{layout: follower{}, folder: folder}), result: &train.Result{
		Best: train.Best{X: []float64{1}, Y: []float64{3}}}}
	e.problem.setup, e.problem.Sent, e.problem.shapeY = new(setup), new(dsbo.Traffic), []int{1}
	for name, err := range map[string]error{"iterates": e.writeIterates(), "end": e.writeFinished(t.Context()),
		"model": e.run.writeModel([]float64{1}, []float64{3}, []int{1})} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := e.writeFailure(dsbo.ErrPeer); err != dsbo.ErrPeer {
		t.Errorf("it ends with %v", err)
	}
	if left := testkit.Get(os.ReadDir(string(folder))); len(left) > 0 {
		t.Errorf("%d files are there, the first is %s", len(left), left[0].Name())
	}
}

// TestIteratesWritten: before models are solved, the folder has the best λ and y and a summary
// that is not finished.
func TestIteratesWritten(t *testing.T) {
	folder := runs.Folder(t.TempDir())
	e := &ending{run: ofJob(parseTiny(t, ""), run{layout: inProcess{}, folder: folder}), result: &train.Result{
		Best: train.Best{Iteration: 4, X: []float64{1, 2}, Y: []float64{3}}, Iterations: 5}}
	e.problem.setup, e.problem.Sent, e.problem.shapeY = new(setup), new(dsbo.Traffic), []int{1}
	testkit.OK(e.saveKept(t.Context(), new(candidates.Model), nil))
	if left := testkit.Get(os.ReadDir(string(folder))); len(left) > 0 {
		t.Errorf("a model that was not found is in %s", left[0].Name())
	}
	square := &candidates.Model{}
	square.X, square.Y = []float64{1, 2}, []float64{1, 2, 3, 4}
	e.problem.shapeY = []int{2, 2}
	for shape, final := range map[string]*finalist{"(2, 2)": nil, "(4,)": {}} { // folds have one in another shape
		testkit.OK(e.saveKept(t.Context(), square, final))
		if file := string(testkit.Get(os.ReadFile(folder.Path(runs.OmegaFile)))); !strings.Contains(file, shape) {
			t.Errorf("y must have the shape %s", shape)
		}
	}
	e.problem.shapeY = []int{1}
	testkit.OK(e.writeIterates())
	s := testkit.Get(folder.ReadSummary())
	if x := testkit.Get(folder.ReadLambda()); s.State != runs.Unfinished || s.Best != 4 || fmt.Sprint(x) != "[1 2]" {
		t.Errorf("%+v, λ %v", s, x)
	}
}

// A simplified model has a simpler one, itself or one of a feature less.
type simplified struct {
	models.Logistic
	by models.Model
}

func (m simplified) Simpler() (string, models.Model) { return "plain", m.by }

// unscored is a model without scores and bounds of its lower problem.
type unscored struct{ models.Model }

// TestSimplerModel: the best constant of a simpler model heads the table, and where that does as
// well as the model that is kept, a note says so. It is no constant of the run's own model.
func TestSimplerModel(t *testing.T) {
	for _, scored := range []bool{true, false} {
		task := newTiny()
		load := task.Load
		task.Load = func(a Agents) (data.Task, models.Model, error) {
			set, m, err := load(a)
			if !scored {
				return set, simplified{m.(models.Logistic), unscored{m}}, err
			}
			return set, simplified{m.(models.Logistic), m}, err
		}
		folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
		testkit.OK(runIn(t, task, string(folder), "-agents=3 -algorithm=dsoba -x0=-1 -K=1 -alpha=1e-9"))
		s := testkit.Get(folder.ReadSummary())
		first, best := s.Models[0], runs.Number(math.Inf(1))
		for _, m := range s.Models[1:] {
			if m.Lambda.Known() {
				best = min(best, m.Phi)
			}
		}
		if !strings.HasPrefix(first.Name, "plain, λ = ") || first.Lambda.Known() || scored && first.Phi != best ||
			first.Kept {
			t.Errorf("%+v heads the table; the best constant has Φ %g", first, best)
		}
		notes := strings.Join(s.Verdict.Notes, " ")
		if strings.Contains(notes, "simpler model does as well") != scored {
			t.Errorf("scored %t: notes %q", scored, notes)
		}
	}
	if got := simplerLength(simplified{by: models.Logistic{Features: 7}}); got != 7 || simplerLength(unbased{}) != 0 {
		t.Errorf("y of the simpler one has %d numbers", got)
	}
}

// TestUnknownTold: a summary marks a model without scores, and a Φ of one of several solutions, and
// no others.
func TestUnknownTold(t *testing.T) {
	for _, bare := range []bool{false, true} {
		task := newTiny()
		load := task.Load
		task.Load = func(a Agents) (data.Task, models.Model, error) {
			set, m, err := load(a)
			if bare {
				m = unscored{m}
			}
			return set, m, err
		}
		folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
		testkit.OK(runIn(t, task, string(folder), "-agents=2 -K=2 -preset=fast"))
		s, config := testkit.Get(folder.ReadSummary()), testkit.Get(folder.ReadConfig())
		told := strings.Join(s.Unknown, " ")
		if strings.Contains(told, "(Score)") != bare || strings.Contains(told, "(Modulus)") != bare {
			t.Errorf("without both %t: %q", bare, told)
		}
		if sent := s.FloatsSent; (config.Meaning != runs.Meaning{}) != bare || !(sent > 0) ||
			!(math.Abs(s.FloatsFormula-sent) <= .1*sent) {
			t.Errorf("x is %v; %g numbers are sent an iteration, by the method's formula %g", config.Meaning, sent,
				s.FloatsFormula)
		}
	}
}

// TestNoBaseline: a model that names its baselines names one at least.
func TestNoBaseline(t *testing.T) {
	e := new(ending)
	e.problem.model = unbased{}
	_, _, err := e.rivals(t.Context(), nil)
	testkit.WantError(t, "no baseline", err, dsbo.ErrConfig, "must have at least one baseline")
}

type unbased struct{ models.Logistic }

func (unbased) Baselines() []models.Baseline { return nil }

// TestLeastRows: the fewest training rows are counted at the start; a resumed run has them from its
// folder, 0 where that has none.
func TestLeastRows(t *testing.T) {
	r := ofJob(parseTiny(t, "-agents=2"), run{folder: runs.Folder(t.TempDir())})
	p := new(problem)
	for _, n := range []int{7, 5, 3} { // the last one came in later
		p.whole.Shards = append(p.whole.Shards, data.Shard{Train: data.Examples{
			X: testkit.Get(ad.FloatTable(n, 1, make([]float64, n)))}})
	}
	on := beginning{point: new(train.Point)}
	for _, c := range []struct {
		at      beginning
		privacy *runs.Privacy
		want    int
	}{{beginning{}, nil, 5}, {on, nil, 0}, {on, &runs.Privacy{LeastRows: 9}, 9}} {
		testkit.OK(r.folder.WriteConfig(runs.Config{Privacy: c.privacy}))
		if got := testkit.Get(r.leastRows(t.Context(), c.at, p)); got != c.want {
			t.Errorf("%+v: %d rows", c, got)
		}
	}
}

// TestPrivacyApplied: with differential privacy there are no exact evaluations, and records at the
// ends alone unless -eval-every asks for more; answers are in float64 about all examples.
func TestPrivacyApplied(t *testing.T) {
	for args, every := range map[string]int{"": 20, "-eval-every=3": 3, "-K=7": 7} {
		j := parseTiny(t, "-dp-epsilon=1 "+args)
		testkit.Get(j.resolveParameters())
		s := j.Settings
		if s.Evaluate != train.EvaluateOff || s.EvalEvery != every || s.DType != "float64" || s.Batch != 0 ||
			!s.holdoutNamed || s.Privacy == nil {
			t.Errorf("%s: %+v", args, s.Config)
		}
	}
}

// TestStartOfUnknown: where no search can find a start, as no penalties are told, a line says where
// x starts, unless the user knows.
func TestStartOfUnknown(t *testing.T) {
	for args, told := range map[string]bool{"": true, "-x0=0": false, "-algorithm=dsoba": false} {
		task, log := newReticent(), new(strings.Builder)
		load := task.Load
		task.Load = func(a Agents) (data.Task, models.Model, error) {
			set, m, err := load(a)
			return set, unscored{m}, err
		}
		args := append(strings.Fields(args), "-rows=20", "-agents=2", "-K=1", "-report=false", "-rivals=false",
			"-out="+filepath.Join(t.TempDir(), "run"))
		testkit.OK(Run(t.Context(), task, args, io.Discard, log))
		if strings.Contains(log.String(), "x starts at 0: the problem gives no penalties") != told {
			t.Errorf("%v: %s", args, log)
		}
	}
}

// TestWarnedSteps: a step too large for the curvature is warned of; a method without steps is not.
func TestWarnedSteps(t *testing.T) {
	const small = "-algorithm=dsoba -alpha=1e-9 "
	for args, want := range map[string]bool{small + "-beta=1000": true, "-algorithm=newtoncg": false,
		small + "-beta=1e-9": false} {
		log := new(strings.Builder)
		err := Run(t.Context(), newTiny(), append(strings.Fields(args), "-agents=2", "-K=1", "-report=false",
			"-rivals=false", "-out="+filepath.Join(t.TempDir(), "run")), io.Discard, log)
		if told := strings.Contains(log.String(), "warning: "); told != want {
			t.Errorf("%s: warned %t: %s; error %v", args, told, log, err)
		}
	}
}

// TestLoadedOnce: data are loaded once in a run, of as many agents as it has.
func TestLoadedOnce(t *testing.T) {
	for shards, want := range map[int]string{3: "", 2: "-agents must be 2, for which tiny has data; it is 3"} {
		task, loads := newTiny(), 0
		load := task.Load
		task.Load = func(a Agents) (data.Task, models.Model, error) {
			loads++
			a.N = shards
			return load(a)
		}
		err := runIn(t, task, filepath.Join(t.TempDir(), "run"), "-agents=3 -K=2")
		if text := fmt.Sprint(err); loads != 1 || (err == nil) != (want == "") || !strings.Contains(text, want) {
			t.Errorf("%d shards: loaded %d times, %v", shards, loads, err)
		}
	}
}

// TestTablesShown: -check is for tasks over tables, and nothing is run.
func TestTablesShown(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	testkit.WantError(t, "-check", runIn(t, newTiny(), folder, "-check"), dsbo.ErrConfig,
		"-check must have a task over tables; tiny has none")
	if _, err := os.Stat(folder); err == nil {
		t.Error("it has run")
	}
}

// TestPosed: what is loaded stays loaded; a problem is of all agents of the start where members
// change, and of no epoch else; agents that join are loaded with the others.
func TestPosed(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	testkit.OK(os.WriteFile(log, []byte(`{"epoch":1,"iteration":1,"members":[0,2],"edges":[[0,2]],"proposer":0}`+
		"\n"), 0o600))
	joins := filepath.Join(t.TempDir(), "joins.jsonl")
	testkit.OK(os.WriteFile(joins, []byte(`{"epoch":1,"iteration":1,"members":[0,2,3],"edges":[[0,2],[2,3]],`+
		`"proposer":0}`+"\n"), 0o600))
	const damped = " -algorithm=newtoncg -curvature=damped"
	for args, want := range map[string]string{"": "[]", " -membership=" + log: "[0 1 2]", damped: "[]",
		" -membership=" + joins: "[0 1 2]"} {
		r, p := testkit.Get2(parseTiny(t, "-agents=3"+args).poseHere(t.Context()))
		if got := fmt.Sprint(p.epoch.Members); got != want {
			t.Errorf("%q: a problem of %s, want %s", args, got, want)
		}
		if p.Matrix != dsbo.Hessian && args != damped || p.Matrix != dsbo.DampedHessian && args == damped {
			t.Errorf("%q: products with %v", args, p.Matrix)
		}
		before := r.loaded
		if n := len(before.data.Shards); n == 4 != strings.Contains(args, "joins") {
			t.Errorf("%q: data of %d agents", args, n)
		}
		if again := testkit.Get(r.load(t.Context(), beginning{changes: r.changes}, []int{0, 1, 2})); again != before {
			t.Errorf("%q: data are loaded twice", args)
		}
	}
	_, p := testkit.Get2(parseTiny(t, "-agents=3").poseHere(t.Context()))
	for n, e := range map[int]membership.Epoch{3: {}, 2: {Members: []int{0, 2}, Edges: membership.Edges{{0, 2}}}} {
		of := testkit.Get(p.ofMembers(e))
		if len(of.Oracles) != n || len(of.data.Shards) != n || len(of.whole.Shards) != n {
			t.Errorf("a problem of %d oracles and the data of %d, want %d", len(of.Oracles), len(of.data.Shards), n)
		}
	}
	_, _, err := parseTiny(t, "-agents=3 -algorithm=dascgd").poseHere(t.Context())
	testkit.WantError(t, "a method for compositional problems", err, dsbo.ErrCapability, "that of tiny is none")
	task := newTiny()
	task.Load = func(a Agents) (set data.Task, m models.Model, err error) {
		set, _, err = newTiny().Load(a)
		return set, models.Compositional{P: 1, Q: 1, Outer: func(y *ad.Node, _ models.Batch) *ad.Node {
			return ad.Dot(y, y)
		}, Inner: func(x *ad.Node, _ models.Batch) *ad.Node { return x }}, err
	}
	_, _, err = testkit.Get(Parse(task, []string{"-agents=3", "-algorithm=dascgd"}, io.Discard)).poseHere(t.Context())
	testkit.OK(err)
}

// TestRoughProblem: problems of products are in float32, of all rows; others in float64, by the
// batches of the run.
func TestRoughProblem(t *testing.T) {
	_, p := testkit.Get2(parseTiny(t, "-agents=3 -batch=4 -dtype=float32").poseHere(t.Context()))
	teams, closeAll := networktest.Processes(p.W, []int{0, 1}, []int{2})
	defer closeAll()
	here := p
	here.Team = teams[0]
	if o := testkit.Get(here.roughProblem(p.data, p.model)).Oracles; o[1] == nil || o[2] != nil {
		t.Errorf("oracles %v; those here must be of the agents here", o)
	}
	for rough, make := range map[bool]func(data.Task, models.Model) (train.Problem, error){true: p.roughProblem,
		false: p.problemOf} {
		o := testkit.Get(make(p.data, p.model)).Oracles[0]
		var draws [2][]float64
		short := true // all numbers have the digits of float32
		for k := range draws {
			draws[k] = []float64{0, 0, 0}
			testkit.OK(o.LowerGrad(draws[k], []float64{.1, .2, .3}, []float64{.4, .5, .6},
				dsbo.Sample{Set: dsbo.Lower, K: k}))
			for _, v := range draws[k] {
				short = short && float64(float32(v)) == v
			}
		}
		if whole := slices.Equal(draws[0], draws[1]); whole != rough || short != rough {
			t.Errorf("rough %t: of all rows %t, in float32 %t", rough, whole, short)
		}
	}
}
