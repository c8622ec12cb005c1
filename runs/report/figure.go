package report

import (
	"errors"
	"image/color"
	"math"
	"path/filepath"
	"slices"

	"dsbo"
	"dsbo/internal/files"
)

// A Figure is lines and points in one pair of axes with a legend below, or cells. Titles, labels
// and names are plain text in the typeface Liberation Sans, which has Greek letters and √ but no ∇.
type Figure struct {
	Title          string   // above the figure
	XLabel, YLabel string   // what the axes measure, with the unit
	XScale, YScale scale    // of the axes
	Series         []Series // curves
	// Cells, if not nil, are drawn in place of series: numbers as colours that grow in lightness,
	// the top row first, with a scale beside them. What is not finite stays empty.
	Cells   []float64
	Columns int // of the cells
}

// A Series is one line of a [Figure]. A NaN or infinite number is a gap.
type Series struct {
	Name string    // in the legend; "": it is not there
	X, Y []float64 // coordinates of the points, of one length
	// Low and High, if not nil, are the edges of a band around Y, of its length.
	Low, High []float64
	Reference bool // a grey line: a baseline, or a theoretical value
	Look      int  // 1 + the number of its look; 0: its number among the series
}

// A scale is the way in which numbers are placed on an axis.
type scale uint8

// The scales. On a logarithmic axis zeros and negative numbers are gaps.
const (
	linear scale = iota // equal steps
	Log                 // equal ratios
	auto                // logarithmic where numbers are positive and span more than 1.5 decades, else linear
)

// Draw draws a figure as an SVG document, under its title if it has one, on a ground or none.
// Package dsbo/experiment/compare sets it where a program links that, with gonum/plot and its
// fonts. Without it there are no figures but those that the page's script draws.
var Draw func(f *Figure, ground color.Color) ([]byte, error)

// Validate reports that nothing can be drawn, as [dsbo.ErrConfig].
func (f *Figure) Validate() error {
	x, y := f.Extents()
	drawn := f.Cells != nil && y.Low <= y.High
	for _, s := range f.Series {
		for i, at := range s.X {
			drawn = drawn || x.Has(at) && y.Has(s.Y[i])
		}
	}
	if !drawn {
		return dsbo.ConfigErrorf(
			"figure %q has no point to draw: one must be finite, and above 0 on logarithmic axes", f.Title)
	}
	return nil
}

// Save writes dir/name.svg, on white. A file that is there is replaced, as a whole or not at all;
// dir must exist. It fails as Validate does, and where there is no [Draw].
func Save(f *Figure, dir, name string) error {
	if Draw == nil {
		return errors.New("figures are drawn by programs that import dsbo/experiment/compare")
	}
	data, err := Draw(f, color.White)
	if err != nil {
		return err
	}
	return files.WriteBytes(filepath.Join(dir, name+".svg"), data)
}

// onAxis reports whether a number can be drawn on an axis. Beyond 1e300, or that close to 0 on a
// logarithmic one, there is no room left for the axis itself.
func onAxis(v float64, log bool) bool {
	const most = 1e300
	return math.Abs(v) < most && (!log || v > 1/most)
}

// An Extent is the range of the numbers of one axis.
type Extent struct {
	Low, High float64 // least and greatest number that is drawn
	Log       bool    // whether the axis is logarithmic
	positive  float64 // the smallest number above 0
}

// Has reports whether a number can be drawn on the axis.
func (e Extent) Has(v float64) bool { return onAxis(v, e.Log) }

// extentOf returns the range of numbers.
func extentOf(values ...float64) Extent {
	e := Extent{Low: math.Inf(1), High: math.Inf(-1), positive: math.Inf(1)}
	for _, v := range values {
		if onAxis(v, false) {
			e.Low, e.High = min(e.Low, v), max(e.High, v)
		}
		if onAxis(v, true) {
			e.positive = min(e.positive, v)
		}
	}
	return e
}

// scaled decides an axis. Exact zeros do not make an automatic axis linear: a consensus error
// starts at 0 and is best seen on a logarithmic axis all the same.
func (e Extent) scaled(s scale) Extent {
	e.Log = s == Log || s == auto && e.Low >= 0 && math.Log10(e.High)-math.Log10(e.positive) > 1.5
	if e.Log {
		e.Low = e.positive
	}
	return e
}

// Extents returns the ranges of what is drawn, with the axes' scales; y is of the cells where there
// are any.
func (f *Figure) Extents() (x, y Extent) {
	xs, ys := []float64{}, slices.Clone(f.Cells)
	for _, s := range f.Series {
		for i, at := range s.X {
			xs = append(xs, at) // at a gap too: figures side by side keep the same axis
			if !onAxis(at, false) || !onAxis(s.Y[i], false) {
				continue
			}
			if ys = append(ys, s.Y[i]); s.Low != nil {
				ys = append(ys, s.Low[i], s.High[i])
			}
		}
	}
	return extentOf(xs...).scaled(f.XScale), extentOf(ys...).scaled(f.YScale)
}
