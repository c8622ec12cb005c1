package report

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	sampleWidth = 26   // of a line in the legend
	sampleGap   = 8    // between columns of the legend
	fontSlack   = 1.08 // for a browser with another typeface than the one measured
	fewPoints   = 11   // a line of no more points has a marker at each
)

// An entry is a name in the legend, with what it names.
type entry struct {
	name    string
	samples []plot.Thumbnailer
}

// size returns the width and the height of the whole figure, in points.
func (f *Figure) size() (width, height vg.Length) {
	width = cmp.Or(vg.Length(f.Width), 370)
	height = cmp.Or(vg.Length(f.Height), 250) + headingHeight(f.Title, f.YLabel) + 2*edge
	_, entries := f.plot()
	_, below := legends(entries, width-2*edge)
	return width, height + below
}

// draw draws title, label of y, plot, label of x and legend, each in a strip of its own, so that none can cover
// another. (An axis of gonum's that knew its label would keep room for it beside its middle number, which on a
// logarithmic axis is far to the right.)
func (f *Figure) draw(c draw.Canvas) {
	drawHeading(c, f.Title, f.YLabel)
	c.Max.Y -= headingHeight(f.Title, f.YLabel)
	p, entries := f.plot()
	columns, height := legends(entries, c.Max.X-c.Min.X)
	for i, l := range columns {
		width := (c.Max.X - c.Min.X) / vg.Length(len(columns))
		l.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: c.Min.X + vg.Length(i)*width, Y: c.Min.Y}, Max: vg.Point{X: c.Max.X, Y: c.Min.Y + height - edge},
		}})
	}
	c.Min.Y += height
	if f.XLabel != "" {
		style := textStyle(labelSize, muted)
		style.XAlign = draw.XCenter
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Min.Y + edge/2}, shortened(f.XLabel, style, c.Max.X-c.Min.X))
		c.Min.Y += lineHeight
	}
	p.Draw(c)
}

// legends deals the entries into as many columns as the width has room for, and returns the height that they need.
func legends(entries []entry, width vg.Length) (columns []plot.Legend, height vg.Length) {
	if len(entries) == 0 {
		return nil, 0
	}
	style := textStyle(tickSize, ink)
	widest := vg.Length(0)
	for i, e := range entries {
		entries[i].name = shortened(e.name, style, width-sampleWidth-2*sampleGap)
		widest = max(widest, sampleWidth+2*sampleGap+fontSlack*style.Width(entries[i].name))
	}
	rows := (len(entries)-1)/max(1, int(width/widest)) + 1
	for i, e := range entries {
		if i%rows == 0 {
			l := plot.NewLegend()
			l.TextStyle, l.ThumbnailWidth, l.Padding, l.Top, l.Left = style, sampleWidth, 4, true, true
			columns = append(columns, l)
		}
		columns[len(columns)-1].Add(e.name, e.samples...)
	}
	return columns, columns[0].Rectangle(draw.Canvas{}).Size().Y + 2*edge
}

// plot builds axes, grid, levels and series, and the entries of the legend. A series without a name has none.
func (f *Figure) plot() (*plot.Plot, []entry) {
	p := plot.New()
	p.BackgroundColor = nil
	xLog, yLog := f.logs()
	grid := draw.LineStyle{Color: faint, Width: 0.6}
	p.Add(&plotter.Grid{Vertical: grid, Horizontal: grid})

	var bands, lines []plot.Plotter
	var entries []entry
	next := 0
	for _, s := range f.Series {
		style := look{line: greyLine(0)}
		if !s.Reference {
			style = seriesLook(next)
			next++
		}
		name := s.Name
		drawn, samples := s.lines(style, xLog, yLog)
		bands = append(bands, s.bands(style, xLog, yLog)...)
		if fit, ends, ok := s.fit(xLog, yLog); ok {
			name += " (" + fit.label() + ")"
			drawn = append(drawn, &plotter.Line{XYs: ends, LineStyle: draw.LineStyle{Color: style.line.Color, Width: 1, Dashes: []vg.Length{4, 3}}})
		}
		lines = append(lines, drawn...)
		if name != "" {
			entries = append(entries, entry{name, samples})
		}
	}
	for i, l := range f.Levels {
		if !onAxis(l.Y, yLog) {
			continue
		}
		level := plotter.NewFunction(func(float64) float64 { return l.Y })
		level.Samples, level.LineStyle = 2, greyLine(i)
		p.Add(level)
		if l.Name != "" {
			entries = append(entries, entry{l.Name, []plot.Thumbnailer{level}})
		}
	}
	p.Add(bands...) // below all lines
	p.Add(lines...)

	ex, ey := f.extents()
	p.X.Min, p.X.Max = ex.limits(xLog, 0.02)
	p.Y.Min, p.Y.Max = ey.limits(yLog, 0.06)
	styleAxis(&p.X, ticker{log: xLog, integers: f.XCount})
	styleAxis(&p.Y, ticker{log: yLog})
	return p, entries
}

// styleAxis sets scale, ticks and looks of an axis.
func styleAxis(a *plot.Axis, t ticker) {
	if t.log {
		a.Scale = plot.LogScale{}
	}
	a.Tick.Marker = t
	a.Tick.Label.Color = muted
	a.Tick.Label.Font.Size = tickSize
	a.Tick.Label.Font.Variant = "Sans"
	a.Tick.Length = 3
	a.Tick.LineStyle = draw.LineStyle{Color: muted, Width: 0.6}
	a.LineStyle = a.Tick.LineStyle
	a.Padding = 0
}

// pieces splits points at the gaps between them: at what cannot be drawn on the axes.
func pieces(x, y []float64, xLog, yLog bool) []plotter.XYs {
	all := []plotter.XYs{nil}
	for i := range x {
		last := len(all) - 1
		if onAxis(x[i], xLog) && onAxis(y[i], yLog) {
			all[last] = append(all[last], plotter.XY{X: x[i], Y: y[i]})
		} else if all[last] != nil {
			all = append(all, nil)
		}
	}
	return slices.DeleteFunc(all, func(piece plotter.XYs) bool { return piece == nil })
}

// lines returns the lines and markers of a series, and what stands beside its name in the legend.
func (s *Series) lines(style look, xLog, yLog bool) (drawn []plot.Plotter, samples []plot.Thumbnailer) {
	marked := s.Points || !s.Reference && len(s.X) <= fewPoints
	if !s.Points {
		samples = append(samples, &plotter.Line{LineStyle: style.line})
	}
	if marked {
		samples = append(samples, &plotter.Scatter{GlyphStyle: style.marker})
	}
	for _, piece := range pieces(s.X, s.Y, xLog, yLog) {
		if !s.Points && len(piece) > 1 {
			drawn = append(drawn, &plotter.Line{XYs: piece, LineStyle: style.line})
		}
		if marked || len(piece) == 1 && !s.Reference {
			drawn = append(drawn, &plotter.Scatter{XYs: piece, GlyphStyle: style.marker})
		}
	}
	return drawn, samples
}

// bands returns the areas between Low and High, one for each piece without a gap in Y or in either.
func (s *Series) bands(style look, xLog, yLog bool) []plot.Plotter {
	if s.Low == nil {
		return nil
	}
	var areas []plot.Plotter
	var above, below plotter.XYs
	closeArea := func() {
		if len(above) > 0 {
			slices.Reverse(below)
			areas = append(areas, &plotter.Polygon{
				XYs: []plotter.XYs{append(above, below...)}, Color: style.band, LineStyle: draw.LineStyle{Color: style.band, Width: 1},
			})
		}
		above, below = nil, nil
	}
	for i, x := range s.X {
		if !onAxis(x, xLog) || !onAxis(s.Y[i], yLog) || !onAxis(s.Low[i], yLog) || !onAxis(s.High[i], yLog) {
			closeArea()
			continue
		}
		above, below = append(above, plotter.XY{X: x, Y: s.High[i]}), append(below, plotter.XY{X: x, Y: s.Low[i]})
	}
	closeArea()
	return areas
}

// fit returns the fitted line of a series that asks for one and has the points for it, and its ends.
func (s *Series) fit(xLog, yLog bool) (l Line, ends plotter.XYs, ok bool) {
	if !s.Fit {
		return Line{}, nil, false
	}
	l, err := FitLine(s.X, s.Y, xLog, yLog)
	if err != nil {
		return Line{}, nil, false
	}
	x := noExtent()
	for _, piece := range pieces(s.X, s.Y, xLog, yLog) {
		for _, point := range piece {
			x.add(point.X)
		}
	}
	ends = plotter.XYs{{X: x.low, Y: l.At(x.low)}, {X: x.high, Y: l.At(x.high)}}
	return l, ends, onAxis(ends[0].Y, yLog) && onAxis(ends[1].Y, yLog)
}
