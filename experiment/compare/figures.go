package compare

import (
	"bytes"
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"dsbo/internal/num"
	"dsbo/internal/wording"
	"dsbo/runs/report"
)

// Sizes of all figures, in points: on a phone the width becomes the width of the screen.
const (
	figureWidth, plotHeight, pictureHeight = 370, 270, 325
	scaleWidth                             = 60 // of the colour scale with its numbers
	fewPoints                              = 11 // a line of no more points has a marker at each
	mostRunes                              = 56 // of a text: what the width has room for
)

func init() {
	plot.DefaultFont.Variant = "Sans"
	report.Draw = svg
}

// svg implements [report.Draw]: it draws series over axes, or cells as a heat map with the scale of
// their colours, and a legend below. A nil ground is transparent. Unnamed numbers are margins, in
// points.
func svg(f *report.Figure, ground color.Color) ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	p, legend := plot.New(), plot.NewLegend()
	p.BackgroundColor, p.Title.Text = nil, shortened(f.YLabel)
	if f.Title != "" {
		p.Title.Text = shortened(f.Title) + "\n" + p.Title.Text
	}
	p.Title.TextStyle.Font.Size, p.X.Label.TextStyle.Font.Size, legend.TextStyle.Font.Size = 10, 10, 10
	legend.Left, legend.ThumbnailWidth, legend.Padding = true, 26, 3
	width, height, right := vg.Length(figureWidth), vg.Length(plotHeight), vg.Length(0)
	if f.Cells != nil {
		height, right = pictureHeight, scaleWidth
		// A wide map has several pictures side by side; scale the height so that cells stay square.
		if rows := len(f.Cells) / f.Columns; f.Columns > rows {
			width, height = 2*figureWidth, pictureHeight*vg.Length(2*rows)/vg.Length(f.Columns)
		}
	} else {
		drawSeries(f, p, &legend)
	}
	below := legend.Rectangle(draw.Canvas{}).Size().Y + 4
	document := vgsvg.New(width, height+below)
	c := draw.New(document)
	if ground != nil {
		document.SetColor(ground)
		document.Fill(c.Rectangle.Path())
	}
	if f.Cells != nil {
		colourScale(f, p).Draw(draw.Crop(c, width-scaleWidth, 0, 0, -30))
	}
	legend.Draw(draw.Crop(c, 4, 0, 4, 0))
	p.Draw(draw.Crop(c, 4, -4-right, below+4, -4))
	var b bytes.Buffer
	if _, err := document.WriteTo(&b); err != nil {
		return nil, err
	}
	// gonum places text by the widths of Liberation Sans; name others of the same widths too.
	fonts := []byte("font-family:'Liberation Sans',Arimo,Helvetica,Arial,sans-serif;")
	return wording.Visible(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), fonts)), nil
}

// drawSeries adds axes, grid and series to a plot, and the series' names to a legend. A band from
// Low to High is drawn first, beneath the line, as a polygon. References have grey looks; other
// series have the look that they name, counted from 1, or the next one in order.
func drawSeries(f *report.Figure, p *plot.Plot, legend *plot.Legend) {
	x, y := f.Extents()
	p.X.Label.Text = shortened(f.XLabel)
	p.Add(plotter.NewGrid())
	references, others := 0, 0
	for _, s := range f.Series {
		style := greyLook(references)
		if s.Reference {
			references++
		} else {
			others++
			style = seriesLook(cmp.Or(s.Look, others) - 1)
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
	setAxis(&p.X, x)
	setAxis(&p.Y, y)
}

// pieces splits points into runs without gaps; a gap is an index at which x or one of the ys cannot
// be drawn. A piece has one list of points for each of the ys.
func pieces(x, y report.Extent, xs []float64, ys ...[]float64) (all [][]plotter.XYs) {
	gap := true
	for i := range xs {
		drawn := x.Has(xs[i])
		for _, v := range ys {
			drawn = drawn && y.Has(v[i])
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

// setAxis sets the range, scale and ticks of an axis. A logarithmic axis extends to whole powers of
// ten, at least one decade apart, since gonum labels no other ticks. A linear axis gets labels with
// all digits, as gonum's may be too short to differ. A range of a single value is widened by 5 % of
// the value on both sides, for 0 to [-1, 1].
func setAxis(a *plot.Axis, e report.Extent) {
	if e.Log {
		const slack = 1e-3 // relative; otherwise round-off of logarithms may lose the tick at an end
		a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		from, to := math.Floor(num.Log(e.Low)/math.Ln10+slack), math.Ceil(num.Log(e.High)/math.Ln10-slack)
		a.Min, a.Max = math.Pow10(int(from))*(1-slack), math.Pow10(int(max(to, from+1)))*(1+slack)
		return
	}
	a.Min, a.Max = e.Low, e.High
	if room := max(math.Abs(e.Low), math.Abs(e.High)) / 20; room <= 1e-250 { // 0, or too small to divide by
		a.Min, a.Max = -1, 1
	} else if e.High-e.Low <= 1e-8*room { // equal but for round-off: gonum would find no ticks
		a.Min, a.Max = e.Low-room, e.High+room
	}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		ticks := plot.DefaultTicks{}.Ticks(low, high)
		for i, k := range ticks {
			if math.Abs(k.Value) < 1e-9*(high-low) { // the round-off of 0
				k.Value = 0
			}
			if !k.IsMinor() {
				ticks[i].Label = strconv.FormatFloat(k.Value, 'g', 10, 64)
			}
		}
		return ticks
	})
}
