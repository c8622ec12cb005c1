package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of all figures, in points. They are chosen for a phone, where the default width becomes that of the screen.
const (
	titleSize = 12
	labelSize = 10.5
	tickSize  = 10
	lineGap   = 5
	edge      = 6 // around the whole figure
)

// A layout is a figure cut into title, label, plot and legend.
type layout struct {
	figure        *Figure
	plot          *plot.Plot
	legend        legend
	width, height vg.Length
	plotHeight    vg.Length
}

// layout checks the figure and measures its parts.
func (f *Figure) layout() (*layout, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	l := &layout{figure: f, width: vg.Length(f.Width), plotHeight: vg.Length(f.Height)}
	if l.width == 0 {
		l.width = 370
	}
	if l.plotHeight == 0 {
		l.plotHeight = 250
	}
	l.plot = f.plot()
	l.legend = f.legend(l.width - 2*edge)
	l.height = l.plotHeight + l.legend.height() + 2*edge
	if f.Title != "" {
		l.height += titleSize + 2*lineGap
	}
	if f.YLabel != "" {
		l.height += labelSize + lineGap
	}
	return l, nil
}

// draw draws the whole figure. Title, labels, plot and legend each have their own strip, so that none
// can cover another. (An axis of the plot that knew its label would keep room for it beside its middle number, which
// on a logarithmic axis is far to the right.)
func (l *layout) draw(c draw.Canvas, background bool) {
	if background {
		c.SetColor(cardRole().shade)
		c.Fill(c.Rectangle.Path())
	}
	c = draw.Crop(c, edge, -edge, edge, -edge)
	if t := l.figure.Title; t != "" {
		style := textStyle(titleSize, inkRole().shade)
		c.Max.Y -= titleSize
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, shorten(t, style, c.Max.X-c.Min.X))
		c.Max.Y -= 2 * lineGap
	}
	if y := l.figure.YLabel; y != "" {
		style := textStyle(labelSize, mutedRole().shade)
		c.Max.Y -= labelSize
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, shorten(y, style, c.Max.X-c.Min.X))
		c.Max.Y -= lineGap
	}
	l.legend.draw(draw.Crop(c, 0, 0, 0, -l.plotHeight))
	below := l.legend.height()
	if x := l.figure.XLabel; x != "" {
		style := textStyle(labelSize, mutedRole().shade)
		style.XAlign = -0.5
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Min.Y + below + lineGap/2}, shorten(x, style, c.Max.X-c.Min.X))
		below += labelSize + lineGap
	}
	l.plot.Draw(draw.Crop(c, 0, 0, below, 0))
}

// plot builds axes, grid, levels and curves.
func (f *Figure) plot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	xLog, yLog := f.logs()
	ex, ey := f.extents()
	p.X.Min, p.X.Max = ex.limits(xLog, 0.02)
	p.Y.Min, p.Y.Max = ey.limits(yLog, 0.06)
	p.X.Tick.Marker = plot.ConstantTicks(ticks(p.X, xLog, f.XCount, 1.6)) // labels side by side take more room
	p.Y.Tick.Marker = plot.ConstantTicks(ticks(p.Y, yLog, false, 3))
	dress(&p.X, xLog)
	dress(&p.Y, yLog)

	grid := draw.LineStyle{Color: gridRole().shade, Width: 0.6}
	p.Add(&plotter.Grid{Vertical: grid, Horizontal: grid})
	for i, l := range f.Levels {
		if onAxis(l.Y, yLog) {
			p.Add(horizontal{y: l.Y, style: levelStyle(i)})
		}
	}
	bands, lines := f.curves(xLog, yLog)
	p.Add(bands...)
	p.Add(lines...)
	return p
}

// ticks returns the ticks of an axis whose range is set.
func ticks(a plot.Axis, log, whole bool, fine float64) []plot.Tick {
	if log {
		return logTicks(a.Min, a.Max, fine)
	}
	return linearTicks(a.Min, a.Max, 5, whole)
}

// dress sets the scale and the looks of an axis.
func dress(a *plot.Axis, log bool) {
	if log {
		a.Scale = plot.LogScale{}
	}
	align := a.Tick.Label
	a.Tick.Label = textStyle(tickSize, mutedRole().shade)
	a.Tick.Label.XAlign, a.Tick.Label.YAlign = align.XAlign, align.YAlign
	a.Tick.Length = 3
	a.Tick.LineStyle = draw.LineStyle{Color: mutedRole().shade, Width: 0.6}
	a.LineStyle = a.Tick.LineStyle
	a.Padding = 0
}

// curves returns what draws the series: all bands below all lines.
func (f *Figure) curves(xLog, yLog bool) (bands, lines []plot.Plotter) {
	looks := f.looks()
	for i, s := range f.Series {
		at := func(y []float64) []plotter.XY {
			points := make([]plotter.XY, len(s.X))
			for j := range points {
				points[j] = plotter.XY{X: math.NaN(), Y: math.NaN()}
				if onAxis(s.X[j], xLog) && onAxis(y[j], yLog) {
					points[j] = plotter.XY{X: s.X[j], Y: y[j]}
				}
			}
			return points
		}
		if s.Low != nil {
			bands = append(bands, band{low: at(s.Low), high: at(s.High), colour: looks[i].colour.at(bandAlpha)})
		}
		lines = append(lines, curve{points: at(s.Y), look: looks[i], alone: s.Points, bare: s.Reference, place: i})
		if fit, ok := f.fit(s); ok {
			e := noExtent()
			for _, p := range at(s.Y) {
				e.add(p.X)
			}
			ends := []plotter.XY{{X: e.low, Y: fit.At(e.low)}, {X: e.high, Y: fit.At(e.high)}}
			if onAxis(ends[0].Y, yLog) && onAxis(ends[1].Y, yLog) {
				lines = append(lines, curve{points: ends, look: fitLook(looks[i]), bare: true})
			}
		}
	}
	return bands, lines
}

// fit returns the fitted line of a series that asks for one and has the points for it.
func (f *Figure) fit(s Series) (Line, bool) {
	if !s.Fit {
		return Line{}, false
	}
	xLog, yLog := f.logs()
	l, err := FitLine(s.X, s.Y, xLog, yLog)
	return l, err == nil
}

// looks returns the look of each series; references take none of the colours.
func (f *Figure) looks() []look {
	looks := make([]look, len(f.Series))
	next := 0
	for i, s := range f.Series {
		if s.Reference {
			looks[i] = look{colour: mutedRole().shade, dashes: []vg.Length{1.5, 2.5}, width: 1.1}
			continue
		}
		looks[i] = lookOf(next)
		next++
	}
	return looks
}

func fitLook(l look) look {
	return look{colour: l.colour, dashes: []vg.Length{4, 3}, width: 1}
}

// levelStyle is the grey line of level i.
func levelStyle(i int) draw.LineStyle {
	dashes := [][]vg.Length{{1, 2}, {5, 2, 1, 2}, {8, 4}}
	return draw.LineStyle{Color: mutedRole().shade, Width: 1.1, Dashes: dashes[i%len(dashes)]}
}
