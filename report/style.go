package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A shade is a colour that comes out of the SVG writer as exactly the digits that went in, which
// is how the page finds it to put its own, dark or light, in place.
type shade struct {
	r, g, b uint8
	alpha   uint16
}

// RGBA returns the colour with its components multiplied by alpha, rounded up: the SVG writer divides and truncates.
func (s shade) RGBA() (r, g, b, a uint32) {
	times := func(c uint8) uint32 { return min((uint32(c)*uint32(s.alpha)+254)/255+1, uint32(s.alpha)) }
	return times(s.r), times(s.g), times(s.b), uint32(s.alpha)
}

func (s shade) at(alpha uint16) shade {
	s.alpha = alpha
	return s
}

const opaque = 0xffff

// A role is a colour with a job. On the page it is a CSS variable, so that dark mode can change it.
type role struct {
	shade
	variable string
}

func (r role) hex() string { return fmt.Sprintf("#%02X%02X%02X", r.r, r.g, r.b) }

func inkRole() role   { return role{shade{0x1B, 0x1F, 0x24, opaque}, "--ink"} }
func mutedRole() role { return role{shade{0x5A, 0x63, 0x6D, opaque}, "--muted"} }
func gridRole() role  { return role{shade{0xE2, 0xE5, 0xE9, opaque}, "--grid"} }
func cardRole() role  { return role{shade{0xFF, 0xFF, 0xFF, opaque}, "--card"} }

// seriesRoles are the colours of Okabe and Ito, which people with any colour vision can tell
// apart; their yellow, too light on white, is darker here, and their black is the ink.
func seriesRoles() []role {
	return []role{
		{shade{0x00, 0x72, 0xB2, opaque}, "--s0"},
		{shade{0xD5, 0x5E, 0x00, opaque}, "--s1"},
		{shade{0x00, 0x9E, 0x73, opaque}, "--s2"},
		{shade{0xCC, 0x79, 0xA7, opaque}, "--s3"},
		{shade{0xE6, 0x9F, 0x00, opaque}, "--s4"},
		{shade{0x56, 0xB4, 0xE9, opaque}, "--s5"},
		{shade{0x30, 0x36, 0x3D, opaque}, "--s6"},
		{shade{0x96, 0x87, 0x00, opaque}, "--s7"},
	}
}

// A look is how one series is drawn. Colour, dashes and marker change together, so that each tells
// the series apart alone: in grey print, too.
type look struct {
	colour shade
	dashes []vg.Length
	marker draw.GlyphDrawer
	width  vg.Length
}

// lookOf returns the look of series i.
func lookOf(i int) look {
	roles := seriesRoles()
	dashes := [][]vg.Length{nil, {7, 2.5}, {2, 2}, {7, 2, 2, 2}, {12, 3}}
	markers := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}, wedge{}, star{}}
	return look{
		colour: roles[i%len(roles)].shade,
		dashes: dashes[(i+i/len(roles))%len(dashes)],
		marker: markers[(i+i/len(roles))%len(markers)],
		width:  1.7,
	}
}

// polygon fills a shape given as corners in units of the marker's radius.
func polygon(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point, corners ...[2]vg.Length) {
	points := make([]vg.Point, len(corners))
	for i, k := range corners {
		points[i] = vg.Point{X: at.X + k[0]*sty.Radius, Y: at.Y + k[1]*sty.Radius}
	}
	var p vg.Path
	p.Move(points[0])
	for _, q := range points[1:] {
		p.Line(q)
	}
	p.Close()
	c.Fill(p)
}

// diamond is a square on its corner.
type diamond struct{}

func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	polygon(c, sty, at, [2]vg.Length{0, 1.25}, [2]vg.Length{1.25, 0}, [2]vg.Length{0, -1.25}, [2]vg.Length{-1.25, 0})
}

// wedge is a triangle that stands on its tip.
type wedge struct{}

func (wedge) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	polygon(c, sty, at, [2]vg.Length{-1.1, .8}, [2]vg.Length{1.1, .8}, [2]vg.Length{0, -1.2})
}

// star is a plus with thick arms.
type star struct{}

func (star) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	const a, b = 0.42, 1.2
	polygon(c, sty, at, [2]vg.Length{-a, b}, [2]vg.Length{a, b}, [2]vg.Length{a, a}, [2]vg.Length{b, a},
		[2]vg.Length{b, -a}, [2]vg.Length{a, -a}, [2]vg.Length{a, -b}, [2]vg.Length{-a, -b},
		[2]vg.Length{-a, -a}, [2]vg.Length{-b, -a}, [2]vg.Length{-b, a}, [2]vg.Length{-a, a})
}
