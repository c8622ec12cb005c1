package experiment

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/runs"
	"dsbo/train"
)

// folded is a task whose sites have numbers of two features, in three folds.
type folded struct {
	apart  float64 // from the level of a site to the next one's
	bent   bool    // numbers follow the square of a feature
	cross  CrossFit
	shards []data.Shard
	done   FinishedRun
	again  train.Fit // solved for anew on all rows
}

const foldedRows, foldedTests = 30, 20

func (f *folded) task() Task {
	return Task{Name: "folded", About: "has three folds", Flags: func(*flag.FlagSet) {}, Load: f.Load,
		CrossFit: func() *CrossFit { c := f.cross; return &c },
		Sites:    func() Sites { return Sites{Compare: true} },
		Finish: func(d FinishedRun) (err error) {
			f.done = d
			f.again, err = d.Refit(f.cross.All, 1)
			return err
		}}
}

func (f *folded) Load(a Agents) (task data.Task, m models.Model, err error) {
	f.shards, f.cross.All, f.cross.Variance = nil, data.Task{}, true
	var of []int
	for i := range foldedRows {
		of = append(of, i%3)
	}
	training, validation := testkit.Get2(models.FoldWeights(of, 3, nil))
	for i := range a.N {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		draw := func(n int) data.Examples {
			x, y := make([]float64, 2*n), make([]float64, n)
			for row := range y {
				x[2*row], x[2*row+1] = r.NormFloat64(), r.NormFloat64()
				y[row] = x[2*row] - x[2*row+1]/2 + f.apart*(float64(i)-1) + .3*r.NormFloat64()
				if f.bent {
					y[row] = 3*x[2*row]*x[2*row] + .3*r.NormFloat64()
				}
			}
			return data.Examples{X: testkit.Get(ad.FloatTable(n, 2, x)), Target: testkit.Get(ad.FloatTable(n, 1, y))}
		}
		all, test := draw(foldedRows), draw(foldedTests)
		f.cross.All.Shards = append(f.cross.All.Shards, data.Shard{Train: all, Val: all, Test: test})
		s := data.Shard{Train: all, Val: all, Test: test}
		s.Train.Weight, s.Val.Weight = training, validation
		s.Val.Columns = []data.Column{{Name: models.LevelWeights, Table: training}}
		task.Shards = append(task.Shards, s)
	}
	f.cross.All.Features, task.Features, f.shards = 2, 2, task.Shards
	one := models.Linear{Features: 2, Outputs: 1, Loss: models.Squared{}, Penalties: models.OnePenalty{}}
	return task, models.Folds{Of: one, Count: 3}, nil
}

// meanSquare returns half of the mean square of the errors of a linear model on a site's test rows.
func (f *folded) meanSquare(site int, y []float64) (loss float64) {
	test := f.shards[site].Test
	for row := range test.Len() {
		d := test.Target.At(row, 0) - y[2]
		for k := range 2 {
			d -= y[k] * test.X.At(row, k)
		}
		loss += d * d / 2 / float64(test.Len())
	}
	return loss
}

// TestFoldedRun: each site's loss is the kept model's on its test rows, and what it finds alone
// suits it less where sites are alike; all sites together have the mean of these. Levels are kept
// where sites are apart. A site that has left is in none of it.
func TestFoldedRun(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	testkit.OK(os.WriteFile(log, []byte(`{"epoch":1,"iteration":1,"members":[1,2],"edges":[[1,2]],"proposer":1}`+
		"\n"), 0o600))
	all := []int{0, 1, 2}
	for name, c := range map[string]struct {
		args    string
		apart   float64
		lasso   bool
		levels  candidates.Levels
		members []int
		note    string
	}{
		"one level": {"", 0, false, candidates.Levels{}, all, ""},
		"alike":     {"", 0, false, candidates.Levels{Rows: 90, Sites: 3}, all, "does not promise more: on 90 rows"},
		"apart":     {"", 2, false, candidates.Levels{Rows: 90, Sites: 3}, all, "a level of its own"},
		"asked":     {"", 0, false, candidates.Levels{Rows: 90, Sites: 3, Always: true}, all, "a level of its own"},
		"slopes": {"", 0, false, candidates.Levels{Rows: 90, Sites: 3, Always: true, Slopes: []int{1}}, all,
			" rows, and slopes, as by "},
		"lasso":            {"", 0, true, candidates.Levels{}, all, ""},
		"the first leaves": {" -membership=" + log, 0, false, candidates.Levels{}, []int{1, 2}, ""},
	} {
		f := &folded{apart: c.apart}
		if f.cross.Levels = c.levels; c.lasso {
			f.cross.Lasso = &candidates.Lasso{Ratio: 1}
		}
		folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
		testkit.OK(runIn(t, f.task(), string(folder), "-agents=3 -K=2 -dtype=float64"+c.args))
		s := testkit.Get(folder.ReadSummary())
		if want := map[int]int{3: 0, 2: 1}[len(c.members)]; s.Epoch != want {
			t.Errorf("%s: it ended in epoch %d, want %d", name, s.Epoch, want)
		}
		for k, v := range f.done.Y {
			if !(math.Abs(f.again.Y[k]-v) <= 1e-2) {
				t.Errorf("%s: solved for anew it is %v, before %v", name, f.again.Y, f.done.Y)
			}
		}
		if len(s.Sites) != len(c.members) || s.AllSites == nil {
			t.Fatalf("%s: sites %+v", name, s.Sites)
		}
		var alone, tuned, examples float64
		for k, of := range s.Sites {
			n := float64(of.Examples)
			examples, alone, tuned = examples+n, alone+n*float64(of.Alone.Loss), tuned+n*float64(of.Tuned.Loss)
			want := f.meanSquare(c.members[k], f.done.Y)
			if levels := c.levels.Always || c.apart > 0; !levels &&
				!(math.Abs(float64(of.Tuned.Loss)-want) <= 1e-5*want) {
				t.Errorf("%s: site %d has loss %g, by the model in the folder %g", name, k, of.Tuned.Loss, want)
			}
			if c.args != "" && of.Name != fmt.Sprint("site ", c.members[k]) {
				t.Errorf("%s: site %d is %q", name, k, of.Name)
			}
		}
		if all := s.AllSites; float64(all.Examples) != examples ||
			!(math.Abs(float64(all.Alone.Loss)-alone/examples) <= 1e-9) ||
			!(math.Abs(float64(all.Tuned.Loss)-tuned/examples) <= 1e-9) ||
			c.apart == 0 && c.args == "" && !(tuned < alone) {
			t.Errorf("%s: all sites %+v of %+v", name, all, s.Sites)
		}
		if n := len(s.Verdict.Gains); n != 2 { // on test rows, and on those of other folds
			t.Errorf("%s: %d gains", name, n)
		}
		kept := 0
		for _, one := range s.Structures {
			if one.Kept {
				kept++
			}
		}
		if kept != 1 || s.Constants == nil || (f.done.Lasso != nil) != c.lasso ||
			(f.done.Levels.Strength > 0) != strings.Contains(c.note, "a level of its own") && c.levels.Slopes == nil {
			t.Errorf("%s: %d structures are kept, of constants %v; levels %+v, lasso %v", name, kept, s.Constants,
				f.done.Levels, f.done.Lasso)
		}
		for _, g := range s.Verdict.Gains {
			if n := float64(g.Examples); g.Set == runs.Test && n != examples ||
				g.Set != runs.Test && (g.Set != runs.CrossFitted || n != foldedRows*float64(len(s.Sites))) {
				t.Errorf("%s: a gain on %g examples of %s", name, n, g.Set)
			}
		}
		if strings.HasPrefix(s.Verdict.Sentence, "The ") != c.lasso {
			t.Errorf("%s: %s", name, s.Verdict.Sentence)
		}
		if notes := strings.Join(s.Verdict.Notes, " "); !strings.Contains(notes, c.note) ||
			c.note == "" && strings.Contains(notes, "level") ||
			strings.Contains(notes, "slopes") != (c.levels.Slopes != nil) {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

// TestFoldsOf: the models of three folds are of two thirds of the rows, whose levels have a ridge
// of strength 2 times 3 sites by 60 rows.
func TestFoldsOf(t *testing.T) {
	f := new(folded)
	_, p := testkit.Get2(testkit.Get(Parse(f.task(), []string{"-agents=3"}, io.Discard)).poseHere(t.Context()))
	c := f.cross
	c.Levels = candidates.Levels{Rows: 90, Sites: 3, Strength: 2}
	fit := testkit.Get(p.foldsOf(c, nil))
	if got := fit.Model.Of.Level.Ridge; !fit.Model.Apart || !(math.Abs(got-0.1) < 1e-15) {
		t.Errorf("levels apart %t, by a ridge of %g", fit.Model.Apart, got)
	}
}

// TestStartsAtStructures: where folds choose beforehand, the iterations start at the λ of the best
// structure, a number a feature, unless -x0 names a start. A run that goes on does not look for it
// once more.
func TestStartsAtStructures(t *testing.T) {
	each := models.Folds{Of: models.Linear{Features: 2, Outputs: 1, Loss: models.Squared{}}, Count: 3}
	for flag, begins := range map[string]bool{"": true, " -x0=1": false} {
		f, log, out := new(folded), new(strings.Builder), filepath.Join(t.TempDir(), "run")
		task, start := f.task(), []float64(nil)
		f.cross.Begin = func(lambda []float64) (models.Model, error) {
			start = lambda
			return each, nil
		}
		task.Load = func(a Agents) (data.Task, models.Model, error) {
			set, _, err := f.Load(a)
			return set, each, err
		}
		task.Finish, task.Sites = nil, nil
		task.Start = func() (x, y []float64) { return start, nil }
		run := func(args string) runs.Summary {
			start = nil
			testkit.OK(Run(t.Context(), task, strings.Fields(args+" -report=false -out="+out), io.Discard, log))
			return testkit.Get(runs.Folder(out).ReadSummary())
		}
		s := run("-agents=3 -K=1 -keep-checkpoints -algorithm=dsoba -alpha=1e-9 -rivals=false" + flag)
		x := testkit.Get(runs.Folder(out).ReadLambda())
		if (start != nil) != begins || begins && (len(x) != 2 ||
			!(math.Abs(x[0]-start[0])+math.Abs(x[1]-start[1]) <= 1e-6)) ||
			strings.Contains(strings.Join(s.Verdict.Notes, " "), "λ starts at") != begins {
			t.Errorf("%s: start %v, the iterations end at %v, notes %q", flag, start, x, s.Verdict.Notes)
		}
		before := leftBy(t, out)
		testkit.OK(os.Remove(runs.Folder(out).Path(runs.SummaryFile)))
		again := run("-resume")
		before.check(t, out, "going on")
		if n := strings.Count(log.String(), "structures of penalties, at"); n != map[bool]int{true: 1}[begins] ||
			again.Traffic.Setup != s.Traffic.Setup || (s.Traffic.Setup.Floats > 0) != begins {
			t.Errorf("%s: structures are looked for %d times; sent are %+v, then %+v", flag, n, s.Traffic,
				again.Traffic)
		}
	}
}

// A labelled team notes the names of what its agents send.
type labelled struct {
	network.Team
	names *[]string
}

func (l labelled) Label(all ...network.Carried) {
	for _, c := range all {
		*l.names = append(*l.names, c.Name)
	}
}

// TestRefitNamed: what is sent to solve for the kept model once more is of all rows by its name, as
// a plan has it.
func TestRefitNamed(t *testing.T) {
	f, ctx := new(folded), t.Context()
	r, p := testkit.Get2(testkit.Get(Parse(f.task(), []string{"-agents=3"}, io.Discard)).poseHere(ctx))
	teams, closeAll := networktest.Processes(p.W, []int{0, 1, 2})
	defer closeAll()
	var names []string
	p.Team = labelled{teams[0], &names}
	e := &ending{run: r, problem: p, result: new(train.Result), watch: modelWatcher{onScreen{barOnly: true}, nil}}
	found, parts, err := e.keptStructures(ctx, f.cross, 0, "structures")
	testkit.OK(err)
	one, tuned := testkit.Get2(found.Models(ctx))
	final := testkit.Get(e.linearFinalist(ctx, f.cross, parts, found, one, tuned, nil))
	names = nil
	testkit.Get(final.refit(ctx, f.cross.All, 1))
	for _, name := range names {
		if !strings.HasSuffix(name, ", all rows") {
			t.Errorf("%q is sent", name)
		}
	}
	if names == nil {
		t.Error("nothing is sent")
	}
}

// TestSiteAlone: what is wrong with a site's data is an error of its model, and no lack of one.
func TestSiteAlone(t *testing.T) {
	f := new(folded)
	r, p := testkit.Get2(testkit.Get(Parse(f.task(), []string{"-agents=3"}, io.Discard)).poseHere(t.Context()))
	e := &ending{run: r, problem: p, result: new(train.Result)}
	f.cross.All.Shards[1].Train.X = testkit.Get(ad.FloatTable(foldedRows, 3, make([]float64, 3*foldedRows)))
	if _, err := e.siteModel(t.Context(), &f.cross, 1, []float64{0}); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("one feature more: %v", err)
	}
}

// TestFoldedNetwork: a network is kept where it is surely better than all structures, and its
// structure is the one that is marked. It has no levels, whatever the linear model has.
func TestFoldedNetwork(t *testing.T) {
	for _, c := range []struct{ bent, levels bool }{{false, false}, {true, false}, {true, true}} {
		bent, f := c.bent, &folded{bent: c.bent}
		if c.levels {
			f.cross.Levels = candidates.Levels{Rows: 90, Sites: 3, Always: true}
		}
		for _, units := range []int{2, 4} {
			f.cross.Networks = append(f.cross.Networks, models.MLP{Features: 2, Outputs: 1, Hidden: []int{units},
				Loss: models.Squared{}, Penalties: models.OnePenalty{}})
		}
		folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
		testkit.OK(runIn(t, f.task(), string(folder), "-agents=3 -K=2 -dtype=float64"))
		s, kept := testkit.Get(folder.ReadSummary()), 0
		for _, one := range s.Structures {
			if strings.Contains(one.Name, "network") && one.Rows < foldedRows {
				t.Errorf("%s is judged by %d rows", one.Name, one.Rows)
			}
			if one.Kept {
				kept++
				if n := f.done.Network; n != nil && !strings.Contains(one.Name, fmt.Sprint(n.Hidden[0])) {
					t.Errorf("%s is kept, of %d units", one.Name, n.Hidden)
				}
			}
		}
		if told := strings.HasPrefix(s.Verdict.Sentence, "A network"); kept != 1 || told != bent ||
			(f.done.Network != nil) != bent || len(f.done.Parts) > 0 != bent {
			t.Errorf("bent %t: %s, structures %+v", bent, s.Verdict.Sentence, s.Structures)
		}
		linear := 0
		for _, m := range s.Models {
			if strings.HasPrefix(m.Name, "linear, λ") {
				linear++
			}
		}
		if linear != 2 || !strings.HasPrefix(s.Verdict.Against, "linear, λ") {
			t.Errorf("bent %t: %d linear models, against %q", bent, linear, s.Verdict.Against)
		}
		if notes := strings.Join(s.Verdict.Notes, " "); strings.Contains(notes, "network has one level") != c.levels {
			t.Errorf("%+v: %s", c, notes)
		}
	}
}
