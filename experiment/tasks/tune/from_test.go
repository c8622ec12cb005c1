package tune

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// TestStartLambda: penalties of an earlier run start at its λ; new ones at the mean of the known
// ones, or of all earlier ones where none is known.
func TestStartLambda(t *testing.T) {
	e := &earlier{lambdas: []runs.Penalty{{Name: "a", Lambda: 1}, {Name: "b", Lambda: 3}, {Name: "c", Lambda: 8}}}
	for _, c := range []struct {
		names []string
		want  []float64
		note  string
	}{
		{[]string{"c", "a", "b"}, []float64{8, 1, 3}, "λ starts at that of "},
		{[]string{"b"}, []float64{3}, "λ starts at that of ; earlier ones that are not here (2): a, c"},
		{[]string{"a", "new", "b"}, []float64{1, 2, 3}, "λ starts at that of ; new ones start at 2, the mean of " +
			"earlier ones (1 of 3 penalties): new; earlier ones that are not here (1): c"},
		{[]string{"new", "newer"}, []float64{4, 4}, "λ starts at that of ; new ones start at 4, the mean of " +
			"earlier ones (2 of 2 penalties): new, newer; earlier ones that are not here (3): a, b, c"},
	} {
		x, note := e.startLambda(c.names)
		for i := range x { // three shares of numbers below 16 round three times
			x[i] = math.Round(x[i]*0x1p40) / 0x1p40
		}
		if !slices.Equal(x, c.want) || !strings.HasPrefix(note, c.note) {
			t.Errorf("%v: λ starts at %v, want %v; %q, want %q", c.names, x, c.want, note, c.note)
		}
	}
}

// TestBegins: an earlier run is of the same rows where it found, first of all, what this one finds.
func TestBegins(t *testing.T) {
	a, b, text := runs.Found{Sum: []float64{1, 2}}, runs.Found{Sum: []float64{1, 3}}, runs.Found{Texts: []string{"a"}}
	for _, c := range []struct {
		list, with []runs.Found
		want       bool
	}{
		{[]runs.Found{a, text}, []runs.Found{a, text}, true},
		{[]runs.Found{a, text, b}, []runs.Found{a, text}, true}, // structures are found after the tables are read
		{[]runs.Found{a}, []runs.Found{a, text}, false},
		{[]runs.Found{b, text}, []runs.Found{a, text}, false},
		{[]runs.Found{a, {Texts: []string{"b"}}}, []runs.Found{a, text}, false},
		{[]runs.Found{text, a}, []runs.Found{a}, false},
	} {
		if got := begins(c.list, c.with); got != c.want {
			t.Errorf("%v begins with %v: %t, want %t", c.list, c.with, got, c.want)
		}
	}
}

// adding sums over a number of sites that are here.
type adding int

func (n adding) Sum(_ string, dst []float64, fill func(i int, part []float64) error) error {
	for i := range int(n) {
		part := make([]float64, len(dst))
		if err := fill(i, part); err != nil {
			return err
		}
		for k, v := range part {
			dst[k] += v
		}
	}
	return nil
}

func (adding) Texts(string, func(int) (string, error)) ([]string, error) { return nil, nil }

// TestMeanSlopes: the common slopes are the mean of those that sites have, where sites have some; a
// site that is elsewhere adds none.
func TestMeanSlopes(t *testing.T) {
	model := func(w ...float64) *modelfile.Model {
		return &modelfile.Model{Layers: []modelfile.Layer{{In: 2, Weights: w}}}
	}
	for strength, want := range map[float64][]float64{0: {1, 2, 3, 4}, .5: {1, 6, 3, 8}, 1: {1, 6, 3, 8}} {
		all := model(1, 2, 3, 4)
		f := experiment.FinishedRun{Collective: adding(3)}
		f.Levels.Slopes, f.Levels.SlopeStrength = []int{1}, strength
		own := map[int]*modelfile.Model{0: model(1, 4, 3, 6), 2: model(1, 8, 3, 10)}
		testkit.OK(addMeanSlopes(f, &all.Layers[0], own))
		if got := all.Layers[0].Weights; !slices.Equal(got, want) {
			t.Errorf("strength %g: weights %v, want %v", strength, got, want)
		}
	}
}

// TestTies: hazards of rows whose times are tied are fitted as the model is.
func TestTies(t *testing.T) {
	for ties, want := range map[string]bool{breslow: true, "efron": false} {
		one := plainTune([3]int{60, 60, 20}, 5)
		one.prepared.Recipe.Target, one.ties = features.Target{Kind: features.Survival}, ties
		of := judge{tune: one, run: experiment.FinishedRun{Collective: adding(0)}}
		if got := of.tables(); got.Breslow != want || got.Kind != assess.Hazard {
			t.Errorf("%s: %+v", ties, got)
		}
	}
}

// TestStartsAtEarlier: a run starts at the λ of the run of -from, or the mean of it where one λ is
// for all, and in each fold at its model, where that has the same layers. All sites must start
// alike, but with differential privacy, where starts are averaged.
func TestStartsAtEarlier(t *testing.T) {
	y := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	mlp := models.MLP{Features: 4, Outputs: 2, Hidden: []int{3}, Loss: models.CrossEntropy{}}
	for name, c := range map[string]struct {
		shared          string
		folds           int
		m               models.Model
		private, unlike bool
		x               []float64
		times           int // the earlier model
	}{
		"for each":        {perFeature, 0, linearOf(models.PerFeature{}), false, false, []float64{1, 2, 3, 6}, 1},
		"for all":         {auto, 0, linearOf(models.OnePenalty{}), false, false, []float64{3}, 1},
		"in folds":        {auto, 3, linearOf(models.OnePenalty{}), false, false, []float64{3}, 3},
		"of other layers": {perFeature, 0, mlp, false, false, nil, 0},
		"privately":       {auto, 0, linearOf(models.OnePenalty{}), true, true, []float64{3}, 1},
		"unlike":          {auto, 0, linearOf(models.OnePenalty{}), false, true, []float64{3}, 1},
	} {
		one := plainTune([3]int{60, 60, 20}, c.folds)
		one.shared = c.shared
		e := &earlier{model: testkit.Get(modelOf(one, y))}
		for k, feature := range []string{"a", "b", "c", "d"} {
			e.lambdas = append(e.lambdas, runs.Penalty{Name: feature, Lambda: []float64{1, 2, 3, 6}[k]})
		}
		one.earlier = e
		said := ""
		a := experiment.Agents{Private: c.private, Collective: alone{},
			Log: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
		if c.unlike {
			a.Collective = sites{"another"}
		}
		if err := one.startFromEarlier(a, c.m); (err != nil) != (c.unlike && !c.private) {
			t.Errorf("%s: error %v", name, err)
		}
		if c.x != nil && !slices.Equal(e.x, c.x) || len(e.y) != c.times*len(y) ||
			strings.Contains(said, "does not start") != (c.times == 0) {
			t.Errorf("%s: starts at %v and %v; %q", name, e.x, e.y, said)
		}
		for k := range c.times {
			folds := models.Folds{Of: linearOf(models.OnePenalty{}), Count: c.times}
			if weights, intercepts := folds.Fold(e.y, k); !slices.Equal(slices.Concat(weights, intercepts), y) {
				t.Errorf("%s: fold %d starts at %v and %v", name, k, weights, intercepts)
			}
		}
		if x, start := one.start(); x != nil || !slices.Equal(start, e.y) {
			t.Errorf("%s: the task starts at %v and %v", name, x, start)
		}
	}
	one := plainTune([3]int{60, 60, 20}, 0)
	testkit.OK(one.startFromEarlier(experiment.Agents{}, linearOf(models.OnePenalty{}))) // without -from
}

// TestEarlierFolder: -from is the folder of a site's finished run, whose penalties are of squares.
// A run of the same rows starts as without it, but for differential privacy, which has its recipe.
func TestEarlierFolder(t *testing.T) {
	found := []runs.Found{{Sum: []float64{1, 2}}}
	for name, c := range map[string]struct {
		file          string // that is not there
		setup         []runs.Found
		lasso         *runs.Lasso
		private, want bool
		refused       string
	}{
		"another program's": {"", nil, nil, false, true, ""},
		"same rows":         {"", found, nil, false, false, ""},
		"privately":         {"", found, nil, true, true, ""},
		"other rows":        {"", []runs.Found{{Sum: []float64{1, 3}}}, nil, false, true, ""},
		"no lasso is kept":  {"none", nil, nil, false, true, ""},
		"a lasso is kept":   {"", nil, new(runs.Lasso), false, false, "it has kept a lasso"},
		"no model":          {runs.ModelFile, nil, nil, false, false, "must be the folder of a run of tune"},
		"no penalties":      {"lambda.csv", nil, nil, false, false, "must be the folder of a run of tune"},
	} {
		one, dir := plainTune([3]int{60, 60, 20}, 0), t.TempDir()
		one.from = filepath.Join(dir, "run{agent}")
		folder := runs.Folder(filepath.Join(dir, "run1"))
		testkit.OK(os.Mkdir(string(folder), 0o700))
		testkit.OK(testkit.Get(modelOf(one, make([]float64, 10))).Write(folder, ""))
		testkit.OK(folder.WriteLambdaTable([]runs.Penalty{{Name: "a", Lambda: 1}}))
		if c.file == "none" || c.lasso != nil {
			testkit.OK(folder.WriteSummary(runs.Summary{Structures: []runs.Structure{{Kept: true, Lasso: c.lasso}}}))
		} else if c.file != "" {
			testkit.OK(os.Remove(folder.Path(c.file)))
		}
		if c.setup != nil {
			testkit.OK(folder.WriteSetup(runs.Setup{Found: c.setup}))
		}
		e, err := findEarlier(one, experiment.Agents{Private: c.private, Collective: alone{}, Local: []int{1},
			Log: func(string, ...any) {}}, found)
		if c.refused != "" {
			testkit.WantError(t, name, err, dsbo.ErrConfig, c.refused)
		} else if err != nil || (e != nil) != c.want || e != nil && (e.folder != folder || len(e.lambdas) != 1) {
			t.Errorf("%s: %+v, error %v", name, e, err)
		}
	}
}

// TestUnfolded: the model of all rows has the weights of rows without folds; without folds, and
// without rows, data stay as they are.
func TestUnfolded(t *testing.T) {
	table := func(v ...float64) *ad.Table { return testkit.Get(ad.FloatTable(len(v), 1, v)) }
	for folds, want := range map[int][]float64{0: {3, 4}, 5: {1, 1}} {
		one := plainTune([3]int{2, 2, 0}, folds)
		e := data.Examples{X: table(7, 8), Target: table(1, 0), Weight: table(3, 4),
			Columns: []data.Column{{Name: "own"}}}
		val := e
		val.Columns = append(val.Columns[:1:1], data.Column{Name: "of folds"})
		one.prepared.Data.Shards = []data.Shard{{Train: e, Val: val}, {}}
		one.prepared.Weights = []*ad.Table{table(1, 1), table(5)}
		got := one.unfolded()
		for set, of := range map[string]data.Examples{"training": got.Shards[0].Train,
			"validation": got.Shards[0].Val} {
			if w := []float64{of.Weight.At(0, 0), of.Weight.At(1, 0)}; !slices.Equal(w, want) {
				t.Errorf("%d folds, %s: weights %v, want %v", folds, set, w, want)
			}
		}
		if n := len(got.Shards[0].Val.Columns); (n == 1) != (folds > 0) {
			t.Errorf("%d folds: %d columns of validation rows", folds, n)
		}
		if got.Shards[1].Train.Weight != nil || one.prepared.Data.Shards[0].Train.Weight.At(0, 0) != 3 {
			t.Errorf("%d folds: a site without rows has weights, or the data themselves have changed", folds)
		}
		_, inFolds := one.inFolds(linearOf(models.OnePenalty{})).(models.Folds)
		if _, network := one.inFolds(models.MLP{}).(models.Folds); inFolds != (folds > 0) || network {
			t.Errorf("%d folds: a linear model is in folds: %t, a network: %t", folds, inFolds, network)
		}
	}
}
