package train

import (
	"strings"
	"testing"

	"dsbo"
	"dsbo/network"
)

// TestWithoutPhi: records have Φ but where nothing evaluates, several solutions there may be, or
// the wire is narrower than float32; the reason is told.
func TestWithoutPhi(t *testing.T) {
	for _, c := range []struct {
		off, nonconvex bool
		wire           network.Wire
		want           string
	}{
		{false, false, network.Float64, ""}, {false, false, network.Float32, ""},
		{false, false, network.BF16, "narrower than float32"}, {false, false, network.Int8, "narrower than"},
		{true, false, network.Float64, "evaluation is off"}, {false, true, network.Float64, "several solutions"},
	} {
		of := Config{Evaluate: EvaluateExact}
		if c.off {
			of.Evaluate = EvaluateOff
		}
		of.Problem.Evaluate, of.Problem.Nonconvex = []dsbo.ValueOracle{nil}, c.nonconvex
		of.Problem.Average.Wire = c.wire
		if got := of.withoutPhi(); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := (Config{}).withoutPhi(); !strings.Contains(got, "no oracles for evaluation") {
		t.Errorf("nothing evaluates: %q", got)
	}
}
