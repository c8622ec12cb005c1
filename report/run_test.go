package report

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsbo"
)

func TestLoad(t *testing.T) {
	r, err := Load(fixture{method: "madsbo", seed: 3, rate: 1, done: 20, summary: ended(), lambda: true}.write(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "madsbo-3" || r.task() != "mnist with softmax" || r.method() != "madsbo" || r.Config.Get("build.go") != "go1.26" {
		t.Errorf("name %q, task %q, method %q, build.go %q", r.Name, r.task(), r.method(), r.Config.Get("build.go"))
	}
	if diff := cmp.Diff([]float64{0, 10, 20}, r.Metrics.Column("iteration")); diff != "" || r.Metrics.Rows() != 3 {
		t.Error(diff)
	}
	if errors := r.Metrics.Column("hypergradient_error"); !math.IsNaN(errors[0]) || math.IsNaN(errors[1]) {
		t.Errorf("hypergradient errors %v: want null as NaN", errors)
	}
	if len(r.Lambda) != 784 || len(r.Notes) != 0 || r.state().Kind != "finished" {
		t.Errorf("%d numbers of lambda, notes %q, state %v", len(r.Lambda), r.Notes, r.state())
	}
	if got := r.value("phi_lambda0"); got != 0.3004 {
		t.Errorf("phi_lambda0 %v", got)
	}
}

func TestLoadWhatAKilledRunLeaves(t *testing.T) {
	dir := fixture{method: "madsbo", rate: 1, done: 40, cut: true}.write(t, t.TempDir())
	r, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.state(); s.Kind != "unfinished" || !strings.Contains(s.Text, "iteration 40 of 100") {
		t.Errorf("state %v", s)
	}
	if r.Metrics.Rows() != 5 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "cut short") {
		t.Errorf("%d rows, notes %q", r.Metrics.Rows(), r.Notes)
	}
	// A broken picture is no reason to show nothing.
	if err := os.WriteFile(filepath.Join(dir, "lambda.npy"), []byte("\x93NUMPY"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err = Load(dir); err != nil || len(r.Notes) != 2 || r.Lambda != nil {
		t.Errorf("with a broken lambda.npy: %v, notes %q", err, r.Notes)
	}
}

// What an interrupted run has spent since its last evaluation counts.
func TestSpentAtTheEnd(t *testing.T) {
	agent := func(hvp int) map[string]any { return map[string]any{"hvp": hvp} }
	with := func(agents ...any) *Run {
		return loaded(t, fixture{method: "madsbo", done: 40, summary: map[string]any{"state": "interrupted", "per_agent": agents}})[0]
	}
	if got := with(agent(1000), agent(2500)).whole("hvp"); got != 3500 {
		t.Errorf("%g products, want those of the agents", got)
	}
	if got := with(agent(1000), map[string]any{}).whole("hvp"); got != 3200 {
		t.Errorf("%g products, want those of the last evaluation", got)
	}
	if got := with().whole("messages"); got != 12800 {
		t.Errorf("%g messages, want those of the last evaluation", got)
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct {
		name, file, text string // text "": the file is removed
		want             string
	}{
		{"no config", "config.json", "", "config.json: no such file"},
		{"config cut", "config.json", `{"task": "mn`, "config.json: not JSON: unexpected end"},
		{"config no object", "config.json", `[1]`, `config.json: JSON "[1]": want an object`},
		{"config too deep", "config.json", strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20), "nested"},
		{"no metrics", "metrics.jsonl", "", "has no metrics: metrics.jsonl: no such file"},
		{"empty metrics", "metrics.jsonl", "\n", "has no metrics"},
		{"one cut line", "metrics.jsonl", `{"iteration": 0, "phi"`, "has no metrics"},
		{"broken in the middle", "metrics.jsonl", "{\"iteration\": 0}\n{\"iter\n{\"iteration\": 2}\n", "metrics.jsonl: line 2: not JSON"},
		{"broken whole last line", "metrics.jsonl", "{\"iteration\": 0}\n{\"iter\n", "metrics.jsonl: line 2: not JSON"},
		{"no iteration", "metrics.jsonl", "{\"phi\": 1}\n", `line 1: iteration "": want a whole number`},
		{"half an iteration", "metrics.jsonl", "{\"iteration\": 0.5}\n", `line 1: iteration "0.5"`},
		{"not growing", "metrics.jsonl", "{\"iteration\": 5}\n\n{\"iteration\": 5}\n", "line 3: iteration 5 after iteration 5"},
		{"a word", "metrics.jsonl", "{\"iteration\": 1, \"phi\": \"low\"}\n", `line 1: phi is "low": want a number`},
		{"a list", "metrics.jsonl", "{\"iteration\": 1, \"seconds\": [1]}\n", `line 1: seconds is "[1]": want a number`},
		{"summary cut", "summary.json", `{"phi`, "summary.json: not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := fixture{method: "madsbo", rate: 1, done: 10, summary: ended()}.write(t, t.TempDir())
			path := filepath.Join(dir, tt.file)
			err := os.Remove(path)
			if tt.text != "" {
				err = os.WriteFile(path, []byte(tt.text), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = Load(dir)
			if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v: want one line with %q", err, tt.want)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "none: no such file") {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestFields(t *testing.T) {
	fs, err := parseFields([]byte(` {"b": 1.50, "a": {"y": "two\n", "x": {"deep": null}}, "list": [ 1, {"k": 2} ], "on": true, "huge": 1e999, "word": "NaN"} `))
	if err != nil {
		t.Fatal(err)
	}
	want := Fields{
		{Key: "b", Text: "1.50"}, {Key: "a.y", Text: "two\n"}, {Key: "a.x.deep", Text: "null"}, {Key: "list", Text: `[1,{"k":2}]`},
		{Key: "on", Text: "true"}, {Key: "huge", Text: "1e999"}, {Key: "word", Text: "NaN"},
	}
	if diff := cmp.Diff(want, fs, cmpopts.IgnoreUnexported(Field{})); diff != "" {
		t.Error(diff)
	}
	numbers := map[string]float64{"b": 1.5, "huge": math.Inf(1), "a.x.deep": math.NaN(), "word": math.NaN(), "on": math.NaN(), "none": math.NaN()}
	for key, want := range numbers {
		if got := fs.Number(key); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
}

// Whatever stands in the file: an error, or rows whose columns have one length and whose iterations grow.
func FuzzMetrics(f *testing.F) {
	f.Add([]byte("{\"iteration\":0,\"phi\":1.5}\n{\"iteration\":10,\"phi\":null,\"x\":{\"y\":[1]}}\n"))
	f.Add([]byte("{\"iteration\":0,\"phi\":\"Infinity\"}\n{\"iteration\":1,\"ph"))
	f.Add([]byte("{\"iteration\":1e400}\n"))
	f.Add([]byte("\n\n[]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, _, err := parseMetrics(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of more than one line: %q", err)
			}
			return
		}
		for key, column := range m.columns {
			if len(column) != m.rows {
				t.Fatalf("%q has %d numbers, want %d", key, len(column), m.rows)
			}
		}
		ks := m.Column(keyIteration)
		for i := range ks {
			if ks[i] < 0 || (i > 0 && ks[i] <= ks[i-1]) {
				t.Fatalf("iterations %v", ks)
			}
		}
	})
}

// Whatever stands in lambda.npy: an error, or a picture or none.
func FuzzLambda(f *testing.F) {
	f.Add(npy(784, func(i int) float64 { return float64(i) }))
	f.Add(npy(3, func(int) float64 { return math.Inf(1) }))
	f.Add([]byte("\x93NUMPY\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := parseLambda(data)
		if err == nil && len(values) == 0 {
			t.Error("no numbers and no error")
		}
	})
}
