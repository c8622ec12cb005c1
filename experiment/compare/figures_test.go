package compare

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot"

	"dsbo/runs/report"
)

// TestLooks: each of many series has a pair of colour and dashes of its own, in the page's colour.
func TestLooks(t *testing.T) {
	seen := map[string]int{}
	for i := range 16 {
		l := seriesLook(i)
		colour, written := l.line.Color.(color.NRGBA), report.LookOf(i).Color
		if hex := fmt.Sprintf("#%02X%02X%02X", colour.R, colour.G, colour.B); hex != written {
			t.Errorf("series %d is %s, on the page %s", i, hex, written)
		}
		look := fmt.Sprint(colour, l.line.Dashes)
		if j, there := seen[look]; there {
			t.Errorf("series %d and %d look alike", j, i)
		}
		seen[look] = i
	}
}

// TestDecades: a logarithmic axis ends at powers of ten, which have labels.
func TestDecades(t *testing.T) {
	for _, c := range []struct {
		low, high, from, to float64
	}{{2, 6.5, 1, 10}, {1e-5, 1e-1, 1e-5, 1e-1}, {1000, 1000, 1000, 10000}, {0.3, 1000, 0.1, 1000}} {
		var a plot.Axis
		ends := report.Series{X: []float64{0, 1}, Y: []float64{c.low, c.high}}
		f := report.Figure{YScale: report.Log, Series: []report.Series{ends}}
		_, e := f.Extents()
		setAxis(&a, e)
		if math.Abs(a.Min/c.from-1) > 0.01 || math.Abs(a.Max/c.to-1) > 0.01 {
			t.Errorf("%g to %g: an axis from %g to %g, want %g to %g", c.low, c.high, a.Min, a.Max, c.from, c.to)
		}
		labels := 0
		for _, k := range a.Tick.Marker.Ticks(a.Min, a.Max) {
			if k.Label != "" && k.Value >= a.Min && k.Value <= a.Max {
				labels++
			}
		}
		if want := 1 + int(math.Round(math.Log10(c.to/c.from))); labels != want {
			t.Errorf("%g to %g: %d labels, want %d", c.low, c.high, labels, want)
		}
	}
}

// TestCellGrid: gonum/plot has the lowest row first, a figure the top row.
func TestCellGrid(t *testing.T) {
	g := cellGrid{[]float64{1, 2, 3, 4}, 2, 0, 1}
	if g.Z(0, 1) != 1 || g.Z(1, 0) != 4 {
		t.Errorf("the first cell is %g, and the last one %g", g.Z(0, 1), g.Z(1, 0))
	}
}
