package report

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// mathText draws one line of text with what plots of optimization need and the font lacks: 10^−5
// with the exponent raised, the nabla, and the bar over a letter that stands for an average.
type mathText struct{ text.Plain }

const (
	raisedSize = 0.72 // of the font's size
	raisedBy   = 0.36
	nablaWidth = 0.68
	nablaTall  = 0.69 // the height of capitals
	barHeight  = 0.64
)

// macron is the combining character that follows the letter it belongs to.
const macron = "\u0304"

// A piece is a part of a line that is drawn in one go.
type piece struct {
	text   string
	raised bool
	nabla  bool
	bar    bool // over the last letter
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

// pieces splits a line: what follows ^ is raised up to the next character that is no digit or sign.
func pieces(line string) []piece {
	var ps []piece
	line = printable(line)
	for line != "" {
		switch {
		case strings.HasPrefix(line, "∇"):
			ps = append(ps, piece{nabla: true})
			line = strings.TrimPrefix(line, "∇")
		case strings.HasPrefix(line, "^"):
			line = line[1:]
			n := len(line) - len(strings.TrimLeft(line, "−+0123456789"))
			ps = append(ps, piece{text: line[:n], raised: true})
			line = line[n:]
		default:
			n := strings.IndexAny(line, "^∇"+macron)
			if n < 0 {
				n = len(line)
			}
			p := piece{text: line[:n]}
			line, p.bar = strings.CutPrefix(line[n:], macron)
			ps = append(ps, p)
		}
	}
	return ps
}

func (m mathText) face(f font.Font, raised bool) font.Face {
	if raised {
		f.Size *= raisedSize
	}
	return m.Fonts.Lookup(f, f.Size)
}

func (m mathText) width(p piece, f font.Font) vg.Length {
	if p.nabla {
		return nablaWidth * f.Size
	}
	face := m.face(f, p.raised)
	return face.Width(p.text)
}

// Lines returns the text as the one line that it is.
func (m mathText) Lines(txt string) []string { return []string{txt} }

// Box returns the size of a line: all pieces side by side.
func (m mathText) Box(txt string, f font.Font) (width, height, depth vg.Length) {
	for _, p := range pieces(txt) {
		width += m.width(p, f)
	}
	_, height, depth = m.Plain.Box(txt, f)
	return width, height, depth
}

// Draw writes one line at pt, aligned and turned as sty says.
func (m mathText) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	if txt == "" {
		return
	}
	c.Push()
	defer c.Pop()
	c.SetColor(sty.Color)
	if sty.Rotation != 0 {
		c.Rotate(sty.Rotation)
		sin, cos := math.Sincos(sty.Rotation)
		x, y := vg.Length(cos)*pt.X+vg.Length(sin)*pt.Y, vg.Length(cos)*pt.Y-vg.Length(sin)*pt.X
		pt = vg.Point{X: x, Y: y}
	}
	width, height, depth := m.Box(txt, sty.Font)
	pt.X += vg.Length(sty.XAlign) * width
	pt.Y += vg.Length(sty.YAlign)*(height+depth) - height + sty.Font.Size // the baseline, where text.Plain has it
	for _, p := range pieces(txt) {
		switch {
		case p.nabla:
			drawNabla(c, pt, sty.Font.Size)
		case p.raised:
			c.FillString(m.face(sty.Font, true), vg.Point{X: pt.X, Y: pt.Y + raisedBy*sty.Font.Size}, p.text)
		default:
			c.FillString(m.face(sty.Font, false), pt, p.text)
		}
		start := pt.X
		pt.X += m.width(p, sty.Font)
		if p.bar {
			_, n := utf8.DecodeLastRuneInString(p.text)
			letter := m.width(piece{text: p.text[len(p.text)-n:]}, sty.Font)
			drawBar(c, vg.Point{X: max(start, pt.X-letter), Y: pt.Y}, letter, sty.Font.Size)
		}
	}
}

// drawNabla strokes a triangle on its tip.
func drawNabla(c vg.Canvas, pt vg.Point, size vg.Length) {
	pen := 0.075 * size
	left, right := pt.X+0.05*size, pt.X+(nablaWidth-0.05)*size
	top := pt.Y + nablaTall*size - pen/2
	var p vg.Path
	p.Move(vg.Point{X: left, Y: top})
	p.Line(vg.Point{X: right, Y: top})
	p.Line(vg.Point{X: (left + right) / 2, Y: pt.Y + pen})
	p.Close()
	c.SetLineWidth(pen)
	c.SetLineDash(nil, 0)
	c.Stroke(p)
}

// drawBar strokes the bar over a small letter that begins at pt.
func drawBar(c vg.Canvas, pt vg.Point, width, size vg.Length) {
	var p vg.Path
	p.Move(vg.Point{X: pt.X + 0.08*width, Y: pt.Y + barHeight*size})
	p.Line(vg.Point{X: pt.X + 0.92*width, Y: pt.Y + barHeight*size})
	c.SetLineWidth(0.07 * size)
	c.SetLineDash(nil, 0)
	c.Stroke(p)
}

// textStyle is the one typeface of all figures.
func textStyle(size vg.Length, colour shade) text.Style {
	return text.Style{
		Color:   colour,
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: mathText{text.Plain{Fonts: plot.DefaultTextHandler.Cache()}},
	}
}
