package report

import (
	"image/color"
	"io"
	"path/filepath"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"

	"dsbo/internal/disk"
)

// SavePDF writes dir/name.pdf as Save writes dir/name.svg. Texts are outlines, and its date is in
// 1970: the same figure is the same bytes.
func SavePDF(f *Figure, dir, name string) error {
	if err := f.Validate(); err != nil {
		return err
	}
	c := pdfCanvas{vgpdf.New(outerSize(f, f.Title))}
	drawUnder(draw.New(c), f, f.Title, f.YLabel)
	return disk.Write(filepath.Join(dir, name+".pdf"), func(w io.Writer) error {
		_, err := c.WriteTo(w)
		return err
	})
}

func init() {
	date := time.Unix(0, 0).UTC()
	fpdf.SetDefaultCreationDate(date)
	fpdf.SetDefaultModificationDate(date)
}

// A pdfCanvas has Greek letters, and colours that one sees through; the canvas below has neither.
type pdfCanvas struct{ *vgpdf.Canvas }

// SetColor implements [vg.Canvas].
func (c pdfCanvas) SetColor(colour color.Color) {
	c.Canvas.SetColor(straight(color.NRGBAModel.Convert(colour).(color.NRGBA)))
}

// A straight colour is not multiplied by its opacity: PDF does that.
type straight color.NRGBA

// RGBA implements [color.Color].
func (s straight) RGBA() (r, g, b, a uint32) {
	const all = 0x101 // of 8 bits twice
	return uint32(s.R) * all, uint32(s.G) * all, uint32(s.B) * all, uint32(s.A) * all
}

// FillString implements [vg.Canvas].
func (c pdfCanvas) FillString(face font.Face, at vg.Point, text string) {
	var outlines vg.Path
	for i, r := range text {
		to := string(r)
		from := face.Width(text[:i]+to) - face.Width(to) // what comes before, kerned
		outlines = append(outlines, outline(face, r, vg.Point{X: at.X + from, Y: at.Y})...)
	}
	c.Fill(outlines)
}

// outline returns the outline of a letter, which is none where the typeface has none.
func outline(face font.Face, letter rune, at vg.Point) (path vg.Path) {
	var b sfnt.Buffer
	units := face.Face.UnitsPerEm()
	glyph, err := face.Face.GlyphIndex(&b, letter)
	if err != nil {
		return nil
	}
	segments, err := face.Face.LoadGlyph(&b, glyph, fixed.Int26_6(units), nil)
	if err != nil {
		return nil
	}
	scale := face.Font.Size / vg.Length(units)
	var last vg.Point
	for _, s := range segments {
		var p [3]vg.Point
		for i, a := range s.Args {
			p[i] = at.Add(vg.Point{X: scale * vg.Length(a.X), Y: -scale * vg.Length(a.Y)})
		}
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			path.Move(p[0])
			last = p[0]
		case sfnt.SegmentOpLineTo:
			path.Line(p[0])
			last = p[0]
		case sfnt.SegmentOpQuadTo: // PDF has cubic curves alone
			path.CubeTo(between(last, p[0]), between(p[1], p[0]), p[1])
			last = p[1]
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(p[0], p[1], p[2])
			last = p[2]
		}
	}
	return path
}

// between returns the point at two thirds of the way.
func between(from, to vg.Point) vg.Point { return from.Add(to.Sub(from).Scale(2. / 3)) }
