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
// with the exponent raised, x_i with the index lowered, the nabla, the bar over a letter that stands for an average, and, since
// many typefaces lack them, the bars of a norm.
type mathText struct{ text.Plain }

const (
	smallSize  = 0.72 // of the font's size, for what is raised or lowered
	raisedBy   = 0.36
	loweredBy  = 0.16
	nablaWidth = 0.68
	nablaTall  = 0.69 // the height of capitals
	normWidth  = 0.46
	barHeight  = 0.64
)

// macron is the combining character that follows the letter it belongs to.
const macron = "\u0304"

// A piece is a part of a line that is drawn in one go.
type piece struct {
	text    string
	raised  bool
	lowered bool
	sign    rune // ∇ or ‖, drawn as lines
	bar     bool // over the letter that the text is
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

// lower stands for the _ that lowers what follows. No printable text holds it.
const lower = '\uE000'

// lowerings replaces each _ after a single letter, as in x_i, by lower. In names such as some_word it stays.
func lowerings(line string) string {
	runes := []rune(line)
	word := 0 // letters that end what came so far, bars apart
	for i, r := range runes {
		switch {
		case r == '_' && word == 1 && i+1 < len(runes) && inWord(runes[i+1]):
			runes[i] = lower
			word = 2
		case r == '∇':
			word = 1
		case unicode.IsLetter(r):
			word++
		case r == '_' || unicode.IsDigit(r):
			word = 2
		case !unicode.Is(unicode.Mn, r):
			word = 0
		}
	}
	return string(runes)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// pieces splits a line: what follows ^ is raised up to the next character that is no digit or sign, and
// what follows a lowering _ is lowered up to the next that is no letter or digit. Each barred letter is a
// piece, so that it stays below its bar in a browser with another typeface.
func pieces(line string) []piece {
	var ps []piece
	line = lowerings(printable(line))
	for line != "" {
		first, size := utf8.DecodeRuneInString(line)
		switch {
		case first == '∇' || first == '‖':
			ps = append(ps, piece{sign: first})
			line = line[size:]
		case first == '^':
			line = line[size:]
			n := len(line) - len(strings.TrimLeft(line, "−+0123456789"))
			ps = append(ps, piece{text: line[:n], raised: true})
			line = line[n:]
		case first == lower:
			line = line[size:]
			n := len(line) - len(strings.TrimLeftFunc(line, inWord))
			ps = append(ps, piece{text: line[:n], lowered: true})
			line = line[n:]
		case strings.HasPrefix(line[size:], macron):
			ps = append(ps, piece{text: line[:size], bar: true})
			line = line[size+len(macron):]
		default:
			n := strings.IndexAny(line, "^∇‖"+macron+string(lower))
			if n < 0 {
				n = len(line)
			} else if strings.HasPrefix(line[n:], macron) { // leave the letter to its bar
				_, last := utf8.DecodeLastRuneInString(line[:n])
				n -= last
			}
			n = max(n, size)
			ps = append(ps, piece{text: line[:n]})
			line = line[n:]
		}
	}
	return ps
}

func (m mathText) face(f font.Font, small bool) font.Face {
	if small {
		f.Size *= smallSize
	}
	return m.Fonts.Lookup(f, f.Size)
}

func (m mathText) width(p piece, f font.Font) vg.Length {
	switch p.sign {
	case '∇':
		return nablaWidth * f.Size
	case '‖':
		return normWidth * f.Size
	}
	face := m.face(f, p.raised || p.lowered)
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
		case p.sign == '∇':
			drawNabla(c, pt, sty.Font.Size)
		case p.sign == '‖':
			drawNorm(c, pt, sty.Font.Size)
		case p.raised:
			c.FillString(m.face(sty.Font, true), vg.Point{X: pt.X, Y: pt.Y + raisedBy*sty.Font.Size}, p.text)
		case p.lowered:
			c.FillString(m.face(sty.Font, true), vg.Point{X: pt.X, Y: pt.Y - loweredBy*sty.Font.Size}, p.text)
		default:
			text := strings.TrimLeft(p.text, " ") // a browser would drop the blanks
			blank := m.width(piece{text: p.text[:len(p.text)-len(text)]}, sty.Font)
			c.FillString(m.face(sty.Font, false), vg.Point{X: pt.X + blank, Y: pt.Y}, text)
		}
		width := m.width(p, sty.Font)
		if p.bar {
			drawBar(c, pt, width, sty.Font.Size)
		}
		pt.X += width
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

// drawNorm strokes two upright lines.
func drawNorm(c vg.Canvas, pt vg.Point, size vg.Length) {
	c.SetLineWidth(0.07 * size)
	c.SetLineDash(nil, 0)
	for _, x := range []vg.Length{0.14, 0.32} {
		var p vg.Path
		p.Move(vg.Point{X: pt.X + x*size, Y: pt.Y - 0.2*size})
		p.Line(vg.Point{X: pt.X + x*size, Y: pt.Y + 0.74*size})
		c.Stroke(p)
	}
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
