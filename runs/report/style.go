package report

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"strings"

	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
)

// seriesColours are the colours of Okabe and Ito, which people with any colour vision can
// distinguish. Yellow is darker here, and black is purple, so that each is visible on light and on
// dark ground.
var seriesColours = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A55C8", "#968700"}

// dashes are lengths of lines and gaps on a screen.
var dashes = [][]float64{{}, {12, 4}, {4, 4}, {2, 2}, {10, 4, 2, 4}, {20, 4, 4, 4, 4, 4, 4, 4}, {20, 4, 4, 4},
	{10, 4, 10, 4, 4, 4, 4, 4}, {8, 4, 8, 2, 2, 2, 2, 2, 2, 2}}

// A Look is the style of a line. Colour, dashes and marker change together, so that each identifies
// the line alone, in grey print too.
type Look struct {
	Color  string    `json:"color"`
	Dash   []float64 `json:"dash"` // lengths on a screen, twice those on paper: its lines are wider
	Marker int       `json:"-"`    // number of its shape
}

// LookOf returns look i. A colour that comes again has other dashes.
func LookOf(i int) Look {
	variant := i + 2*(i/len(seriesColours))
	return Look{seriesColours[i%len(seriesColours)], dashes[variant%len(dashes)], variant}
}

// Pattern is the dashes as an attribute of SVG.
func (l Look) Pattern() string { return strings.Trim(fmt.Sprint(l.Dash), "[]") }

// ColourMap goes from dark blue over green to yellow, evenly in lightness, for numbers from 0 to 1.
// The darkest is not black and the lightest not white, so that an empty cell shows.
func ColourMap() palette.ColorMap {
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

// Picture is the cells as an image of a point each: the larger a number, the lighter. What is not
// finite is left clear.
func (f *Figure) Picture() (template.URL, error) {
	_, e := f.Extents()
	colours := append(ColourMap().Palette(clear).Colors(), color.Transparent)
	points := image.NewPaletted(image.Rect(0, 0, f.Columns, len(f.Cells)/f.Columns), colours)
	for i, v := range f.Cells {
		if points.Pix[i] = clear; e.Has(v) {
			points.Pix[i] = uint8((clear - 1) * (v - e.Low) / cmp.Or(e.High-e.Low, 1))
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, points)
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), err
}

// clear is the number of the colour after all others of a picture.
const clear = 255
