package experiment

import (
	"flag"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/ad"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// TestAlone: without rivals the iterations are the same, and the one model at the end has their λ.
func TestAlone(t *testing.T) {
	args := []string{"-rows=50", "-algorithm=dsoba", "-alpha=0.01", "-x0=3"}
	with := testkit.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...))
	args = append(args, "-rivals=false")
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	s := testkit.Get(runMean(t.Context(), string(folder), args...))
	if s.PhiEnd != with.PhiEnd || s.Traffic.Evaluation != with.Traffic.Evaluation {
		t.Errorf("the iterations end at Φ = %v, with rivals at %v", s.PhiEnd, with.PhiEnd)
	}
	if len(s.Models) != 1 || !s.Models[0].Kept || s.TestLossTuned != s.Models[0].TestLoss || s.Verdict.Sentence == "" {
		t.Fatalf("models %+v, verdict %+v", s.Models, s.Verdict)
	}
	// Φ of both is right to 1e-4 of it, the tolerance of the models that are shown
	if m := s.Models[0]; !m.Converged || !(math.Abs(float64(m.Phi-s.PhiEnd)) < 2e-4*float64(s.PhiEnd)) {
		t.Errorf("the model has Φ = %v, the iterations end at %v", m.Phi, s.PhiEnd)
	}
	if len(with.Models) < 2 || with.Verdict.Against == "" {
		t.Errorf("with rivals: models %+v, verdict %+v", with.Models, with.Verdict)
	}
	checkPlan(t, args, planned(t, 0, args...), s)
}

// A based model is compared with constants that have names of their own.
type based struct {
	models.Model
	models.Scorer
}

func (based) Baselines() []models.Baseline {
	return []models.Baseline{{Name: "worse", X: []float64{2, 2, 2}}, {Name: "best", X: []float64{-4, -4, -4}},
		{Name: "other", X: []float64{-4, -4, -4}, Of: models.Logistic{Features: 3}}}
}

// TestBestBaseline: the verdict is against the baseline whose Φ is least, in whatever place.
func TestBestBaseline(t *testing.T) {
	task := newMean()
	load := task.Load
	task.Load = func(a Agents) (data.Task, models.Model, error) {
		set, m, err := load(a)
		return set, based{m, m.(models.Scorer)}, err
	}
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	testkit.OK(runIn(t, task, string(folder), "-agents=3 -rows=50 -K=2 -algorithm=dsoba -alpha=0.01 -x0=-3"))
	s := testkit.Get(folder.ReadSummary())
	if phi := func(k int) float64 { return float64(s.Models[k].Phi) }; !(phi(1) < phi(0) && phi(0) < phi(2)) ||
		s.Verdict.Against != "best" {
		t.Errorf("models %+v; the verdict is against %s", s.Models, s.Verdict.Against)
	}
}

// newReticent returns mean with a model that does not say that its lower loss is convex.
func newReticent() Task {
	t := newMean()
	load := t.Load
	t.Load = func(a Agents) (data.Task, models.Model, error) {
		task, m, err := load(a)
		return task, struct {
			models.Model
			models.Scorer
		}{m, m.(models.Scorer)}, err
	}
	return t
}

// TestTrainedModels: the models of a method that trains by draws have Φ, at the solutions that
// training has reached, and they send what the plan says.
func TestTrainedModels(t *testing.T) {
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	const args = "-agents=3 -rows=50 -K=4 -algorithm=adamcg -set=T=3 -set=N=2 -batch=10 -x0=-3"
	p := testkit.Get(testkit.Get(Parse(newReticent(), strings.Fields(args), io.Discard)).Plan(t.Context(), 0, nil))
	testkit.OK(runIn(t, newReticent(), string(folder), args))
	s := testkit.Get(folder.ReadSummary())
	for _, m := range s.Models {
		// The upper loss is the mean of the losses of as many validation rows of each agent.
		if !m.Reached || !m.Converged || !(math.Abs(float64(m.Phi-m.ValLoss)) < 1e-6*float64(m.ValLoss)) {
			t.Errorf("%s: reached %v, converged %v, Φ %g, validation loss %g", m.Name, m.Reached, m.Converged,
				m.Phi, m.ValLoss)
		}
	}
	if notes := strings.Join(s.Verdict.Notes, " "); !strings.Contains(notes, "solutions that were reached") {
		t.Errorf("notes %q must say what Φ is", notes)
	}
	checkPlan(t, args, p, s)
}

// TestNearer: where x has gone too far for the models that training reaches, the tuned one lies
// between there and the best constant, and its Φ is below that one's.
func TestNearer(t *testing.T) {
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	testkit.OK(runIn(t, newReticent(), string(folder),
		"-agents=3 -rows=8 -K=2 -algorithm=adamcg -set=T=30 -set=N=4 -set=ly=0.3 -set=lr=8 -x0=0"))
	s := testkit.Get(folder.ReadSummary())
	tuned := s.Models[len(s.Models)-1]
	for _, m := range s.Models[:len(s.Models)-1] {
		if !(tuned.Phi < m.Phi) {
			t.Errorf("Φ of %s is %g, that of %s %g", tuned.Name, tuned.Phi, m.Name, m.Phi)
		}
	}
	if notes := strings.Join(s.Verdict.Notes, " "); !strings.Contains(notes, "0.25 of the way") {
		t.Errorf("notes %q must say where the tuned x is", notes)
	}
}

// An edged model has no lower loss where an entry of x is above its edge: it is not a number there.
type edged struct {
	models.Logistic
	edge float64
}

func (m edged) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	edge := slices.Repeat([]float64{m.edge}, m.Features)
	room := ad.SumAll(ad.Log(ad.Sub(ad.NewConst(x, "edge", len(edge), 0, edge), x)))
	return ad.Add(m.Logistic.Lower(x, y, b), ad.Scale(1e-300, ad.ScaleBy(room, ad.Dot(y, y))))
}

// A refitting task is mean with an edge, that solves the lower problem of another model at the end.
type refitting struct {
	mean
	edge   float64
	refit  models.Model
	loaded data.Task
}

// Task returns the task, which finishes.
func (t *refitting) Task() Task {
	task := newMean()
	task.Flags, task.Load, task.Finish = t.mean.Flags, t.Load, t.Finish
	return task
}

func (t *refitting) Load(a Agents) (data.Task, models.Model, error) {
	task, m, err := t.mean.Load(a)
	t.loaded = task
	return task, edged{m.(models.Logistic), t.edge}, err
}

func (t *refitting) Finish(f FinishedRun) error {
	_, err := f.Solve(t.loaded, t.refit, f.X)
	if err == nil {
		_, err = f.Solve(t.loaded, t.refit, f.X)
	}
	return err
}

// TestModelsThatAreNotFinite: where the model of a constant, or what a task makes of the kept one,
// is not finite or not solved, the run warns, keeps what it has found, and succeeds. Warnings of
// the latter are in the summary too, once.
func TestModelsThatAreNotFinite(t *testing.T) {
	const far = 100
	logistic := models.Logistic{Features: 3, Mean: true}
	for name, test := range map[string]struct {
		task    refitting
		warning string
	}{
		"constant": {refitting{edge: -1, refit: edged{logistic, far}}, "model of λ = 0: the gradient"},
		"refit": {refitting{edge: far, refit: edged{logistic, -50}},
			"the model of all rows: its solution is not finite"},
		"endless": {refitting{edge: far, refit: endless{logistic}},
			"a model that is solved for after the iterations has not converged"},
		"none": {refitting{edge: far, refit: edged{logistic, far}}, ""},
	} {
		folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
		var log strings.Builder
		args := strings.Fields("-agents=3 -rows=50 -K=2 -x0=-3 -set=init=x0 -report=false -dtype=float64 -out=" +
			string(folder))
		if err := Run(t.Context(), test.task.Task(), args, io.Discard, &log); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(log.String(), "warning: ") != (name != "none") ||
			!strings.Contains(log.String(), test.warning) {
			t.Errorf("%s: the log must warn of %q: %s", name, test.warning, log.String())
		}
		s := testkit.Get(folder.ReadSummary())
		if s.State != runs.Finished || len(s.Models) == 0 || test.task.edge == far &&
			strings.Join(s.Warnings, "; ") != test.warning {
			t.Errorf("%s: the summary is %+v", name, s)
		}
		for _, v := range testkit.Get(folder.ReadLambda()) {
			if math.IsNaN(v) {
				t.Errorf("%s: λ is not finite", name)
			}
		}
	}
}

// pair is a network of two units whose lower loss has a penalty on what is nothing: whatever x is,
// the lower problem is one and the same, and has several solutions.
type pair struct{ models.Logistic }

func (pair) Dims() (p, q int) { return 1, 8 }

func (pair) Start(y []float64) {
	for j := range y {
		y[j] = 0.6 * math.Sin(float64(3*j+1))
	}
}

func (pair) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	hidden := ad.Tanh(ad.MatMul(b.X, ad.Part(y, 0, 2, 3), false, true))
	s := ad.MatVec(hidden, ad.PartVec(y, 6, 2), false)
	return ad.Softplus(ad.Neg(ad.Mul(ad.Flatten(b.T), s))), nil
}

func (m pair) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	losses, _ := m.Score(x, y, b)
	return ad.Mean(losses)
}

func (m pair) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(m.Upper(x, y, b), ad.Add(ad.Scale(.005, ad.SumAll(ad.Square(y))), ad.Scale(0, ad.SumAll(x))))
}

// TestSpread: constants of one and the same lower problem that may have several solutions have one
// and the same Φ, to the bit, whatever was solved before; the summary says how far the solutions
// of two starts are apart; and the verdict finds no difference. Nothing says that the lower problem
// is not convex, which is not known, and what would say that it is has its name.
func TestSpread(t *testing.T) {
	task := Task{Name: "pair", About: "has two units", Flags: func(*flag.FlagSet) {}}
	task.Load = func(a Agents) (data.Task, models.Model, error) {
		set, err := data.Synthetic{Agents: a.N, Features: 3, Train: 30, Val: 30, Test: 90, Rate: 1, Seed: a.Seed}.Task()
		return set, struct {
			models.Model
			models.Scorer
			models.Starter
		}{pair{}, pair{}, pair{}}, err
	}
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	args := strings.Fields("-agents=3 -K=3 -x0=-1 -quiet -report=false -dtype=float64 -out=" + string(folder))
	var shown strings.Builder
	testkit.OK(Run(t.Context(), task, args, &shown, io.Discard))
	s := testkit.Get(folder.ReadSummary())
	if len(s.Constants) < 3 {
		t.Fatalf("constants %v, want three at least", s.Constants)
	}
	for _, m := range s.Models {
		if m.Phi != s.Models[0].Phi || !(m.Spread >= 0) {
			t.Errorf("%s: Φ %v with a spread of %v; %s has %v", m.Name, m.Phi, m.Spread, s.Models[0].Name,
				s.Models[0].Phi)
		}
	}
	for _, c := range s.Constants {
		if c.Phi != s.Constants[0].Phi {
			t.Errorf("constant %g: Φ %v, constant %g: %v", c.Lambda, c.Phi, s.Constants[0].Lambda, s.Constants[0].Phi)
		}
	}
	for _, g := range s.Verdict.Gains {
		if !(g.LossSpread > 0) {
			t.Errorf("%s: solutions of two starts change no loss", g.Set)
		}
	}
	if s.Verdict.Outcome != runs.Same {
		t.Errorf("verdict %q: %s", s.Verdict.Outcome, s.Verdict.Sentence)
	}
	notes := strings.Join(s.Verdict.Notes, " ")
	if !strings.Contains(notes, "the better of two") {
		t.Errorf("notes %q must say from where the solutions were found", notes)
	}
	for where, text := range map[string]string{"verdict": notes, "terminal": shown.String()} {
		if !strings.Contains(text, "Modulus") || strings.Contains(text, "is not convex") {
			t.Errorf("the %s must name Modulus, and not say that the problem is not convex:\n%s", where, text)
		}
	}
}

// endless is a model whose lower loss has no least value.
type endless struct{ models.Logistic }

func (endless) Lower(x, y *ad.Node, _ models.Batch) *ad.Node {
	return ad.Add(ad.Neg(ad.SumAll(y)), ad.Scale(.5, ad.SumAll(ad.Square(x))))
}

// TestEndless: a run without rivals states no Φ of a model that has not converged, neither on the
// screen nor in its sentence, and has a note on it.
func TestEndless(t *testing.T) {
	task, log := newMean(), new(strings.Builder)
	load := task.Load
	task.Load = func(a Agents) (data.Task, models.Model, error) {
		set, m, err := load(a)
		return set, endless{m.(models.Logistic)}, err
	}
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	testkit.OK(Run(t.Context(), task, strings.Fields("-agents=3 -rows=30 -K=1 -algorithm=dsoba -alpha=0.01 -beta=0.01 "+
		"-gamma=0.01 -evaluate=off -report=false -rivals=false -out="+string(folder)), io.Discard, log))
	s := testkit.Get(folder.ReadSummary())
	if v := s.Verdict; strings.Contains(v.Sentence, "Φ is") || len(v.Notes) == 0 ||
		!strings.Contains(v.Notes[len(v.Notes)-1], "has not converged") {
		t.Errorf("%s %q, models %+v", v.Sentence, v.Notes, s.Models)
	}
	if !strings.Contains(log.String(), "products, Φ -, test loss") {
		t.Errorf("the screen has\n%s", log)
	}
}

// kinked is a model whose lower loss is least at 0, where its gradient is not near 0.
type kinked struct{ models.Logistic }

func (k kinked) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(k.Logistic.Lower(x, y, b), ad.SumAll(ad.Scale(1e4, ad.Abs(y))))
}

// TestSimplerNotCompared: a simpler model is compared with a kept one where there is one and it is
// solved itself; it heads the table in any case.
func TestSimplerNotCompared(t *testing.T) {
	j := testkit.Get(Parse(newMean(), []string{"-agents=3", "-rows=30"}, io.Discard))
	r, p := testkit.Get2(j.poseHere(t.Context()))
	of := p.model.(models.Logistic)
	watch := modelWatcher{onScreen{cli.NewProgress(io.Discard, true), true}, &pace{now: time.Now}}
	for name, c := range map[string]struct {
		simpler models.Model
		kept    []float64
		noted   bool
	}{"both": {of, make([]float64, 3), true}, "none is kept": {of, nil, false},
		"not solved": {endless{of}, make([]float64, 3), false}, "as good": {kinked{of}, make([]float64, 3), false}} {
		e := &ending{run: r, problem: p, result: new(train.Result), watch: watch}
		e.problem.model, e.config.Method = simplified{of, c.simpler}, new(algo.NewtonCG)
		kept := candidates.NewModel("kept", 0, make([]float64, 3))
		kept.Y = c.kept
		testkit.OK(e.compareSimpler(t.Context(), kept))
		if m, notes := e.summary.Models, e.summary.Verdict.Notes; len(m) != 1 || len(notes) > 0 != c.noted {
			t.Errorf("%s: %q beside %+v", name, notes, m)
		}
	}
}
