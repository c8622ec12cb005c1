package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func TestLoad(t *testing.T) {
	r := testkit.Get(Load(fixture{method: "madsbo", seed: 3, rate: 1, done: 20, summary: ended(),
		lambda: true}.write(t, t.TempDir())))
	if r.Name != "madsbo-3" || r.task() != "mnist with softmax" || r.method() != "madsbo" ||
		r.Config.Build.Go != "go1.26" {
		t.Errorf("name %q, task %q, method %q, Go %q", r.Name, r.task(), r.method(), r.Config.Build.Go)
	}
	if diff := cmp.Diff([]float64{0, 10, 20}, group{runs: []*Run{r}}.course(part{Of: "phi"}, "").X[0]); diff != "" {
		t.Error(diff)
	}
	if r.Records[0].HypergradientError.Known() || !r.Records[1].HypergradientError.Known() {
		t.Errorf("hypergradient errors %v, %v: want the first unknown", r.Records[0].HypergradientError,
			r.Records[1].HypergradientError)
	}
	if len(r.Lambda) != 784 || len(r.Notes) != 0 {
		t.Errorf("%d numbers of lambda, notes %q", len(r.Lambda), r.Notes)
	}
	if r.Summary.PhiLambda0 != 0.3004 || r.Summary.TestLossLambda0.Known() {
		t.Errorf("Φ(0) %v, and %v that is not there", r.Summary.PhiLambda0, r.Summary.TestLossLambda0)
	}
}

func TestLoadWhatAKilledRunLeaves(t *testing.T) {
	dir := fixture{method: "madsbo", rate: 1, done: 40, cut: true}.write(t, t.TempDir())
	r := testkit.Get(Load(dir))
	if text, _ := section(t, "ending", r); r.End() != runs.Unfinished ||
		!strings.HasSuffix(text, "at iteration 40 of 100.") {
		t.Errorf("state %s: %s", r.End(), text)
	}
	if len(r.Records) != 5 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "cut short") {
		t.Errorf("%d records, notes %q", len(r.Records), r.Notes)
	}
	// A broken picture is no reason to show nothing.
	testkit.OK(os.WriteFile(filepath.Join(dir, "lambda.npy"), []byte("\x93NUMPY"), 0o644))
	if r = testkit.Get(Load(dir)); len(r.Notes) != 2 || r.Lambda != nil {
		t.Errorf("with a broken lambda.npy: notes %q", r.Notes)
	}
}

// What an interrupted run has spent since its last evaluation counts.
func TestSpentAtTheEnd(t *testing.T) {
	agent := func(hvp int) map[string]any { return map[string]any{"hvp": hvp} }
	with := func(agents ...any) *Run {
		return loaded(t, fixture{method: "madsbo", done: 40,
			summary: map[string]any{"state": "interrupted", "per_agent": agents}})[0]
	}
	if got := with(agent(1000), agent(2500)).usage().HVP; got != 3500 {
		t.Errorf("%d products, want those of the agents", got)
	}
	if got := with().usage(); got.HVP != 3200 || got.Messages != 12800 {
		t.Errorf("%v, want what the last evaluation says", got)
	}
}

// TestWarnings: Φ is called inexact where a residual is above twice the tolerance, if there is one;
// commands are of the first run of each method.
func TestWarnings(t *testing.T) {
	for tolerance, want := range map[float64]string{0: "", 1: "at iteration 2:", .2: "at iteration 1, 2:"} {
		r := &Run{Config: runs.Config{ExactTol: tolerance}, Records: []runs.Record{{LowerResidual: .4},
			{Iteration: 1, LowerResidual: 1.9}, {Iteration: 2, LowerResidual: 2.1}}}
		if got := strings.Join(r.Warnings(), ""); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("tolerance %g: %s", tolerance, got)
		}
	}
	p := Part{Runs: loaded(t, fixture{method: "a", seed: 1}, fixture{method: "a", seed: 2}, fixture{method: "b"})}
	for k, label := range []string{"a", "a", "b"} {
		p.Runs[k].Label = label
	}
	if all := p.Commands(); len(all) != 2 || all[0] != p.Runs[0].Command() || all[1] != p.Runs[2].Command() {
		t.Errorf("%q", all)
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct {
		name, file, text string // text "": the file is removed
		want             string
	}{
		{"no config", "config.json", "", "config.json: no such file"},
		{"config cut", "config.json", `{"task": "mn`, "config.json: unexpected end"},
		{"config no object", "config.json", `[1]`, "config.json: json: cannot unmarshal array"},
		{"no metrics", "metrics.jsonl", "", "metrics.jsonl: no such file"},
		{"empty metrics", "metrics.jsonl", "\n", "has no metrics"},
		{"one cut line", "metrics.jsonl", `{"iteration": 0, "phi"`, "has no metrics"},
		{"broken in the middle", "metrics.jsonl", "{\"iteration\": 0}\n{\"iter\n{\"iteration\": 2}\n",
			"metrics.jsonl: line 2 is not a record"},
		{"broken whole last line", "metrics.jsonl", "{\"iteration\": 0}\n{\"iter\n",
			"metrics.jsonl: line 2 is not a record"},
		{"half an iteration", "metrics.jsonl", "{\"iteration\": 0.5}\n", "line 1 is not a record"},
		{"not growing", "metrics.jsonl", "{\"iteration\": 5}\n\n{\"iteration\": 5}\n",
			"iteration 5 comes after iteration 5"},
		{"a word", "metrics.jsonl", "{\"iteration\": 1, \"phi\": \"low\"}\n", "line 1 is not a record"},
		{"a list", "metrics.jsonl", "{\"iteration\": 1, \"seconds\": [1]}\n", "line 1 is not a record"},
		{"summary cut", "summary.json", `{"phi`, "summary.json: unexpected end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := fixture{method: "madsbo", rate: 1, done: 10, summary: ended()}.write(t, t.TempDir())
			path := filepath.Join(dir, tt.file)
			err := os.Remove(path)
			if tt.text != "" {
				err = os.WriteFile(path, []byte(tt.text), 0o644)
			}
			testkit.OK(err)
			_, err = Load(dir)
			if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), tt.want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v: want one line with %q", err, tt.want)
			}
		})
	}
	dir := t.TempDir() // of a comparison: runs two levels below
	fixture{method: "madsbo", done: 10}.write(t, filepath.Join(dir, "task"))
	_, err := Load(dir)
	testkit.WantError(t, "folder of folders", err, dsbo.ErrConfig, "but holds 1 run:")
	testkit.OK(os.WriteFile(filepath.Join(dir, ComparisonPage), nil, 0o644))
	_, err = Load(dir)
	testkit.WantError(t, "of a comparison", err, dsbo.ErrConfig, "page of the comparison is")
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "none/config.json: no such file") {
		t.Errorf("a missing folder: %v", err)
	}
}

// TestBestConstant: the model that the verdict names is the best constant where it has one λ and a
// Φ, else the lowest one that was tried.
func TestBestConstant(t *testing.T) {
	model := func(name string, lambda, phi runs.Number) runs.Model {
		return runs.Model{Name: name, Lambda: lambda, Phi: phi}
	}
	tried := []runs.Constant{{Lambda: 1, Phi: 4}, {Lambda: 2, Phi: 3}, {Lambda: 3, Phi: 3}}
	for name, c := range map[string]struct {
		models []runs.Model
		tried  []runs.Constant
		want   string
	}{
		"named":       {[]runs.Model{model("zero", 0, 1), model("best", 7, 5)}, tried, "{7 5}"},
		"no constant": {[]runs.Model{model("best", runs.Unknown(), 5)}, tried, "{2 3}"},
		"no Φ":        {[]runs.Model{model("best", 7, runs.Unknown())}, tried, "{2 3}"},
		"none":        {nil, nil, "{0 NaN}"},
	} {
		r := Run{Summary: runs.Summary{Models: c.models, Constants: c.tried, Verdict: runs.Verdict{Against: "best"}}}
		if got := fmt.Sprint(r.bestConstant()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if r.BestByPrior() {
			t.Errorf("%s: a prior has chosen, without structures", name)
		}
		r.Summary.Structures = make([]runs.Structure, 1)
		if got := r.BestByPrior(); got != (name == "named") {
			t.Errorf("%s: a prior has chosen: %t", name, got)
		}
	}
}

// TestKeptReason: a page gives the rule by which one penalty for all is kept, and what decides.
func TestKeptReason(t *testing.T) {
	heldOut := func(change runs.Number) []runs.Gain {
		return []runs.Gain{{Set: runs.Test, LossChange: 9, LossError: 1},
			{Set: runs.HeldOut, LossChange: change, LossError: 0.5}}
	}
	for name, c := range map[string]struct {
		tuned runs.Model
		gains []runs.Gain
		want  string
	}{
		"kept":          {runs.Model{Phi: 2, Kept: true}, nil, "The tuned log-penalties are kept. Φ"},
		"larger Φ":      {runs.Model{Phi: 4, Converged: true}, heldOut(0.6), "One log-penalty for all is kept. Φ"},
		"held-out rows": {runs.Model{Phi: 2, Reached: true}, heldOut(0.6), "better by more than a standard error. Φ"},
		"no worse":      {runs.Model{Phi: 3, Converged: true}, heldOut(0.4), "the tuned ones are no better. Φ"},
		"folds, one": {runs.Model{Phi: 2, Converged: true}, []runs.Gain{{Set: runs.CrossFitted}},
			"as no structure of others is better by two standard errors. The cross-fitted loss, which decides"},
		"not converged": {runs.Model{Phi: 2}, heldOut(0.6), "has not converged. Φ"},
		"folds": {runs.Model{Phi: 2, Kept: true}, []runs.Gain{{Set: runs.Test}, {Set: runs.CrossFitted}},
			"are kept. The cross-fitted loss, which decides, is of each row by a model that has not seen it: it is " +
				"2 with the tuned ones and 3 with one for all."},
		"no Φ": {runs.Model{Phi: runs.Unknown(), Converged: true}, nil, ""},
	} {
		r := &Run{Summary: runs.Summary{Models: []runs.Model{{Name: "one", Phi: 3, Converged: true}, c.tuned},
			Verdict: runs.Verdict{Against: "one", Gains: c.gains}}}
		if got, _ := section(t, "kept", r); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	r := &Run{Summary: runs.Summary{Models: []runs.Model{{Name: "linear, λ tuned", Phi: 3, Lambda: runs.Unknown()},
		{Name: "network of 6 hidden units", Phi: 2, Kept: true}},
		Verdict: runs.Verdict{Against: "linear, λ tuned", Gains: []runs.Gain{{Set: runs.CrossFitted}}}}}
	lasso := *r
	lasso.Summary.Structures = []runs.Structure{{Lasso: new(runs.Lasso), Kept: true}}
	if got, _ := section(t, "kept", &lasso); got != "" { // it is kept as asked
		t.Errorf("of a lasso: %q", got)
	}
	got, _ := section(t, "kept", r)
	if want := "is 2 with it and 3 with linear, λ tuned."; !strings.HasSuffix(got, want) ||
		!strings.HasPrefix(got, "The network of 6 hidden units is kept. ") {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStructureRows: a loss that is not of all rows says of how many.
func TestStructureRows(t *testing.T) {
	r := &Run{Summary: runs.Summary{Verdict: runs.Verdict{Against: "one", Gains: []runs.Gain{{Set: runs.Test}}},
		Structures: []runs.Structure{{Name: "network", Loss: 0.5, Error: 0.1, Strength: 2, Rows: 68},
			{Name: "one penalty", Loss: 0.7, Error: 0.1, Strength: 2}}}}
	_, rows := section(t, "gains", r)
	for _, want := range []string{"network | 0.50 ± 0.10 of 68 rows | 2", "one penalty | 0.70 ± 0.10 | 2"} {
		if !slices.Contains(rows, want) {
			t.Errorf("no row is %q in %q", want, rows)
		}
	}
}
