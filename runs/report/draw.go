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
	figureWidth = 370
	plotHeight  = 250 // without title and legend
	sampleWidth = 26  // length of a line in the legend
	sampleGap   = 8   // between columns of the legend
	fontSlack   = 1.2 // factor for a browser with another typeface than the one measured
	fewPoints   = 11  // a line of no more points has a marker at each
)

// An entry is a name in the legend, with what it names.
type entry struct {
	name    string
	samples []plot.Thumbnailer
}

// size returns the width and the height of plot, label of x and legend, in points.
func (f *Figure) size() (width, height vg.Length) {
	width = figureWidth - 2*edge
	_, entries := f.plot()
	_, below := legends(entries, width)
	return width, plotHeight + below
}

// draw draws plot, label of x and legend, each in a strip of its own, so that none can cover
// another. (An axis of gonum's that knew its label would keep room for it beside its middle number,
// which on a logarithmic axis is far to the right.)
func (f *Figure) draw(c draw.Canvas) {
	p, entries := f.plot()
	columns, height := legends(entries, c.Max.X-c.Min.X)
	for i, l := range columns {
		width := (c.Max.X - c.Min.X) / vg.Length(len(columns))
		strip := c
		strip.Min.X, strip.Max.Y = c.Min.X+vg.Length(i)*width, c.Min.Y+height-edge
		l.Draw(strip)
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

// legends deals the entries into as many columns as the width has room for, and returns the height
// that they need.
func legends(entries []entry, width vg.Length) (columns []plot.Legend, height vg.Length) {
	if len(entries) == 0 {
		return nil, 0
	}
	style := textStyle(tickSize, ink)
	widest := vg.Length(0)
	for i, e := range entries {
		entries[i].name = shortened(e.name, style, (width-sampleWidth-2*sampleGap)/fontSlack)
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

// plot builds axes, grid, levels and series, and the entries of the legend. A series without a name
// has none.
func (f *Figure) plot() (*plot.Plot, []entry) {
	p := plot.New()
	p.BackgroundColor = nil
	x, y := f.extents(0)
	grid := draw.LineStyle{Color: faint, Width: 0.6}
	p.Add(&plotter.Grid{Vertical: grid, Horizontal: grid})
	var lines []plot.Plotter
	var entries []entry
	next := 0
	for _, s := range f.Series {
		style := look{line: greyLine(0)}
		if !s.Reference {
			style = seriesLook(cmp.Or(s.look, next+1) - 1)
			next++
		}
		drawn, samples := s.lines(style, x, y)
		p.Add(s.bands(style, x, y)...) // below all lines
		lines = append(lines, drawn...)
		if s.Name != "" {
			entries = append(entries, entry{s.Name, samples})
		}
	}
	for i, l := range f.Levels {
		if !onAxis(l.Y, y.log) {
			continue
		}
		level := plotter.NewFunction(func(float64) float64 { return l.Y })
		level.Samples, level.LineStyle = 2, greyLine(i)
		p.Add(level)
		if l.Name != "" {
			entries = append(entries, entry{l.Name, []plot.Thumbnailer{level}})
		}
	}
	p.Add(lines...)
	p.X.Min, p.X.Max = x.limits()
	p.Y.Min, p.Y.Max = y.limits()
	for _, at := range f.XMarks {
		if at >= p.X.Min && at <= p.X.Max {
			p.Add(&plotter.Line{XYs: plotter.XYs{{X: at, Y: p.Y.Min}, {X: at, Y: p.Y.Max}},
				LineStyle: draw.LineStyle{Color: muted, Width: 0.8, Dashes: []vg.Length{1, 2}}})
		}
	}
	styleAxis(&p.X, ticker{log: x.log, integers: f.XCount})
	styleAxis(&p.Y, ticker{log: y.log})
	return p, entries
}

// styleAxis sets scale, ticks and looks of an axis that has its limits.
func styleAxis(a *plot.Axis, t ticker) {
	if t.log {
		a.Scale = plot.LogScale{}
	}
	a.Tick.Marker = plot.ConstantTicks(t.Ticks(a.Min, a.Max)) // once: a plot asks for them many times
	a.Tick.Label.Color = muted
	a.Tick.Label.Font.Size = tickSize
	a.Tick.Label.Font.Variant = "Sans"
	a.Tick.Length = 3
	a.Tick.LineStyle = draw.LineStyle{Color: muted, Width: 0.6}
	a.LineStyle = a.Tick.LineStyle
}

// pieces splits points at the gaps between them, where x or any y cannot be drawn: from an index to
// before another.
func pieces(x, y extent, xs []float64, ys ...[]float64) (all [][2]int) {
	from := 0
	for i := range len(xs) + 1 {
		drawn := i < len(xs) && onAxis(xs[i], x.log)
		for _, v := range ys {
			drawn = drawn && onAxis(v[i], y.log)
		}
		if drawn {
			continue
		}
		if i > from {
			all = append(all, [2]int{from, i})
		}
		from = i + 1
	}
	return all
}

// points are the points of a piece.
func points(xs, ys []float64, piece [2]int) plotter.XYs {
	var all plotter.XYs
	for i := piece[0]; i < piece[1]; i++ {
		all = append(all, plotter.XY{X: xs[i], Y: ys[i]})
	}
	return all
}

// lines returns the lines and markers of a series, and what stands beside its name in the legend.
func (s *Series) lines(style look, x, y extent) (drawn []plot.Plotter, samples []plot.Thumbnailer) {
	marked := !s.Reference && len(s.X) <= fewPoints
	samples = append(samples, &plotter.Line{LineStyle: style.line})
	if marked {
		samples = append(samples, &plotter.Scatter{GlyphStyle: style.marker})
	}
	for _, piece := range pieces(x, y, s.X, s.Y) {
		line := points(s.X, s.Y, piece)
		if len(line) > 1 {
			drawn = append(drawn, &plotter.Line{XYs: line, LineStyle: style.line})
		}
		if marked || len(line) == 1 && !s.Reference {
			drawn = append(drawn, &plotter.Scatter{XYs: line, GlyphStyle: style.marker})
		}
	}
	return drawn, samples
}

// bands returns the areas between Low and High, one for each piece without a gap in Y or in either.
func (s *Series) bands(style look, x, y extent) (areas []plot.Plotter) {
	if s.Low == nil {
		return nil
	}
	for _, piece := range pieces(x, y, s.X, s.Y, s.Low, s.High) {
		above, below := points(s.X, s.High, piece), points(s.X, s.Low, piece)
		slices.Reverse(below)
		edge := draw.LineStyle{Color: style.band, Width: 1}
		areas = append(areas, &plotter.Polygon{XYs: []plotter.XYs{append(above, below...)}, Color: style.band,
			LineStyle: edge})
	}
	return areas
}
