package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dsbo/runs"
)

// imageSide is the side of MNIST's images: penalties that are one for each pixel of such an image
// have a picture.
const imageSide = 28

// lambdas returns the pictures of the runs that have such hyperparameters, or hyperparameters that
// are pictures.
func lambdas(gs []group) []drawing {
	var all []drawing
	for _, g := range gs {
		for _, r := range g.runs {
			f := r.picture()
			if f.Title = g.label; len(g.runs) > 1 {
				f.Title += fmt.Sprintf(", seed %d", r.Config.Seed)
			}
			if f.Validate() == nil {
				e := extentOf(f.Cells...)
				f.YLabel += fmt.Sprintf(", from %.3g to %.3g", e.Low, e.High)
				all = append(all, drawing{f, fmt.Sprintf("lambda_%d", len(all)+1), f.Title})
			}
		}
	}
	if len(all) == 1 {
		all[0].Name = "lambda"
	}
	return all
}

// picture returns the hyperparameters of the run as a picture; it is not valid if they are none.
func (r *Run) picture() *Figure {
	switch m := r.Config.Hyperparameters(); {
	case m.Pictures > 0 && m.Pictures*m.Rows*m.Cols <= len(r.Lambda):
		return contactSheet(m, r.Lambda)
	case m == runs.Penalties && len(r.Lambda) == imageSide*imageSide:
		return &Figure{YLabel: m.Symbol + " of each pixel", Cells: r.Lambda, Columns: imageSide}
	}
	return new(Figure)
}

// sheetColumns is the number of pictures beside each other on a contact sheet, and mostPictures the
// number of all.
const sheetColumns, mostPictures = 5, 20

// contactSheet returns pictures in rows, with an empty line of cells between them.
func contactSheet(m runs.Meaning, x []float64) *Figure {
	count := min(m.Pictures, mostPictures)
	across := min(count, sheetColumns)
	down := (count + across - 1) / across
	f := &Figure{YLabel: m.Many, Columns: across*(m.Cols+1) - 1}
	f.Cells = slices.Repeat([]float64{math.NaN()}, (down*(m.Rows+1)-1)*f.Columns)
	for k := range count {
		for row := range m.Rows {
			first := ((k/across)*(m.Rows+1)+row)*f.Columns + (k%across)*(m.Cols+1) // cell of the row
			copy(f.Cells[first:][:m.Cols], x[(k*m.Rows+row)*m.Cols:])
		}
	}
	return f
}

// A chart is the hyperparameters of a group by the names of their features, the largest first; of
// log-penalties the smallest, of which the model makes most.
type chart struct {
	Title, Symbol, Of string // of the group; of the hyperparameters; what has one
	From              string // the scale of the bars of log-penalties
	Bars              []bar
	More              int // how many hyperparameters it leaves out
}

// A bar is one hyperparameter. Start and Width are shares of the chart's width, in percent.
type bar struct {
	Name string
	cell
	Start, Width float64
}

// mostBars is how many hyperparameters a chart shows.
const mostBars = 200

// charts returns the charts of the groups whose hyperparameters have no picture.
func charts(gs []group) (all []chart) {
	for _, g := range gs {
		rs := slices.DeleteFunc(slices.Clone(g.runs), func(r *Run) bool {
			return len(r.Lambda) == 0 || r.picture().Cells != nil || len(r.Lambda) != len(g.runs[0].Lambda)
		})
		if len(rs) > 0 {
			all = append(all, newChart(g.label, rs))
		}
	}
	return all
}

// newChart returns the chart of runs that have one number of hyperparameters: medians over the
// runs, with the range.
func newChart(title string, rs []*Run) chart {
	m := rs[0].Config.Hyperparameters()
	c, sign, ends := chart{Title: title, Symbol: m.Symbol, Of: m.One}, -1.0, []float64{0}
	if m == runs.Penalties {
		c.Of, sign, ends = "feature", 1, nil
	}
	for i := range rs[0].Lambda {
		mid, low, high := spread(rs, func(r *Run) float64 { return r.Lambda[i] })
		b := bar{Name: fmt.Sprintf("%s %d", c.Of, i+1), cell: numberCell(mid, number)}
		if len(rs[0].Names) == len(rs[0].Lambda) {
			b.Name = rs[0].Names[i]
		}
		if len(rs) > 1 {
			b.Range = rangeText(low, high)
		}
		c.Bars, ends = append(c.Bars, b), append(ends, mid)
	}
	slices.SortStableFunc(c.Bars, func(a, b bar) int { return cmp.Compare(sign*a.value, sign*b.value) })
	c.More = max(0, len(c.Bars)-mostBars)
	c.Bars = c.Bars[:len(c.Bars)-c.More]
	edges, from := extentOf(ends...), 0.0
	if m == runs.Penalties {
		from, c.From = edges.Low, "from "+number(edges.Low)+" to "+number(edges.High)
	}
	share := 100 / max(edges.High-edges.Low, 1e-300)
	for i := range c.Bars {
		b := &c.Bars[i]
		b.Start, b.Width = share*(min(b.value, from)-edges.Low), share*math.Abs(b.value-from)
	}
	return c
}
