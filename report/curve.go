package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	markerRadius = 2.6
	lineMarkers  = 7      // markers along a line of many points
	fewPoints    = 11     // each has its marker
	bandAlpha    = 0x2E14 // 18% of 0xffff
)

// A curve draws points, the lines between them that no NaN interrupts, and markers.
type curve struct {
	points []plotter.XY
	look   look
	alone  bool // markers without lines
	bare   bool // lines without markers
	place  int  // among the curves: shifts the markers, so that those of equal curves do not hide each other
}

// Plot draws the curve.
func (k curve) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	glyph := draw.GlyphStyle{Color: k.look.colour, Radius: markerRadius, Shape: k.look.marker}
	line := draw.LineStyle{Color: k.look.colour, Width: k.look.width, Dashes: k.look.dashes}
	for _, run := range runs(k.points, x, y) {
		if !k.alone && len(run) > 1 {
			c.StrokeLines(line, c.ClipLinesXY(thin(run))...) // a fitted line may leave the range of its points
		}
		for i, at := range run {
			if k.alone || !k.bare && (len(run) <= fewPoints || marked(run, i, c, k.place)) {
				c.DrawGlyphNoClip(glyph, at)
			}
		}
	}
}

// marked says whether point i of a run is the one next after a place where a marker is due. The
// places are even in x over the canvas.
func marked(run []vg.Point, i int, c draw.Canvas, place int) bool {
	step := (c.Max.X - c.Min.X) / lineMarkers
	shift := c.Min.X + step*vg.Length(math.Mod(float64(place)*0.382, 1))
	cell := func(x vg.Length) float64 { return math.Floor(float64((x - shift) / step)) }
	return i > 0 && cell(run[i].X) != cell(run[i-1].X)
}

// runs places the points on the canvas and splits them at the gaps.
func runs(points []plotter.XY, x, y func(float64) vg.Length) [][]vg.Point {
	var all [][]vg.Point
	var run []vg.Point
	for _, p := range points {
		if math.IsNaN(p.X) || math.IsNaN(p.Y) {
			if run != nil {
				all = append(all, run)
			}
			run = nil
			continue
		}
		run = append(run, vg.Point{X: x(p.X), Y: y(p.Y)})
	}
	if run != nil {
		all = append(all, run)
	}
	return all
}

// thin keeps, of the points that share one point of width, the first, the lowest, the highest and
// the last, in order: what is drawn is the same to the eye, and a run of a million records stays small.
func thin(run []vg.Point) []vg.Point {
	var kept []vg.Point
	for i := 0; i < len(run); {
		j, low, high := i, i, i
		for ; j < len(run) && math.Floor(run[j].X.Points()) == math.Floor(run[i].X.Points()); j++ {
			if run[j].Y < run[low].Y {
				low = j
			}
			if run[j].Y > run[high].Y {
				high = j
			}
		}
		last := -1
		for _, k := range []int{i, min(low, high), max(low, high), j - 1} {
			if k != last {
				kept = append(kept, run[k])
			}
			last = k
		}
		i = j
	}
	return kept
}

// Thumbnail draws the legend's sample.
func (k curve) Thumbnail(c *draw.Canvas) {
	if !k.alone {
		y := c.Center().Y
		c.StrokeLine2(draw.LineStyle{Color: k.look.colour, Width: k.look.width, Dashes: k.look.dashes}, c.Min.X, y, c.Max.X, y)
	}
	if !k.bare {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: k.look.colour, Radius: markerRadius, Shape: k.look.marker}, c.Center())
	}
}

// A band fills the space between two lines.
type band struct {
	low, high []plotter.XY
	colour    shade
}

// Plot draws the band, in one piece between gaps.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	low, high := b.low, b.high
	for i := range low { // a gap in one edge is one in both
		if math.IsNaN(low[i].Y) || math.IsNaN(high[i].Y) {
			low[i].Y, high[i].Y = math.NaN(), math.NaN()
		}
	}
	lows, highs := runs(low, x, y), runs(high, x, y)
	for i := range lows {
		if len(lows[i]) == 1 { // a single point has a bar
			c.StrokeLine2(draw.LineStyle{Color: b.colour, Width: 4}, lows[i][0].X, lows[i][0].Y, highs[i][0].X, highs[i][0].Y)
			continue
		}
		around := thin(highs[i])
		below := thin(lows[i])
		for j := len(below) - 1; j >= 0; j-- {
			around = append(around, below[j])
		}
		c.FillPolygon(b.colour, around)
	}
}

// A horizontal is the line of a level.
type horizontal struct {
	y     float64
	style draw.LineStyle
}

// Plot draws the level.
func (h horizontal) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	c.StrokeLine2(h.style, c.Min.X, y(h.y), c.Max.X, y(h.y))
}

// Thumbnail draws the legend's sample.
func (h horizontal) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(h.style, c.Min.X, y, c.Max.X, y)
}
