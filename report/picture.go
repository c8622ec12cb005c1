package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"path/filepath"

	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"dsbo"
	"dsbo/internal/atomicfile"
)

// A Picture shows a square of numbers, such as one regularization weight for each pixel of MNIST,
// as colours with a scale beside them. The colours grow in lightness as the numbers do.
type Picture struct {
	Title string
	Label string    // what the numbers are
	Side  int       // rows and columns
	Cells []float64 // Side·Side numbers, the top row first; what is not finite stays empty
}

// Sizes of a picture, in points: the cells and everything around them lie on whole pixels.
const (
	cellsSize  = 280
	barGap     = 14
	barWidth   = 16
	labelWidth = 62
	overlap    = 0.6 // of a cell over those that are painted next: no ground shows between them at any size
)

// Validate reports a wrong number of cells, as [dsbo.ErrShape], or that none is finite, as [dsbo.ErrConfig].
func (p *Picture) Validate() error {
	if p.Side < 1 || len(p.Cells) != p.Side*p.Side {
		return fmt.Errorf("picture %q: %d cells, want %d rows of %d: %w", p.Title, len(p.Cells), p.Side, p.Side, dsbo.ErrShape)
	}
	if e := p.extent(); e.high < e.low {
		return fmt.Errorf("picture %q has no finite number: %w", p.Title, dsbo.ErrConfig)
	}
	return nil
}

func (p *Picture) extent() extent {
	e := noExtent()
	e.add(p.Cells...)
	return e
}

// SVG returns the picture as one SVG document on white.
func (p *Picture) SVG() ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p.svg(true)
}

func (p *Picture) svg(background bool) ([]byte, error) {
	w, h := p.size()
	c := vgsvg.New(w, h)
	if err := p.draw(draw.New(c), background); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	svg := bytes.Replace(b.Bytes(), []byte("<svg "), []byte(`<svg shape-rendering="crispEdges" `), 1)
	return cleanSVG(svg, p.Title), nil
}

// PNG returns the picture as a PNG on white.
func (p *Picture) PNG() ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	w, h := p.size()
	return pngOf(w, h, func(c draw.Canvas) error { return p.draw(c, true) })
}

// Save writes dir/name.svg and dir/name.png, as [Figure.Save] does.
func (p *Picture) Save(dir, name string) error {
	svg, err := p.SVG()
	if err != nil {
		return err
	}
	png, err := p.PNG()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, name+".svg"), svg); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, name+".png"), png)
}

func (p *Picture) size() (w, h vg.Length) {
	w, h = cellsSize+barGap+barWidth+labelWidth+2*edge, cellsSize+2*edge
	for _, s := range []string{p.Title, p.Label} {
		if s != "" {
			h += labelSize + 2*lineGap
		}
	}
	return w, vg.Length(math.Ceil(float64(h)))
}

// colourMap goes from dark blue over green to yellow, as light as the share of the scale says. Its
// darkest is not black and its lightest not white, so that an empty cell shows on both grounds.
func colourMap() (palette.ColorMap, error) {
	m, err := moreland.NewLuminance([]color.Color{
		color.NRGBA{0x2A, 0x16, 0x4D, 0xff}, color.NRGBA{0x33, 0x4A, 0x8F, 0xff}, color.NRGBA{0x1F, 0x81, 0x86, 0xff},
		color.NRGBA{0x6F, 0xBE, 0x5C, 0xff}, color.NRGBA{0xFA, 0xE6, 0x4B, 0xff},
	})
	if err != nil {
		return nil, err
	}
	m.SetMin(0)
	m.SetMax(1)
	return m, nil
}

// draw draws cells, frame and colour scale.
func (p *Picture) draw(c draw.Canvas, background bool) error {
	if background {
		c.SetColor(cardRole().shade)
		c.Fill(c.Rectangle.Path())
	}
	e := p.extent()
	if e.low == e.high { // one number: the middle of the scale
		e.low, e.high = e.limits(false, 0)
	}
	colours, err := colourMap()
	if err != nil {
		return err
	}

	y := c.Max.Y - edge
	for i, s := range []string{p.Title, p.Label} {
		if s != "" {
			y -= labelSize
			c.FillText(textStyle(labelSize, []role{inkRole(), mutedRole()}[i].shade), vg.Point{X: edge, Y: y}, s)
			y -= 2 * lineGap
		}
	}
	side := vg.Length(cellsSize) / vg.Length(p.Side)
	for i, v := range p.Cells {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		x, top := edge+side*vg.Length(i%p.Side), edge+cellsSize-side*vg.Length(i/p.Side)
		fill(c, colours, (v-e.low)/(e.high-e.low), vg.Rectangle{
			Min: vg.Point{X: x, Y: max(top-side-overlap, edge)}, Max: vg.Point{X: min(x+side+overlap, edge+cellsSize), Y: top},
		})
	}
	frame := vg.Rectangle{Min: vg.Point{X: edge, Y: edge}, Max: vg.Point{X: edge + cellsSize, Y: edge + cellsSize}}
	outline(c, frame)
	drawScale(c, colours, e)
	return nil
}

// drawScale draws the colour bar with the numbers of its ends and some between.
func drawScale(c draw.Canvas, colours palette.ColorMap, e extent) {
	const steps = 70
	x := vg.Length(edge + cellsSize + barGap)
	for i := range steps {
		bottom := edge + vg.Length(i)*cellsSize/steps
		fill(c, colours, (float64(i)+0.5)/steps, vg.Rectangle{Min: vg.Point{X: x, Y: bottom}, Max: vg.Point{X: x + barWidth, Y: min(bottom+cellsSize/steps+overlap, edge+cellsSize)}})
	}
	outline(c, vg.Rectangle{Min: vg.Point{X: x, Y: edge}, Max: vg.Point{X: x + barWidth, Y: edge + cellsSize}})
	style := textStyle(tickSize, mutedRole().shade)
	style.YAlign = -0.5
	place := func(v float64) vg.Length { return edge + cellsSize*vg.Length((v-e.low)/(e.high-e.low)) }
	mark := func(v float64, label string) {
		c.StrokeLine2(draw.LineStyle{Color: mutedRole().shade, Width: 0.6}, x+barWidth, place(v), x+barWidth+3, place(v))
		at := min(max(place(v), edge+tickSize/2), edge+cellsSize-tickSize/2)
		c.FillText(style, vg.Point{X: x + barWidth + 6, Y: at}, label)
	}
	mark(e.low, short(e.low))
	mark(e.high, short(e.high))
	for _, t := range linearTicks(e.low, e.high, 5, false) {
		if min(place(t.Value)-place(e.low), place(e.high)-place(t.Value)) > 1.5*tickSize {
			mark(t.Value, t.Label)
		}
	}
}

// fill paints a rectangle with the colour at a share of the scale.
func fill(c draw.Canvas, colours palette.ColorMap, share float64, r vg.Rectangle) {
	colour, err := colours.At(min(max(share, 0), 1))
	if err != nil {
		return // cannot be: the share is within the map
	}
	c.SetColor(colour)
	c.Fill(r.Path())
}

// outline strokes a rectangle.
func outline(c draw.Canvas, r vg.Rectangle) {
	c.SetLineStyle(draw.LineStyle{Color: mutedRole().shade, Width: 0.6})
	c.Stroke(r.Path())
}
