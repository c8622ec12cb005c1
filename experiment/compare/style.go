package compare

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dsbo/runs/report"
)

// A look is the style of one series.
type look struct {
	line   draw.LineStyle
	marker draw.GlyphStyle
	band   color.NRGBA
}

// seriesLook returns the look of series i on the page.
func seriesLook(i int) look {
	of, colour := report.LookOf(i), color.NRGBA{A: 0xff}
	_, _ = fmt.Sscanf(of.Color, "#%02X%02X%02X", &colour.R, &colour.G, &colour.B) // which TestLooks proves
	l := look{
		line: draw.LineStyle{Color: colour, Width: 1.7},
		// the filled ones first
		marker: draw.GlyphStyle{Color: colour, Radius: 2.6, Shape: plotutil.Shape(of.Marker + 5)},
		band:   color.NRGBA{colour.R, colour.G, colour.B, 0x2E},
	}
	for _, dash := range of.Dash {
		l.line.Dashes = append(l.line.Dashes, vg.Length(dash/2))
	}
	return l
}

// greyLook is the look of reference i.
func greyLook(i int) look {
	dashes := [][]vg.Length{{3, 3}, {5, 2, 1, 2}, {8, 4}}
	return look{line: draw.LineStyle{Color: color.Black, Width: 1.2, Dashes: dashes[i%len(dashes)]}}
}

// colourScale adds the cells of a figure to its plot p as a heat map, and returns a second plot,
// the scale of colours: a column of shades along an axis of the values.
func colourScale(f *report.Figure, p *plot.Plot) *plot.Plot {
	const shades = 64
	scale, colours := plot.New(), report.ColourMap()
	_, e := f.Extents()
	setAxis(&scale.Y, e)
	low, high := scale.Y.Min, scale.Y.Max
	steps := cellGrid{columns: 1, low: low, step: (high - low) / shades}
	for r := range shades {
		steps.cells = append(steps.cells, steps.Y(shades-1-r))
	}
	for on, grid := range map[*plot.Plot]cellGrid{p: {f.Cells, f.Columns, 0, 1}, scale: steps} {
		cells := plotter.NewHeatMap(grid, colours.Palette(256))
		cells.Min, cells.Max = low, high
		on.Add(cells, cells) // twice, since anti-aliased edges let the ground shine through
	}
	p.HideAxes()
	scale.HideX()
	scale.BackgroundColor, scale.Y.Padding = nil, 0
	return scale
}

// A cellGrid is cells as gonum/plot has them, the lowest row first.
type cellGrid struct {
	cells     []float64 // the top row first
	columns   int
	low, step float64 // of y
}

func (g cellGrid) Dims() (c, r int)   { return g.columns, len(g.cells) / g.columns }
func (g cellGrid) X(c int) float64    { return float64(c) }
func (g cellGrid) Y(r int) float64    { return g.low + float64((float64(r)+0.5)*g.step) }
func (g cellGrid) Z(c, r int) float64 { return g.cells[len(g.cells)-(r+1)*g.columns+c] }
