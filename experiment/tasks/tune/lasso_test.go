package tune_test

import (
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// TestLasso: a run keeps the lasso that is asked for, whatever one penalty gives, and its folder
// tells λ, the features that have a weight, and the path.
func TestLasso(t *testing.T) {
	out := runs.Folder(t.TempDir())
	s := tuned(t, out, "-data="+writeSites(t, t.TempDir(), 3), "-target=cost", "-penalty=l1", "-K=2", "-folds=2",
		"-alone=false")
	last := s.Structures[len(s.Structures)-1]
	if last.Name != "lasso" || !last.Kept || last.Lasso == nil || last.Lasso.Ratio != 1 {
		t.Fatalf("%+v", s.Structures)
	}
	made := testkit.Get(modelfile.Read(out.Path(runs.ModelFile)))
	a := testkit.Get(out.ReadAssessment())
	var kept, listed []string
	for j, f := range made.Recipe().Features() {
		if made.Layers[0].Weights[j] != 0 {
			kept = append(kept, f.Name)
		}
	}
	for _, p := range testkit.Get(out.ReadLambdaTable()) {
		if p.Kept {
			listed = append(listed, p.Name)
		}
	}
	want := strings.Join(kept, ", ")
	if strings.Join(a.Lasso.Names, ", ") != want || strings.Join(listed, ", ") != want ||
		last.Lasso.Nonzero != len(kept) {
		t.Errorf("%q are told, %q listed, %d counted; %q have a weight", a.Lasso.Names, listed, last.Lasso.Nonzero,
			kept)
	}
	for _, c := range a.Coefficients { // of the model that predicts
		weight := func(name string) float64 {
			j := slices.IndexFunc(made.Recipe().Features(), func(f features.Feature) bool { return f.Name == name })
			return made.Layers[0].Weights[j] * made.Recipe().Target.Deviation / c.Step()
		}
		if c.Reference != "" || strings.HasSuffix(c.Feature, "missing") {
			continue
		}
		if w := weight(c.Feature); !(math.Abs(float64(c.Value)-w) <= 1e-9*math.Abs(w)) {
			t.Errorf("%s is told as %g, the model has %g", c.Feature, float64(c.Value), w)
		}
	}
	f := testkit.Get(os.Open(out.Path(runs.PathFile)))
	defer f.Close()
	rows := testkit.Get(csv.NewReader(f).ReadAll())
	if len(rows) != 1+len(last.Lasso.Path) || rows[1][3] != "0" {
		t.Errorf("path.csv has %d lines, and begins with %v", len(rows), rows[1])
	}
	err := runTask(t, runs.Folder(t.TempDir()), "-data="+writeSites(t, t.TempDir(), 3), "-target=cost",
		"-from="+string(out))
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "-from") {
		t.Errorf("-from a lasso: %v", err)
	}
}

// TestLassoFlags: what does not fit a lasso is refused by name.
func TestLassoFlags(t *testing.T) {
	for flags, names := range map[string]string{
		"-l1-ratio=0.3":                   "-penalty",
		"-penalty=auto -lambda=1se":       "-penalty",
		"-penalty=l1 -l1-ratio=0.3":       "-l1-ratio",
		"-penalty=elastic -l1-ratio=1":    "-l1-ratio",
		"-penalty=elastic -l1-ratio=0":    "-l1-ratio",
		"-penalty=elastic -l1-ratio=half": "-l1-ratio",
		"-penalty=l1 -lambda=max":         "-lambda",
		"-penalty=l1 -model=mlp":          "-model",
		"-penalty=l1 -model=auto":         "-penalty",
		"-penalty=l1 -folds=0":            "-folds",
		"-penalty=l1 -from=x":             "-from",
		"-penalty=l1 -group=a=b":          "-group",
		"-penalty=elastic -dp-epsilon=8":  "-dp-epsilon",
		"-penalty=lasso":                  "-penalty",
		"-penalty=l1 -model=linear -K=0":  "-K",
	} {
		data := "-data=" + writeSites(t, t.TempDir(), 3)
		err := runTask(t, runs.Folder(t.TempDir()), append(strings.Fields(flags), data, "-target=ill")...)
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: error %v; it must name %s", flags, err, names)
		}
	}
}

// TestOneError: -lambda 1se takes the largest λ whose loss is within one standard error of the
// least, up to a step of λ.
func TestOneError(t *testing.T) {
	data := "-data=" + writeSites(t, t.TempDir(), 3)
	var found [2]runs.Structure
	for k, lambda := range []string{"min", "1se"} {
		s := tuned(t, runs.Folder(filepath.Join(t.TempDir(), "run")), data, "-target=cost -drop=ill,visits",
			"-K=2 -folds=2 -alone=false -penalty=l1 -lambda="+lambda)
		found[k] = s.Structures[slices.IndexFunc(s.Structures, func(s runs.Structure) bool { return s.Lasso != nil })]
	}
	least, largest := found[0], found[1]
	within := float64(largest.Loss-least.Loss) / float64(least.Error)
	if !(within <= 1 && within > .5 && largest.Lasso.Lambda > least.Lasso.Lambda) {
		t.Errorf("the loss is %g errors above the least; it must be up to 1", within)
	}
}

// TestLassoNote: λ is glmnet's but for a loss that glmnet does not have.
func TestLassoNote(t *testing.T) {
	data := "-data=" + writeSites(t, t.TempDir(), 2)
	for loss, want := range map[string]bool{"squared": true, "huber": false} {
		s := tuned(t, runs.Folder(t.TempDir()), data, "-target=cost -penalty=l1 -K=1 -folds=2 -alone=false -loss="+loss)
		if notes := strings.Join(s.Verdict.Notes, " "); strings.Contains(notes, "glmnet") != want ||
			!strings.Contains(notes, "features (lambda.csv)") {
			t.Errorf("%s: %q", loss, notes)
		}
	}
}
