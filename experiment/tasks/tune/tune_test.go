package tune_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/modelfile"
)

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	m.Run()
}

// TestPaperPreset: the rows that train and validate are as in the paper, and what a command line
// gives counts more.
func TestPaperPreset(t *testing.T) {
	for _, folds := range []string{"0", "5"} {
		args := []string{"-preset=paper", "-data=d", "-target=t", "-folds=" + folds}
		if folds == "0" {
			args = args[:3]
		}
		j := testkit.Get(experiment.Parse(tune.Task(), args, io.Discard))
		want := "-data=d -folds=" + folds +
			" -holdout=0 -penalty=feature -preset=paper -prior=0 -refit=none -rivals=false -target=t"
		if got := strings.Join(j.Settings.Flags, " "); got != want {
			t.Errorf("%s has the flags %s, want %s", args, got, want)
		}
	}
}

// writeSites writes a file for each of n unlike sites, with words, missing values and a class, a
// number and a count to predict. It returns the pattern of their names.
func writeSites(t *testing.T, folder string, n int) string {
	t.Helper()
	for i := range n {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		var b strings.Builder
		b.WriteString("age,colour,noise,ill,cost,visits\n")
		for range 40 + 20*i {
			age, colour := 50+float64(5*i)+10*r.NormFloat64(), []string{"red", "blue", "green"}[r.IntN(3)]
			signal := (age - 50) / 10
			if colour == "red" {
				signal++
			}
			ill := "no"
			if signal+r.NormFloat64() > 0.5 {
				ill = "yes"
			}
			shown := fmt.Sprintf("%.1f", age)
			if r.IntN(10) == 0 {
				shown = ""
			}
			fmt.Fprintf(&b, "%s,%s,%.3f,%s,%.2f,%d\n", shown, colour, r.NormFloat64(), ill,
				100+20*signal+5*r.NormFloat64(), int(max(0, 2+signal+r.NormFloat64())))
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", i)), []byte(b.String()), 0o644))
	}
	return filepath.Join(folder, "site{agent}.csv")
}

// arguments returns a command line that runs in a folder without a page, with flags of which
// several may stand in one text.
func arguments(out runs.Folder, flags ...string) []string {
	return append(strings.Fields(strings.Join(flags, " ")), "-quiet", "-report=false", "-out="+string(out))
}

// runTask runs the task with such a command line.
func runTask(t *testing.T, out runs.Folder, flags ...string) error {
	return experiment.Run(t.Context(), tune.Task(), arguments(out, flags...), io.Discard, io.Discard)
}

// tuned is runTask, and returns the summary.
func tuned(t *testing.T, out runs.Folder, flags ...string) runs.Summary {
	t.Helper()
	testkit.OK(runTask(t, out, flags...))
	return testkit.Get(out.ReadSummary())
}

func TestTune(t *testing.T) {
	data := "-data=" + writeSites(t, t.TempDir(), 3)
	for name, flags := range map[string]string{
		"classes":    "-target=ill -drop=cost,visits",
		"balanced":   "-target=ill -balance -penalty=group -folds=2",
		"regression": "-target=cost -drop=ill -loss=huber -weight=visits -folds=2",
		"counts":     "-target=visits -task=count -features=age,colour -penalty=one -folds=2",
		"lasso":      "-target=ill -drop=cost,visits -penalty=elastic -folds=2",
		"network":    "-target=ill -model=mlp -hidden=4 -penalty=layer",
	} {
		t.Run(name, func(t *testing.T) {
			experimenttest.TestTask(t, tune.Task(), append(strings.Fields(flags), data)...)
		})
	}
}

// TestTuneDealt: the rows of one file are dealt to agents.
func TestTuneDealt(t *testing.T) {
	folder := t.TempDir()
	writeSites(t, folder, 3)
	experimenttest.TestTask(t, tune.Task(), "-target=ill", "-folds=2", "-data="+filepath.Join(folder, "site2.csv"))
}

// TestTuneFolds: with cross-validation all rows but the test rows train and validate, and the model
// that is kept is one model of them.
func TestTuneFolds(t *testing.T) {
	testkit.Long(t, "a run for each fold")
	folder := t.TempDir()
	data, run := "-data="+writeSites(t, folder, 3), runs.Folder(filepath.Join(folder, "run"))
	weights := func(flags string) int {
		testkit.OK(runTask(t, run, "-target=ill -K=2 -force", data, flags))
		m := testkit.Get(modelfile.Read(run.Path(runs.ModelFile)))
		n := 0
		for _, layer := range m.Layers {
			n += len(layer.Weights) + len(layer.Bias)
		}
		return n
	}
	plain, folded := weights("-folds=0"), weights("-folds=3")
	if plain != folded {
		t.Errorf("the model has %d weights with cross-validation, %d without", folded, plain)
	}
	s := testkit.Get(run.ReadSummary())
	for _, m := range s.Models {
		if math.IsNaN(float64(m.ValLoss)) || !m.Converged {
			t.Errorf("model %s: validation loss %g, converged %t", m.Name, float64(m.ValLoss), m.Converged)
		}
	}
}

func TestTuneFoldsFlag(t *testing.T) {
	for _, flags := range []string{"-folds=1", "-folds=many", "-folds=5 -model=mlp", "-prior=-1"} {
		err := runTask(t, runs.Folder(t.TempDir()), flags, "-target=ill -data=none.csv")
		if name, _, _ := strings.Cut(flags, "="); err == nil || !strings.HasPrefix(err.Error(), name+" must be") {
			t.Errorf("%v: error %v", flags, err)
		}
	}
}

// TestPenaltyAuto: with folds, features have a penalty each, by a structure that the run
// names. Without, they have where there are 4 training and validation rows for each; else all
// weights share one, unless the flag says otherwise. Settings have no line for each name.
func TestPenaltyAuto(t *testing.T) {
	testkit.Long(t, "runs with several penalties")
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	for name, c := range map[string]struct {
		flags      string
		first      string // penalty
		structures bool
	}{
		"folds":            {"-split=0.1:0.1:0.8", "age", true}, // of 180 rows 36 for 6 features
		"folds, but set":   {"-split=0.1:0.1:0.8 -penalty=one", "all weights", false},
		"enough":           {"-split=0.1:0.1:0.8 -folds=0", "age", false},
		"too few":          {"-split=0.02:0.02:0.96 -folds=0", "all weights", false},
		"too few, but set": {"-split=0.02:0.02:0.96 -folds=0 -penalty=feature", "age", false},
	} {
		t.Run(name, func(t *testing.T) {
			out := runs.Folder(filepath.Join(folder, name))
			found := tuned(t, out, c.flags, data, "-target=ill -drop=cost,visits -K=1 -alone=false").Structures
			if got := testkit.Get(out.ReadLambdaTable())[0].Name; got != c.first {
				t.Errorf("the first penalty is that of %s, want %s", got, c.first)
			}
			kept := slices.DeleteFunc(slices.Clone(found), func(s runs.Structure) bool { return !s.Kept })
			if c.structures && (len(found) < 7 || len(kept) != 1) || !c.structures && found != nil {
				t.Errorf("of %d structures %+v are kept, want one", len(found), kept)
			}
			if text := string(testkit.Get(out.ReadConfig()).Problem); strings.Contains(text, "colour=") {
				t.Errorf("the settings name features: %s", text)
			}
		})
	}
}

// TestIterationsBeforeStructures: where structures look for the best strength themselves, the
// iterations end near one, unless -K or a preset says how many there are.
func TestIterationsBeforeStructures(t *testing.T) {
	testkit.Long(t, "runs with several penalties")
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 2)
	for k, c := range []struct {
		flags string
		want  int
	}{{"", 6}, {"-K=2", 2}, {"-penalty=one", 20}} {
		s := tuned(t, runs.Folder(filepath.Join(folder, strconv.Itoa(k))), c.flags, data, "-target=ill -alone=false")
		if got := s.Iterations; got != c.want {
			t.Errorf("with %q there are %d iterations, want %d", c.flags, got, c.want)
		}
	}
}

// TestTuneSparse: LIBSVM files of two sites, of which one has a column more, become a model that
// predicts from such a file.
func TestTuneSparse(t *testing.T) {
	folder := t.TempDir()
	r := rand.New(rand.NewPCG(6, 6))
	for i := range 2 {
		var b strings.Builder
		for range 60 {
			label, v := -1, r.NormFloat64()
			if v+r.NormFloat64() > 0 { // what is told for certain has weights without bounds
				label = 1
			}
			fmt.Fprintf(&b, "%+d 2:%.4f %d:1\n", label, v, 3+r.IntN(2+i))
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.svm", i)), []byte(b.String()), 0o644))
	}
	run := runs.Folder(filepath.Join(folder, "run"))
	testkit.OK(runTask(t, run, "-data="+filepath.Join(folder, "site{agent}.svm"), "-target=label -K=2 -folds=2"))
	m := testkit.Get(modelfile.Open(string(run)))
	if s := m.Recipe().Sparse; s == nil || s.Columns != 5 || len(s.Indices) != 4 {
		t.Errorf("recipe %+v; 4 of 5 columns must be features, those of both sites", s)
	}
	if names := testkit.Get(run.ReadLambdaTable()); len(names) != 4 || names[3].Name != "f5" {
		t.Errorf("penalties %+v; they must be those of f2 to f5", names)
	}
	in := testkit.Get(m.Recipe().NewEncoder(
		testkit.Get(tables.Open(filepath.Join(folder, "site1.svm"), m.Recipe().Options()))))
	if rows := m.Predict(in, 0, in.Rows()).Rows(); rows != 60 {
		t.Errorf("%d rows are predicted, want 60", rows)
	}
}

// TestCrossSites: in one process each site's own model is tried on the rows of all sites, and only
// -exchange-alone counts as sent what that would take between processes: λ, a model and two numbers
// of each model, from each site to each other one.
func TestCrossSites(t *testing.T) {
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	run := func(name, flags string) runs.Summary {
		return tuned(t, runs.Folder(filepath.Join(folder, name)), flags, data,
			"-target=ill -drop=cost,visits -K=2 -folds=0 -split=0.25:0.25:0.5")
	}
	shown, sent := run("shown", ""), run("sent", "-exchange-alone")
	for i, s := range shown.Sites {
		if len(s.OthersAlone) != 3 || !(math.Abs(float64(s.OthersAlone[i].Loss-s.Alone.Loss)) < 1e-9) {
			t.Errorf("site %d: models of single sites have %+v; number %d must be its own, %+v", i,
				s.OthersAlone, i, s.Alone)
		}
		for k, other := range s.OthersAlone {
			if other != sent.Sites[i].OthersAlone[k] {
				t.Errorf("site %d: model of site %d: %+v, sent %+v", i, k, other, sent.Sites[i].OthersAlone[k])
			}
		}
	}
	all := runs.SiteModels(shown.Sites)
	if last := all[4].Scores[3]; len(all) != 5 || !(math.Abs(float64(last.Loss-shown.TestLossTuned)) <= 1e-9) {
		t.Errorf("the models at the sites are %+v; the last number of the last one must be the tuned test loss, %v",
			all, shown.TestLossTuned)
	}
	// λ, and of two classes of age, noise and three colours, with intercepts: too few training rows
	// miss their age for an indicator
	const pairs, weights = 3 * 2, 5 + 2*(5+1)
	if extra := sent.Traffic.Models.Bytes - shown.Traffic.Models.Bytes; extra%(8*pairs) != 0 ||
		extra/(8*pairs) != weights+2*3 {
		t.Errorf("-exchange-alone sent %d bytes more, want %d", extra, 8*pairs*(weights+2*3))
	}
}

// TestTuneSimpler: where a network is chosen, the best constant of a linear model stands in the
// table, and the verdict says that it does as well: the target is linear in age. A linear model has
// none beside it.
func TestTuneSimpler(t *testing.T) {
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 2)
	for _, model := range []string{"mlp", "linear"} {
		s := tuned(t, runs.Folder(filepath.Join(folder, model)), data, "-model="+model,
			"-target=cost -drop=ill,visits -folds=0 -K=1 -alone=false -evaluate=off")
		beside := strings.HasPrefix(s.Models[0].Name, "linear, λ = ") && s.Models[0].TestLoss.Known() &&
			!s.Models[0].Lambda.Known()
		said := slices.ContainsFunc(s.Verdict.Notes,
			func(note string) bool { return strings.HasPrefix(note, "A simpler model does ") })
		if want := model == "mlp"; beside != want || said != want {
			t.Errorf("%s: the first model is %+v, the notes are %q", model, s.Models[0], s.Verdict.Notes)
		}
	}
}
