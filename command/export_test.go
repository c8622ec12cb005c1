package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// mlflowFields reads a meta.yaml, whose values are JSON.
func mlflowFields(t *testing.T, dir string) map[string]any {
	t.Helper()
	fields := map[string]any{}
	for line := range strings.Lines(string(testkit.Get(os.ReadFile(filepath.Join(dir, mlflowMeta))))) {
		name, value, _ := strings.Cut(line, ": ")
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatalf("%s: %q: %v", dir, line, err)
		}
		fields[name] = v
	}
	return fields
}

// mlflowMetric reads the last value of a metric and its step, as MLflow does: each line has a time
// in milliseconds, a number and a step.
func mlflowMetric(t *testing.T, path string) (value float64, step int) {
	t.Helper()
	for line := range strings.Lines(string(testkit.Get(os.ReadFile(path)))) {
		parts := strings.Split(strings.TrimSpace(line), " ")
		if len(parts) != 3 {
			t.Fatalf("%s: %q has %d parts, want 3", path, line, len(parts))
		}
		testkit.Get(strconv.ParseInt(parts[0], 10, 64))
		value = testkit.Get(strconv.ParseFloat(parts[1], 64))
		next := testkit.Get(strconv.Atoi(parts[2]))
		if next < step {
			t.Errorf("%s: step %d comes after %d", path, next, step)
		}
		step = next
	}
	return value, step
}

// TestExport: a store has what MLflow's FileStore requires of an experiment and a run, the metrics
// of all records, and the run's files without its checkpoints.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	run, store := filepath.Join(dir, "first"), filepath.Join(dir, "mlruns")
	runCommand(t, append([]string{"synthetic", "-quiet", "-report=false", "-out=" + run}, small...)...)
	path := strings.TrimSpace(runCommand(t, "export", "-mlflow", store, run))
	if again := runCommand(t, "export", run, "-mlflow="+store); strings.TrimSpace(again) != path {
		t.Errorf("the run is exported to %s, and again to %s", path, again)
	}
	experiment := filepath.Dir(path)
	for _, e := range []struct{ dir, name string }{{filepath.Join(store, "0"), "Default"}, {experiment, "synthetic"}} {
		f := mlflowFields(t, e.dir)
		if f["experiment_id"] != filepath.Base(e.dir) || f["name"] != e.name || f["lifecycle_stage"] != "active" ||
			f["artifact_location"] != "file://"+e.dir {
			t.Errorf("experiment %s: %v", e.dir, f)
		}
	}
	f := mlflowFields(t, path)
	const finished, local = 3., 4.
	if f["run_id"] != filepath.Base(path) || f["run_uuid"] != f["run_id"] ||
		f["experiment_id"] != filepath.Base(experiment) || f["run_name"] != "first" || f["status"] != finished ||
		f["source_type"] != local || f["lifecycle_stage"] != "active" ||
		f["artifact_uri"] != "file://"+path+"/artifacts" ||
		f["start_time"].(float64) > f["end_time"].(float64) || f["start_time"].(float64) < 1e12 {
		t.Errorf("run: %v", f)
	}
	folder := runs.Folder(run)
	records, summary := testkit.Get(folder.Records()), testkit.Get(folder.ReadSummary())
	last := records[len(records)-1]
	for name, want := range map[string]float64{"test_loss": float64(last.TestLoss), "hvp": float64(last.HVP),
		"phi": float64(last.Phi), "kept_phi": float64(summary.Models[len(summary.Models)-1].Phi)} {
		if got, step := mlflowMetric(t, filepath.Join(path, "metrics", name)); got != want || step != last.Iteration {
			t.Errorf("metric %s: %v at %d, want %v at %d", name, got, step, want, last.Iteration)
		}
	}
	for name, want := range map[string]string{"params/iterations": "4", "params/algorithm": "newtoncg",
		"tags/mlflow.runName": "first", "tags/mlflow.source.type": "LOCAL"} {
		if got := string(testkit.Get(os.ReadFile(filepath.Join(path, name)))); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	var artifacts []string
	for _, e := range testkit.Get(os.ReadDir(filepath.Join(path, "artifacts"))) {
		artifacts = append(artifacts, e.Name())
	}
	if got := strings.Join(artifacts, " "); got != "config.json lambda.npy metrics.jsonl omega.npy summary.json" {
		t.Errorf("artifacts: %s", got)
	}
}

// TestMLflowName: names of measures become names of files that MLflow takes, each its own.
func TestMLflowName(t *testing.T) {
	for name, want := range map[string]string{"recall of ill": "recall of ill", "recall of ../x": "recall of .._002fx",
		"phi": "phi", "recall of ä": "recall of _00e4", "params.mom_z": "params.mom_z",
		strings.Repeat("a", 300): strings.Repeat("a", 200)} {
		if got := mlflowName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
