package experiment

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/algo"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train"
)

// TestConclude: the tuned model is kept unless it has lost; the verdict names what found it, and
// the gain that is to be expected of a model of more rows is a share of the judged one's, of a kept
// tuned model with a gain alone.
func TestConclude(t *testing.T) {
	for name, c := range map[string]struct {
		lost     bool
		foundBy  string
		change   runs.Number
		head     string // of the sentence
		kept     string
		expected bool // of a model of more rows
		why      string
	}{
		"kept": {false, "", -.2, "Tuning 2 penalties by madsbo cut", "λ tuned", true, ""},
		"lost": {true, "", -.2, "Tuning 2 penalties by madsbo cut", "λ = 1, best constant", false, ""},
		"worse": {false, "", .2, "Tuning 2 penalties by madsbo made it worse", "λ tuned", false,
			"as Φ, which decides"},
		"worse, asked": {false, candidates.FoundByPath, .2, "Tuning 2 penalties by a path", "λ tuned", false,
			"as it is asked for"},
		"worse than another": {false, "", .2, "Tuning 2 penalties by madsbo", "λ tuned", false, "is another model"},
		"a search": {false, candidates.FoundBySearch, -.2,
			"Tuning 2 penalties by a BFGS search from the best constant, not by madsbo, cut", "λ tuned", true, ""},
		"a search on the way": {false, candidates.FoundByHalving, -.2,
			"Tuning 2 penalties by a search between the best constant and the iterations, not by madsbo, cut",
			"λ tuned", true, ""},
		"folds": {false, candidates.FoundByStructures, -.2,
			"Tuning 2 penalties by a structure that folds chose cut", "λ tuned", true, ""},
	} {
		e := &ending{run: ofJob(new(Job), run{}), result: new(train.Result),
			problem: problem{meaning: runs.Penalties}}
		e.run.settings.Algorithm = "madsbo"
		tuned, rival := candidates.NewModel("λ tuned", runs.Unknown(), []float64{1, 2}),
			candidates.NewModel("λ = 1", 1, []float64{1, 1})
		tuned.FoundBy, tuned.Converged, rival.Converged = c.foundBy, true, true
		if strings.Contains(name, "another") {
			rival.Finder = new(candidates.Finder)
		}
		gain := runs.Gain{Set: runs.Test, Examples: 100, Loss: 1 + c.change, LossAgainst: 1, LossChange: c.change,
			LossError: .01}
		tuning := runs.Gain{Set: runs.Validation, Examples: 100, Loss: 1 + c.change, LossAgainst: 1,
			LossChange: c.change, LossError: .01}
		kept := e.conclude("", tuned, rival, c.lost, []*candidates.Model{rival}, []runs.Gain{gain, tuning}, nil)
		v := &e.summary.Verdict
		if kept.Name != c.kept || !kept.Kept || (kept == tuned) == c.lost {
			t.Errorf("%s: kept is %s", name, kept.Name)
		}
		said := strings.Contains(v.Sentence, "is kept")
		if !strings.HasPrefix(v.Sentence, c.head) || !strings.Contains(v.Sentence, c.why) ||
			said != (c.lost || c.change > 0) {
			t.Errorf("%s: %s", name, v.Sentence)
		}
		if want := c.foundBy; want != "" && v.FoundBy != want || want == "" && v.FoundBy != "madsbo" {
			t.Errorf("%s: found by %q", name, v.FoundBy)
		}
		got := e.keptGain(4)
		if (got > 0) != c.expected || got != v.ExpectedKept || got > 0 && got != .5*v.ExpectedGain {
			t.Errorf("%s: %g is to be expected of the model that is kept, %g of the judged one", name, got,
				v.ExpectedGain)
		}
	}
}

// TestUnmoved: a note says where the iterations have left λ at the best constant.
func TestUnmoved(t *testing.T) {
	for name, c := range map[string]struct {
		x       []float64
		foundBy string
		want    bool
	}{"moved": {[]float64{1, 1.1}, "", false}, "a search": {[]float64{1, 1}, candidates.FoundBySearch, false},
		"not moved": {[]float64{1, 1}, "", true}} {
		e := &ending{run: ofJob(new(Job), run{}), problem: problem{meaning: runs.Penalties}, result: new(train.Result)}
		tuned, rival := candidates.NewModel("λ tuned", runs.Unknown(), c.x),
			candidates.NewModel("λ = 1", 1, []float64{1, 1})
		tuned.FoundBy, tuned.Converged, rival.Converged = c.foundBy, true, true
		e.conclude("", tuned, rival, false, []*candidates.Model{rival}, nil, nil)
		notes := strings.Join(e.summary.Verdict.Notes, "; ")
		if strings.Contains(notes, "λ of the iterations has not moved from λ = 1, best constant: both are") != c.want {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

// TestSpreadOfPhi: a change of Φ is judged by the larger spread of the two models.
func TestSpreadOfPhi(t *testing.T) {
	for _, c := range []struct {
		tuned, rival runs.Number // by how much Φ differs between solutions from two starts
		want         runs.Outcome
	}{{.01, .01, runs.Unclear}, {.3, .01, runs.Same}, {.01, .3, runs.Same}} {
		e := &ending{run: ofJob(new(Job), run{}), problem: problem{meaning: runs.Penalties},
			result: new(train.Result)}
		tuned, rival := candidates.NewModel("λ tuned", runs.Unknown(), []float64{1, 2}),
			candidates.NewModel("λ = 1", 1, []float64{1, 1})
		tuned.Phi, tuned.Spread, rival.Phi, rival.Spread = .8, c.tuned, 1, c.rival
		e.conclude("", tuned, rival, false, []*candidates.Model{rival}, nil, nil)
		if v := e.summary.Verdict; v.Outcome != c.want {
			t.Errorf("spreads %g, %g: %s, want %s: %s", c.tuned, c.rival, v.Outcome, c.want, v.Sentence)
		}
	}
}

// TestKeptGain: what is expected of more rows is told of a gain above 0 of the last model, if that
// is kept: half of it with four times as many rows.
func TestKeptGain(t *testing.T) {
	for _, c := range []struct {
		expected runs.Number
		kept     []bool
		want     runs.Number
	}{{.2, []bool{true}, .1}, {.2, []bool{false, true}, .1}, {.2, []bool{true, false}, 0}, {.2, nil, 0},
		{-.2, []bool{true}, 0}, {0, []bool{true}, 0}, {runs.Unknown(), []bool{true}, 0}} {
		e := new(ending)
		e.summary.Verdict.ExpectedGain = c.expected
		for _, kept := range c.kept {
			e.summary.Models = append(e.summary.Models, runs.Model{Kept: kept})
		}
		if got := e.keptGain(4); got != c.want || e.summary.Verdict.ExpectedKept != c.want {
			t.Errorf("%+v: %g", c, got)
		}
	}
}

// TestSearchBounded: the search from the best constant on may take the products of the iterations,
// which are more here than the models'.
func TestSearchBounded(t *testing.T) {
	log, folder := new(strings.Builder), runs.Folder(filepath.Join(t.TempDir(), "run"))
	testkit.OK(Run(t.Context(), newTiny(), strings.Fields("-agents=3 -algorithm=dsoba -x0=5 -alpha=1e-9 -K=1000 "+
		"-eval-every=1000 -evaluate=off -report=false -out="+string(folder)), io.Discard, log))
	_, text, _ := strings.Cut(log.String(), "downhill from there, by about ")
	var most int
	fmt.Sscan(text, &most)
	if least := testkit.Get(folder.Records())[1].HVP / 3; least < 1000 || most < least {
		t.Errorf("%d products after %d of the iterations: %s", most, least, log)
	}
}

// TestLongestVector: vectors are bounded once the model is known, by more than what is always sent.
func TestLongestVector(t *testing.T) {
	r := ofJob(new(Job), run{})
	r.params.method = new(algo.NewtonCG)
	if n := r.longestVector(); n != 0 {
		t.Errorf("%d numbers of a model that is not known", n)
	}
	for features, more := range map[int]bool{2: false, 1 << 17: true} {
		r.loaded = &loaded{model: models.Logistic{Features: features}}
		if n := r.longestVector(); n < 1<<16 || (n > 1<<16) != more {
			t.Errorf("%d features: at most %d numbers", features, n)
		}
	}
}

// TestFinalEpoch: the session that began the epoch of a result is the log's, 0 of the first epoch,
// and not known of one that the log does not have yet.
func TestFinalEpoch(t *testing.T) {
	for epoch, want := range map[int]string{0: "0 true", 1: "5 true", 2: "8 true", 3: "0 false"} {
		f := &agentFolder{Folder: runs.Folder(t.TempDir())}
		testkit.OK(f.WriteChanges(membership.Log{{Epoch: 1, Session: 5, ID: strings.Repeat("0", 64), Members: []int{0}},
			{Epoch: 2, Session: 8, ID: strings.Repeat("1", 64), Members: []int{0}}}))
		testkit.OK(f.WriteSummary(runs.Summary{State: runs.Finished, Epoch: epoch}))
		session, known, err := f.finalEpoch()
		if got := fmt.Sprint(session, known); err != nil || got != want {
			t.Errorf("epoch %d: %s, want %s, error %v", epoch, got, want, err)
		}
	}
}
