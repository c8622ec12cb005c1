package report

import (
	"bytes"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"dsbo"
	"dsbo/internal/disk"
	"dsbo/internal/wording"
)

// A Figure is lines and points in one pair of axes with a legend below, or cells. Titles, labels
// and names are plain text in the typeface Liberation Sans, which has Greek letters and √ but no ∇.
type Figure struct {
	Title          string   // above the figure
	XLabel, YLabel string   // what the axes measure, with the unit
	XScale, YScale Scale    // of the axes
	Series         []Series // curves
	// Cells, if not nil, are drawn in place of series: numbers as colours that grow in lightness,
	// the top row first, with a scale beside them. What is not finite stays empty.
	Cells   []float64
	Columns int // of the cells
}

// A Series is one line of a [Figure]. A NaN or infinite number is a gap.
type Series struct {
	Name string    // in the legend; "": it is not there
	X, Y []float64 // coordinates of the points, of one length
	// Low and High, if not nil, are the edges of a band around Y, of its length.
	Low, High []float64
	Reference bool // a grey line: a baseline, or a theoretical value
	look      int  // 1 + the number of its look; 0: its number among the series
}

// A Scale is the way in which numbers are placed on an axis.
type Scale uint8

// The scales. On a logarithmic axis zeros and negative numbers are gaps.
const (
	Linear Scale = iota // equal steps
	Log                 // equal ratios
	Auto                // logarithmic where numbers are positive and span more than 1.5 decades, else linear
)

// Sizes of all figures, in points: on a phone the width becomes the width of the screen.
const (
	figureWidth, plotHeight, pictureHeight = 370, 270, 325
	scaleWidth                             = 60 // of the colour scale with its numbers
	fewPoints                              = 11 // a line of no more points has a marker at each
	mostRunes                              = 56 // of a text: what the width has room for
)

func init() { plot.DefaultFont.Variant = "Sans" }

// Validate reports that nothing can be drawn, as [dsbo.ErrConfig].
func (f *Figure) Validate() error {
	x, y := f.extents()
	drawn := f.Cells != nil && y.low <= y.high
	for _, s := range f.Series {
		drawn = drawn || len(pieces(x, y, s.X, s.Y)) > 0
	}
	if !drawn {
		return dsbo.ConfigErrorf(
			"figure %q has no point to draw: one must be finite, and above 0 on logarithmic axes", f.Title)
	}
	return nil
}

// Save writes dir/name.svg, on white. A file that is there is replaced, as a whole or not at all;
// dir must exist. It fails as Validate does.
func Save(f *Figure, dir, name string) error {
	data, err := f.svg(f.Title, color.White)
	if err != nil {
		return err
	}
	return disk.WriteBytes(filepath.Join(dir, name+".svg"), data)
}

// svg returns the figure as an SVG document, under a title or none, on a ground of some colour or
// none.
func (f *Figure) svg(title string, ground color.Color) ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	p, legend := plot.New(), plot.NewLegend()
	p.BackgroundColor, p.Title.Text = nil, shortened(f.YLabel)
	if title != "" {
		p.Title.Text = shortened(title) + "\n" + p.Title.Text
	}
	p.Title.TextStyle.Font.Size, p.X.Label.TextStyle.Font.Size, legend.TextStyle.Font.Size = 10, 10, 10
	legend.Left, legend.ThumbnailWidth, legend.Padding = true, 26, 3
	width, height, right := vg.Length(figureWidth), vg.Length(plotHeight), vg.Length(0)
	if f.Cells != nil {
		height, right = pictureHeight, scaleWidth
		if rows := len(f.Cells) / f.Columns; f.Columns > rows { // several pictures in one
			width, height = 2*figureWidth, pictureHeight*vg.Length(2*rows)/vg.Length(f.Columns)
		}
	} else {
		f.draw(p, &legend)
	}
	below := legend.Rectangle(draw.Canvas{}).Size().Y + 4
	svg := vgsvg.New(width, height+below)
	c := draw.New(svg)
	if ground != nil {
		svg.SetColor(ground)
		svg.Fill(c.Rectangle.Path())
	}
	if f.Cells != nil {
		f.colourScale(p).Draw(draw.Crop(c, width-scaleWidth, 0, 0, -30))
	}
	legend.Draw(draw.Crop(c, 4, 0, 4, 0))
	p.Draw(draw.Crop(c, 4, -4-right, below+4, -4))
	var b bytes.Buffer
	if _, err := svg.WriteTo(&b); err != nil {
		return nil, err
	}
	// Typefaces of the same widths, in case the measured one is missing.
	fonts := []byte("font-family:'Liberation Sans',Arimo,Helvetica,Arial,sans-serif;")
	return wording.Visible(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), fonts)), nil
}

// draw adds axes, grid and series to a plot, and their names to a legend.
func (f *Figure) draw(p *plot.Plot, legend *plot.Legend) {
	x, y := f.extents()
	p.X.Label.Text = shortened(f.XLabel)
	p.Add(plotter.NewGrid())
	grey, next := 0, 0
	for _, s := range f.Series {
		style := greyLook(grey)
		if s.Reference {
			grey++
		} else if next++; s.look > 0 {
			style = seriesLook(s.look - 1)
		} else {
			style = seriesLook(next - 1)
		}
		if s.Low != nil {
			for _, piece := range pieces(x, y, s.X, s.Y, s.Low, s.High) {
				slices.Reverse(piece[1]) // back along Low
				p.Add(&plotter.Polygon{XYs: []plotter.XYs{slices.Concat(piece[2], piece[1])}, Color: style.band,
					LineStyle: draw.LineStyle{Color: style.band, Width: 1}})
			}
		}
		drawn := pieces(x, y, s.X, s.Y)
		for _, piece := range drawn {
			p.Add(&plotter.Line{XYs: piece[0], LineStyle: style.line})
			if !s.Reference && (len(piece[0]) == 1 || len(s.X) <= fewPoints) {
				p.Add(&plotter.Scatter{XYs: piece[0], GlyphStyle: style.marker})
			}
		}
		if s.Name != "" && drawn != nil {
			legend.Add(shortened(s.Name), &plotter.Line{LineStyle: style.line})
		}
	}
	x.set(&p.X)
	y.set(&p.Y)
}

// pieces splits points at the gaps between them, where x or any y cannot be drawn. A piece has the
// points of each y.
func pieces(x, y extent, xs []float64, ys ...[]float64) (all [][]plotter.XYs) {
	gap := true
	for i := range xs {
		drawn := onAxis(xs[i], x.log)
		for _, v := range ys {
			drawn = drawn && onAxis(v[i], y.log)
		}
		if drawn && gap {
			all = append(all, make([]plotter.XYs, len(ys)))
		}
		if gap = !drawn; gap {
			continue
		}
		for k, v := range ys {
			piece := &all[len(all)-1][k]
			*piece = append(*piece, plotter.XY{X: xs[i], Y: v[i]})
		}
	}
	return all
}

// shortened returns a text without its middle if it is longer than there is room.
func shortened(s string) string {
	runes := []rune(wording.Plain(s))
	if len(runes) > mostRunes {
		runes = slices.Concat(runes[:mostRunes/2], []rune("…"), runes[len(runes)-mostRunes/2:])
	}
	return string(runes)
}

// onAxis reports whether a number can be drawn on an axis. Beyond 1e300, or that close to 0 on a
// logarithmic one, there is no room left for the axis itself.
func onAxis(v float64, log bool) bool {
	const most = 1e300
	return math.Abs(v) < most && (!log || v > 1/most)
}

// An extent is the range of the numbers of one axis.
type extent struct {
	low, high float64 // least and greatest number that is drawn
	positive  float64 // the smallest number above 0
	log       bool    // whether the axis is logarithmic
}

// extentOf returns the range of numbers.
func extentOf(values ...float64) extent {
	e := extent{low: math.Inf(1), high: math.Inf(-1), positive: math.Inf(1)}
	for _, v := range values {
		if onAxis(v, false) {
			e.low, e.high = min(e.low, v), max(e.high, v)
		}
		if onAxis(v, true) {
			e.positive = min(e.positive, v)
		}
	}
	return e
}

// scaled decides an axis. With zeros, exact zeros do not make an automatic axis linear: a consensus
// error starts at 0 and is best seen on a logarithmic axis all the same.
func (e extent) scaled(s Scale, zeros bool) extent {
	wide := e.low > 0 || e.low == 0 && zeros
	e.log = s == Log || s == Auto && wide && math.Log10(e.high)-math.Log10(e.positive) > 1.5
	if e.log {
		e.low = e.positive
	}
	return e
}

// set makes an axis of a plot logarithmic, over whole powers of ten, as the ticks of others have no
// labels; or gives its ticks labels of all digits: gonum's may be too short to differ.
func (e extent) set(a *plot.Axis) {
	if e.log {
		const slack = 1e-3 // of the logarithm, whose round-off would lose a tick at an end
		a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		from, to := math.Floor(math.Log10(e.low)+slack), math.Ceil(math.Log10(e.high)-slack)
		a.Min, a.Max = math.Pow10(int(from))*(1-slack), math.Pow10(int(max(to, from+1)))*(1+slack)
		return
	}
	a.Min, a.Max = e.low, e.high
	if room := max(math.Abs(e.low), math.Abs(e.high)) / 20; room <= 1e-250 {
		a.Min, a.Max = -1, 1
	} else if e.high-e.low <= 1e-8*room { // equal but for round-off, for which there are no ticks
		a.Min, a.Max = e.low-room, e.high+room
	}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		ticks := plot.DefaultTicks{}.Ticks(low, high)
		for i, k := range ticks {
			if math.Abs(k.Value) < 1e-9*(high-low) {
				k.Value = 0
			}
			if !k.IsMinor() {
				ticks[i].Label = strconv.FormatFloat(k.Value, 'g', 10, 64)
			}
		}
		return ticks
	})
}

// extents returns the ranges of what is drawn, with the axes' scales; y is of the cells where there
// are any.
func (f *Figure) extents() (x, y extent) {
	xs, ys := []float64{}, slices.Clone(f.Cells)
	for _, s := range f.Series {
		for i, at := range s.X {
			xs = append(xs, at) // at a gap too: figures side by side keep the same axis
			if !onAxis(at, false) || !onAxis(s.Y[i], false) {
				continue
			}
			if ys = append(ys, s.Y[i]); s.Low != nil {
				ys = append(ys, s.Low[i], s.High[i])
			}
		}
	}
	return extentOf(xs...).scaled(f.XScale, false), extentOf(ys...).scaled(f.YScale, true)
}
