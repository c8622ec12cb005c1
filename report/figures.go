package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/runs"
)

// A sheet is all that is drawn of some runs.
type sheet struct {
	Panels   []panel
	Pictures []namedDrawing
}

// A panel is one quantity drawn against every axis that the runs have numbers for.
type panel struct {
	Name, Title, Caption string
	Drawings             []namedDrawing
}

// A namedDrawing is a drawing with the name of its files, and, for a figure, that of its axis.
type namedDrawing struct {
	Drawing
	Name, Axis string
	Label      string // description for screen readers
}

// drawings lists all that is drawn, in the order of the page.
func (s sheet) drawings() []namedDrawing {
	var all []namedDrawing
	for _, p := range s.Panels {
		all = append(all, p.Drawings...)
	}
	return append(all, s.Pictures...)
}

// newSheet draws all quantities of the groups, and their hyperparameters. What no run has numbers for is left out.
func newSheet(gs []group) sheet {
	s := sheet{Pictures: lambdas(gs)}
	add := func(name, title string, q quantity, lines []line) {
		if p := newPanel(name, title, q, gs, lines); len(p.Drawings) > 0 {
			s.Panels = append(s.Panels, p)
		}
	}
	for _, q := range quantities() {
		if len(gs) == 1 {
			var lines []line
			for _, p := range q.parts {
				lines = append(lines, line{gs[0], p.of, p.name})
			}
			if len(lines) == 1 && len(q.levels) > 0 { // one line alone needs no name
				lines[0].name = gs[0].label
			}
			add(q.name, q.title, q, lines)
			continue
		}
		parts := q.parts
		if q.compared > 0 {
			parts = parts[:q.compared]
		}
		for _, p := range parts {
			var lines []line
			for _, g := range gs {
				lines = append(lines, line{g, p.of, g.label})
			}
			if len(q.parts) == 1 {
				add(q.name, q.title, q, lines)
			} else {
				add(p.file, q.title+", "+p.name, q, lines)
			}
		}
	}
	return s
}

// A line is a number of a group in a figure.
type line struct {
	group
	of   func(*runs.Record) runs.Number
	name string
}

// newPanel draws lines of a quantity against each axis.
func newPanel(name, title string, q quantity, gs []group, lines []line) panel {
	p := panel{Name: name, Title: title, Caption: q.caption}
	for i, a := range axes() {
		largest := mostSpent(runsOf(gs), a)
		if i > 0 && largest == 0 {
			continue // nothing was spent
		}
		f := &Figure{Title: title, XLabel: a.label, YLabel: q.label, XScale: xScale(gs, a), XCount: a.count}
		if f.XScale == Log { // the middle is what has to be easy to read
			largest /= 30
		}
		u := unitFor(a.units, largest)
		if u.name != "" {
			f.XLabel += " (" + u.name + ")"
		}
		if a.Name == callsAxis && slices.ContainsFunc(runsOf(gs), func(r *Run) bool { return r.usage().Hessian+r.usage().Jacobian > 0 }) {
			f.XLabel += ", a whole matrix as one"
		}
		for _, l := range lines { // one that was not measured keeps its colour: what is one colour in one figure is so in all
			s := l.course(a, u.size, l.of)
			if s.measured() {
				s.Name = l.name
			}
			f.Series = append(f.Series, s)
		}
		for _, l := range q.levels {
			if v, _, _ := spread(gs[0].runs, ofSummary(l.of)); len(gs) == 1 && !math.IsNaN(v) {
				f.Levels = append(f.Levels, Level{Name: l.name, Y: v})
			}
		}
		if f.Validate() != nil {
			continue // nothing was measured
		}
		if _, y := f.extents(0); y.log && y.low == 0 && !strings.Contains(p.Caption, "logarithmic") {
			p.Caption += " On the logarithmic axis exact zeros are left out."
		}
		if low, high, out := f.leaveOutStart(); out && !strings.Contains(p.Caption, "start") {
			p.Caption += " The start lies outside of the figure, at " + rangeText(low, high) + "."
		}
		p.Drawings = append(p.Drawings, namedDrawing{f, name + "_" + a.Name, a.Name, title + " against " + a.Title})
	}
	return p
}

// leaveOutStart makes a gap of the first point of every series, before the first iteration, where these points
// lie so far from all others that the rest would be flat. It returns their least and greatest.
func (f *Figure) leaveOutStart() (low, high float64, out bool) {
	const share, few = 1. / 5, 3
	starts := noExtent()
	for _, s := range f.Series {
		if n := len(s.Y); n > few {
			starts.add(s.Y[0])
		} else if n > 0 {
			return 0, 0, false
		}
	}
	_, rest := f.extents(1)
	if _, all := f.extents(0); all.log {
		return 0, 0, false
	}
	distance := max(rest.low-starts.high, starts.low-rest.high)
	if starts.high < starts.low || rest.high < rest.low || distance*share <= rest.high-rest.low {
		return 0, 0, false
	}
	for i := range f.Series {
		s := &f.Series[i]
		for _, ys := range []*[]float64{&s.Y, &s.Low, &s.High} {
			if len(*ys) > 0 {
				*ys = append([]float64{math.NaN()}, (*ys)[1:]...)
			}
		}
	}
	return starts.low, starts.high, true
}

// rangeText writes a range of numbers, one if they look the same.
func rangeText(low, high float64) string {
	if number(low) == number(high) {
		return number(low)
	}
	return number(low) + " to " + number(high)
}

// measured reports whether any y is known.
func (s *Series) measured() bool {
	return slices.ContainsFunc(s.Y, func(y float64) bool { return !math.IsNaN(y) })
}

// xScale is logarithmic where one run spends so much more than another that on a linear axis the
// thrifty one would be an upright line.
func xScale(gs []group, a axis) Scale {
	const apart = 8
	least := math.Inf(1)
	for _, g := range gs {
		least = min(least, mostSpent(g.runs, a))
	}
	if least > 0 && mostSpent(runsOf(gs), a) > apart*least {
		return Log
	}
	return Linear
}

// mostSpent returns the largest amount that any run spent.
func mostSpent(all []*Run, a axis) float64 {
	_, _, most := spread(all, func(r *Run) float64 { return a.of(r.lastRecord()) })
	return most
}

// imageSide is that of MNIST: hyperparameters that are one for each pixel of such an image have a picture.
const imageSide = 28

// lambdas returns the pictures of the runs that have such hyperparameters.
func lambdas(gs []group) []namedDrawing {
	var all []namedDrawing
	for _, g := range gs {
		for _, r := range g.runs {
			p := &Picture{Title: g.label, Label: "λ of each pixel", Side: imageSide, Cells: r.Lambda}
			if len(g.runs) > 1 {
				p.Title += fmt.Sprintf(", seed %d", r.Config.Seed)
			}
			if p.Validate() == nil {
				all = append(all, namedDrawing{Drawing: p, Name: fmt.Sprintf("lambda_%d", len(all)+1), Label: p.Title})
			}
		}
	}
	if len(all) == 1 {
		all[0].Name = "lambda"
	}
	return all
}
