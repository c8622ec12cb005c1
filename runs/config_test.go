package runs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestConfigValues: the method's parameters have their own names among the settings, and the build stands apart.
func TestConfigValues(t *testing.T) {
	c := Config{Params: json.RawMessage(`{"alpha": 0.5}`), Problem: json.RawMessage(`{"model": "softmax"}`), Build: Build{Go: "go1.26"}}
	if c.Model() != "softmax" || (Config{}).Model() != "" {
		t.Errorf("model %q, and %q of none", c.Model(), Config{}.Model())
	}
	settings, build, err := c.Values()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"alpha": "0.5", "problem.model": "softmax", "batch": "0"} {
		if !slices.ContainsFunc(settings, func(d Difference) bool { return d.Name == name && d.Here == want }) {
			t.Errorf("no %s = %s in %v", name, want, settings)
		}
	}
	if !slices.ContainsFunc(build, func(d Difference) bool { return d.Name == "go" && d.Here == "go1.26" }) {
		t.Errorf("no go = go1.26 in %v", build)
	}
}

// TestMissingNumbersAreUnknown: what an older program has not written is not 0.
func TestMissingNumbersAreUnknown(t *testing.T) {
	records, cut, err := ReadRecords("metrics", strings.NewReader(`{"iteration": 1, "test_loss": 2}`+"\n"))
	if err != nil || cut || len(records) != 1 {
		t.Fatal(records, cut, err)
	}
	if r := records[0]; r.Phi.Known() || r.TestLoss != 2 {
		t.Errorf("Φ %v, want unknown; test loss %v, want 2", r.Phi, r.TestLoss)
	}
}
