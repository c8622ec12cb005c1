package report

import (
	"bytes"
	"image/color"
	"path/filepath"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"dsbo/internal/disk"
	"dsbo/internal/wording"
)

// A drawing is a [Figure] or a picture.
type drawing interface {
	Validate() error
	heading() (title, label string)  // the label says what the numbers are
	size() (width, height vg.Length) // of what is below the heading
	draw(c draw.Canvas)
}

// Save writes dir/name.svg, on white. A file that is there is replaced, as a whole or not at all;
// dir must exist. It fails as Validate does.
func Save(f *Figure, dir, name string) error { return save(f, f.Title, filepath.Join(dir, name)) }

// save writes path.svg of a drawing under some title.
func save(d drawing, title, path string) error {
	data, err := render(d, title, color.White)
	if err != nil {
		return err
	}
	return disk.WriteBytes(path+".svg", data)
}

// render returns a drawing as an SVG document, under a title or none, on a ground of some colour
// or none.
func render(d drawing, title string, ground color.Color) ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	_, label := d.heading()
	width, height := outerSize(d, title)
	var b bytes.Buffer
	c := vgsvg.New(width, height)
	if ground != nil {
		c.SetColor(ground)
		c.Fill(draw.New(c).Rectangle.Path())
	}
	drawUnder(draw.New(c), d, title, label)
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	// Typefaces of the same widths, where the one that was measured is not there.
	fonts := []byte("font-family:'Liberation Sans',Arimo,Helvetica,Arial,sans-serif;")
	return wording.Visible(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), fonts)), nil
}

// outerSize returns the width and the height of a drawing below a title, or none, and its label,
// with the space around all.
func outerSize(d drawing, title string) (width, height vg.Length) {
	_, label := d.heading()
	width, height = d.size()
	for _, s := range []string{title, label} {
		if s != "" {
			height += lineHeight
		}
	}
	return width + 2*edge, height + 2*edge
}

// drawUnder draws title and label from the top down, and the drawing below them.
func drawUnder(c draw.Canvas, d drawing, title, label string) {
	c = draw.Crop(c, edge, -edge, edge, -edge)
	style := textStyle(titleSize, ink)
	for _, s := range []string{title, label} {
		if s != "" {
			c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y - titleSize}, shortened(s, style, c.Max.X-c.Min.X))
			c.Max.Y -= lineHeight
		}
		style = textStyle(labelSize, muted)
	}
	d.draw(c)
}
