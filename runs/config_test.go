package runs

import (
	"encoding/json"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// TestConfigValues: the method's parameters have their own names among the settings, and the build
// stands apart.
func TestConfigValues(t *testing.T) {
	c := Config{Params: json.RawMessage(`{"alpha": 0.5}`), Problem: json.RawMessage(`{"model": "softmax"}`),
		Build: Build{Go: "go1.26"}}
	if c.Model() != "softmax" || (Config{}).Model() != "" {
		t.Errorf("model %q, and %q of none", c.Model(), Config{}.Model())
	}
	settings, build := testkit.Get2(c.Values())
	for name, want := range map[string]string{"alpha": "0.5", "problem.model": "softmax", "batch": "0"} {
		if !slices.ContainsFunc(settings, func(d Difference) bool { return d.Name == name && d.This == want }) {
			t.Errorf("no %s = %s in %v", name, want, settings)
		}
	}
	if !slices.ContainsFunc(build, func(d Difference) bool { return d.Name == "go" && d.This == "go1.26" }) {
		t.Errorf("no go = go1.26 in %v", build)
	}
}
