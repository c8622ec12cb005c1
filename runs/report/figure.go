package report

import "dsbo"

// A Figure is lines and points in one pair of axes, with a legend below. The zero value lacks
// only Series.
//
// Titles, labels and names are plain text in the typeface Liberation Sans, which has Greek letters
// and √ but no ∇.
type Figure struct {
	Title          string    // above the figure
	XLabel, YLabel string    // what the axes measure, with the unit
	XScale, YScale Scale     // of the axes
	XCount         bool      // x counts things: ticks at whole numbers only
	Series         []Series  // curves
	Levels         []Level   // horizontal lines
	XMarks         []float64 // thin upright lines, at x
}

// A Series is one line of a [Figure]. A NaN or infinite number is a gap.
type Series struct {
	Name string    // in the legend
	X, Y []float64 // coordinates of the points, of one length
	// Low and High, if not nil, are the edges of a band around Y, of its length.
	Low, High []float64
	Reference bool // a thin grey line, for what theory says
	look      int  // 1 + the number of its look; 0: its number among the series
}

// A Level is a horizontal line over the whole width, such as a baseline to compare with.
type Level struct {
	Name string  `json:"name"`
	Y    float64 `json:"y"`
}

// Validate reports the first series whose lengths differ, as [dsbo.ErrShape], or that nothing
// can be drawn, as [dsbo.ErrConfig].
func (f *Figure) Validate() error {
	for _, s := range f.Series {
		if n := len(s.Y); len(s.X) != n || s.Low != nil && len(s.Low) != n || s.High != nil && len(s.High) != n {
			return dsbo.ShapeErrorf(
				"series %q of figure %q has %d x, %d y, %d low and %d high: these lengths must be equal",
				s.Name, f.Title, len(s.X), len(s.Y), len(s.Low), len(s.High))
		}
		if (s.Low == nil) != (s.High == nil) {
			return dsbo.ShapeErrorf(
				"series %q of figure %q has one edge of a band: Low and High must both be given", s.Name, f.Title)
		}
	}
	x, y := f.extents(0)
	for _, s := range f.Series {
		if len(pieces(x, y, s.X, s.Y)) > 0 {
			return nil
		}
	}
	return dsbo.ConfigErrorf(
		"figure %q has no point to draw: one must be finite, and above 0 on logarithmic axes", f.Title)
}

// extents returns the ranges of what is drawn, of each series from a point on, and decides which
// axes are logarithmic.
func (f *Figure) extents(from int) (x, y extent) {
	x, y = noExtent(), noExtent()
	for _, s := range f.Series {
		for i := from; i < len(s.X); i++ {
			x.add(s.X[i]) // at a gap too: figures side by side keep the same axis
			if !onAxis(s.X[i], false) || !onAxis(s.Y[i], false) {
				continue
			}
			y.add(s.Y[i])
			if s.Low != nil {
				y.add(s.Low[i], s.High[i])
			}
		}
	}
	for _, l := range f.Levels {
		y.add(l.Y)
	}
	x.log, y.log = x.isLog(f.XScale, false), y.isLog(f.YScale, true)
	return x, y
}

func (f *Figure) heading() (title, label string) { return f.Title, f.YLabel }
