package tune_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables/modelfile"
)

// writeLevels writes the tables of 4 sites with a number, a class and a count to predict, whose
// levels are apart by a multiple.
func writeLevels(t *testing.T, apart float64) (pattern string) {
	folder := t.TempDir()
	for i := range 4 {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		var b strings.Builder
		b.WriteString("a,b,number,class,count\n")
		for range 60 {
			x, z := r.NormFloat64(), r.NormFloat64()
			e := x - z/2 + apart*(float64(i)-1.5)
			count := math.Floor(math.Exp(e/2) + r.Float64())
			fmt.Fprintf(&b, "%.4f,%.4f,%.4f,%s,%g\n", x, z, e+r.NormFloat64()/2,
				map[bool]string{true: "yes", false: "no"}[e+r.NormFloat64() > 0], count)
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", i)), []byte(b.String()), 0o644))
	}
	return filepath.Join(folder, "site{agent}.csv")
}

// levelFlags choose each kind of target.
var levelFlags = map[string]string{"numbers": "-target=number -drop=class,count",
	"classes": "-target=class -drop=number,count", "counts": "-target=count -task=count -drop=number,class"}

// TestSiteEffects: folds keep levels where sites differ in level, which cuts the loss by a quarter
// at least, and else keep the model bit by bit. Levels are in files of their own, whose mean is the
// model of all sites.
func TestSiteEffects(t *testing.T) {
	for kind, target := range levelFlags {
		if !testkit.Whole() && kind != "numbers" {
			continue
		}
		for _, apart := range []float64{0, 1.5} {
			data, folder := "-data="+writeLevels(t, apart), t.TempDir()
			var losses []runs.Number
			var models [][]byte
			for _, flags := range []string{"off", "auto"} {
				out := runs.Folder(filepath.Join(folder, flags))
				s := tuned(t, out, data, target, "-model=linear -K=2 -folds=3 -alone=false -site-effects="+flags)
				last := s.Models[len(s.Models)-1]
				losses = append(losses, last.TestLoss)
				models = append(models, testkit.Get(out.ReadFile(runs.WeightsFile)))
				own := testkit.Get(out.PathsWithPrefix(runs.OwnPrefix))
				if a := testkit.Get(out.ReadAssessment()); a.Levels != (len(own) > 0) {
					t.Errorf("%s, %g apart, %s: levels told %v", kind, apart, flags, a.Levels)
				}
				said := strings.Contains(strings.Join(s.Verdict.Notes, " "), "Each site has a level of its own")
				if kept := flags == "auto" && apart > 0; (len(own) > 0) != kept || said != kept {
					t.Errorf("%s, %g apart, %s: own files %v, notes %q", kind, apart, flags, own, s.Verdict.Notes)
				} else if kept {
					checkMean(t, out)
				}
			}
			if apart == 0 && string(models[0]) != string(models[1]) {
				t.Errorf("%s: without levels the model is another one by auto", kind)
			}
			if apart > 0 && !(losses[1] < .75*losses[0]) {
				t.Errorf("%s: test losses %v without levels and with", kind, losses)
			}
		}
	}
}

// TestSiteSlopes: where sites differ in the slope of a column, folds keep slopes of their own,
// which halve the loss at least; a site's words and model have its own, other slopes are common.
func TestSiteSlopes(t *testing.T) {
	folder := t.TempDir()
	for i := range 4 {
		r := rand.New(rand.NewPCG(6, uint64(i)))
		var b strings.Builder
		b.WriteString("a,b,number\n")
		for range 60 {
			x, z := r.NormFloat64(), r.NormFloat64()
			fmt.Fprintf(&b, "%.4f,%.4f,%.4f\n", x, z, z/2+x*(float64(i)-1)+r.NormFloat64()/2)
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", i)), []byte(b.String()), 0o644))
	}
	data, losses := "-data="+filepath.Join(folder, "site{agent}.csv"), []runs.Number{}
	for _, flags := range []string{"off", "auto -site-slopes=a"} {
		out := runs.Folder(filepath.Join(t.TempDir(), "run"))
		s := tuned(t, out, data, "-target=number", "-model=linear -K=2 -folds=3 -alone=false -site-effects="+flags)
		losses = append(losses, s.Models[len(s.Models)-1].TestLoss)
		if flags == "off" {
			continue
		}
		if notes := strings.Join(s.Verdict.Notes, " "); !strings.Contains(notes, ", and slopes, as by 0.1") {
			t.Errorf("notes %q", notes)
		}
		all, mean := testkit.Get(modelfile.Open(string(out))).Layers[0].Weights, 0.0
		for i := range 4 {
			prefix := fmt.Sprintf("%s%d.", runs.OwnPrefix, i)
			own := testkit.Get(modelfile.Open(out.Path(prefix + runs.ModelFile))).Layers[0].Weights
			if apart := own[0] / own[1] / 2; math.Abs(apart-(float64(i)-1)) > .5 { // of 45 rows: ± .1
				t.Errorf("the slope of site %d is %g", i, apart)
			}
			mean += own[0] / 4
			if own[1] != all[1] {
				t.Errorf("site %d has another slope of b, %g; of all %g", i, own[1], all[1])
			}
			text := string(testkit.Get(out.ReadFile(prefix + runs.LevelFile)))
			if !strings.Contains(text, " by a deviation of a. ") || strings.Contains(text, "of b") {
				t.Errorf("site %d: %s", i, text)
			}
		}
		for j, p := range testkit.Get(out.ReadLambdaTable()) {
			if p.Norm != math.Abs(all[j]) || !p.Kept {
				t.Errorf("lambda.csv: %+v, whose weight is %g", p, all[j])
			}
		}
		if !(math.Abs(mean-all[0]) <= 1e-12) { // sums are in fixed point
			t.Errorf("a new site has the slope %g, the mean is %g", all[0], mean)
		}
	}
	if !(losses[1] < losses[0]/2) {
		t.Errorf("test losses %v without slopes and with", losses)
	}
}

// checkMean compares the mean of the sites' intercepts with the intercept of all.
func checkMean(t *testing.T, out runs.Folder) {
	t.Helper()
	all, mean := testkit.Get(modelfile.Open(string(out))), 0.
	bias := all.Layers[0].Bias
	for i := range 4 {
		own := testkit.Get(modelfile.Open(out.Path(fmt.Sprintf("%s%d.%s", runs.OwnPrefix, i, runs.ModelFile))))
		mean += own.Layers[0].Bias[len(bias)-1] / 4
		for j, w := range own.Layers[0].Weights {
			if w != all.Layers[0].Weights[j] {
				t.Errorf("site %d has other weights", i)
			}
		}
	}
	if d := mean - bias[len(bias)-1]; math.Abs(d) > 1e-3 { // by the tolerance of solutions, as a share of Φ
		t.Errorf("the mean of the levels is %g", d)
	}
}

// TestSiteEffectsRefused: what levels do not go with is named in one line.
func TestSiteEffectsRefused(t *testing.T) {
	data := "-data=" + writeLevels(t, 1)
	one := strings.Replace(data[len("-data="):], "{agent}", "0", 1)
	for _, c := range []struct{ effects, flags, says string }{
		{"slopes", "", "-site-effects must be off or intercept or auto"},
		{"auto", "-task=survival -target=number -event=class=yes", "each site is a stratum already"},
		{"intercept", "-model=mlp", "levels are of a linear model"},
		{"intercept", "-folds=0", "folds choose how strong levels are"},
		{"intercept", "-penalty=feature", "the strength of levels is chosen with it"},
		{"auto", "-cost=yes=5", "whose threshold is for one level"},
		{"intercept", "-dp-epsilon=8 -from=x", "not hidden by noise for one"},
		{"off", "-site-slopes=a", "must be given with -site-effects intercept or auto"},
		{"auto", "-site-slopes=a,weight", "-site-slopes must name columns that the model has, once; weight is none"},
		{"auto", "-site-slopes=a,a", "once; a is none"},
		{"intercept", "-agents=1 -data=" + one, "several sites"},
	} {
		err := runTask(t, runs.Folder(filepath.Join(t.TempDir(), "run")), data, "-target=class", c.flags,
			"-site-effects="+c.effects)
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

// TestStrengthOfLevels: where sites differ much, their levels are hardly shrunk; where they hardly
// differ, by as much as is tried.
func TestStrengthOfLevels(t *testing.T) {
	for apart, want := range map[float64]string{3: "shrunk as by 0.1 rows", 0.02: "shrunk as by 100 rows"} {
		s := tuned(t, runs.Folder(filepath.Join(t.TempDir(), "run")), "-data="+writeLevels(t, apart),
			levelFlags["numbers"], "-model=linear -K=2 -folds=3 -alone=false -site-effects=intercept")
		if notes := strings.Join(s.Verdict.Notes, " "); !strings.Contains(notes, want) {
			t.Errorf("levels %g apart: notes %q, want %q", apart, notes, want)
		}
	}
}
