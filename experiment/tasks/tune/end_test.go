package tune_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables/modelfile"
)

// TestRefit: the test rows judge the same model with -refit all as with none; the model that is
// kept is then another one, of all rows, and the run reports it. With nearly no test rows both are
// nearly the same.
func TestRefit(t *testing.T) {
	testkit.Long(t, "two runs for each kind of model")
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	for name, c := range map[string]struct {
		flags string
		near  float64 // the farthest of a weight from the model's without test rows; 0: any
	}{
		"structures":           {"-target=ill", 0},
		"groups":               {"-target=cost -group=body=age,colour=colour", 0},
		"one penalty, folds":   {"-target=visits -task=count -penalty=one", 0},
		"lasso":                {"-target=cost -penalty=l1", 0},
		"no folds, balanced":   {"-target=ill -folds=0 -balance", 0},
		"few test rows":        {"-target=cost -split=0.5:0.48:0.02", 0.1},
		"few, features' folds": {"-target=cost -split=0.5:0.48:0.02 -penalty=feature", 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, ", ") {
				testkit.Longest(t, "like others")
			}
			var weights [2][]float64
			var tests [2]runs.Number
			for k, refit := range []string{"all", "none"} {
				out := runs.Folder(filepath.Join(folder, name+refit))
				s := tuned(t, out, data, "-K=2 -folds=2 -alone=false -refit="+refit, c.flags)
				for _, l := range testkit.Get(modelfile.Read(out.Path(runs.ModelFile))).Layers {
					weights[k] = append(append(weights[k], l.Weights...), l.Bias...)
				}
				tests[k] = s.Models[len(s.Models)-1].TestLoss
				notes := strings.Join(s.Verdict.Notes, " ")
				said := strings.Contains(notes, "the model that is kept, in model.json")
				said = said && strings.Contains(notes, "The loss of the model that is kept is to be expected") ==
					(s.Verdict.ExpectedKept > 0)
				if said != (refit == "all") {
					t.Errorf("-refit %s: notes %q", refit, s.Verdict.Notes)
				}
			}
			far := 0.0
			for j, w := range weights[0] {
				far = max(far, math.Abs(w-weights[1][j]))
			}
			if far == 0 || c.near > 0 && far > c.near || tests[0] != tests[1] {
				t.Errorf("weights are %g apart, test losses %v", far, tests)
			}
		})
	}
}

// TestGroupsFound: the block of the irrelevant column has a far larger penalty.
func TestGroupsFound(t *testing.T) {
	folder := t.TempDir()
	all := tuned(t, runs.Folder(filepath.Join(folder, "run")), "-data="+writeSites(t, folder, 3), "-target=cost",
		"-group=signal=age,signal=colour,noise=noise -drop=ill,visits -model=linear -K=1 -alone=false").Structures
	var signal, noise float64
	name := all[len(all)-1].Name
	if n, err := fmt.Sscanf(name, "blocks: signal %g, noise %g", &signal, &noise); n != 2 || noise < signal+2 {
		t.Errorf("%s: %v", name, err)
	}
}

// TestGroupsRefused: groups have penalties in -penalty auto alone, and -groups is a file.
func TestGroupsRefused(t *testing.T) {
	folder := t.TempDir()
	data, file := "-data="+writeSites(t, folder, 3), filepath.Join(folder, "groups")
	testkit.OK(os.WriteFile(file, []byte("# two\nbody=age\n\ncolour=colour\n"), 0o600))
	for fault, flags := range map[string]string{
		"-group must be left out":                      "-group=a=age -penalty=one",
		"there are 0 folds":                            "-folds=0 -groups=" + file,
		"-group none: the pattern must match":          "-group=none=x*",
		"-groups: open":                                "-groups=" + file + ".none",
		"-refit must be auto or all or none; it is ok": "-refit=ok",
	} {
		err := runTask(t, runs.Folder(filepath.Join(folder, "run")), flags, data, "-target=ill")
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%v: error %v, want %q", flags, err, fault)
		}
	}
}

// TestTuneMeasures: measures in the units of the target follow from the losses that the agents
// find together otherwise, and a number has no accuracy.
func TestTuneMeasures(t *testing.T) {
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	for name, flags := range map[string]string{
		"classes": "-target=ill -drop=cost,visits -cost=yes=5",
		"numbers": "-target=cost -drop=ill,visits",
		"counts":  "-target=visits -task=count -drop=ill,cost",
	} {
		out := runs.Folder(filepath.Join(folder, name))
		s := tuned(t, out, flags, data, "-folds=0 -K=1 -alone=false -penalty=one")
		a := testkit.Get(out.ReadAssessment())
		var kept runs.Model
		for _, m := range s.Models {
			if m.Kept {
				kept = m
			}
		}
		want, tol := kept.TestAccuracy, 1e-6 // losses are of float32
		if name == "numbers" {
			want, tol = runs.Number(a.LossUnit*math.Sqrt(2*float64(kept.TestLoss))), 1e-5*a.LossUnit
			if g := s.Verdict.Gains[0]; g.Accuracy.Known() || g.AccuracyChange.Known() {
				t.Errorf("numbers have the accuracy %g", g.Accuracy)
			}
		}
		m := a.Measures[0]
		if name == "numbers" { // behind the mean size of the error
			m = a.Measures[1]
		}
		if name != "counts" && !(math.Abs(float64(m.Value-want)) <= tol) || !(m.Low < m.Value && m.Value < m.High) {
			t.Errorf("%s: %+v, want %g", name, m, want)
		}
		if a.Judged < 20 || len(a.Coefficients) == 0 || !a.Coefficients[0].Low.Known() || a.Effects.Rows != a.Made {
			t.Errorf("%s: %+v", name, a)
		}
		if h := a.Threshold; (h != nil) != (name == "classes") || h != nil && (h.Own+h.Others != float64(a.Judged) ||
			h.Probability <= 0 || h.Probability >= .5) {
			t.Errorf("%s: threshold %+v", name, h)
		}
	}
}

// TestTuneCoefficients: a coefficient is the slope of least squares, computed from the file, with
// the larger one of the model's error and of the sandwich's, whose residuals make up for their
// leverages; beside it is the weight of the kept model. The only one is not chosen: its interval
// reaches to Student's quantile of 0.975.
func TestTuneCoefficients(t *testing.T) {
	folder := t.TempDir()
	writeSites(t, folder, 1)
	out := runs.Folder(filepath.Join(folder, "out"))
	path := filepath.Join(folder, "site0.csv")
	testkit.OK(runTask(t, out, "-data="+path,
		"-agents=1 -target=cost -features=noise -split=0.8:0.2 -K=1 -penalty=one"))
	m := testkit.Get(modelfile.Read(out.Path(runs.ModelFile)))
	rows := testkit.Get(csv.NewReader(strings.NewReader(string(testkit.Get(os.ReadFile(path))))).ReadAll())[1:]
	var x, y []float64
	for _, row := range rows {
		x = append(x, testkit.Get(strconv.ParseFloat(row[2], 64)))
		y = append(y, testkit.Get(strconv.ParseFloat(row[4], 64)))
	}
	intercept, slope := stat.LinearRegression(x, y, nil, false)
	n, mean := float64(len(x)), stat.Mean(x, nil)
	squares, residuals, sandwich := 0., 0., 0.
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	for i, v := range x {
		e, from := y[i]-intercept-slope*v, v-mean
		residuals += e * e
		sandwich += e * e * from * from / (1 - 1/n - from*from/squares) / squares / squares
	}
	want := math.Sqrt(max(residuals/(n-2)/squares, sandwich))
	reach := num.StudentQuantile(.975, len(x)-2) * want
	a := testkit.Get(out.ReadAssessment())
	c, in := a.Coefficients[0], m.Recipe().Inputs[0]
	kept := m.Layers[0].Weights[0] * m.Recipe().Target.Deviation / in.Deviation
	for _, near := range [][2]float64{{float64(c.Estimate), slope}, {float64(c.Error), want},
		{float64(c.Low), slope - reach}, {float64(c.High), slope + reach}, {float64(c.Value), kept}} {
		if !(math.Abs(near[0]-near[1]) <= 1e-5*want) { // features are of float32
			t.Errorf("%+v: %g must be %g", c, near[0], near[1])
		}
	}
	if c.Feature != "noise" || c.Deviation != in.Deviation || c.BeyondChance || a.Effects.Shown != 1 ||
		a.Effects.Of != 1 || a.Effects.Rows != len(x) || a.Effects.NoFeature < .05 {
		t.Errorf("%+v of %+v", c, a.Effects)
	}
}

// TestTunePlan: a run over tables sends what its plan has, and the explanation lists what is made
// at the end.
func TestTunePlan(t *testing.T) {
	testkit.Long(t, "a run for each plan")
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	atEnd := []string{"counts of predictions ", "scores on the site's rows ",
		"products with the Hessian, all rows "}
	for name, c := range map[string]struct {
		flags string
		lists []string // of atEnd
	}{
		"folds":      {"-target=ill -drop=cost,visits", atEnd},
		"no folds":   {"-target=ill -folds=0", atEnd},
		"no refit":   {"-target=ill -folds=0 -refit=none", atEnd[:2]},
		"regression": {"-target=cost -alone=false -folds=2", []string{atEnd[0], atEnd[2]}},
		"counts":     {"-target=visits -task=count -folds=2", atEnd},
		"cost":       {"-target=ill -folds=0 -cost=yes=5", atEnd},
		"cost folds": {"-target=ill -folds=2 -penalty=one -cost=yes=5", atEnd},
		"networks":   {"-target=cost -model=auto -folds=2", atEnd},
		"cost nets":  {"-target=ill -model=auto -hidden=4 -folds=2 -cost=yes=5", atEnd},
		"cost auto":  {"-target=ill -folds=2 -cost=yes=5", atEnd},
		"feature":    {"-target=ill -folds=2 -penalty=feature", atEnd},
		"levels":     {"-target=ill -folds=2 -model=linear -site-effects=intercept", atEnd},
		"auto":       {"-target=cost -folds=2 -site-effects=auto", atEnd},
		"lasso":      {"-target=cost -alone=false -folds=2 -penalty=l1", []string{atEnd[0], atEnd[2]}},
		"elastic":    {"-target=ill -folds=2 -penalty=elastic -lambda=1se -cost=yes=5", atEnd},
		"unrefitted": {"-target=visits -task=count -folds=2 -penalty=elastic -l1-ratio=auto -refit=none", atEnd},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, " ") {
				testkit.Longest(t, "like others")
			}
			p := experimenttest.TestPlan(t, tune.Task(), c.flags, data, "-K=3")
			var text strings.Builder
			testkit.OK(p.Explain(&text))
			for _, q := range atEnd {
				listed, want := strings.Contains(text.String(), q), strings.Contains(strings.Join(c.lists, "|"), q)
				if listed != want {
					t.Errorf("whether %q is listed is %v, want %v, in\n%s", q, listed, want, &text)
				}
			}
		})
	}
}
