package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"dsbo/internal/disk"
)

// Sizes of the figure, in points.
const (
	panelWidth, panelHeight = 250, 190
	legendHeight            = 24
)

// colours are those of Okabe and Ito, which people with any colour vision can tell apart.
var colours = []color.Color{
	color.RGBA{0x00, 0x72, 0xB2, 0xff}, color.RGBA{0xD5, 0x5E, 0x00, 0xff}, color.RGBA{0x00, 0x9E, 0x73, 0xff},
	color.RGBA{0xCC, 0x79, 0xA7, 0xff}, color.RGBA{0xE6, 0x9F, 0x00, 0xff},
}

var (
	grey     = color.RGBA{0x5A, 0x63, 0x6D, 0xff}
	faint    = draw.LineStyle{Color: color.RGBA{0xE2, 0xE5, 0xE9, 0xff}, Width: 0.6}
	constant = draw.LineStyle{Color: grey, Width: 1.1, Dashes: []vg.Length{6, 3}}
)

// saveFigure writes the figure of all tasks to file.svg and file.png: a row of panels for each task, a column for each cost.
func saveFigure(rows []row, file string) error {
	width, height := vg.Length(3*panelWidth), vg.Length(len(rows)*panelHeight+legendHeight)
	svg := vgsvg.New(width, height)
	if err := drawFigure(rows, draw.New(svg)); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := svg.WriteTo(&b); err != nil {
		return err
	}
	fonts := []byte("font-family:'Liberation Sans',Arimo,Helvetica,Arial,sans-serif;")
	text := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), fonts)
	if err := disk.WriteBytes(file+".svg", text); err != nil {
		return err
	}
	png := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	if err := drawFigure(rows, draw.New(png)); err != nil {
		return err
	}
	b.Reset()
	if _, err := png.WriteTo(&b); err != nil {
		return err
	}
	return disk.WriteBytes(file+".png", b.Bytes())
}

func drawFigure(rows []row, c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	panels := make([][]*plot.Plot, len(rows))
	var legend []plot.Legend
	for i, r := range rows {
		for cost := range 3 {
			p, names, err := r.panel(cost)
			if err != nil {
				return err
			}
			panels[i], legend = append(panels[i], p), names
		}
	}
	above := draw.Crop(c, 0, 0, legendHeight, 0)
	tiles := plot.Align(panels, draw.Tiles{Rows: len(rows), Cols: 3, PadX: 14, PadY: 10, PadLeft: 4, PadRight: 10, PadTop: 4}, above)
	for i := range panels {
		for j, p := range panels[i] {
			p.Draw(tiles[i][j])
		}
	}
	step := (c.Max.X - c.Min.X) / vg.Length(len(legend))
	for i, l := range legend {
		l.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: c.Min.X + vg.Length(i)*step + 8, Y: c.Min.Y}, Max: vg.Point{X: c.Min.X + vg.Length(i+1)*step, Y: c.Min.Y + legendHeight - 8},
		}})
	}
	return nil
}

// panel draws Φ − the best Φ known against a cost, down to a thousandth of the constant's, and returns the entries of the legend
// too, each alone.
func (r row) panel(cost int) (*plot.Plot, []plot.Legend, error) {
	p := plot.New()
	p.X.Label.Text = []string{"MB sent by all agents", "oracle calls of an agent", "seconds"}[cost]
	if cost == 0 {
		p.Y.Label.Text = "Φ − the best Φ known"
	}
	if cost == 1 {
		p.Title.Text = fmt.Sprintf("%s: best constant %.4f, best known %.4f", r.problem.title, r.constant, r.known)
	}
	x, y := newSpan(), newSpan()
	y.add(r.constant - r.known)
	p.Add(&plotter.Grid{Vertical: faint, Horizontal: faint})
	level := plotter.NewFunction(func(float64) float64 { return r.constant - r.known })
	level.Samples, level.LineStyle = 2, constant
	p.Add(level)
	var legend []plot.Legend
	for i, t := range r.best {
		var xys plotter.XYs
		for _, rec := range t.records {
			if s, gap := t.spent(rec)[cost], float64(rec.Phi)-r.known; s > 0 && gap > 1e-3*(r.constant-r.known) && !math.IsInf(gap, 0) {
				xys = append(xys, plotter.XY{X: s, Y: gap})
				x.add(s)
				y.add(gap)
			}
		}
		line := &plotter.Line{XYs: xys, LineStyle: draw.LineStyle{Color: colours[i%len(colours)], Width: 1.7, Dashes: plotutil.Dashes(i)}}
		if len(xys) > 0 {
			p.Add(line)
		}
		legend = append(legend, entry(t.method, line))
	}
	x.limit(&p.X)
	y.limit(&p.Y)
	style(p)
	return p, append(legend, entry("best constant λ", level)), nil
}

// entry returns a legend of one name.
func entry(name string, sample plot.Thumbnailer) plot.Legend {
	l := plot.NewLegend()
	l.TextStyle.Font = sans(10)
	l.ThumbnailWidth, l.Top, l.Left, l.Padding = 24, true, true, 3
	l.Add(name, sample)
	return l
}

// style sets the looks of a panel.
func style(p *plot.Plot) {
	p.BackgroundColor = nil
	p.Title.TextStyle.Font, p.Title.Padding = sans(10.5), 5
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans(9.5), sans(9)
		a.Label.TextStyle.Color, a.Tick.Label.Color = grey, grey
		a.LineStyle = draw.LineStyle{Color: grey, Width: 0.6}
		a.Tick.LineStyle = a.LineStyle
		a.Padding, a.Tick.Length = 0, 3
	}
}

func sans(size vg.Length) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}

// A span is the numbers on a logarithmic axis.
type span struct{ low, high float64 }

func newSpan() *span { return &span{math.Inf(1), 0} }

func (s *span) add(v float64) {
	if v > 0 {
		s.low, s.high = min(s.low, v), max(s.high, v)
	}
}

// limit makes an axis logarithmic and as long as the span, with a little room at both ends.
func (s *span) limit(a *plot.Axis) {
	a.Scale, a.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decades)
	a.Min, a.Max = s.low/1.15, s.high*1.15
	if !(s.high > 0) {
		a.Min, a.Max = 1, 10
	}
}

// decades returns ticks at 1, 2, …, 9 times the powers of ten, with numbers at 1, or also at 2 and 5 where there are few.
func decades(low, high float64) (ticks []plot.Tick) {
	numbered := []int{1}
	if high < 30*low {
		numbered = []int{1, 2, 5}
	}
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for digit := 1; digit < 10; digit++ {
			v := float64(digit) * math.Pow(10, power)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if slices.Contains(numbered, digit) {
				t.Label = fmt.Sprintf("%.4g", v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
