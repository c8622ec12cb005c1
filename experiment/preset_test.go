package experiment

import (
	"flag"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestToTheLetter: a run to the letter ends with the average x of its last iteration, without a
// rival, a search or a claim; and no validation rows are held out, of which there are enough.
func TestToTheLetter(t *testing.T) {
	const line = "-rows=4000 -agents=2 -preset=paper -K=6 -eval-every=2"
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	s := testkit.Get(runMean(t.Context(), string(folder), strings.Fields(line)...))
	rs := testkit.Get(folder.Records())
	last := rs[len(rs)-1]
	if s.Best != 6 || len(s.Models) != 1 || !s.Models[0].Kept || len(s.Verdict.Gains) > 0 ||
		s.Verdict.Outcome != runs.Unclear || s.Verdict.FoundBy != "madsbo" || len(s.Constants) > 0 {
		t.Errorf("after iteration %d of 6, %d models, verdict %+v", s.Best, len(s.Models), s.Verdict)
	}
	if last.HoldoutLoss.Known() || testkit.Get(folder.ReadConfig()).Holdout != 0 {
		t.Errorf("rows are held out: %v", last.HoldoutLoss)
	}
	if !(math.Abs(float64(s.Models[0].Phi-last.Phi)) <= 1e-6*math.Abs(float64(last.Phi))) {
		t.Errorf("Φ of the result is %v, of the last record %v", s.Models[0].Phi, last.Phi)
	}
	if !strings.HasPrefix(s.Verdict.Sentence, "6 iterations of madsbo, compared with no other model; at the last ") {
		t.Errorf("the sentence is %q", s.Verdict.Sentence)
	}
}

// TestHoldoutFlag: a share, or auto for the rule by the numbers of examples.
func TestHoldoutFlag(t *testing.T) {
	for text, want := range map[string]string{"auto": "auto", "0": "0", "0.25": "0.25"} {
		s := new(Settings)
		f := holdoutFlag{s}
		testkit.OK(f.Set(text))
		if f.String() != want || s.holdoutNamed != (text != "auto") {
			t.Errorf("-holdout %s is %s, named %t", text, f, s.holdoutNamed)
		}
	}
	err := holdoutFlag{new(Settings)}.Set("some")
	testkit.WantError(t, "-holdout some", err, nil, "it must be a number or auto")
}

// TestGivenFlags: a flag that is given is what it is, whatever a preset has; a task's own preset is
// in place of one of all tasks.
func TestGivenFlags(t *testing.T) {
	for args, want := range map[string]string{"-preset=paper": "9 3", "-preset=paper -p=5": "5 3"} {
		task := newTiny()
		features := task.Flags
		task.Flags = func(f *flag.FlagSet) { features(f) }
		task.Presets = []Preset{{Name: "paper", K: 3, Method: &algo.MADSBO{T: 1, N: 1, Alpha: "1"},
			Flags: map[string]string{"p": "9"}}}
		j := testkit.Get(Parse(task, strings.Fields(args), io.Discard))
		testkit.Get(j.resolveParameters())
		if got := fmt.Sprint(j.Settings.taskFlags["p"], " ", j.Settings.Iterations); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
		if names := presetNames(j.presets); strings.Count(names, "paper") != 1 {
			t.Errorf("presets %s", names)
		}
	}
}

// A searched algorithm has found a constant, or not.
type searched struct {
	dsbo.Algorithm
	found bool
}

func (s searched) Traits() algo.Traits {
	return algo.Traits{StartConstant: func() (float64, bool) { return 7, s.found }}
}

// TestStartConstant: constants are tried from what the method's search has found, else from the
// median of the start.
func TestStartConstant(t *testing.T) {
	for want, of := range map[int]dsbo.Algorithm{7: searched{nil, true}, 3: searched{nil, false}} {
		if got := startConstant([]float64{-9, 2.6, 50}, of); got != want {
			t.Errorf("%+v: from %d, want %d", of, got, want)
		}
	}
}

// TestPresetNumbers: MA-DSBO as published takes ten steps of y and of z; the default evaluates each
// iteration, ends after two evaluations in a row that rise, and finds rivals and writes a page.
func TestPresetNumbers(t *testing.T) {
	for args, want := range map[string]string{"": "20 1 2", "-preset=paper": "100 10 10",
		"-preset=madsbo_tuned": "60 20 20"} {
		j := testkit.Get(Parse(newMean(), strings.Fields(args), io.Discard))
		p := testkit.Get(j.resolveParameters())
		got := fmt.Sprint(j.Settings.Iterations, j.Settings.EvalEvery, j.Settings.Patience)
		switch m := p.method.(type) {
		case *algo.MADSBO:
			got = fmt.Sprint(j.Settings.Iterations, m.T, m.N)
		case *algo.Tuned:
			got = fmt.Sprint(j.Settings.Iterations, m.T, m.N)
		}
		if s := j.Settings; s.Rivals != (args != "-preset=paper") || !s.Report {
			t.Errorf("%q: rivals %t, a page %t", args, s.Rivals, s.Report)
		}
		if got != want || j.Settings.Agents != 8 {
			t.Errorf("%q: %s, want %s; %d agents", args, got, want, j.Settings.Agents)
		}
	}
}
