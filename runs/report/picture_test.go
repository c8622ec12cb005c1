package report

import (
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

func TestPicture(t *testing.T) {
	p := &picture{Title: "λ", Label: "a weight for each pixel", Rows: 28, Cols: 28}
	for i := range p.Rows * p.Cols {
		p.Cells = append(p.Cells, float64(i)/10-3)
	}
	p.Cells[5] = math.NaN()
	d := svgOf(t, p)
	d.inside(t)
	d.has(t, "λ", "a weight for each pixel, from -3 to 75.3", "0", "25", "50", "75")
	width, height := outerSize(p, p.Title)
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144), vgimg.UseBackgroundColor(color.White))
	_, label := p.heading()
	drawUnder(draw.New(c), p, p.Title, label)
	picture := c.Image()
	// Rows go from the top: the last cell is the lightest, the first the darkest. 144 dots an inch
	// are 2 pixels a point.
	light := func(row, column int) uint32 {
		x := 2 * (edge + 10*column + 5)
		y := picture.Bounds().Dy() - 2*(edge+cellsSize-10*row-5)
		r, g, b, _ := picture.At(x, y).RGBA()
		return r + g + b
	}
	if light(27, 27) < light(14, 14) || light(14, 14) < light(0, 0) {
		t.Errorf("lightness %d, %d, %d from the last cell to the first: want it to fall", light(27, 27),
			light(14, 14), light(0, 0))
	}
}

func TestPictureOfOneNumber(t *testing.T) {
	svgOf(t, &picture{Rows: 2, Cols: 2, Cells: []float64{3, 3, 3, 3}}).inside(t)
}
