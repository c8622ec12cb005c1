package runs

import (
	"encoding/json"
	"math"
	"testing"
)

func TestDiff(t *testing.T) {
	for _, tt := range []struct{ there, here, want string }{
		{`{"a": 1, "b": [1, 2]}`, `{"b": [1,2], "a": 1}`, ""},
		{`{"a": 1}`, `{"a": 1, "b": 2}`, "b is unset there, 2 here"},
		{`{"a": "x", "b": 2}`, `{"a": "y"}`, "a is x there, y here, b is 2 there, unset here"},
		{`{"a": {"c": 1, "d": null}}`, `{"a": {"c": 2, "d": null}}`, "a.c is 1 there, 2 here"},
		{`{"seed": 1, "iterations": 40}`, `{"seed": 5, "iterations": 50}`,
			"-seed is 1 there, 5 here, -K is 40 there, 50 here"},
		{`{"settings": {"seed": 1, "task": {"model": "softmax"}}}`,
			`{"settings": {"seed": 2, "task": {"model": "mlp"}}}`,
			"-seed is 1 there, 2 here, -model is softmax there, mlp here"},
		{`{"params": {"alpha": 1, "mom_z": 0.9}}`, `{"params": {"alpha": 2}}`,
			"-alpha is 1 there, 2 here, -set mom_z is 0.9 there, unset here"},
		{`{"a": null}`, `{"a": "x"}`, "a is null there, x here"},
		{`{"a": ""}`, `{"a": "1"}`, "a is  there, 1 here"},
		{`{"average": {"Wire": "float32", "Seed": 1}, "settings": {"seed": 1}}`,
			`{"average": {"Wire": "int8", "Seed": 2}, "settings": {"seed": 2}}`,
			"-seed is 1 there, 2 here, -wire is float32 there, int8 here"},
		{`{"examples": ["a", "b"], "q": 2, "settings": {"flags": {"val": "20"}, "task": {"val": 20}}}`,
			`{"examples": ["c", "d"], "q": 3, "settings": {"flags": {"val": "30"}, "task": {"val": 24}}}`,
			"-val is 20 there, 30 here"},
		{`{"examples": ["a", "b", "c"]}`, `{"examples": ["a", "x", "y"]}`, "other examples at agents 1, 2"},
		{`{"examples": ["a", "b", "c"]}`, `{"examples": ["a", "x", "c"]}`, "other examples at agent 1"},
		{`{"examples": ["a"]}`, `{"examples": ["a", "x"]}`,
			`the hash of each agent's examples is ["a"] there, ["a","x"] here`},
		{`{"params": {}, "start": 0}`, `{"params": {"init": "x0"}, "start": 2}`, "-x0 is 0 there, 2 here"},
		{`{"problem": {"r": 1}}`, `{"problem": {"r": 2}}`, "-r is 1 there, 2 here"},
	} {
		if got, err := Diff(json.RawMessage(tt.there), json.RawMessage(tt.here)); err != nil ||
			got.String() != tt.want {
			t.Errorf("%s, %s: %q, %v, want %q", tt.there, tt.here, got, err, tt.want)
		}
	}
}

// TestDiffOfOneBit: two numbers that differ in one bit are not the same.
func TestDiffOfOneBit(t *testing.T) {
	a, b := Record{Phi: 0.1}, Record{Phi: Number(math.Nextafter(0.1, 1))}
	if got, err := Diff(a, b); err != nil || got.String() != "phi is 0.1 there, 0.10000000000000002 here" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLarger(t *testing.T) {
	for _, tt := range []struct{ a, b, want Number }{{1, 2, 2}, {2, 1, 2}, {Unknown(), 1, 1}, {1, Unknown(), 1}} {
		if got := maxNumber(tt.a, tt.b); got != tt.want {
			t.Errorf("larger(%v, %v) = %v", tt.a, tt.b, got)
		}
	}
	if got := maxNumber(Unknown(), Unknown()); got.Known() {
		t.Errorf("of what is not known, %v", got)
	}
}
