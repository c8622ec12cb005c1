package report

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dsbo"
)

// A picture shows a rectangle of numbers, such as one regularization weight for each pixel of
// MNIST, as colours with a scale beside them. The colours grow in lightness as the numbers do.
type picture struct {
	Title      string
	Label      string // what the numbers are
	Rows, Cols int
	Cells      []float64 // Rows·Cols numbers, the top row first; what is not finite stays empty
}

// Sizes of a picture, in points: cells of MNIST lie on whole pixels.
const (
	cellsSize  = 280 // width of the cells; twice as much where there are several pictures in one
	scaleWidth = 64  // width of the colour scale with its numbers
	shades     = 64
)

// Validate reports a wrong number of cells, as [dsbo.ErrShape], or that none is finite,
// as [dsbo.ErrConfig].
func (p *picture) Validate() error {
	if p.Rows < 1 || p.Cols < 1 || len(p.Cells) != p.Rows*p.Cols {
		return dsbo.ShapeErrorf(
			"picture %q has %d cells: it must have %d rows of %d", p.Title, len(p.Cells), p.Rows, p.Cols)
	}
	if e := p.extent(); e.high < e.low {
		return dsbo.ConfigErrorf("picture %q has no finite number", p.Title)
	}
	return nil
}

func (p *picture) extent() extent {
	e := noExtent()
	e.add(p.Cells...)
	return e
}

// heading says what the numbers are, with their range.
func (p *picture) heading() (title, label string) {
	e := p.extent()
	return p.Title, fmt.Sprintf("%s, from %.3g to %.3g", p.Label, e.low, e.high)
}

func (p *picture) size() (width, height vg.Length) {
	cells := p.cellsWidth()
	return cells + scaleWidth, cells * vg.Length(p.Rows) / vg.Length(p.Cols)
}

// cellsWidth is the width without the scale.
func (p *picture) cellsWidth() vg.Length {
	if p.Cols > p.Rows {
		return 2 * cellsSize
	}
	return cellsSize
}

// draw draws the cells and the colour scale.
func (p *picture) draw(c draw.Canvas) {
	e := p.extent()
	if e.low == e.high { // one number: the middle of the scale
		e.low, e.high = e.limits()
	}
	cells := heatMap(e, grid{p.Cols, p.Rows, func(r int) float64 { return float64(r) },
		func(column, r int) float64 { return p.Cells[(p.Rows-1-r)*p.Cols+column] }})
	cells.HideAxes()
	cells.Draw(draw.Crop(c, 0, -scaleWidth, 0, 0))

	shade := func(r int) float64 { return e.low + (e.high-e.low)*(float64(r)+0.5)/shades }
	scale := heatMap(e, grid{1, shades, shade, func(_, r int) float64 { return shade(r) }})
	scale.HideX()
	styleAxis(&scale.Y, ticker{})
	scale.Y.Padding = 0
	scale.Draw(draw.Crop(c, p.cellsWidth()+edge, 0, 0, 0))
}

// A grid is numbers in columns and rows. It implements [plotter.GridXYZ].
type grid struct {
	columns, rows int
	y             func(row int) float64
	z             func(column, row int) float64
}

func (g grid) Dims() (c, r int)   { return g.columns, g.rows }
func (g grid) X(c int) float64    { return float64(c) }
func (g grid) Y(r int) float64    { return g.y(r) }
func (g grid) Z(c, r int) float64 { return g.z(c, r) }

// heatMap is a plot of a grid in the colours of a range.
func heatMap(e extent, g grid) *plot.Plot {
	h := plotter.NewHeatMap(g, colours())
	h.Min, h.Max = e.low, e.high
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Padding, p.Y.Padding = 0, 0
	cells := struct { // without the glyph boxes, which would leave a margin
		plot.Plotter
		plot.DataRanger
	}{h, h}
	p.Add(cells, cells) // twice, as the edges of a cell let the ground through
	return p
}

// colours go from dark blue over green to yellow, evenly in lightness. The darkest is not black and
// the lightest not white, so that an empty cell shows.
func colours() palette.Palette {
	m, err := moreland.NewLuminance([]color.Color{
		color.NRGBA{0x2A, 0x16, 0x4D, 0xff}, color.NRGBA{0x33, 0x4A, 0x8F, 0xff}, color.NRGBA{0x1F, 0x81, 0x86, 0xff},
		color.NRGBA{0x6F, 0xBE, 0x5C, 0xff}, color.NRGBA{0xFA, 0xE6, 0x4B, 0xff},
	})
	if err != nil {
		panic(err) // these colours grow in lightness
	}
	m.SetMax(1)
	return m.Palette(256)
}
