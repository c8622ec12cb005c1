package report

import (
	"fmt"
	"image/color"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of all figures, in points. They are chosen for a phone, where the default width becomes the
// width of the screen.
const (
	titleSize  = 12
	labelSize  = 10.5
	tickSize   = 10
	lineHeight = 17 // height of a title or label with the space below it
	edge       = 6  // around the whole figure
)

// The colours of all figures, of what is no series.
var (
	ink   = color.NRGBA{0x1B, 0x1F, 0x24, 0xff}
	muted = color.NRGBA{0x5A, 0x63, 0x6D, 0xff}
	faint = color.NRGBA{0xE2, 0xE5, 0xE9, 0xff}
)

// seriesColours are the colours of Okabe and Ito, which people with any colour vision can tell
// apart; their yellow is darker here, and their black purple, so that each is seen on light and on
// dark ground.
var seriesColours = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xff}, {0xD5, 0x5E, 0x00, 0xff}, {0x00, 0x9E, 0x73, 0xff}, {0xCC, 0x79, 0xA7, 0xff},
	{0xE6, 0x9F, 0x00, 0xff}, {0x56, 0xB4, 0xE9, 0xff}, {0x8A, 0x55, 0xC8, 0xff}, {0x96, 0x87, 0x00, 0xff},
}

// A look is how one series is drawn. Colour, dashes and marker change together, so that each tells
// the series apart alone: in grey print, too.
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

// hex writes a colour for a style sheet.
func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, b>>8)
}

// A lookData is the look of a line for the page.
type lookData struct {
	Color string    `json:"color"`
	Dash  []float64 `json:"dash"`
}

// lookOf returns look i for the page, nil for -1.
func lookOf(i int) *lookData {
	if i < 0 {
		return nil
	}
	l := seriesLook(i).line
	return &lookData{hex(l.Color), screenDashes(l.Dashes)}
}

// Pattern is the dashes as an attribute of SVG.
func (l lookData) Pattern() string { return strings.Trim(fmt.Sprint(l.Dash), "[]") }

// screenDashes returns dashes as numbers, twice as long as on paper: lines on a screen are wider.
func screenDashes(dashes []vg.Length) []float64 {
	all := []float64{}
	for _, d := range dashes {
		all = append(all, 2*float64(d))
	}
	return all
}

// greyLine is the style of level or reference i.
func greyLine(i int) draw.LineStyle {
	dashes := [][]vg.Length{{3, 3}, {5, 2, 1, 2}, {8, 4}}
	return draw.LineStyle{Color: muted, Width: 1.4, Dashes: dashes[i%len(dashes)]}
}

// textStyle is the one typeface of all figures.
func textStyle(size vg.Length, colour color.Color) text.Style {
	sans := font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
	return text.Style{Color: colour, Font: sans, Handler: plot.DefaultTextHandler}
}

// printable replaces what no SVG document may hold, such as control characters, by blanks.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && !unicode.Is(unicode.Mn, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
}

// shortened returns a printable text without its middle if it is wider than there is room.
func shortened(s string, style text.Style, room vg.Length) string {
	runes := []rune(printable(s))
	cut := string(runes)
	for keep := len(runes) - 1; keep > 1 && style.Width(cut) > room; keep-- {
		head := (keep + 1) / 2
		cut = string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
	}
	return cut
}
