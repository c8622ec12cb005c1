package report

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
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
	tests := []struct {
		name  string
		ticks []plot.Tick
		want  []string
	}{
		{"tenths", linearTicks(0.62, 0.93, 5, false), []string{"0.7", "0.8", "0.9"}},
		{"quarters", linearTicks(0, 1.1, 5, false), []string{"0", "0.25", "0.50", "0.75", "1.00"}},
		{"around 0", linearTicks(-1, 1, 5, false), []string{"−1.0", "−0.5", "0", "0.5", "1.0"}},
		{"counts", linearTicks(0, 1.02, 5, true), []string{"0", "1"}},
		{"more counts", linearTicks(0, 102, 5, true), []string{"0", "25", "50", "75", "100"}},
		{"a dozen counts", linearTicks(0, 12, 5, true), []string{"0", "5", "10"}},
		{"thousands", linearTicks(0, 45000, 5, false), []string{"0", "10k", "20k", "30k", "40k"}},
		{"millions", linearTicks(0, 4.5e7, 5, false), []string{"0", "10M", "20M", "30M", "40M"}},
		{"small", linearTicks(1e-5, 4.2e-5, 3, false), []string{"2×10^−5", "4×10^−5"}},
		{"across a thousandth", linearTicks(0.00096, 0.00107, 5, false), []string{"0.000975", "0.001000", "0.001025", "0.001050"}},
		{"across ten thousand", linearTicks(0, 12000, 4, false), []string{"0", "5k", "10k"}},
		{"nearly one number", linearTicks(0.30021, 0.30039, 4, false), []string{"0.30025", "0.30030", "0.30035"}},
		{"powers", logTicks(1e-7, 1e-1, 3), []string{"10^−7", "10^−6", "10^−5", "10^−4", "10^−3", "10^−2", "10^−1"}},
		{"every second power", logTicks(1e-12, 1, 3), []string{"10^−12", "10^−10", "10^−8", "10^−6", "10^−4", "10^−2", "10^0"}},
		{"plain powers", logTicks(0.01, 1000, 3), []string{"0.01", "0.1", "1", "10", "100", "1000"}},
		{"few powers", logTicks(0.3, 25, 3), []string{"0.5", "1", "2", "5", "10", "20"}},
		{"few powers, side by side", logTicks(0.3, 25, 1.6), []string{"1", "10"}},
		{"less than a power", logTicks(2, 6.5, 3), []string{"2", "4", "6"}},
		{"less than a power, and enough", logTicks(48, 410, 3), []string{"50", "100", "200"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, labels(tt.ticks)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the range, ticks lie inside, grow, and no two read the same.
func TestTicksOfAnyRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e9, 1e9).Draw(t, "low")
		// A range below 1e-9 of the numbers needs more digits than a label has room for.
		high := low + math.Abs(low)*rapid.Float64Range(1e-9, 2).Draw(t, "share") + rapid.Float64Range(1e-9, 1e9).Draw(t, "more")
		ticks := linearTicks(low, high, 5, false)
		if len(ticks) < 2 || len(ticks) > 8 {
			t.Fatalf("%d ticks", len(ticks))
		}
		seen := map[string]bool{}
		for i, k := range ticks {
			// The ticks at the ends may be past them by 1e-9 steps.
			if slack := (high - low) * 1e-8; k.Value < low-slack || k.Value > high+slack {
				t.Fatalf("tick %g outside of %g to %g", k.Value, low, high)
			}
			if i > 0 && k.Value <= ticks[i-1].Value {
				t.Fatalf("ticks do not grow: %v", ticks)
			}
			if seen[k.Label] {
				t.Fatalf("two ticks %q", k.Label)
			}
			seen[k.Label] = true
		}
	})
}

func TestFitLine(t *testing.T) {
	x := []float64{1, 10, 100, 1000, 0, 5}
	y := []float64{7, 7 / math.Sqrt(10), 0.7, 7 / math.Sqrt(1000), 3, math.NaN()} // the last two have no place
	l, err := FitLine(x, y, true, true)
	if err != nil {
		t.Fatal(err)
	}
	// Four exact points: the error is that of a few logarithms.
	if math.Abs(l.Slope+0.5) > 1e-14 || math.Abs(l.At(50)-7/math.Sqrt(50)) > 1e-13 {
		t.Errorf("slope %v, at 50 %v", l.Slope, l.At(50))
	}
	if l, err = FitLine([]float64{0, 1, 2}, []float64{8, 4, 2}, false, true); err != nil || l.label() != "×0.5 a step" {
		t.Errorf("%v %v", l.label(), err)
	}
	if _, err := FitLine([]float64{3, 3}, []float64{1, 2}, false, false); err == nil {
		t.Error("a line through points above each other")
	}
	if _, err := FitLine(nil, nil, false, false); err == nil {
		t.Error("a line through nothing")
	}
}

// Thinning keeps the ends and every extreme, and leaves at most four points a unit of width.
func TestThin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "n")
		run := make([]vg.Point, n)
		for i := range run {
			run[i] = vg.Point{X: vg.Length(i) / 20, Y: vg.Length(rapid.Float64Range(0, 100).Draw(t, "y"))}
		}
		kept := thin(run)
		if kept[0] != run[0] || kept[len(kept)-1] != run[n-1] {
			t.Fatal("an end is lost")
		}
		if most := 4 * (n/20 + 1); len(kept) > most {
			t.Fatalf("%d of %d points kept, want at most %d", len(kept), n, most)
		}
		span := func(ps []vg.Point) (low, high vg.Length) {
			low, high = ps[0].Y, ps[0].Y
			for _, p := range ps {
				low, high = min(low, p.Y), max(high, p.Y)
			}
			return low, high
		}
		l1, h1 := span(run)
		l2, h2 := span(kept)
		if l1 != l2 || h1 != h2 {
			t.Fatal("an extreme is lost")
		}
	})
}

func TestPieces(t *testing.T) {
	want := []piece{
		{text: "10"}, {text: "−5", raised: true}, {text: " "}, {sign: '‖'}, {sign: '∇'}, {text: "Φ("}, {text: "x", bar: true}, {text: ")"},
		{sign: '‖'}, {text: "2", raised: true}, {text: " "}, {text: "y", bar: true}, {text: "z", bar: true},
	}
	if diff := cmp.Diff(want, pieces("10^−5 ‖∇Φ(x̄)‖^2 y\u0304z̄"), cmp.AllowUnexported(piece{})); diff != "" {
		t.Error(diff)
	}
	want = []piece{
		{text: "x", bar: true}, {text: "k", lowered: true}, {text: " / L"}, {text: "max", lowered: true}, {text: ", "}, {sign: '∇'}, {text: "x", lowered: true},
		{text: " f, madsbo_tuned w_"},
	}
	if diff := cmp.Diff(want, pieces("x̄_k / L_max, ∇_x f, madsbo_tuned w_"), cmp.AllowUnexported(piece{})); diff != "" {
		t.Error(diff)
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 5.4412: "5.44", -0.25: "−0.25", -2.53e-5: "−2.53×10^−5", 6e7: "6×10^7"} {
		if got := short(v); got != want {
			t.Errorf("%g is %q, want %q", v, got, want)
		}
	}
}
