package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// A fixture describes a run folder as the commands write it.
type fixture struct {
	name     string // of the folder; "": method and seed
	task     string // "": mnist
	method   string
	seed     int
	rate     float64 // of convergence; 0: 1
	done     int     // iterations done of 100
	every    int     // 0: 10
	settings map[string]any
	summary  map[string]any // nil: the run has not ended
	lambda   bool           // with one hyperparameter for each pixel
	bars     int            // number of hyperparameters without a picture
	cut      bool           // the last line of metrics.jsonl is cut
	unsolved bool           // the lower problem was not solved at iteration 0
	changes  string         // membership.jsonl
	nan      bool           // what diverged: Φ is null from half of the run on
}

// write makes the folder below dir and returns its path.
func (f fixture) write(t testing.TB, dir string) string {
	t.Helper()
	f.name = cmp.Or(f.name, fmt.Sprintf("%s-%d", f.method, f.seed))
	f.task, f.rate, f.every = cmp.Or(f.task, "mnist"), cmp.Or(f.rate, 1), cmp.Or(f.every, 10)
	path := filepath.Join(dir, f.name)
	testkit.OK(os.MkdirAll(path, 0o755))
	put := func(name string, data []byte) { testkit.OK(os.WriteFile(filepath.Join(path, name), data, 0o644)) }
	params := map[string]any{"alpha": 0.5, "beta": 0.5, "gamma": 0.2, "T": 10, "N": 10, "K": 100}
	config := map[string]any{
		"task": f.task, "algorithm": f.method, "preset": "paper", "iterations": 100, "params": params, "agents": 8,
		"graph": "ring", "w": 0.5,
		"rho": 0.85 + 0.01*float64(f.seed), "batch": 1000, "dtype": "float32", "seed": f.seed,
		"problem":    map[string]any{"model": "softmax", "partition": "iid", "train": 3750, "val": 3750, "test": 10000},
		"eval_every": 10, "checkpoint_every": 10, "exact_tolerance": 1e-4, "curvature": 3 + float64(f.seed),
		"flags": []string{fmt.Sprintf("-seed=%d", f.seed)},
		"build": map[string]any{"go": "go1.26", "os": "linux", "arch": "amd64", "processors": 2, "revision": "f00ba4",
			"host": "atlas", "started": "2026-01-02T03:04:05Z", "program": "mnist"},
	}
	for k, v := range f.settings {
		if name, ok := strings.CutPrefix(k, "params."); ok {
			params[name] = v
		} else {
			config[k] = v
		}
	}
	put("config.json", testkit.Get(json.Marshal(config)))
	metrics := f.metrics()
	if f.cut {
		metrics = append(metrics, []byte(`{"iteration":99,"phi":0.2`)...)
	}
	put("metrics.jsonl", metrics)
	if f.summary != nil {
		put("summary.json", testkit.Get(json.Marshal(f.summary)))
	}
	if f.changes != "" {
		put("membership.jsonl", []byte(f.changes))
	}
	if f.lambda {
		lambda := make([]float64, 784)
		for i := range lambda {
			x, y := float64(i%28)-13.5, float64(i/28)-13.5
			lambda[i] = 12 - 9*math.Exp(-(x*x+1.3*y*y)/60) - 0.2*f.rate*math.Sin(float64(i)*0.7)
		}
		testkit.OK(runs.Folder(path).WriteArray(runs.LambdaFile, lambda, len(lambda)))
	}
	if f.bars > 0 {
		lambda := make([]float64, f.bars)
		for i := range lambda {
			lambda[i] = 4 * math.Sin(float64(i))
		}
		testkit.OK(runs.Folder(path).WriteArray(runs.LambdaFile, lambda, len(lambda)))
	}
	return path
}

func (f fixture) metrics() []byte {
	var b bytes.Buffer
	for k := 0; k <= f.done; k += f.every {
		s := float64(k)
		wobble := 1 + 0.02*math.Sin(s*0.9+float64(f.seed)*2.1)
		fall := math.Exp(-s / 25 * f.rate)
		rec := map[string]any{
			"iteration": k, "phi": (0.27 + 0.03*fall) * wobble, "grad_norm": 1e-3*fall*wobble + 1e-6,
			"train_loss": 0.25 + 2*fall, "train_accuracy": 0.93 - 0.6*fall, "val_loss": 0.28 + 2*fall,
			"val_accuracy": 0.92 - 0.6*fall,
			"test_loss":    0.275 + 2*fall*wobble, "test_accuracy": 0.921 - 0.6*fall*wobble,
			"hypergradient_error": 0.02 + fall*wobble,
			"lower_error":         0.1 + fall, "lower_residual": 1e-9, "consensus_x": s * fall * 1e-4,
			"consensus_y": s * fall * 1e-2, "consensus_z": s * fall * 1e-6,
			"upper_grad": 8 * k, "lower_grad": 80 * k, "hvp": 80 * k, "jvp": 8 * k, "hessian": 0, "jacobian": 0,
			"messages": 320 * k, "floats": 2500000 * k, "bytes": 20000000 * k, "seconds": 0.42 * s / f.rate * wobble,
			"ms_per_iteration": 420 / f.rate,
			"oracle_seconds":   0.7 * s, "mix_seconds": 0.1 * s, "algebra_seconds": 0.04 * s, "evaluation_seconds": 1.5,
			"peak_rss_mib": 812.5,
		}
		if k == 0 {
			rec["hypergradient_error"], rec["ms_per_iteration"] = nil, nil
		}
		if f.unsolved && k == 0 {
			rec["lower_residual"] = 0.27
		}
		if f.nan && k > f.done/2 {
			rec["phi"], rec["grad_norm"] = nil, nil
		}
		b.Write(testkit.Get(json.Marshal(rec)))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// ended is the summary of a finished run.
func ended() map[string]any {
	model := func(name string, lambda any, phi, loss, accuracy float64) map[string]any {
		return map[string]any{
			"name": name, "lambda": lambda, "phi": phi, "exact_test_loss": loss, "exact_test_accuracy": accuracy,
			"val_loss":  loss + 0.01,
			"test_loss": loss + 1e-4, "test_accuracy": accuracy, "refit_steps": 340, "refit_gradient": 9e-5,
			"refit_consensus": 2e-7, "refit_converged": true,
		}
	}
	return map[string]any{
		"verdict": runs.Verdict{Outcome: runs.Better,
			Sentence: "Tuning lowered the loss on test examples by 0.0017 ± 0.0004.", Against: "λ = 2, best constant",
			Notes: []string{"Validation and test agree."}, Gains: []runs.Gain{
				{Set: "validation", Examples: 30000, Loss: 0.2701, LossAgainst: 0.2893, LossChange: -0.0192,
					LossError: 0.0006,
					Accuracy:  0.925, AccuracyAgainst: 0.921, AccuracyChange: 0.004, AccuracyError: 0.0007},
				{Set: "test", Examples: 10000, Loss: 0.2765, LossAgainst: 0.2782, LossChange: -0.0017,
					LossError: 0.0004,
					Accuracy:  0.9224, AccuracyAgainst: 0.9217, AccuracyChange: 0.0007, AccuracyError: 0.0009},
			}},
		"traffic": runs.PhaseTraffic{Method: dsbo.Traffic{Messages: 32000, Floats: 250e6, Bytes: 2e9},
			Evaluation: dsbo.Traffic{Messages: 640, Floats: 5e6, Bytes: 4e7},
			Models:     dsbo.Traffic{Messages: 320, Floats: 25e5, Bytes: 2e7}},
		"state": "finished", "warnings": []string{}, "algorithm": "madsbo_tuned", "iterations": 100,
		"phi_lambda0": 0.3004, "test_accuracy_lambda0": 0.9213,
		"test_accuracy_tuned": 0.9225, "refit_test_accuracy": 0.9224, "refit_test_loss": 0.2765,
		"floats_sent_per_agent_per_iteration": 313600, "ms_per_iteration": 421.3,
		"models": []any{
			model("λ = 0", 0, 0.3004, 0.2788, 0.9213), model("λ = 2, best constant", 2, 0.2893, 0.2781, 0.9217),
			model("λ tuned", nil, 0.2701, 0.2764, 0.9225),
		},
		"constants": []any{map[string]any{"lambda": 0, "phi": 0.3004}, map[string]any{"lambda": 1, "phi": 0.2951},
			map[string]any{"lambda": 2, "phi": 0.2893}, map[string]any{"lambda": 3, "phi": 0.2911}},
		"oracle_calls": map[string]any{"upper_grad": 800, "lower_grad": 8000, "hvp": 8000, "jvp": 800,
			"hessian": 0, "jacobian": 0},
	}
}

// lost is the summary of a finished run in which tuning lost, and one refit has not converged.
func lost() map[string]any {
	s := ended()
	s["verdict"] = runs.Verdict{Outcome: runs.Worse,
		Sentence: "Tuning lost: the loss on test examples rose by 0.0042 ± 0.0004.", Against: "λ = 2, best constant",
		Notes: []string{"λ tuned has not converged."}, Gains: []runs.Gain{
			{Set: "test", Examples: 10000, Loss: 0.2824, LossAgainst: 0.2782, LossChange: 0.0042, LossError: 0.0004,
				Accuracy: runs.Unknown(), AccuracyAgainst: runs.Unknown(), AccuracyChange: runs.Unknown(),
				AccuracyError: runs.Unknown()},
		}}
	s["models"].([]any)[2].(map[string]any)["refit_converged"] = false
	return s
}

// eight are methods side by side, one of them with several seeds.
func eight() []fixture {
	fs := []fixture{
		{method: "madsbo_tuned", seed: 1, rate: 2, done: 100, summary: ended(), lambda: true},
		{method: "madsbo_tuned", seed: 2, rate: 2.1, done: 100, summary: ended(), lambda: true},
		{method: "madsbo_tuned", seed: 3, rate: 1.9, done: 100, summary: ended(), lambda: true},
	}
	for i, m := range []string{"madsbo", "jhip", "gbdsbo", "fednest", "mdbo", "dsoba", "sparkle"} {
		fs = append(fs, fixture{method: m, seed: 1, rate: 0.4 + float64(i)*0.25, done: 100, summary: ended(),
			lambda: m == "madsbo"})
	}
	return fs
}

// loaded writes fixtures and loads them.
func loaded(t testing.TB, fs ...fixture) []*Run {
	t.Helper()
	dir := t.TempDir()
	var all []*Run
	for _, f := range fs {
		all = append(all, testkit.Get(Load(f.write(t, dir))))
	}
	return all
}

// rendered is the page of fixtures.
func rendered(t testing.TB, fs ...fixture) []byte {
	t.Helper()
	return testkit.Get(testkit.Get(newPage(loaded(t, fs...), "")).html("page"))
}

var (
	tableRow = regexp.MustCompile(`(?s)<tr>(.*?)</tr>`)
	tag      = regexp.MustCompile(`<[^>]*>`)
	blanks   = regexp.MustCompile(`[\s\x{202f}]+`)
)

// section renders a section of the page for a run, and returns its text, and the rows of its tables
// with a bar between cells.
func section(t testing.TB, name string, r any) (text string, rows []string) {
	t.Helper()
	all := testkit.Get(template.New("page").Funcs(functions).ParseFS(parts, "*.html"))
	var b bytes.Buffer
	testkit.OK(all.ExecuteTemplate(&b, name, r))
	plain := func(s string) string {
		return strings.TrimSpace(blanks.ReplaceAllString(html.UnescapeString(tag.ReplaceAllString(s, "")), " "))
	}
	for _, row := range tableRow.FindAllStringSubmatch(b.String(), -1) {
		cells := regexp.MustCompile(`</t[hd]>`).Split(row[1], -1)
		for i := range cells {
			cells[i] = plain(cells[i])
		}
		rows = append(rows, strings.Join(cells[:len(cells)-1], " | "))
	}
	return plain(b.String()), rows
}

// pages has the page of each scenario, made once for all tests.
var pages = map[string][]byte{}

// pageOf is the page of a scenario.
func pageOf(t testing.TB, scenario string) []byte {
	t.Helper()
	if pages[scenario] == nil {
		pages[scenario] = rendered(t, scenarios()[scenario]...)
	}
	return pages[scenario]
}
