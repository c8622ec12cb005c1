package tune_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables/modelfile"
)

// writeTruth writes the tables of 3 sites with 150 rows each of two numbers a and b and of y,
// which truth makes of these with noise of deviation 0.1.
func writeTruth(t *testing.T, truth func(a, b float64) float64) (pattern string) {
	folder, r := t.TempDir(), rand.New(rand.NewPCG(8, 1))
	for site := range 3 {
		text := "a,b,y\n"
		for range 150 {
			a, b := r.NormFloat64(), r.NormFloat64()
			text += fmt.Sprintf("%.4f,%.4f,%.4f\n", a, b, truth(a, b)+0.1*r.NormFloat64())
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", site)), []byte(text), 0o600))
	}
	return filepath.Join(folder, "site{agent}.csv")
}

// TestModelAuto: a network is kept where the truth bends, with a smaller loss on the test rows than
// the linear model, and a linear model where it does not bend; the run says what it tried, and the
// kept model predicts.
func TestModelAuto(t *testing.T) {
	for name, c := range map[string]struct {
		truth   func(a, b float64) float64
		network bool
	}{
		"bends":    {func(a, b float64) float64 { return a*a - b }, true},
		"straight": {func(a, b float64) float64 { return a - 2*b }, false},
	} {
		t.Run(name, func(t *testing.T) {
			out := runs.Folder(filepath.Join(t.TempDir(), "run"))
			s := tuned(t, out, "-data="+writeTruth(t, c.truth),
				"-target=y -task=regression -model=auto -hidden=6 -K=2 -folds=3")
			kept := s.Models[slices.IndexFunc(s.Models, func(m runs.Model) bool { return m.Kept })]
			if got := strings.HasPrefix(kept.Name, "network"); got != c.network {
				t.Errorf("%s is kept, want a network: %v", kept.Name, c.network)
			}
			for _, m := range s.Models {
				if linear := strings.HasPrefix(m.Name, "linear, "); linear == strings.HasPrefix(m.Name, "network") {
					t.Errorf("%s does not name its kind", m.Name)
				}
			}
			name := func(s runs.Structure) bool { return s.Name == "network of 6 hidden units" }
			keeps := slices.DeleteFunc(slices.Clone(s.Structures), func(s runs.Structure) bool { return !s.Kept })
			if len(keeps) != 1 || name(keeps[0]) != c.network || !slices.ContainsFunc(s.Structures, name) {
				t.Errorf("the structures are %+v; one must be kept, and a network among them", s.Structures)
			}
			if len(keeps) > 0 && kept.Phi != keeps[0].Loss {
				t.Errorf("Φ of the kept model is %g, the cross-fitted loss that chose it %g", kept.Phi, keeps[0].Loss)
			}
			for _, one := range s.Structures {
				if name(one) != (one.Rows > 0) {
					t.Errorf("the loss of %s is said to be of %d rows", one.Name, one.Rows)
				}
			}
			v := s.Verdict
			if last := v.Gains[len(v.Gains)-1]; c.network && (last.Set != runs.CrossFitted ||
				keeps[0].Rows != last.Examples) {
				t.Errorf("the kept network's loss is said to be of %d rows, want %d", keeps[0].Rows, last.Examples)
			}
			if notes := strings.Join(v.Notes, "\n"); !strings.Contains(notes, "Tried by the same folds: network of 6") {
				t.Errorf("no note says which networks were tried: %s", notes)
			} else if c.network && !strings.Contains(notes, "the difference is −") {
				t.Errorf("no note has the difference with its sign: %s", notes)
			}
			if c.network && (v.Outcome != runs.Better || !strings.HasPrefix(v.Sentence, "A network of 6")) {
				t.Errorf("the verdict is %+v", v)
			}
			if all := testkit.Get(out.ReadAssessment()).Importances; (len(all) == 2) != c.network ||
				c.network && (all[0].Feature != "a" || !(all[1].Rise > 0)) {
				t.Errorf("importances %+v of a truth in which a counts more than b, of a network: %v", all, c.network)
			}
			m := testkit.Get(modelfile.Open(string(out)))
			if got := len(m.Layers) == 2; got != c.network {
				t.Errorf("the model that is written has %d layers", len(m.Layers))
			}
		})
	}
}

// TestModelAutoRefused: a choice by folds needs them.
func TestModelAutoRefused(t *testing.T) {
	for _, flags := range []string{"-folds=0", "-penalty=feature"} {
		_, err := experiment.Parse(tune.Task(), []string{flags, "-data=x.csv", "-target=y", "-model=auto"}, io.Discard)
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "-model") {
			t.Errorf("%v: got %v, want an error of the configuration that names -model", flags, err)
		}
	}
}

// TestImportancesOfOutliers: a test row that lies far off counts for what features matter no more
// than the run's loss lets it.
func TestImportancesOfOutliers(t *testing.T) {
	folder, r := t.TempDir(), rand.New(rand.NewPCG(8, 2))
	text := "a,b,y,split,n1,n2,n3,n4,n5,n6,n7,n8,n9\n10,1,1e5,test" + strings.Repeat(",9", 9) + "\n"
	for row := range 300 {
		a, b := r.NormFloat64(), r.NormFloat64()
		text += fmt.Sprintf("%.4f,%.4f,%.4f,%s", a, b, a*a-b+0.1*r.NormFloat64(),
			[]string{"train", "validation", "test"}[row%3])
		for range 9 {
			text += fmt.Sprintf(",%.4f", r.NormFloat64())
		}
		text += "\n"
	}
	testkit.OK(os.WriteFile(filepath.Join(folder, "site0.csv"), []byte(text), 0o600))
	for loss, small := range map[string]bool{"squared": false, "huber": true} {
		t.Run(loss, func(t *testing.T) {
			out := runs.Folder(filepath.Join(t.TempDir(), "run"))
			testkit.OK(runTask(t, out, "-target=y -task=regression -split-column=split -model=mlp -hidden=4 -K=2",
				"-rivals=false", "-loss="+loss, "-data="+filepath.Join(folder, "site{agent}.csv")))
			all := testkit.Get(out.ReadAssessment()).Importances
			if len(all) != 10 {
				t.Fatalf("importances %+v, want ten of eleven", all)
			}
			// For each deviation by which a prediction moves, here a few, a loss of Huber moves by
			// at most δ = 1 of them, a squared one by the outlier's 1e5, of 100 rows.
			for _, i := range all {
				if is := math.Abs(float64(i.Rise)) < 10; is != small && i.Feature[0] != 'n' {
					t.Errorf("the loss rises by %g without %s; that it is small must be %v", i.Rise, i.Feature, small)
				}
			}
		})
	}
}
