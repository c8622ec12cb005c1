package report

import (
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	thumbWidth = 26
	thumbGap   = 5
	entryGap   = 14
	rowHeight  = 15
)

// A legend is names with samples, in rows below the plot.
type legend struct {
	rows [][]entry
}

type entry struct {
	name   string
	thumbs []plot.Thumbnailer
	width  vg.Length
}

// legend lays the names out in rows of at most the given width. A figure with one unnamed series has none.
func (f *Figure) legend(width vg.Length) legend {
	var entries []entry
	looks := f.looks()
	for i, s := range f.Series {
		e := entry{name: s.Name, thumbs: []plot.Thumbnailer{curve{look: looks[i], alone: s.Points, bare: s.Reference}}}
		if fit, ok := f.fit(s); ok {
			e.name += " (" + fit.label() + ")"
			e.thumbs = append(e.thumbs, curve{look: fitLook(looks[i]), bare: true})
		}
		if e.name != "" {
			entries = append(entries, e)
		}
	}
	_, yLog := f.logs()
	for i, l := range f.Levels {
		if l.Name != "" && onAxis(l.Y, yLog) {
			entries = append(entries, entry{name: l.Name, thumbs: []plot.Thumbnailer{horizontal{style: levelStyle(i)}}})
		}
	}
	var lg legend
	used := vg.Length(0)
	style := textStyle(tickSize, inkRole().shade)
	for _, e := range entries {
		e.name = shorten(e.name, style, (width-thumbWidth-thumbGap)/fontSlack)
		e.width = thumbWidth + thumbGap + fontSlack*style.Width(e.name)
		if len(lg.rows) == 0 || used+entryGap+e.width > width {
			lg.rows = append(lg.rows, nil)
			used = -entryGap
		}
		last := len(lg.rows) - 1
		lg.rows[last] = append(lg.rows[last], e)
		used += entryGap + e.width
	}
	return lg
}

// fontSlack leaves room for a browser that draws with a wider typeface than the one measured.
const fontSlack = 1.06

func (l legend) height() vg.Length {
	if len(l.rows) == 0 {
		return 0
	}
	return vg.Length(len(l.rows))*rowHeight + 2*lineGap
}

// draw draws the rows from the bottom of c up.
func (l legend) draw(c draw.Canvas) {
	style := textStyle(tickSize, inkRole().shade)
	for r, row := range l.rows {
		x := c.Min.X
		y := c.Min.Y + vg.Length(len(l.rows)-1-r)*rowHeight
		for _, e := range row {
			box := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + thumbWidth, Y: y + 7},
			}}
			for _, t := range e.thumbs {
				t.Thumbnail(&box)
			}
			c.FillText(style, vg.Point{X: x + thumbWidth + thumbGap, Y: y}, e.name)
			x += e.width + entryGap
		}
	}
}

// shorten cuts the middle out of a text that is wider than there is room.
func shorten(s string, style text.Style, room vg.Length) string {
	cut := s
	for keep := utf8.RuneCountInString(s) - 1; keep > 1 && style.Width(cut) > room; keep-- {
		runes := []rune(s)
		head := (keep + 1) / 2
		cut = string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
	}
	return cut
}
