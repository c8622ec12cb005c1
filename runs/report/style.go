package report

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// seriesColours are the colours of Okabe and Ito, which people with any colour vision can
// distinguish. Yellow is darker here, and black is purple, so that each is visible on light and on
// dark ground.
var seriesColours = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xff}, {0xD5, 0x5E, 0x00, 0xff}, {0x00, 0x9E, 0x73, 0xff}, {0xCC, 0x79, 0xA7, 0xff},
	{0xE6, 0x9F, 0x00, 0xff}, {0x56, 0xB4, 0xE9, 0xff}, {0x8A, 0x55, 0xC8, 0xff}, {0x96, 0x87, 0x00, 0xff},
}

// A look is the style of one series. Colour, dashes and marker change together, so that each
// identifies the series alone, in grey print too.
type look struct {
	line   draw.LineStyle
	marker draw.GlyphStyle
	band   color.NRGBA
}

// seriesLook returns the look of series i.
func seriesLook(i int) look {
	colour := seriesColours[i%len(seriesColours)]
	band := colour
	band.A = 0x2E
	variant := i + 2*(i/len(seriesColours)) // a colour that comes again has other dashes
	return look{
		line: draw.LineStyle{Color: colour, Width: 1.7, Dashes: plotutil.Dashes(variant)},
		// the filled ones first
		marker: draw.GlyphStyle{Color: colour, Radius: 2.6, Shape: plotutil.Shape(variant + 5)},
		band:   band,
	}
}

// greyLook is the look of reference i.
func greyLook(i int) look {
	dashes := [][]vg.Length{{3, 3}, {5, 2, 1, 2}, {8, 4}}
	return look{line: draw.LineStyle{Color: color.Black, Width: 1.2, Dashes: dashes[i%len(dashes)]}}
}

// A lookData is the look of a line for the page.
type lookData struct {
	Color string    `json:"color"`
	Dash  []float64 `json:"dash"`
}

// lookOf returns look i for the page, nil for -1. Its dashes are twice as long as on paper: lines
// on a screen are wider.
func lookOf(i int) *lookData {
	if i < 0 {
		return nil
	}
	c, d := seriesColours[i%len(seriesColours)], &lookData{Dash: []float64{}}
	d.Color = fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B)
	for _, dash := range seriesLook(i).line.Dashes {
		d.Dash = append(d.Dash, 2*float64(dash))
	}
	return d
}

// Pattern is the dashes as an attribute of SVG.
func (l lookData) Pattern() string { return strings.Trim(fmt.Sprint(l.Dash), "[]") }

// colourScale adds the cells to a plot, and returns the plot of their colours.
func (f *Figure) colourScale(p *plot.Plot) *plot.Plot {
	const shades = 64
	scale, colours := plot.New(), colourMap()
	_, e := f.extents()
	e.set(&scale.Y)
	low, high := scale.Y.Min, scale.Y.Max
	steps := cellGrid{columns: 1, low: low, step: (high - low) / shades}
	for r := range shades {
		steps.cells = append(steps.cells, steps.Y(shades-1-r))
	}
	for on, grid := range map[*plot.Plot]cellGrid{p: {f.Cells, f.Columns, 0, 1}, scale: steps} {
		cells := plotter.NewHeatMap(grid, colours.Palette(256))
		cells.Min, cells.Max = low, high
		on.Add(cells, cells) // twice, as the edges of a cell let the ground through
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

// colourMap goes from dark blue over green to yellow, evenly in lightness. The darkest is not black
// and the lightest not white, so that an empty cell shows.
func colourMap() palette.ColorMap {
	m, err := moreland.NewLuminance([]color.Color{
		color.NRGBA{0x2A, 0x16, 0x4D, 0xff}, color.NRGBA{0x33, 0x4A, 0x8F, 0xff}, color.NRGBA{0x1F, 0x81, 0x86, 0xff},
		color.NRGBA{0x6F, 0xBE, 0x5C, 0xff}, color.NRGBA{0xFA, 0xE6, 0x4B, 0xff},
	})
	if err != nil {
		panic(err) // these colours grow in lightness
	}
	m.SetMax(1)
	return m
}
