package experiment

import (
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
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train"
)

// TestSettingsAtBounds: the least and the largest values work.
func TestSettingsAtBounds(t *testing.T) {
	for _, args := range []string{
		"-K=1 -T=1 -N=1 -agents=1 -graph=complete -preset=fast", "-memory=0.5", "-memory=999999",
		"-prob=1 -graph=erdos-renyi", "-w=0", "-w=0.9", "-holdout=0.99", "-dp-epsilon=1 -dp-clip=0x1.fffffep127",
		"-dp-epsilon=1 -evaluate=off",
	} {
		if err := parseTiny(t, args).CheckOverMachines(nil); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestMixingKept: settings have the mixing of weights that change, and of others none.
func TestMixingKept(t *testing.T) {
	w := testkit.Get(network.New("ring", 4, network.Options{})).W
	for mix, want := range map[string]string{"": "", "plain": "", "matchings": "matchings"} {
		s := new(Settings)
		s.Mix = mix
		got := testkit.Get(s.mixing(&algo.DSOBA{}, w))
		if s.Mix != want || network.IsChanging(got.Mixing()) != (want != "") {
			t.Errorf("-mix=%s: %q, %v", mix, s.Mix, got.Mixing())
		}
	}
	one := Progress{Phase: "model", Done: 1, Total: 1, Remaining: -1}
	if !strings.Contains(one.String(), "1 of 1") {
		t.Errorf("one of one is %q", one)
	}
}

// TestPresetOfMethod: a method without a preset of its own has one for one agent, where it is for
// one agent; the matrix of products is a preset's with its own method alone.
func TestPresetOfMethod(t *testing.T) {
	task := newTiny()
	task.Presets = append(task.Presets, Preset{Name: "lone", K: 3, Method: testkit.Get(algo.New("soba")),
		Matrix: dsbo.DampedHessian}, Preset{Name: "late", Method: testkit.Get(algo.New("srba"))})
	for args, want := range map[string]string{
		"-algorithm=soba": "lone damped", "-algorithm=saba": "lone hessian", "-algorithm=srba": "late hessian",
		"-algorithm=dsoba":             "fast hessian",
		"-algorithm=saba -preset=lone": "lone hessian", "-algorithm=soba -curvature=hessian": "lone hessian",
		"-algorithm=newtoncg": "tuned hessian", "-algorithm=sgd": "fast ",
	} {
		j := testkit.Get(Parse(task, strings.Fields(args), io.Discard))
		p, err := j.preset()
		p.fill(j.Settings)
		if got := fmt.Sprint(p.Name, " ", j.Settings.Matrix); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s, error %v", args, got, want, err)
		}
	}
	made := Preset{Name: "made", Method: testkit.Get(algo.New("soba")), Models: []string{"mlp", "linear"}}
	if got := presetsHelp([]Preset{made}); !strings.Contains(got, "made: -model mlp -algorithm soba -K 0") {
		t.Errorf("help of a preset for models: %s", got)
	}
	help := strings.Split(presetsHelp(task.Presets), "\n")
	all := strings.Join(help, "")
	if strings.Count(all, " -x0 ") != 1 || strings.Count(all, " -curvature ") != 1 {
		t.Errorf("presets that leave the start and the matrix at their defaults tell them: %s", all)
	}
	for line, want := range map[int][2]bool{1: {true, false}, 3: {false, false}, 5: {false, true}} {
		start, matrix := strings.Contains(help[line], " -x0 0.5"), strings.Contains(help[line], " -curvature damped")
		if start != want[0] || matrix != want[1] {
			t.Errorf("%s: start and matrix must be there %v", help[line], want)
		}
	}
}

// TestMembershipRead: a log has whole lines, and is replayed in one process without differential
// privacy.
func TestMembershipRead(t *testing.T) {
	const line = `{"epoch":1,"iteration":1,"members":[0,2],"edges":[[0,2]],"proposer":0}` + "\n"
	for name, c := range map[string]struct{ text, args, want string }{
		"whole": {line, "", ""}, "empty": {"", " -transport=mpi", ""},
		"cut short": {strings.TrimSpace(line), "", "the last line must be whole"},
		"elsewhere": {line, " -transport=mpi", "-transport must be local; it is mpi"},
		"private":   {line, " -dp-epsilon=.5", "mutually exclusive"},
		"too late":  {strings.Replace(line, `n":1`, `n":99`, 1), "", "-membership: "},
	} {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		testkit.OK(os.WriteFile(path, []byte(c.text), 0o600))
		r := ofJob(parseTiny(t, "-agents=3 -membership="+path+c.args), run{})
		r.graph = testkit.Get(network.New("ring", 3, network.Options{}))
		r.settings.Iterations = 20
		if err := r.readChanges(); c.want != "" {
			testkit.WantError(t, name, err, nil, c.want)
		} else if err != nil || len(r.changes) != strings.Count(c.text, "\n") {
			t.Errorf("%s: %d changes, %v", name, len(r.changes), err)
		}
	}
}

// TestAdmit: an agent that a log admits has the shard that it would have among the agents up to
// it, and test rows of its own; one that never comes in has none, nor one that is elsewhere.
func TestAdmit(t *testing.T) {
	tests := func(n int) data.Examples {
		return data.Examples{X: testkit.Get(ad.FloatTable(n, 1, make([]float64, n)))}
	}
	var asked [][]int
	features := 3
	task := Task{Name: "growing", Load: func(a Agents) (data.Task, models.Model, error) {
		asked = append(asked, append([]int{a.N}, a.Local...))
		return data.Task{Shards: make([]data.Shard, a.N), Test: tests(10 * a.N), AllTrainRows: 5 * a.N},
			models.Logistic{Features: features}, nil
	}}
	log := membership.Log{{Epoch: 1, Iteration: 1, Members: []int{0, 1, 3}, Edges: membership.Edges{{1, 2}, {1, 3}}}}
	for name, c := range map[string]struct {
		l        layout
		features int
		loaded   string
	}{"here": {inProcess{}, 3, "[[4 0 1 2 3]]"}, "elsewhere": {&oneAgent{}, 3, "[]"},
		"of other features": {inProcess{}, 4, ""}} {
		asked, features = nil, c.features
		r := ofJob(&Job{Task: task}, run{layout: c.l, view: onScreen{}})
		r.settings.Agents = 2
		l := &loaded{data: data.Task{Shards: make([]data.Shard, 2), Test: tests(20), AllTrainRows: 10},
			model: models.Logistic{Features: 3}, setup: new(setup), local: []int{0, 1}}
		err := r.admit(log, l)
		if c.loaded == "" {
			testkit.WantError(t, name, err, dsbo.ErrConfig, "agent 3 cannot come in: its model has p = 4 and q = ")
			continue
		}
		s, late := l.data.Shards, 0
		if name == "here" {
			late = 10
		}
		if err != nil || fmt.Sprint(asked) != c.loaded || len(s) != 4 || l.data.Test.Len() != 0 ||
			s[0].Test.Len() != 10 || s[2].Test.Len() != 0 || s[3].Test.Len() != late || l.data.AllTrainRows != 10+late {
			t.Errorf("%s: loaded as %v, %d shards, %d rows, %v", name, asked, len(s), l.data.AllTrainRows, err)
		}
		before := fmt.Sprint(asked)
		testkit.OK(r.admit(nil, l))
		if fmt.Sprint(asked) != before {
			t.Errorf("%s: without changes it is loaded again", name)
		}
	}
}

// TestMemberData: an epoch's data are the shards of its members, in their order; of one that is
// elsewhere it has none, and of all members it is what it was.
func TestMemberData(t *testing.T) {
	var all data.Task
	for i := range 3 {
		all.Shards = append(all.Shards, data.Shard{Train: data.Examples{ID: []int{i}}})
	}
	for want, members := range map[string][]int{"[[0] [1] [2]]": nil, "[[0] [2]]": {0, 2}, "[[0] [1] []]": {0, 1, 3},
		"[[1] [2] [] []]": {1, 2, 3, 4}, "[[1]]": {1}} {
		var got [][]int
		for _, s := range memberData(all, membership.Epoch{Members: members}).Shards {
			got = append(got, s.Train.ID)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("members %v: %v, want %s", members, got, want)
		}
	}
}

// TestDataChecked: all data are checked here, with differential privacy where it is asked for, by
// their fingerprint where the task has one.
func TestDataChecked(t *testing.T) {
	for _, c := range []struct {
		epsilon float64
		print   bool
	}{{0, false}, {1, false}, {.5, true}} {
		j, loads, prints := parseTiny(t, ""), 0, 0
		j.Settings.Epsilon = c.epsilon
		see := func(a Agents) {
			if a.Private != (c.epsilon > 0) || len(a.Local) != 2 || !a.Own || a.Seed != 7 {
				t.Errorf("%+v: agents %+v", c, a)
			}
		}
		j.Task.Load = func(a Agents) (t data.Task, m models.Model, err error) { see(a); loads++; return t, m, nil }
		if c.print {
			j.Task.Fingerprint = func(a Agents) ([]byte, error) { see(a); prints++; return nil, nil }
		}
		testkit.OK(j.CheckData(2, 7))
		if loads == 1 == c.print || prints == 1 != c.print {
			t.Errorf("%+v: %d loads, %d fingerprints", c, loads, prints)
		}
	}
}

// TestModelsNamed: the model of λ = 0 is the first where its λ is 0, the tuned one is the last.
func TestModelsNamed(t *testing.T) {
	of := func(lambda, phi, loss runs.Number) runs.Model {
		m := candidates.NewModel("", lambda, nil).Model
		m.Phi, m.TestLoss = phi, loss
		return m
	}
	for _, c := range []struct {
		models                  []runs.Model
		phi, zeroLoss, lastLoss runs.Number
	}{
		{nil, runs.Unknown(), runs.Unknown(), runs.Unknown()},
		{[]runs.Model{of(0, 1, 2)}, 1, 2, 2},
		{[]runs.Model{of(0, 1, 2), of(3, 4, 5)}, 1, 2, 5},
		{[]runs.Model{of(1, 1, 2), of(3, 4, 5)}, runs.Unknown(), runs.Unknown(), 5},
	} {
		s := runs.Summary{Models: c.models}
		nameModels(&s)
		if got, want := fmt.Sprint(s.PhiLambda0, s.TestLossLambda0, s.TestLossTuned), fmt.Sprint(c.phi, c.zeroLoss,
			c.lastLoss); got != want {
			t.Errorf("%+v: %s, want %s", c.models, got, want)
		}
	}
}

// TestExpectedModels: about six models are planned for, or as many as are told of, if more.
func TestExpectedModels(t *testing.T) {
	for told, want := range map[int]float64{1: 6, 6: 6, 9: 9} {
		w := modelWatcher{nil, new(pace)}
		w.Expect(told)
		if got := w.pace.kinds[modelling].units; got != want {
			t.Errorf("told of %d: %g are planned", told, got)
		}
	}
	c := train.Config{K: 10, EvalEvery: 5, Evaluate: train.EvaluateExact} // exact at 0, 5 and 10, or never
	if got := plannedEvaluations(c); got != 3 {
		t.Errorf("the work of three exact evaluations is %g", got)
	}
	c.Evaluate = train.EvaluateOff
	if got := plannedEvaluations(c); !(math.Abs(got-.15) <= 1e-15) {
		t.Errorf("the work of three that are not exact is %g, want a twentieth each", got)
	}
}

// TestEvaluationChosen: a problem that is not known to be convex is not evaluated exactly where
// iterations take draws, unless that is asked for; a run without rivals or held-out rows keeps its
// last iterate.
func TestEvaluationChosen(t *testing.T) {
	for _, c := range []struct {
		nonconvex, given, rivals bool
		batch                    int
		holdout                  float64
		off, newest              bool
	}{
		{true, false, true, 1, 0, true, false}, {true, false, true, 0, 0, false, false},
		{false, false, true, 1, 0, false, false}, {true, true, true, 1, 0, false, false},
		{false, false, false, 0, 0, false, true}, {false, false, false, 0, .5, false, false},
	} {
		r := ofJob(parseTiny(t, ""), run{layout: inProcess{}})
		r.graph = testkit.Get(network.New("ring", 3, network.Options{}))
		s := r.settings
		s.Batch, s.Rivals, s.Holdout, s.given["evaluate"] = c.batch, c.rivals, c.holdout, c.given
		r.settings.Evaluate = train.EvaluateExact
		p := new(problem)
		p.Nonconvex = c.nonconvex
		got := r.trainConfig(beginning{}, p, &algo.Tuned{}, nil)
		on := r.trainConfig(beginning{point: new(train.Point)}, p, &algo.Tuned{}, nil)
		if off := got.Evaluate == train.EvaluateOff; off != c.off || got.Newest != c.newest || got.Resume ||
			!on.Resume || got.DenseLimit != 4<<30 || got.HeldOut != (c.holdout > 0) {
			t.Errorf("%+v: evaluated %v, the newest %t", c, got.Evaluate, got.Newest)
		}
	}
}

// TestGuardBounds: a gradient moves by two bounds over the rows, a product by the curvature over
// them; weights, too many rows and a δ of one over the rows are refused.
func TestGuardBounds(t *testing.T) {
	rows := func(n int) data.Examples {
		return data.Examples{X: testkit.Get(ad.FloatTable(n, 1, make([]float64, n)))}
	}
	weighted, counted := rows(9), rows(9)
	weighted.Weight, counted.Count = rows(9).X, rows(9).X
	few := rows(1 << 4)
	for name, c := range map[string]struct {
		train data.Examples
		delta float64
		want  string
	}{
		"few": {few, 1e-9, ""}, "most": {rows(maxRows), 1e-9, ""},
		"too many": {rows(maxRows + 1), 1e-9, "at most 1048576 rows"},
		"weights":  {weighted, 1e-9, "have weights"}, "counts": {counted, 1e-9, "have weights"},
		"δ": {few, 1. / 16, "below 1/16"}, "less": {few, .99 / 16, ""},
	} {
		s := new(Settings)
		s.Norm, s.Delta = 3, c.delta
		task := data.Task{Shards: []data.Shard{{Train: c.train, Val: rows(8)}}}
		g, err := newGuard(s, task, models.Logistic{Features: 1, Mean: true}, []int{0})
		if c.want != "" {
			testkit.WantError(t, name, err, dsbo.ErrConfig, c.want)
			continue
		}
		n := float64(c.train.Len()) // a gradient of norm 3 at most, and a curvature of 9/4
		want := [2]rowBound{{Gradient: 6 / n, Product: 2.25 / n}, {Gradient: .75, Product: 2.25 / 8}}
		if err != nil || g.bounds[0] != want || len(g.scores) != 0 {
			t.Errorf("%s: %+v, want %+v, error %v", name, g, want, err)
		}
	}
	if _, err := newGuard(new(Settings), data.Task{}, models.MLP{}, nil); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a network has a bound: %v", err)
	}
	g := &guard{curve: .25, terms: privacyTerms{Answers: [3]int{16}, Multipliers: [3]float64{2}}}
	s := &Settings{Config: runs.Config{Agents: 4, Privacy: &runs.Privacy{LeastRows: 3}}}
	// noise of a product: 2 · ¼ · √9 / 3 = ½ of z; of 16 of them, by 4 agents: √(16/4) · ½ = 1
	// the curvature of losses, and the larger one of penalties 1 and 3
	most := testkit.Get(g.curvature(penalized{high: 3}, []float64{1}))
	if got := g.stableStep(s, 9); most != 3.25 || got != .5 {
		t.Errorf("the curvature is at most %g, the step %g", most, got)
	}
}

// TestPenaltiesKnown: x is penalties where the penalty's part of the Hessian grows with it.
func TestPenaltiesKnown(t *testing.T) {
	for name, c := range map[string]struct {
		high float64
		err  [2]error
		want bool
	}{
		"grows": {2, [2]error{}, true}, "stays": {1, [2]error{}, false}, "falls": {.5, [2]error{}, false},
		"unknown":       {2, [2]error{dsbo.ErrCapability}, false},
		"unknown above": {2, [2]error{nil, dsbo.ErrCapability}, false},
	} {
		o := penalized{high: c.high, err: c.err}
		if got := hasPenalties(o); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if hasPenalties(struct{ dsbo.Oracle }{penalized{}}) {
		t.Error("an oracle that tells none has penalties")
	}
}

// penalized is an oracle whose penalty is 1 at x = 0, and high elsewhere.
type penalized struct {
	dsbo.Oracle
	high   float64
	err    [2]error
	marked bool // whether there is a Gauss-Newton matrix
}

func (penalized) Dims() (p, q int) { return 1, 2 }

func (o penalized) Capabilities() *dsbo.OracleCapabilities {
	all := &dsbo.OracleCapabilities{Of: o, Penalty: func(dst, x []float64) error {
		k := int(x[0])
		dst[0], dst[1] = 1, []float64{1, o.high}[k]
		return o.err[k]
	}}
	if o.marked {
		all.GaussNewton = func(_, _, _, _ []float64, _ dsbo.Sample) error { return nil }
	}
	return all
}

// TestMatrixOfOutputs: a Gauss-Newton matrix is there where a loss marks its outputs.
func TestMatrixOfOutputs(t *testing.T) {
	s := new(Settings)
	s.Matrix = dsbo.GaussNewton
	p := &problem{local: []int{1}}
	p.Oracles = []dsbo.Oracle{nil, penalized{}}
	if _, err := s.chooseMatrix(p); !errors.Is(err, dsbo.ErrCapability) {
		t.Errorf("%v, want that outputs are missing", err)
	}
	p.Oracles[1] = penalized{marked: true}
	if m, err := s.chooseMatrix(p); m != dsbo.GaussNewton || err != nil {
		t.Errorf("matrix %v, %v", m, err)
	}
}

// TestHandedParts: parts are cut as they were joined, and what is cut short is none.
func TestHandedParts(t *testing.T) {
	all := appendPart(appendPart(nil, []byte("first")), nil)
	part, rest, ok := cutPart(all)
	if _, end, whole := cutPart(rest); !ok || !whole || string(part) != "first" || len(end) != 0 {
		t.Errorf("%q, then %v", part, rest)
	}
	for n := range 13 {
		if _, _, ok := cutPart(all[:n]); ok {
			t.Errorf("%d bytes of a part of 13 are one", n)
		}
	}
	if part, rest, ok := cutPart(all[:13]); !ok || string(part) != "first" || !slices.Equal(rest, nil) {
		t.Errorf("%q, %v", part, rest)
	}
}
