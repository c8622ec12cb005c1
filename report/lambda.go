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
}

// mostBars is how many hyperparameters a chart shows.
const mostBars = 200

// charts returns the charts of the groups whose hyperparameters have no picture: medians over the runs, with the range.
func charts(gs []group) (all []chart) {
	for _, g := range gs {
		rs := slices.DeleteFunc(slices.Clone(g.runs), func(r *Run) bool { return len(r.Lambda) == 0 || len(r.Lambda) == imageSide*imageSide })
		if len(rs) == 0 {
			continue
		}
		names, n := rs[0].own().FeatureNames, len(rs[0].Lambda)
		rs = slices.DeleteFunc(rs, func(r *Run) bool { return len(r.Lambda) != n })
		type entry struct {
			name           string
			mid, low, high float64
		}
		entries, edges := make([]entry, n), noExtent()
		edges.add(0)
		for i := range entries {
			e := entry{name: fmt.Sprintf("feature %d", i+1)}
			if len(names) == n {
				e.name = names[i]
			}
			e.mid, e.low, e.high = spread(rs, func(r *Run) float64 { return r.Lambda[i] })
			edges.add(e.mid)
			entries[i] = e
		}
		slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(b.mid, a.mid) })
		c := chart{Title: g.label, More: max(0, n-mostBars)}
		for _, e := range entries[:min(n, mostBars)] {
			b := bar{Name: e.name, Text: number(e.mid)}
			if len(rs) > 1 {
				b.Range = rangeText(e.low, e.high)
			}
			if width := edges.high - edges.low; width > 0 {
				b.Start, b.Width = 100*(min(e.mid, 0)-edges.low)/width, 100*math.Abs(e.mid)/width
			}
			c.Bars = append(c.Bars, b)
		}
		all = append(all, c)
	}
	return all
}
