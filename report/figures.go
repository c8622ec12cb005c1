package report

import (
	"math"
	"slices"
	"strings"
)

// A panel is one quantity drawn against every axis that the runs have numbers for.
type panel struct {
	name, title, caption string
	figures              map[string]*Figure // by name of the axis
}

// panels builds all figures of the groups. Those in which nothing can be drawn are left out.
func panels(gs []group) []panel {
	var ps []panel
	for _, q := range quantities() {
		if len(gs) == 1 {
			ps = append(ps, newPanel(q, q.name, q.title, func(a axis, scale float64) []Series { return partSeries(gs[0], q, a, scale) }, gs, levels(gs[0], q)))
			continue
		}
		parts := q.parts
		if q.compared > 0 {
			parts = parts[:q.compared]
		}
		for _, p := range parts {
			name, title := q.name, q.title
			if len(q.parts) > 1 {
				name, title = p.file, q.title+", "+p.name
			}
			ps = append(ps, newPanel(q, name, title, func(a axis, scale float64) []Series { return groupSeries(gs, p, a, scale) }, gs, nil))
		}
	}
	var filled []panel
	for _, p := range ps {
		if len(p.figures) > 0 {
			filled = append(filled, p)
		}
	}
	return filled
}

// newPanel draws series against each axis.
func newPanel(q quantity, name, title string, series func(axis, float64) []Series, gs []group, ls []Level) panel {
	p := panel{name: name, title: title, caption: q.caption, figures: map[string]*Figure{}}
	for i, a := range axes() {
		if i > 0 && most(gs, a) == 0 {
			continue // nothing was spent
		}
		x := xScale(gs, a)
		u := unitFor(a.units, most(gs, a))
		if x == Log { // the middle is what has to be easy to read
			u = unitFor(a.units, most(gs, a)/30)
		}
		f := &Figure{
			Title: title, XLabel: a.label, YLabel: q.label, XScale: x, XCount: a.count,
			Series: series(a, u.size), Levels: ls,
		}
		if u.name != "" {
			f.XLabel += " (" + u.name + ")"
		}
		if a.name == callsAxis && matrices(gs) {
			f.XLabel += ", a whole matrix as one"
		}
		if f.Validate() != nil {
			continue // nothing was measured
		}
		if f.zeros() && !strings.Contains(p.caption, "logarithmic") {
			p.caption += " On the logarithmic axis exact zeros are left out."
		}
		if low, high, out := f.leaveOutStart(); out && !strings.Contains(p.caption, "start") {
			p.caption += " The start lies outside of the figure, at " + between(low, high) + "."
		}
		p.figures[a.name] = f
	}
	return p
}

// matrices says whether any run asked its oracles for whole matrices.
func matrices(gs []group) bool {
	for _, g := range gs {
		for _, r := range g.runs {
			if u := r.spent(); u.Hessian+u.Jacobian > 0 {
				return true
			}
		}
	}
	return false
}

// leaveOutStart makes a gap of the first point of every series, before the first iteration, where these points
// lie so far from all others that the rest would be flat. It returns their least and greatest.
func (f *Figure) leaveOutStart() (low, high float64, out bool) {
	const share, enough = 1. / 5, 3
	if _, log := f.logs(); log {
		return 0, 0, false
	}
	starts, rest := noExtent(), noExtent()
	for _, s := range f.Series {
		if len(s.Y) == 0 {
			continue
		}
		if len(s.Y) <= enough {
			return 0, 0, false
		}
		starts.add(s.Y[0])
		rest.add(s.Y[1:]...)
		if s.Low != nil {
			rest.add(s.Low[1:]...)
			rest.add(s.High[1:]...)
		}
	}
	for _, l := range f.Levels {
		rest.add(l.Y)
	}
	distance := max(rest.low-starts.high, starts.low-rest.high)
	if starts.high < starts.low || rest.high < rest.low || distance*share <= rest.high-rest.low {
		return 0, 0, false
	}
	for i, s := range f.Series {
		if len(s.Y) == 0 {
			continue
		}
		s.Y = append([]float64{math.NaN()}, s.Y[1:]...)
		if s.Low != nil {
			s.Low, s.High = append([]float64{math.NaN()}, s.Low[1:]...), append([]float64{math.NaN()}, s.High[1:]...)
		}
		f.Series[i] = s
	}
	return starts.low, starts.high, true
}

// between writes a range of numbers, one if they look the same.
func between(low, high float64) string {
	if number(low) == number(high) {
		return number(low)
	}
	return number(low) + " to " + number(high)
}

// partSeries draws the parts of one quantity of one group.
func partSeries(g group, q quantity, a axis, scale float64) []Series {
	var all []Series
	for _, p := range q.parts {
		s := g.course(a, p.of).series(scale)
		s.Name = p.name
		if s.Name == "" && len(q.levels) > 0 {
			s.Name = g.label // one line alone needs no name
		}
		if s.measured() {
			all = append(all, s)
		}
	}
	return all
}

// groupSeries draws one number of all groups. A group without it keeps its colour: what is one
// colour in one figure is so in all.
func groupSeries(gs []group, p part, a axis, scale float64) []Series {
	var all []Series
	for _, g := range gs {
		s := g.course(a, p.of).series(scale)
		if s.measured() {
			s.Name = g.label
		}
		all = append(all, s)
	}
	return all
}

// measured reports whether any y is known.
func (s *Series) measured() bool {
	return slices.ContainsFunc(s.Y, func(y float64) bool { return !math.IsNaN(y) })
}

// series is the line of c, with what was spent in units of the given size.
func (c course) series(scale float64) Series {
	x := make([]float64, len(c.x))
	for i, v := range c.x {
		x[i] = v / scale
	}
	return Series{X: x, Y: c.y, Low: c.low, High: c.high}
}

// levels returns the horizontal lines of a quantity that the summaries have.
func levels(g group, q quantity) []Level {
	var ls []Level
	for _, l := range q.levels {
		if v, _, _ := g.value(atEnd(l.of)); !math.IsNaN(v) {
			ls = append(ls, Level{Name: l.name, Y: v})
		}
	}
	return ls
}

// xScale is logarithmic where one run spends so much more than another that on a linear axis the
// thrifty one would be an upright line.
func xScale(gs []group, a axis) Scale {
	const apart = 8
	least := math.Inf(1)
	for _, g := range gs {
		least = min(least, most([]group{g}, a))
	}
	if least > 0 && most(gs, a) > apart*least {
		return Log
	}
	return Linear
}

// most returns the largest amount that any run spent.
func most(gs []group, a axis) float64 {
	largest := 0.0
	for _, g := range gs {
		for _, r := range g.runs {
			largest = max(largest, a.of(r.lastRecord()))
		}
	}
	return largest
}
