package tune_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// writeWeighed writes the tables of two sites whose rows have a weight k of 0 to 3, and the same
// rows k times each without one. It returns the patterns of both.
func writeWeighed(t *testing.T) (weighed, repeated string) {
	folder, r := t.TempDir(), rand.New(rand.NewPCG(8, 4))
	for site := range 2 {
		once, times := "a,b,word,ill,set,k\n", "a,b,word,ill,set\n"
		for row := range 160 {
			a, b, word, k := r.NormFloat64(), r.NormFloat64(), []string{"x", "y", "z"}[r.IntN(3)], row%4
			ill := "no"
			if a-b/2+float64(site)+r.NormFloat64() > 0.5 {
				ill = "yes"
			}
			text := fmt.Sprintf("%.3f,%.3f,%s,%s,%s", a, b, word, ill,
				[]string{"train", "train", "validation", "test"}[row/4%4])
			once += fmt.Sprintf("%s,%d\n", text, k)
			times += strings.Repeat(text+"\n", k)
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("once%d.csv", site)), []byte(once), 0o600))
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("times%d.csv", site)), []byte(times), 0o600))
	}
	return filepath.Join(folder, "once{agent}.csv"), filepath.Join(folder, "times{agent}.csv")
}

// toldNumbers returns by name all numbers that a run over two sites tells of its models, of each
// site and of columns.
func toldNumbers(folder runs.Folder, s runs.Summary) map[string]float64 {
	all := map[string]float64{}
	add := func(name string, v ...runs.Number) {
		for k, number := range v {
			all[fmt.Sprint(name, " ", k)] = float64(number)
		}
	}
	for k, m := range s.Models {
		add(fmt.Sprint("model ", k), m.Phi, m.ValLoss, m.TestLoss, m.TestAccuracy)
	}
	for _, g := range s.Verdict.Gains {
		add("gain on "+string(g.Set), runs.Number(g.Examples), g.LossChange, g.LossError, g.AccuracyError)
	}
	for i, one := range append(s.Sites, *s.AllSites) {
		add(fmt.Sprint("site ", i), runs.Number(one.Examples), one.Alone.Loss, one.Alone.Accuracy, one.Constant.Loss,
			one.Tuned.Loss, one.Tuned.Accuracy, one.Change, one.ChangeError)
	}
	for i, rows := range s.Card.Sites {
		add(fmt.Sprint("rows of site ", i), runs.Number(rows[0]), runs.Number(rows[1]), runs.Number(rows[2]))
	}
	add("classes", s.Card.Target.Counts...)
	a := testkit.Get(folder.ReadAssessment())
	for _, m := range a.Measures {
		add(m.Name, m.Value, m.Low, m.High)
	}
	for _, c := range a.Coefficients {
		add(c.Feature, c.Value, c.Estimate, c.Error, c.Low, c.High)
	}
	if a.Effects != nil {
		for _, c := range a.Effects.Columns {
			add("column "+c.Column, c.Value, c.Low, c.High)
		}
	}
	for _, i := range a.Importances {
		add("importance of "+i.Feature, i.Rise)
	}
	return all
}

// TestWeightsAreRows: over two sites a row of weight k is k rows in all that a run tells: losses,
// accuracies and their errors, of each site alone and together, of columns by a linear model, and
// of importances by a network.
func TestWeightsAreRows(t *testing.T) {
	weighed, repeated := writeWeighed(t)
	for _, flags := range []string{"-model=linear -penalty=one", "-model=mlp -hidden=2 -penalty=one -exchange-alone"} {
		var told [2]map[string]float64
		for k, data := range []string{"-weight=k -data=" + weighed, "-data=" + repeated} {
			out := runs.Folder(filepath.Join(t.TempDir(), "run"))
			told[k] = toldNumbers(out, tuned(t, out, flags+" -target=ill -split-column=set -folds=0 -K=2", data))
		}
		if len(told[0]) != len(told[1]) || len(told[0]) < 60 {
			t.Errorf("%s: %d numbers with weights, %d with repeated rows", flags, len(told[0]), len(told[1]))
		}
		for name, want := range told[1] {
			// Solutions are right to 1e-4 of Φ: weights to the root, 1e-2 of their size, and a mean
			// loss near its least to 1e-4; examples in float32 add less.
			got, known := told[0][name]
			alike := math.Abs(got-want) <= 5e-3*max(math.Abs(want), .1) || math.IsNaN(got) && math.IsNaN(want)
			if !known || !alike {
				t.Errorf("%s: %s is %g with weights, %g with repeated rows", flags, name, got, want)
			}
		}
	}
}

// TestRowsOfWeights: with weights that are not whole, and with folds, one number of rows is told:
// of the model, of the fit of its coefficients, and of the card, whose training rows validate.
func TestRowsOfWeights(t *testing.T) {
	out := runs.Folder(t.TempDir())
	s := tuned(t, out, "-data="+writeSites(t, t.TempDir(), 2), "-target=ill -weight=cost -penalty=one -K=1 -folds=2",
		"-alone=false")
	a := testkit.Get(out.ReadAssessment())
	if rows := s.Card.Rows; rows[0] >= 75 || a.Made != rows[0] || a.Effects.Rows != rows[0] || rows[1] != rows[0] {
		t.Errorf("%d rows made the model, %d its coefficients; the card has %v", a.Made, a.Effects.Rows, rows)
	}
	for i, rows := range s.Card.Sites {
		if rows[1] != rows[0] {
			t.Errorf("site %d: %v", i, rows)
		}
	}
}
