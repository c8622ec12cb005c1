package report

import (
	"bytes"
	"image/color"
	"path/filepath"

	"gonum.org/v1/plot/text"
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

	heading() (title, label string)  // the label says what the numbers are
	size() (width, height vg.Length) // of what is below the heading
	draw(c draw.Canvas)
}

// SVG returns a drawing as one SVG document on white. It fails as the drawing's Validate does.
func SVG(d Drawing) ([]byte, error) {
	title, _ := d.heading()
	return svg(d, title, color.White)
}

// svg returns a drawing under some title, or none, on a ground of some colour, or on none.
func svg(d Drawing, title string, ground color.Color) ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	c := vgsvg.New(fullSize(d, title))
	drawOn(draw.New(c), d, title, ground)
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
	title, _ := d.heading()
	return pngUnder(title, d)
}

func pngUnder(title string, d Drawing) ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(fullSize(d, title)), vgimg.UseDPI(144))}
	drawOn(draw.New(c), d, title, color.White)
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

// fullSize is the size of a drawing with its heading and the edge around both.
func fullSize(d Drawing, title string) (width, height vg.Length) {
	_, label := d.heading()
	width, height = d.size()
	for _, s := range []string{title, label} {
		if s != "" {
			height += lineHeight
		}
	}
	return width + 2*edge, height + 2*edge
}

// drawOn draws the ground, the heading from the top down, and the drawing below it.
func drawOn(c draw.Canvas, d Drawing, title string, ground color.Color) {
	if ground != nil {
		c.SetColor(ground)
		c.Fill(c.Rectangle.Path())
	}
	c = draw.Crop(c, edge, -edge, edge, -edge)
	_, label := d.heading()
	for i, s := range []string{title, label} {
		if style := []text.Style{textStyle(titleSize, ink), textStyle(labelSize, muted)}[i]; s != "" {
			c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y - titleSize}, shortened(s, style, c.Max.X-c.Min.X))
			c.Max.Y -= lineHeight
		}
	}
	d.draw(c)
}

// Save writes dir/name.svg and dir/name.png. Files that are there are replaced, each as a whole
// or not at all; dir must exist.
func Save(d Drawing, dir, name string) error {
	title, _ := d.heading()
	return saveUnder(title, d, filepath.Join(dir, name))
}

// saveUnder writes path.svg and path.png with another title.
func saveUnder(title string, d Drawing, path string) error {
	data, err := svg(d, title, color.White)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(path+".svg", data); err != nil {
		return err
	}
	if data, err = pngUnder(title, d); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path+".png", data)
}
