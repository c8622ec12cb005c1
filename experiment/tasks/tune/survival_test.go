package tune_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/modelfile"
)

// writeSurvival writes sites with times until a death whose hazard grows with age, another baseline
// hazard at each, and ends of follow-up; the last of four or more sites sees no death. It returns
// the pattern of their names.
func writeSurvival(t *testing.T, folder string, sites, rows int) string {
	t.Helper()
	for i := range sites {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		var b strings.Builder
		b.WriteString("age,dose,noise,months,dead,end,weight\n")
		for range rows {
			age, dose := r.NormFloat64(), r.NormFloat64()
			size, dead, word := math.Exp(float64(i)), 1, "dead"
			time, end := size*r.ExpFloat64()*math.Exp(dose/2-age), 3*size*r.Float64()
			if time > end || i > 2 {
				time, dead, word = min(time, end), 0, "alive"
				if r.IntN(4) == 0 {
					word = "moved"
				}
			}
			fmt.Fprintf(&b, "%.2f,%.2f,%.2f,%.1f,%d,%s,%d\n", 60+8*age, dose, r.NormFloat64(), time, dead, word,
				1+r.IntN(3))
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", i)), []byte(b.String()), 0o644))
	}
	return filepath.Join(folder, "site{agent}.csv")
}

// survival are flags of such sites.
const survival = "-task=survival -target=months -drop=end -folds=3"

// TestSurvival: survival times are a task as others are, by either rule for ties, by folds and
// without, and with a site that sees no event.
func TestSurvival(t *testing.T) {
	data := "-data=" + writeSurvival(t, t.TempDir(), 4, 60)
	experimenttest.TestTask(t, tune.Task(), append(strings.Fields(survival+" -event=dead -batch=0"), data)...)
	for name, flags := range map[string]string{
		"breslow": "-event=end=dead -drop=dead,weight -ties=breslow -folds=0",
		"feature": "-event=dead -drop=end,weight -penalty=feature",
	} {
		t.Run(name, func(t *testing.T) {
			summary := tuned(t, runs.Folder(t.TempDir()), survival, flags, data)
			if g := summary.Verdict.Gains; len(g) == 0 || !(g[0].Loss > 1 && g[0].Loss < 6) {
				t.Errorf("gains %+v", g)
			}
		})
	}
}

// survivalMeasures runs the task and returns what is told of its model.
func survivalMeasures(t *testing.T, flags ...string) (runs.Folder, runs.Assessment) {
	t.Helper()
	out := runs.Folder(t.TempDir())
	summary := tuned(t, out, append([]string{survival}, flags...)...)
	for _, s := range summary.Structures {
		if s.Kept && !(s.Loss > 1 && s.Loss < 6) {
			t.Errorf("%s has the loss %g per event", s.Name, float64(s.Loss))
		}
	}
	return out, testkit.Get(out.ReadAssessment())
}

// TestSurvivalJudged: test rows judge by pairs of one site and by the loss of events, where a
// rising risk is found, and a hazard that depends on nothing is not.
func TestSurvivalJudged(t *testing.T) {
	data := "-data=" + writeSurvival(t, t.TempDir(), 3, 150)
	out, good := survivalMeasures(t, "-event=dead -features=age,dose,noise", data)
	c, saved := good.Measures[0], good.Measures[1]
	// of log-hazards of deviation √1.25 two rows are in order in some 75 % of pairs
	if !(c.Low > 0.62 && c.Low < c.Value && c.Value < c.High && c.High < 0.9) || !(saved.Low > 0) || good.Events < 30 {
		t.Errorf("of %d events: %+v, %+v", good.Events, c, saved)
	}
	if text := good.Judgement(); !strings.Contains(text, "of pairs of the same site; guessing does in 50 %.") {
		t.Error(text)
	}
	curve := good.Survival.Curve
	if n := len(curve.Share) - 1; n < 2 || !(curve.Low[n] < curve.Share[n] && curve.Share[n] < curve.Share[1]) {
		t.Errorf("%+v", curve)
	}
	m := good.Measures[2:]
	if n := len(m) - 1; n < 1 || !strings.HasPrefix(m[n].Name, "Brier score up to ") || !(0 < m[n].Low &&
		m[n].High < .35) || len(good.Survival.Calibrations) != n {
		t.Errorf("%+v, %+v", m, good.Survival.Calibrations)
	}
	if e := good.Effects; e.Refused != "" || e.Events < 150 || e.Shown != 3 || e.ByChance() || len(e.Columns) != 3 {
		t.Errorf("%+v", e)
	}
	for k, log := range []float64{.125, -.5, 0} { // of the hazard, by age, dose and noise
		k = slices.IndexFunc(good.Coefficients, func(c runs.Coefficient) bool {
			return c.Feature == []string{"age", "dose", "noise"}[k]
		})
		c := good.Coefficients[k]
		if !(float64(c.Low) <= log && log <= float64(c.High)) || c.BeyondChance != (log != 0) {
			t.Errorf("%+v does not have %g", c, log)
		}
	}
	b := testkit.Get(modelfile.Open(string(out))).Baseline
	// sites have baseline hazards of 1, 1/e and 1/e², of which the pooled one is a mean
	if h := b.Survival(1, 1); b.Horizon() < 1 || !(math.Exp(-1) < h && h < math.Exp(-math.Exp(-2))) {
		t.Errorf("survival at 1 is %g by %+v", h, b)
	}
	_, chance := survivalMeasures(t, "-event=dead -features=noise", data)
	if c := chance.Measures[0]; !(c.Low < 0.5) || !chance.Effects.ByChance() ||
		!strings.Contains(chance.Judgement(), "beyond chance is no less") {
		t.Errorf("%+v: %s", c, chance.Judgement())
	}
}

// dealSets adds the column set to the files of writeSurvival, where rows are by turns train, train,
// validation and test, and repeats each row as often as times returns.
func dealSets(data string, times func(line string) int) {
	for i := range 3 {
		path := strings.Replace(data, "{agent}", fmt.Sprint(i), 1)
		lines := strings.Fields(string(testkit.Get(os.ReadFile(path))))
		text := lines[0] + ",set\n"
		for row, line := range lines[1:] {
			set := []string{"train", "train", "validation", "test"}[row%4]
			text += strings.Repeat(line+","+set+"\n", times(line))
		}
		testkit.OK(os.WriteFile(path, []byte(text), 0o644))
	}
}

// TestSurvivalWeights: a row of weight k is k rows, in risk sets, losses and pairs.
func TestSurvivalWeights(t *testing.T) {
	var told [2]runs.Assessment
	for k := range told {
		data := writeSurvival(t, t.TempDir(), 3, 60)
		dealSets(data, func(line string) int {
			if k == 1 {
				return int(line[len(line)-1] - '0')
			}
			return 1
		})
		_, told[k] = survivalMeasures(t, "-data="+data, "-event=dead -folds=0 -ties=breslow -penalty=one",
			"-split-column=set", []string{"-weight=weight", "-drop=weight,end"}[k])
	}
	for k, m := range told[0].Measures {
		// features are float32, and λ is looked for to a share of Φ of some 1e-4
		if other := told[1].Measures[k]; !(math.Abs(float64(m.Value-other.Value)) <= 1e-3) {
			t.Errorf("%+v by weights, %+v by rows", m, other)
		}
	}
}

// TestBaseline: the baseline hazard is of the rows of which the kept model is, the test rows with
// them where it is solved with these: their hazards up to the horizon add up to their events.
func TestBaseline(t *testing.T) {
	data := writeSurvival(t, t.TempDir(), 3, 80)
	dealSets(data, func(string) int { return 1 })
	for refit, ofTest := range map[string]bool{"none": false, "all": true} {
		out := runs.Folder(t.TempDir())
		tuned(t, out, survival, "-event=dead -folds=0 -penalty=one -drop=weight,end -split-column=set -data="+data,
			"-refit="+refit)
		m := testkit.Get(modelfile.Open(string(out)))
		expected, events, b := 0.0, 0.0, m.Baseline
		for i := range 3 {
			path := strings.Replace(data, "{agent}", fmt.Sprint(i), 1)
			in := testkit.Get(m.Recipe().NewEncoder(testkit.Get(tables.Open(path, tables.Options{}))))
			hazards := m.Predict(in, 0, in.Rows()).Values
			for row, line := range strings.Fields(string(testkit.Get(os.ReadFile(path))))[1:] {
				cells := strings.Split(line, ",")
				if cells[7] == "test" && !ofTest {
					continue
				}
				time := testkit.Get(strconv.ParseFloat(cells[3], 64))
				expected -= math.Log(b.Survival(min(time, b.Horizon()), hazards[row]))
				if cells[4] == "1" && time <= b.Horizon() {
					events++
				}
			}
		}
		// rates are the events of bins by time at risk times hazards; features are float32
		if !(events > 60) || !(math.Abs(expected/events-1) <= 1e-5) {
			t.Errorf("-refit %s: %g events by the hazard, %g in the rows", refit, expected, events)
		}
	}
}

// TestSurvivalRefused: what survival times do not have is refused by name.
func TestSurvivalRefused(t *testing.T) {
	folder := t.TempDir()
	data := "-data=" + writeSurvival(t, folder, 3, 60)
	few := "-data=" + writeSurvival(t, t.TempDir(), 3, 8)
	for flags, says := range map[string]string{
		"": "-task survival must have -event, the column that says whether a time ended with the event",
		"-drop=age -event=end": "column end: it must be 1 for an event, else 0, or another number or word must " +
			"stand for it (-event end=WORD)",
		"-event=months":                     "-event must be another column than -target",
		"-event=dose=2":                     "there must be 10 events at least among the rows of all sites that train",
		"-event=dead -model=mlp":            "-model must be linear with -task survival; it is mlp",
		"-event=dead -balance":              "-balance is for classes",
		"-event=dead -loss=huber":           "-loss huber is for regressions",
		"-event=dead -cost=1=2":             "-cost is for classes",
		"-event=dead -batch=10":             "-batch must be 0 with survival times",
		"-event=dead -dp-epsilon=1":         "-dp-epsilon must not be given with -task survival",
		"-event=dead -weight=dead":          "-event must be another column than -weight; both are dead",
		"-event=dead -split-column=dead":    "-event must be another column than -split-column; both are dead",
		"-event=dead -target=dose":          "column dose: a time must be a number from 0; it is -",
		"-event=dead -drop=age -target=end": "column end, the target, must have durations until events as numbers",
		"-ties=breslow -task=count":         "-event and -ties must come with -task survival; -task is count",
		"-event=dead -task=count":           "-event and -ties must come with -task survival; -task is count",
		"-drop=age -event=end=":             "-event must have a word behind =, such as status=dead; it is end=",
		"-event=dead -rare-classes=merge":   "-rare-classes is for classes; -task is survival",
		"-event=dead -exchange-alone":       "-exchange-alone must not be given with -task survival",
		"-event=dead -ties=exact":           "-ties must be efron or breslow",
		"-event=dead " + few:                "there must be 5 events at least among the test rows of all sites",
	} {
		out := runs.Folder(filepath.Join(t.TempDir(), "run"))
		err := runTask(t, out, survival, data, flags)
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", flags, err, says)
		}
	}
}
