package report

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
	"pgregory.net/rapid"
)

func labels(ticks []plot.Tick) []string {
	var ls []string
	for _, t := range ticks {
		if t.Label != "" {
			ls = append(ls, t.Label)
		}
	}
	return ls
}

func TestTicks(t *testing.T) {
	linear, whole, log := ticker{}, ticker{integers: true}, ticker{log: true}
	tests := []struct {
		name      string
		t         ticker
		low, high float64
		want      []string
	}{
		{"tenths", linear, 0.62, 0.93, []string{"0.7", "0.8", "0.9"}},
		{"around 0", linear, -1, 1, []string{"-1", "0", "1"}},
		{"one count", whole, 0, 1.02, []string{"0", "1"}},
		{"counts", whole, 0, 102, []string{"0", "20", "40", "60", "80", "100"}},
		{"counts from 1 on", whole, 1, 13, []string{"5", "10"}},
		{"thousands", linear, 0, 45000, []string{"0", "20000", "40000"}},
		{"small", linear, 1e-5, 4.2e-5, []string{"1e-05", "2e-05", "3e-05", "4e-05"}},
		{"nearly one number", linear, 12.30021, 12.30039, []string{"12.30021", "12.3003", "12.30039"}},
		{"powers", log, 1e-5, 1e-1, []string{"1e-05", "0.0001", "0.001", "0.01", "0.1"}},
		{"every second power", log, 1e-12, 1, []string{"1e-12", "1e-10", "1e-08", "1e-06", "0.0001", "0.01", "1"}},
		{"plain powers", log, 0.01, 1000, []string{"0.01", "0.1", "1", "10", "100", "1000"}},
		{"few powers", log, 0.3, 25, []string{"1", "10"}},
		{"less than a power", log, 2, 6.5, []string{"2", "4", "6"}},
		{"one power", log, 48, 410, []string{"100", "200", "300", "400"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, labels(tt.t.Ticks(tt.low, tt.high))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the range, ticks lie inside, and no two read the same.
func TestTicksOfAnyRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e9, 1e9).Draw(t, "low")
		// A range below 1e-8 of the numbers needs more digits than a label has room for.
		high := low + math.Abs(low)*rapid.Float64Range(1e-8, 2).Draw(t, "share") +
			rapid.Float64Range(1e-9, 1e9).Draw(t, "more")
		seen := map[string]bool{}
		for _, k := range (ticker{}).Ticks(low, high) {
			if slack := (high - low) * 1e-6; k.Value < low-slack || k.Value > high+slack {
				t.Fatalf("tick %g outside of %g to %g", k.Value, low, high)
			}
			if k.Label != "" && seen[k.Label] {
				t.Fatalf("two ticks %q", k.Label)
			}
			seen[k.Label] = true
		}
		if len(seen) < 3 {
			t.Fatalf("%d labels", len(seen)-1)
		}
	})
}
