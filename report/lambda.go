package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// imageSide is that of MNIST: hyperparameters that are one for each pixel of such an image have a picture.
const imageSide = 28

// lambdas returns the pictures of the runs that have such hyperparameters.
func lambdas(gs []group) []namedDrawing {
	var all []namedDrawing
	for _, g := range gs {
		for _, r := range g.runs {
			p := &picture{Title: g.label, Label: "λ of each pixel", Side: imageSide, Cells: r.Lambda}
			if len(g.runs) > 1 {
				p.Title += fmt.Sprintf(", seed %d", r.Config.Seed)
			}
			if p.Validate() == nil {
				all = append(all, namedDrawing{drawing: p, Name: fmt.Sprintf("lambda_%d", len(all)+1), Label: p.Title})
			}
		}
	}
	if len(all) == 1 {
		all[0].Name = "lambda"
	}
	return all
}

// A chart is the hyperparameters of a group by the names of their features, the largest first.
type chart struct {
	Title string
	Bars  []bar
	More  int // how many hyperparameters it leaves out
}

// A bar is one hyperparameter. Start and Width are shares of the chart's width, in percent.
type bar struct {
	Name, Text, Range string
	Start, Width      float64
	value             float64
}

// mostBars is how many hyperparameters a chart shows.
const mostBars = 200

// charts returns the charts of the groups whose hyperparameters have no picture.
func charts(gs []group) (all []chart) {
	for _, g := range gs {
		rs := slices.DeleteFunc(slices.Clone(g.runs), func(r *Run) bool {
			return len(r.Lambda) == 0 || len(r.Lambda) == imageSide*imageSide || len(r.Lambda) != len(g.runs[0].Lambda)
		})
		if len(rs) > 0 {
			all = append(all, newChart(g.label, rs))
		}
	}
	return all
}

// newChart returns the chart of runs that have one number of hyperparameters: medians over the runs, with the range.
func newChart(title string, rs []*Run) chart {
	c, edges, names := chart{Title: title}, noExtent(), rs[0].own().FeatureNames
	edges.add(0)
	for i, n := 0, len(rs[0].Lambda); i < n; i++ {
		b := bar{Name: fmt.Sprintf("feature %d", i+1)}
		if len(names) == n {
			b.Name = names[i]
		}
		mid, low, high := spread(rs, func(r *Run) float64 { return r.Lambda[i] })
		if b.Text, b.value = number(mid), mid; len(rs) > 1 {
			b.Range = rangeText(low, high)
		}
		edges.add(mid)
		c.Bars = append(c.Bars, b)
	}
	slices.SortStableFunc(c.Bars, func(a, b bar) int { return cmp.Compare(b.value, a.value) })
	c.More = max(0, len(c.Bars)-mostBars)
	c.Bars = c.Bars[:len(c.Bars)-c.More]
	for i, b := range c.Bars {
		if width := edges.high - edges.low; width > 0 {
			c.Bars[i].Start, c.Bars[i].Width = 100*(min(b.value, 0)-edges.low)/width, 100*math.Abs(b.value)/width
		}
	}
	return c
}
