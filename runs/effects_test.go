package runs

import (
	"encoding/json"
	"testing"

	"dsbo/internal/testkit"
)

// TestOlderCoefficients: a coefficient that an older program has written has its kept weight, and
// no estimate and no error, which was of another thing.
func TestOlderCoefficients(t *testing.T) {
	var c Coefficient
	testkit.OK(json.Unmarshal([]byte(`{"feature": "age", "value": 2, "error": 0.1, "deviation": 3}`), &c))
	if c.Value != 2 || c.Step() != 3 || c.Estimate.Known() || c.Error.Known() || c.Low.Known() || c.High.Known() {
		t.Errorf("%+v", c)
	}
	whole := Coefficient{Feature: "age", Value: 2, Estimate: 3, Error: .5, Low: 1, High: 5}
	testkit.OK(json.Unmarshal(testkit.Get(json.Marshal(whole)), &c))
	if c != whole {
		t.Errorf("%+v, want %+v", c, whole)
	}
}
