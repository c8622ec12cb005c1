package report

import (
	"bytes"
	"image/color"
	"path/filepath"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"dsbo/internal/atomicfile"
)

// A Drawing is a [Figure] or a [Picture].
type Drawing interface {
	// Validate reports what keeps it from being drawn.
	Validate() error

	title() string
	titled(title string) Drawing // a copy with another title
	size() (width, height vg.Length)
	draw(c draw.Canvas)
}

// SVG returns a drawing as one SVG document on white. It fails as the drawing's Validate does.
func SVG(d Drawing) ([]byte, error) { return svg(d, color.White) }

// svg returns a drawing on a ground of some colour, or on none.
func svg(d Drawing, ground color.Color) ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	c := vgsvg.New(d.size())
	drawOn(draw.New(c), d, ground)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	// Typefaces of the same widths, where the one that was measured is not there.
	fonts := []byte("font-family:'Liberation Sans',Arimo,Helvetica,Arial,sans-serif;")
	return bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), fonts), nil
}

// PNG returns a drawing as a PNG picture on white, at 144 dots an inch. It fails as the drawing's Validate does.
func PNG(d Drawing) ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(d.size()), vgimg.UseDPI(144))}
	drawOn(draw.New(c), d, color.White)
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

func drawOn(c draw.Canvas, d Drawing, ground color.Color) {
	if ground != nil {
		c.SetColor(ground)
		c.Fill(c.Rectangle.Path())
	}
	d.draw(draw.Crop(c, edge, -edge, edge, -edge))
}

// Save writes dir/name.svg and dir/name.png. Files that are there are replaced, each as a whole
// or not at all; dir must exist.
func Save(d Drawing, dir, name string) error {
	for _, format := range []struct {
		extension string
		encode    func(Drawing) ([]byte, error)
	}{{".svg", SVG}, {".png", PNG}} {
		data, err := format.encode(d)
		if err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(filepath.Join(dir, name+format.extension), data); err != nil {
			return err
		}
	}
	return nil
}
