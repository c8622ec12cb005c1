package report

import (
	"path/filepath"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dsbo"
)

// SaveRows writes figures, in rows and each below its title, to one dir/name.svg, as [Save] does.
func SaveRows(rows [][]*Figure, dir, name string) error {
	return save(figureRows(rows), "", filepath.Join(dir, name))
}

// figureRows is several figures as one drawing.
type figureRows [][]*Figure

// Validate reports what the first figure that cannot be drawn reports, or that there is none,
// as [dsbo.ErrConfig].
func (rows figureRows) Validate() error {
	if w, _ := rows.size(); w == 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "figures in rows must be at least one; there is none")
	}
	for _, row := range rows {
		for _, f := range row {
			if err := f.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (figureRows) heading() (title, label string) { return "", "" }

func (rows figureRows) size() (width, height vg.Length) {
	for _, row := range rows {
		w, h := rowSize(row)
		width, height = max(width, w), height+h
	}
	return width, height
}

// rowSize returns the width and the height of figures beside each other.
func rowSize(row []*Figure) (width, height vg.Length) {
	for _, f := range row {
		w, h := outerSize(f, f.Title)
		width, height = width+w, max(height, h)
	}
	return width, height
}

func (rows figureRows) draw(c draw.Canvas) {
	at := vg.Point{X: c.Min.X, Y: c.Max.Y} // the upper left corner of the next figure
	for _, row := range rows {
		for _, f := range row {
			w, h := outerSize(f, f.Title)
			cell := vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - h}, Max: vg.Point{X: at.X + w, Y: at.Y}}
			drawUnder(draw.Canvas{Canvas: c.Canvas, Rectangle: cell}, f, f.Title, f.YLabel)
			at.X += w
		}
		_, h := rowSize(row)
		at.X, at.Y = c.Min.X, at.Y-h
	}
}
