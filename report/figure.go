package report

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"dsbo"
	"dsbo/internal/atomicfile"
)

// A Figure is lines and points in one pair of axes, with a legend below. The zero value lacks only
// Series.
//
// Labels and names are plain text, in which 10^−5 raises the exponent and x_i lowers the index; in a
// name such as some_word the line stays.
type Figure struct {
	Title          string
	XLabel, YLabel string // what the axes measure, with the unit
	XScale, YScale Scale
	XCount         bool // x counts things: ticks at whole numbers only
	Series         []Series
	Levels         []Level
	Width, Height  float64 // in points, without title and legend; 0 means 370 and 250
}

// A Series is one line, or one set of points, of a [Figure]. A NaN or infinite number is a gap.
type Series struct {
	Name string
	X, Y []float64 // of one length
	// Low and High, if not nil, are the edges of a band around Y, of its length.
	Low, High []float64
	Points    bool // draw markers only, without the line between them
	Fit       bool // draw the straight line of least squares through the points, in the axes' scales, and name its slope
	Reference bool // a thin grey line, for what theory says
}

// A Level is a horizontal line over the whole width, such as a baseline to compare with.
type Level struct {
	Name string
	Y    float64
}

// Validate reports the first series whose lengths differ, as [dsbo.ErrShape], or that nothing
// can be drawn, as [dsbo.ErrConfig].
func (f *Figure) Validate() error {
	drawn := 0
	for _, s := range f.Series {
		if len(s.X) != len(s.Y) || (s.Low != nil && len(s.Low) != len(s.Y)) || (s.High != nil && len(s.High) != len(s.Y)) {
			return fmt.Errorf("figure %q, series %q: %d x, %d y, %d low, %d high: want one length: %w",
				f.Title, s.Name, len(s.X), len(s.Y), len(s.Low), len(s.High), dsbo.ErrShape)
		}
		if (s.Low == nil) != (s.High == nil) {
			return fmt.Errorf("figure %q, series %q: a band needs Low and High: %w", f.Title, s.Name, dsbo.ErrShape)
		}
	}
	xLog, yLog := f.logs()
	for _, s := range f.Series {
		for i := range s.X {
			if onAxis(s.X[i], xLog) && onAxis(s.Y[i], yLog) {
				drawn++
			}
		}
	}
	if drawn == 0 {
		return fmt.Errorf("figure %q has no point to draw: want a finite one, above 0 on logarithmic axes: %w", f.Title, dsbo.ErrConfig)
	}
	return nil
}

// onAxis says whether a number has a place on an axis. Beyond 1e300, or that close to 0 on a
// logarithmic one, there is no room left for the axis itself.
func onAxis(v float64, log bool) bool {
	const most = 1e300
	return math.Abs(v) < most && (!log || v > 1/most)
}

// extents returns the ranges of all that is drawn.
func (f *Figure) extents() (x, y extent) {
	x, y = noExtent(), noExtent()
	for _, s := range f.Series {
		for i := range s.X {
			x.add(s.X[i]) // at a gap too: figures side by side keep the same axis
			if !onAxis(s.X[i], false) || !onAxis(s.Y[i], false) {
				continue
			}
			y.add(s.Y[i])
			if s.Low != nil {
				y.add(s.Low[i], s.High[i])
			}
		}
	}
	for _, l := range f.Levels {
		y.add(l.Y)
	}
	return x, y
}

// logs says which axes are logarithmic.
func (f *Figure) logs() (x, y bool) {
	ex, ey := f.extents()
	return ex.isLog(f.XScale, false), ey.isLog(f.YScale, true)
}

// zeros says whether a logarithmic y axis leaves out points at exactly 0.
func (f *Figure) zeros() bool {
	_, yLog := f.logs()
	for _, s := range f.Series {
		for _, v := range s.Y {
			if yLog && v == 0 {
				return true
			}
		}
	}
	return false
}

// SVG returns the figure as one SVG document on white. It fails as [Figure.Validate] does.
func (f *Figure) SVG() ([]byte, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	return f.svg(l, true)
}

func (f *Figure) svg(l *layout, background bool) ([]byte, error) {
	c := vgsvg.New(l.width, l.height)
	l.draw(draw.New(c), background)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	return cleanSVG(b.Bytes(), f.Title), nil
}

// PNG returns the figure as a PNG picture on white, at 144 dots an inch: 740 wide. It fails as
// [Figure.Validate] does.
func (f *Figure) PNG() ([]byte, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	return pngOf(l.width, l.height, func(c draw.Canvas) error {
		l.draw(c, true)
		return nil
	})
}

// pngOf renders a drawing as PNG.
func pngOf(width, height vg.Length, drawing func(draw.Canvas) error) ([]byte, error) {
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	if err := drawing(draw.New(c)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Save writes dir/name.svg and dir/name.png. Files that are there are replaced, each as a whole
// or not at all; dir must exist.
func (f *Figure) Save(dir, name string) error {
	svg, err := f.SVG()
	if err != nil {
		return err
	}
	png, err := f.PNG()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, name+".svg"), svg); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, name+".png"), png)
}
