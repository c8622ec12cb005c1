package experiment

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
)

// TestSiteIsAsked: a site is asked for what the flags let leave it: rows of a batch, and vectors
// without mask where neighbours mix them; with differential privacy none of its own results.
func TestSiteIsAsked(t *testing.T) {
	task := newTiny()
	own := Sites{Compare: true}
	task.SiteFlags = func() Sites { return own }
	var agents Agents
	task.AskSite = func(a Agents) error { agents = a; return nil }
	for _, c := range []struct {
		args     string
		exchange bool
		from     site.Request
		want     string // results, model, unmasked, ε, δ, rows
	}{
		{"-algorithm=newtoncg", false, site.Request{}, "true false false 0 0 0"},
		{"-algorithm=newtoncg", true, site.Request{Unmasked: true}, "true true true 0 0 0"},
		{"-algorithm=dsoba", false, site.Request{}, "true false true 0 0 0"}, // one exchange an iteration
		{"-algorithm=fedbioacc -set=I=3 -K=2 -batch=7", false, site.Request{}, "true false false 0 0 7"},
		{"-algorithm=fedbioacc -set=I=3 -K=3 -batch=7", false, site.Request{}, "true false true 0 0 7"},
		{"-algorithm=madsbo -batch=7", false, site.Request{Rows: 9}, "true false true 0 0 7"},
		{"-algorithm=madsbo -batch=7", false, site.Request{Rows: 5}, "true false true 0 0 5"},
		{"-dp-epsilon=8 -dp-delta=1e-5 -dp-clip=1", true, site.Request{Unmasked: true},
			"false false false 8 1e-05 0"},
		{"-dp-epsilon=1 -dp-delta=1e-5 -dp-clip=1", true, site.Request{}, "false false false 1 1e-05 0"},
	} {
		own.Exchange = c.exchange
		j, err := Parse(task, strings.Fields(c.args), io.Discard)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		var r site.Request
		testkit.OK(j.AskSite(4, 3, c.from, func(ask func(*site.Request)) error { ask(&r); return nil }))
		got := fmt.Sprint(r.OwnResults, r.Models, r.Unmasked, r.Epsilon, r.Delta, r.Rows)
		if got != c.want || r.Task != "tiny" || r.Sites != 3 {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
		if agents.N != 5 || agents.Start != 3 || agents.Local[0] != 4 || !agents.Own ||
			agents.Private != (r.Epsilon > 0) {
			t.Errorf("%s: the task asks as %+v", c.args, agents)
		}
	}
}

// TestSiteRefuses: what a site does not allow ends the question; a task need not ask for more.
func TestSiteRefuses(t *testing.T) {
	j := parseTiny(t, "")
	testkit.OK(j.AskSite(0, 3, site.Request{}, func(func(*site.Request)) error { return nil }))
	j.Task.AskSite = func(Agents) error { return errors.New("asked for more") }
	err := j.AskSite(0, 3, site.Request{}, func(func(*site.Request)) error { return dsbo.ErrConfig })
	if !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("%v, want the site's refusal", err)
	}
}

// TestFingerprintAsks: before an agent meets others its site is asked for terms of its rows: of
// 20 to train, 10 to validate and 5 to test.
func TestFingerprintAsks(t *testing.T) {
	for _, refusal := range []error{nil, dsbo.ErrConfig} {
		j, asked := parseTiny(t, "-agents=2"), site.Request{}
		j.Site = func(more func(*site.Request)) error { more(&asked); return refusal }
		r := newRun(j, inProcess{})
		testkit.OK(r.prepare(io.Discard))
		if digest, err := r.fingerprint(t.Context(), 1); asked.Rows != 5 || !errors.Is(err, refusal) ||
			(digest == nil) != (refusal != nil) {
			t.Errorf("asked for %d rows: %x, %v", asked.Rows, digest, err)
		}
	}
}

// TestMatrixAsked: the Hessian is always there, and differential privacy has no other one.
func TestMatrixAsked(t *testing.T) {
	for _, c := range []struct {
		asked   dsbo.CurvatureMatrix
		private bool
		want    error
	}{
		{dsbo.Hessian, false, nil}, {dsbo.Hessian, true, nil}, {dsbo.DampedHessian, false, nil},
		{dsbo.DampedHessian, true, dsbo.ErrConfig}, {dsbo.GaussNewton, true, dsbo.ErrConfig},
	} {
		s := new(Settings)
		s.Matrix = c.asked
		if c.private {
			s.Privacy = new(runs.Privacy)
		}
		if m, err := s.chooseMatrix(new(problem)); m != c.asked || !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, %v", c, m, err)
		}
	}
}

// starting is a model with a start of x.
type starting struct{ models.Logistic }

func (starting) StartX(x []float64) { x[0], x[1] = 8, 9 }

// TestStartSet: x starts at the task's start, else at the model's; of the right length, and not
// beside -x0.
func TestStartSet(t *testing.T) {
	start := func(x, y []float64) func() ([]float64, []float64) {
		return func() ([]float64, []float64) { return x, y }
	}
	for name, c := range map[string]struct {
		start func() (x, y []float64)
		given bool
		want  error
	}{
		"nothing":        {nil, true, nil},
		"the task":       {start([]float64{1, 2}, []float64{3, 4}), false, nil},
		"y alone":        {start(nil, []float64{3, 4}), true, nil},
		"too short":      {start([]float64{1}, nil), false, dsbo.ErrShape},
		"beside -x0":     {start([]float64{1, 2}, nil), true, dsbo.ErrConfig},
		"none of theirs": {start(nil, nil), false, nil},
	} {
		for x, p := range map[string]*problem{"[8 9]": {model: starting{models.Logistic{Features: 2}}},
			"[]": {model: models.Logistic{Features: 2}}} {
			if name == "the task" {
				x = "[1 2]"
			}
			of := ofJob(&Job{Task: Task{Start: c.start}}, run{})
			if err := of.setStart(p); c.want != dsbo.ErrShape && name != "beside -x0" && (err != nil ||
				fmt.Sprint(p.startX) != x) {
				t.Errorf("%s, %T: x starts at %v, want %s; error %v", name, p.model, p.startX, x, err)
			}
		}
		r := ofJob(&Job{Task: Task{Start: c.start}}, run{})
		r.settings.given = map[string]bool{"x0": c.given}
		p := &problem{model: models.Logistic{Features: 2}}
		if err := r.setStart(p); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if c.start != nil && c.want == nil {
			if x, y := c.start(); len(p.startX) != len(x) || len(p.Start) != len(y) {
				t.Errorf("%s: %v, %v", name, p.startX, p.Start)
			}
		}
	}
}

// TestBarOnly: a screen of progress alone has no other text, whose lines have 80 columns.
func TestBarOnly(t *testing.T) {
	long := strings.Repeat("x", 78)
	for bar, want := range map[bool]string{true: "", false: long + " a\nb\n"} {
		var out strings.Builder
		if (onScreen{cli.NewProgress(&out, false), bar}).Note(Note{Text: long + " a b"}); out.String() != want {
			t.Errorf("progress alone %t: %q, want %q", bar, out.String(), want)
		}
	}
}

// TestEngineKept: a checkpoint is of the engine that is not the usual one, and names no other.
func TestEngineKept(t *testing.T) {
	for gorgonia, want := range map[bool]any{true: "gorgonia", false: nil} {
		p := new(problem)
		p.config.Gorgonia = gorgonia
		s := new(Settings)
		s.Engine = "gorgonia"
		if got := s.checkpointSettings(p)["engine"]; got != want {
			t.Errorf("gorgonia %t: the engine %v", gorgonia, got)
		}
	}
}

// TestVainFlags: a flag that changes nothing is warned of where it was given.
func TestVainFlags(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		batch     int
		given     bool
		want      int
	}{{"c2dfb", 8, true, 1}, {"c2dfb", 1, true, 1},
		{"c2dfb", 8, false, 0}, {"c2dfb", 0, true, 0}, {"madsbo", 8, true, 0}} {
		j := parseTiny(t, "-algorithm="+c.algorithm)
		j.Settings.Batch, j.Settings.given["batch"] = c.batch, c.given
		p := testkit.Get(j.resolveParameters())
		if got := j.Settings.vainFlags([]string{"alpha"}, p.method); len(got) != c.want+1 {
			t.Errorf("%+v: %q", c, got)
		}
	}
	for flags, want := range map[string]string{
		"-algorithm=newtoncg -mix=matchings": "-mix matchings changes nothing", "-algorithm=dsoba -mix=matchings": "",
		"-algorithm=newtoncg -patience=3 -holdout=0":  "-patience 3 changes nothing",
		"-algorithm=newtoncg -patience=3 -holdout=.2": "", "-algorithm=newtoncg -patience=0 -holdout=0": "",
		"-algorithm=newtoncg -memory=2": "-memory changes nothing", "-algorithm=jhip -memory=2": "",
		"-algorithm=newtoncg": "", "-algorithm=newtoncg -mix=": "",
	} {
		j := parseTiny(t, flags)
		p := testkit.Get(j.resolveParameters())
		if got := strings.Join(j.Settings.vainFlags(nil, p.method), "; "); !strings.Contains(got, want) ||
			(want == "") != (got == "") {
			t.Errorf("%s: %q", flags, got)
		}
	}
}

// TestPresetNamed: -preset names any preset of the task, the first one too, and no other.
func TestPresetNamed(t *testing.T) {
	all := parseTiny(t, "").presets
	for k, p := range all {
		task, other := newTiny(), all[(k+1)%len(all)].Name
		task.Preset = func() string { return other }
		for flag, want := range map[string]string{"-preset=" + p.Name: p.Name, "-quiet": other} {
			got, err := testkit.Get(Parse(task, []string{flag}, io.Discard)).preset()
			if err != nil || got.Name != want {
				t.Errorf("%s, and the task's choice is %s: %s, %v", flag, other, got.Name, err)
			}
		}
	}
	if _, err := parseTiny(t, "-preset=none").preset(); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("no such preset: %v", err)
	}
}

// TestStructuresAsked: structures come before the iterations where they are where λ begins, else
// after them; a lasso is asked for with the examples of all.
func TestStructuresAsked(t *testing.T) {
	begins := &CrossFit{Begin: func([]float64) (models.Model, error) { return nil, nil }}
	for name, c := range map[string]struct {
		of            *CrossFit
		before, after bool
	}{"none": {nil, false, false}, "before": {begins, true, false}, "after": {new(CrossFit), false, true}} {
		task := Task{CrossFit: func() *CrossFit { return c.of }}
		if (task.crossFit(true) != nil) != c.before || (task.crossFit(false) != nil) != c.after {
			t.Errorf("%s: %v, %v", name, task.crossFit(true), task.crossFit(false))
		}
	}
	asked := &candidates.Lasso{Ratio: .5}
	shards := make([]data.Shard, 2)
	if (CrossFit{}).lassoOf(shards) != nil {
		t.Error("a lasso that nobody asks for")
	}
	if l := (CrossFit{Lasso: asked}).lassoOf(shards); l == nil || l.Ratio != .5 || len(l.All) != 2 || asked.All != nil {
		t.Errorf("%+v of %+v", l, asked)
	}
}

// TestLevelNote: levels are told with their strength, slopes where there are some.
func TestLevelNote(t *testing.T) {
	for _, c := range []struct {
		strength, slopes float64
		kept             bool
		want             string
	}{
		{10, 0, false, "All sites have one level"}, {10, 2, false, "All sites have one level"},
		{1, 0, true, "shrunk as by 1 row: on 7 rows"},
		{10, .1, true, "shrunk as by 10 rows, and slopes, as by 0.1: on 7"},
	} {
		note := levelNote(levelChoice{c.strength, c.slopes, runs.Gain{Examples: 7}}, c.kept)
		if !strings.Contains(note, c.want) || strings.Contains(note, "iterations are without") != c.kept {
			t.Errorf("%q, want %q", note, c.want)
		}
	}
}

// TestAgentsNumbered: numbers of agents are different ones from 0, of a task whose agents have
// files; a parameter of a method has a name.
func TestAgentsNumbered(t *testing.T) {
	files := Task{Name: "files", Agents: func() (int, error) { return 3, nil }}
	for _, c := range []struct {
		text          string
		set, allowed  bool
		agents, count int
	}{
		{"4", true, true, 4, 0}, {"0,2", true, false, 2, 2}, {"2,0,1", true, false, 3, 3}, {"1,1", false, false, 0, 0},
		{"0,-1", false, false, 0, 0}, {"0,x", false, false, 0, 0},
	} {
		f := agentsFlag{new(Settings)}
		if err := f.Set(c.text); (err == nil) != c.set {
			t.Errorf("%s: %v", c.text, err)
		}
		if !c.set {
			continue
		}
		if f.String() != c.text {
			t.Errorf("%s is told as %s", c.text, f)
		}
		if f.Agents != c.agents || len(f.Numbers) != c.count || f.check(files) != nil ||
			(f.check(newTiny()) == nil) != c.allowed {
			t.Errorf("%s: %d agents, numbers %v", c.text, f.Agents, f.Numbers)
		}
	}
	for args, want := range map[string]int{"": 3, "-agents=4": 4} { // as many as have files, or as a flag asks for
		task := newTiny()
		task.Agents = files.Agents
		j := testkit.Get(Parse(task, strings.Fields(args), io.Discard))
		if _, err := j.resolveParameters(); err != nil || j.Settings.Agents != want {
			t.Errorf("%q: %d agents, want %d, %v", args, j.Settings.Agents, want, err)
		}
	}
	if none := (agentsFlag{}).String(); none != "" {
		t.Errorf("a flag of no settings is %q", none)
	}
	for text, want := range map[string]bool{"a=1": true, "a=": true, "=1": false, "a": false} {
		if err := (assignments{}).Set(text); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestModelOfPreset: a preset that is made for some models brings the first one, where -model is
// left out, and refuses all others.
func TestModelOfPreset(t *testing.T) {
	for args, want := range map[string]string{"": "a", "-preset=made": "b", "-preset=made -model=c": "c",
		"-preset=made -model=a": "", "-preset=fast": "a", "-preset=fast -model=c": "c", "-model=c": "c"} {
		task, model := newTiny(), ""
		flags := task.Flags
		task.Flags = func(f *flag.FlagSet) { flags(f); f.StringVar(&model, "model", "a", "`name`") }
		task.Presets = append(task.Presets, Preset{Name: "made", Models: []string{"b", "c"}, Method: &algo.Tuned{}})
		if _, err := Parse(task, strings.Fields(args), io.Discard); (err == nil) != (want != "") ||
			err == nil && model != want {
			t.Errorf("%q: model %s, %v", args, model, err)
		}
	}
}
