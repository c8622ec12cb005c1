package compare

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestLine: a line has the value by which methods are ranked, else how the run ended and why, and
// whether it was there before. What is untuned has no value of its own.
func TestLine(t *testing.T) {
	for want, of := range map[string]trial{
		"synthetic, soba, alpha=1, seed 3: Φ 2": {Method: "soba", Point: "alpha=1", State: runs.Finished,
			Records: []runs.Record{{Phi: 2}}},
		"synthetic, soba, seed 3: Φ 2 (kept)": {Method: "soba", State: runs.Finished, kept: true,
			Records: []runs.Record{{Phi: 2}}},
		"synthetic, soba, seed 3: refused: -K must be 1": {Method: "soba", State: refused,
			Error: "refused: -K must be 1"},
		"synthetic, soba, seed 3: failed: it fell over": {Method: "soba", State: runs.Failed, Error: "it fell over"},
		"synthetic, soba, seed 3: finished":             {Method: "soba", State: runs.Finished},
		"synthetic, " + untuned.Name + ", seed 3: finished": {Method: untuned.Name, State: runs.Finished,
			Records: []runs.Record{{Phi: 2}}},
	} {
		of.Task, of.Seed = "synthetic", 3
		if got := of.line(phi); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDigits: numbers that are not known are a dash; what was spent has whole numbers from 1000 on.
func TestDigits(t *testing.T) {
	for v, want := range map[float64][2]string{1234.56: {"1234.6", "1235"}, 999.6: {"999.6", "1e+03"},
		1000: {"1000", "1000"}, 0: {"0", "0"}, math.Inf(1): {unknown, "+Inf"}, math.Inf(-1): {unknown, "-Inf"}} {
		if got := [2]string{fiveDigits(v), threeDigits(v)}; got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
	nan := math.NaN()
	if fiveDigits(nan) != unknown || threeDigits(nan) != unknown || !math.IsNaN(median([]float64{1, nan, 3})) {
		t.Error("NaN is a number")
	}
}

// TestFileNames: names are of letters that all systems take, of 80 bytes at most, and never empty.
func TestFileNames(t *testing.T) {
	long := strings.Repeat("a", 81)
	for text, want := range map[string]string{"a b/c": "a_b_c", "..": "_", long[:80]: long[:80], "α=1": "α=1"} {
		if got := fileName(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := fileName(long); len(got) != 70+1+8 || got == fileName(long+"a") {
		t.Errorf("81 bytes are %q", got)
	}
}

// TestSentences: what has no value is not told, a method that is the best by both is named once,
// and of two that have the same test loss both are.
func TestSentences(t *testing.T) {
	const head = "Lowest Φ: newtoncg, 3.625"
	k, given := handmade(t).Rankings[0], 5. // targets are what both methods reach, by seeds, or given
	reached := k.Target
	k.Task.Target = &given
	if k.setTargets(); reached != (5.75+5.5)/2 || k.Target != given {
		t.Errorf("the target is %g, and of 5 %g", reached, k.Target)
	}
	for name, c := range map[string]struct {
		change func(k *ranking, of *trial) // a run of the best by Φ
		want   string
	}{
		"as they are": {func(*ranking, *trial) {}, head + "; best untuned has 7. Lowest test loss: dsoba, 0.5; " +
			"newtoncg has 0.594."},
		"no losses": {func(k *ranking, _ *trial) {
			for _, e := range k.all() {
				for _, t := range e.Best {
					t.Records = []runs.Record{{Phi: t.phi(), TestLoss: runs.Unknown()}}
					t.Summary.TestLossTuned = runs.Unknown()
				}
			}
		}, head + "; best untuned has 7."},
		"nothing without tuning": {func(k *ranking, _ *trial) { k.untuned.Best = nil }, head + ". Lowest test loss: " +
			"dsoba, 0.5; newtoncg has 0.594."},
		"best by both": {func(_ *ranking, of *trial) { of.last().TestLoss = .1 }, head + "; best untuned has 7. " +
			"Lowest test loss: newtoncg, 0.362."},
		"as good to the digits that losses have": {func(_ *ranking, of *trial) { of.last().TestLoss = .3751 }, head +
			"; best untuned has 7. Lowest test loss: dsoba and newtoncg, 0.5."},
		"no Φ": {func(k *ranking, _ *trial) {
			for _, e := range k.all() {
				for _, t := range e.Best {
					t.Records = []runs.Record{{Phi: runs.Unknown()}}
				}
			}
		}, "No method ended with a known Φ."},
		"as good": {func(_ *ranking, of *trial) { of.last().TestLoss = .375 }, head + "; best untuned has 7. " +
			"Lowest test loss: dsoba and newtoncg, 0.5."},
	} {
		k := handmade(t).Rankings[0]
		if c.change(k, k.sorted()[0].Best[0]); k.sentence() != c.want {
			t.Errorf("%s: %s\nwant %s", name, k.sentence(), c.want)
		}
	}
}

// TestUnlikeProblems: runs of a seed are ranked where problems are alike, and starts that must be.
func TestUnlikeProblems(t *testing.T) {
	for name, c := range map[string]struct {
		change func(k *ranking, of *runs.Config)
		alike  bool
	}{
		"one":         {func(*ranking, *runs.Config) {}, true},
		"agents":      {func(_ *ranking, of *runs.Config) { of.Agents++ }, false},
		"held out":    {func(_ *ranking, of *runs.Config) { of.Holdout = .1 }, false},
		"problem":     {func(_ *ranking, of *runs.Config) { of.Problem = []byte("{}") }, false},
		"own starts":  {func(k *ranking, of *runs.Config) { of.X0, k.Spec.Start = 2, "" }, true},
		"like starts": {func(_ *ranking, of *runs.Config) { of.X0 = 2 }, false},
		"not begun":   {func(_ *ranking, of *runs.Config) { of.Agents, of.Task = 9, "" }, true},
	} {
		r := handmade(t)
		c.change(r.Rankings[0], &r.Rankings[0].Entries[1].Trials()[0].Config)
		if err := r.rank(); (err == nil) != c.alike || err != nil && !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// phi returns Φ at the end of a run.
func (t *trial) phi() runs.Number { return runs.Number(t.end(phi.of)) }

// last returns the last record of a run.
func (t *trial) last() *runs.Record { return &t.Records[len(t.Records)-1] }

// TestFailures: a comparison fails where a run has failed, or none began; refusals are told once.
func TestFailures(t *testing.T) {
	all := func(r *Result, state runs.State, text string) *Result {
		for _, e := range r.Rankings[0].Entries {
			for _, of := range e.Trials() {
				of.State, of.Error = state, text
			}
		}
		return r
	}
	if err := handmade(t).Failure(); err != nil {
		t.Errorf("one method that is for others: %v", err)
	}
	r := handmade(t)
	r.Rankings[0].Entries[1].Trials()[1].State = runs.Failed
	testkit.WantError(t, "one has failed", r.Failure(), nil, "newtoncg, seed 2 failed")
	r = all(handmade(t), refused, "refused: -K must be 1")
	testkit.WantError(t, "all refused", r.Failure(), dsbo.ErrConfig, "no run began: dsoba alpha=0.1: refused: -K must")
	if told := r.Rankings[0].refusals(); len(told) != 4 {
		t.Errorf("refusals %q", told)
	}
	if told := all(handmade(t), runs.Finished, "").Rankings[0].refusals(); len(told) != 0 {
		t.Errorf("refusals %q of runs that ended", told)
	}
}

// TestRankedAgain: a method has edges where it ended with a value alone, and methods start at the
// best constant where their runs did.
func TestRankedAgain(t *testing.T) {
	r := handmade(t)
	k := r.Rankings[0]
	first := k.Entries[0]
	if first.Edges == nil || k.StartsBest() {
		t.Errorf("edges %v, from the best constant %t", first.Edges, k.StartsBest())
	}
	for _, e := range k.Entries {
		for _, of := range e.Trials() {
			of.State, of.Config.X0Best = runs.Diverged, true
		}
	}
	first.Edges = nil
	if testkit.OK(r.rank()); first.Edges != nil || !k.StartsBest() {
		t.Errorf("without a value: edges %v, from the best constant %t", first.Edges, k.StartsBest())
	}
	bare := trial{Records: []runs.Record{{Phi: 2}}}
	if bare.showBaseline(); bare.Records != nil {
		t.Errorf("without a baseline: %+v", bare.Records)
	}
}

// TestTrialFolder: the folder of a run is called after its point and seed, and rivals are looked
// for without a method alone.
func TestTrialFolder(t *testing.T) {
	s := handmade(t).Spec
	for algorithm, want := range map[string]string{"": "-rivals=true", "dsoba": "-rivals=false"} {
		m := method{Name: "a method", Algorithm: algorithm}
		of := newTrial("out", s, s.Tasks[0], m, nil, 3)
		m.Grid = s.Methods[0].Grid
		at := newTrial("out", s, s.Tasks[0], m, []int{1}, 3)
		if !slices.Contains(of.Args, want) || !strings.HasPrefix(filepath.Base(string(of.Folder)), "seed3-") ||
			!strings.HasPrefix(filepath.Base(string(at.Folder)), "alpha=1-seed3-") {
			t.Errorf("%q: %q in %s, %s", algorithm, of.Args, of.Folder, at.Folder)
		}
	}
}

// TestLossOfTuned: the test loss is the tuned model's where the run has finished and knows it, else
// the last record's; a run that diverged has none.
func TestLossOfTuned(t *testing.T) {
	for _, c := range []struct {
		tuned runs.Number
		state runs.State
		want  float64
	}{{.25, runs.Finished, .25}, {.25, runs.Diverged, math.NaN()}, {runs.Unknown(), runs.Finished, .5}} {
		of := trial{State: c.state, Records: []runs.Record{{TestLoss: .5}}}
		of.Summary.TestLossTuned = c.tuned
		if got := of.testLoss(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%+v: %g", c, got)
		}
	}
}

// TestFound: Φ and losses are of the iterate that a run gives as its result, as the test loss is,
// and not of a later one that held-out examples have turned down; Φ that its record does not have
// is the solved model's, but where no Φ is known.
func TestFound(t *testing.T) {
	records := func(phi ...runs.Number) (all []runs.Record) {
		for k, v := range phi {
			all = append(all, runs.Record{Iteration: k, Phi: v, ValLoss: 1 - runs.Number(k)/8})
		}
		return all
	}
	none := runs.Unknown()
	nan := math.NaN()
	for _, c := range []struct {
		records  []runs.Record
		best     int
		state    runs.State
		phi, val float64
		solved   bool // the kept model
	}{
		{records(3, 2, 1), 2, runs.Finished, 1, .75, true},
		{records(3, 2, 1), 1, runs.Finished, 2, .875, true},
		{records(3, none, 1), 1, runs.Finished, 2.5, .875, true},
		{records(3, none, 1), 1, runs.Finished, nan, .875, false},
		{records(none, none), 1, runs.Finished, nan, .875, true},
		{records(3, 2), 7, runs.Finished, 2, .875, true},
		{records(3, 2), 1, runs.Diverged, nan, nan, true},
	} {
		of := trial{State: c.state, Records: c.records, Summary: runs.Summary{Best: c.best,
			Models: []runs.Model{{Phi: 9}, {Phi: 2.5, Kept: true, Converged: c.solved}}}}
		for q, want := range map[quantity]float64{phi: c.phi, valLoss: c.val} {
			ranked := (&ranking{Spec: &Spec{Choose: q}}).end(&of)
			if got := of.found(q); math.Float64bits(got) != math.Float64bits(ranked) ||
				got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%+v: %s %g, ranked by %g", c, q, got, ranked)
			}
		}
	}
	noModel := trial{State: runs.Finished, Records: records(3, none, 1), Summary: runs.Summary{Best: 1}}
	if got := noModel.found(phi); !math.IsNaN(got) {
		t.Errorf("Φ %g of a run that kept no model", got)
	}
}

// TestMedian: the median of some numbers of which one is not known is not known.
func TestMedian(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		of   []float64
		want float64
	}{{[]float64{5, 1, 3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{1, nan, 3}, nan}, {[]float64{nan, 1, 3}, nan},
		{[]float64{1, 3, nan}, nan}} {
		if got := median(c.of); got != c.want && (got == got || c.want == c.want) {
			t.Errorf("%g of %g", got, c.of)
		}
	}
}
