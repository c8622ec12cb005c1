package tasks_test

import (
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables/modelfile"
)

// TestTuneMeasures: measures in the units of the target follow from the losses that the agents
// find together otherwise, and a number has no accuracy.
func TestTuneMeasures(t *testing.T) {
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	for name, flags := range map[string][]string{
		"classes": {"-target=ill", "-drop=cost,visits", "-cost=yes=5"},
		"numbers": {"-target=cost", "-drop=ill,visits"},
		"counts":  {"-target=visits", "-task=count", "-drop=ill,cost"},
	} {
		out := runs.Folder(filepath.Join(folder, name))
		testkit.OK(experiment.Run(t.Context(), tasks.Tune(), append(flags, data, "-folds=0", "-K=1", "-alone=false",
			"-penalty=one", "-quiet", "-report=false", "-out="+string(out)), io.Discard, io.Discard))
		a, s := testkit.Get(out.ReadAssessment()), testkit.Get(out.ReadSummary())
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
		if name != "counts" && math.Abs(float64(m.Value-want)) > tol || !(m.Low < m.Value && m.Value < m.High) {
			t.Errorf("%s: %+v, want %g", name, m, want)
		}
		if a.Judged < 20 || len(a.Coefficients) == 0 || !a.Coefficients[0].Error.Known() {
			t.Errorf("%s: %+v", name, a)
		}
		if h := a.Threshold; (h != nil) != (name == "classes") || h != nil && (h.Own+h.Others != float64(a.Judged) ||
			h.Probability <= 0 || h.Probability >= .5) {
			t.Errorf("%s: threshold %+v", name, h)
		}
	}
}

// TestTuneCoefficients: a coefficient and its error follow from the sandwich, computed from the
// file: H⁻¹ (Σ ∇L² ) H⁻¹ of a slope and an intercept.
func TestTuneCoefficients(t *testing.T) {
	folder := t.TempDir()
	writeSites(t, folder, 1)
	out := runs.Folder(filepath.Join(folder, "out"))
	path := filepath.Join(folder, "site0.csv")
	testkit.OK(experiment.Run(t.Context(), tasks.Tune(), []string{"-data=" + path, "-agents=1", "-target=cost",
		"-features=noise", "-split=0.8:0.2", "-K=1", "-penalty=one", "-quiet", "-report=false", "-out=" + string(out)},
		io.Discard, io.Discard))
	m := testkit.Get(modelfile.Read(out.Path(runs.ModelFile)))
	in, target, layer := m.Recipe().Inputs[0], m.Recipe().Target, m.Layers[0]
	rows := testkit.Get(csv.NewReader(strings.NewReader(string(testkit.Get(os.ReadFile(path))))).ReadAll())[1:]
	n := float64(len(rows))
	lambda := testkit.Get(out.ReadLambda())[0]
	h00, h01, h11, s00, s01, s11 := 2*math.Exp(lambda), 0., 1+1e-6, 0., 0., 0.
	for _, row := range rows {
		x := (testkit.Get(strconv.ParseFloat(row[2], 64)) - in.Mean) / in.Deviation
		truth := (testkit.Get(strconv.ParseFloat(row[4], 64)) - target.Mean) / target.Deviation
		e := layer.Weights[0]*x + layer.Bias[0] - truth
		h00, h01 = h00+x*x/n, h01+x/n
		s00, s01, s11 = s00+e*e*x*x/n/n, s01+e*e*x/n/n, s11+e*e/n/n
	}
	det := h00*h11 - h01*h01
	v0, v1 := h11/det, -h01/det // H⁻¹ applied to the slope
	unit := target.Deviation / in.Deviation
	want := math.Sqrt(v0*v0*s00+2*v0*v1*s01+v1*v1*s11) * unit
	c := testkit.Get(out.ReadAssessment()).Coefficients[0]
	if math.Abs(float64(c.Error)/want-1) > 1e-5 || math.Abs(float64(c.Value)/(layer.Weights[0]*unit)-1) > 1e-9 ||
		c.Feature != "noise" || c.Deviation != in.Deviation {
		t.Errorf("%+v, want %g ± %g", c, layer.Weights[0]*unit, want)
	}
}
