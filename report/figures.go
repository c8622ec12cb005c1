package report

import (
	"math"
	"slices"
)

// A sheet is all that is drawn of some runs.
type sheet struct {
	Axes     []scaledAxis
	Panels   []*panel
	Pictures []namedDrawing
}

// A scaledAxis is an axis in the unit that suits some runs.
type scaledAxis struct {
	axis
	Label  string
	Unit   unit
	Scale  Scale
	number int // among all axes
}

// A panel is one figure of the page, which shows one of its views against one of the axes.
type panel struct {
	Name, Title, Caption string
	Views                []*view
	static               *Figure // its first view against the first axis
}

// A view is one quantity of some runs.
type view struct {
	Name      string // name of its files, before that of the axis
	Title     string // name among the views of its panel
	figure    Figure // without what belongs to an axis
	curves    []curve
	skipStart bool
}

// A namedDrawing is a drawing with the name of its files.
type namedDrawing struct {
	Drawing
	Name  string
	Label string // description for screen readers
}

// drawings lists all that is drawn, in the order of the page.
func (s sheet) drawings() (all []namedDrawing) {
	for _, p := range s.Panels {
		for _, v := range p.Views {
			for _, a := range s.Axes {
				all = append(all, v.drawing(a))
			}
		}
	}
	return append(all, s.Pictures...)
}

// newSheet draws all quantities of the groups, and their hyperparameters. What no run has numbers for is left out.
func newSheet(gs []group) sheet {
	s := sheet{Pictures: lambdas(gs), Axes: scaledAxes(gs)}
	for _, q := range quantities(runsOf(gs)) {
		if len(gs) == 1 {
			var lines []curve
			for i, p := range q.parts {
				c := gs[0].course(p.of, q.less)
				c.name, c.look = p.name, i
				if len(q.parts) == 1 && len(q.levels) > 0 { // one line alone needs no name
					c.name = gs[0].label
				}
				lines = append(lines, c)
			}
			s.add(q, q.name, q.title, gs, lines)
			continue
		}
		parts := q.parts
		if q.compared > 0 {
			parts = parts[:q.compared]
		}
		for _, p := range parts {
			var lines []curve
			for _, g := range gs { // one that was not measured keeps its look: what is one colour in one figure is so in all
				c := g.course(p.of, q.less)
				c.name, c.look = g.label, g.look
				lines = append(lines, c)
			}
			if len(q.parts) == 1 {
				s.add(q, q.name, q.title, gs, lines)
			} else {
				s.add(q, p.file, q.title+", "+p.name, gs, lines)
			}
		}
	}
	return s
}

// add adds a view of a quantity to the panel before it, or with a panel of its own, if anything was measured.
func (s *sheet) add(q quantity, name, title string, gs []group, lines []curve) {
	v := &view{Name: name, Title: q.view, curves: slices.DeleteFunc(lines, func(c curve) bool {
		return !slices.ContainsFunc(c.y, func(y float64) bool { return onAxis(y, q.scale == Log) })
	})}
	v.figure = Figure{Title: title, YLabel: q.label, YScale: q.scale, Levels: levels(q, gs)}
	f := v.against(s.Axes[0])
	if f.Validate() != nil {
		return
	}
	if q.view != "" && len(s.Panels) > 0 && s.Panels[len(s.Panels)-1].Views[0].Title != "" {
		last := s.Panels[len(s.Panels)-1]
		last.Views = append(last.Views, v)
		return
	}
	p := &panel{Name: name, Title: title, Caption: q.caption, Views: []*view{v}}
	if _, y := f.extents(0); y.log && y.low == 0 {
		p.Caption += " On a logarithmic axis exact zeros are left out."
	}
	if low, high, out := f.startApart(); out {
		v.skipStart = true
		p.Caption += " The start lies outside of the figure, at " + rangeText(low, high) + "."
	}
	p.static = v.against(s.Axes[0])
	s.Panels = append(s.Panels, p)
}

// levels returns the levels of a quantity: all of a single group, and the first for each problem of several, as medians over runs.
func levels(q quantity, gs []group) (all []Level) {
	problems := byProblem(gs)
	labels := problemLabels(problems)
	for i, l := range q.levels {
		if i > 0 && len(gs) > 1 {
			break
		}
		for j, p := range problems {
			mid, _, _ := spread(runsOf(p), l.of)
			name := l.name
			if labels[j] != "" && q.less == nil {
				name += ", " + labels[j]
			}
			if !math.IsNaN(mid) && !slices.ContainsFunc(all, func(l Level) bool { return l.Y == mid }) {
				all = append(all, Level{Name: name, Y: mid})
			}
		}
	}
	return all
}

// against returns the figure of a view against an axis.
func (v *view) against(a scaledAxis) *Figure {
	f := v.figure
	f.XLabel, f.XScale, f.XCount = a.Label, a.Scale, a.count
	for _, c := range v.curves {
		s := Series{Name: c.name, look: 1 + c.look, Y: slices.Clone(c.y), Low: c.low, High: c.high}
		for _, x := range c.x[a.number] {
			s.X = append(s.X, x/a.Unit.size)
		}
		if v.skipStart {
			s.Y[0] = math.NaN() // a gap in the band, too
		}
		f.Series = append(f.Series, s)
	}
	return &f
}

// drawing returns the figure of a view against an axis, with the name of its files.
func (v *view) drawing(a scaledAxis) namedDrawing {
	return namedDrawing{v.against(a), v.Name + "_" + a.Name, v.figure.Title + " against " + a.Title}
}

// startApart reports whether the first points of all series, before the first iteration, lie so far from all others that
// the rest would be flat, and returns their least and greatest.
func (f *Figure) startApart() (low, high float64, out bool) {
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
	return starts.low, starts.high, starts.high >= starts.low && rest.high >= rest.low && distance*share > rest.high-rest.low
}

// rangeText writes a range of numbers, one if they look the same.
func rangeText(low, high float64) string {
	if number(low) == number(high) {
		return number(low)
	}
	return number(low) + " to " + number(high)
}

// scaledAxes returns the axes of which the runs have spent something, the first in any case. One is logarithmic where one run
// spends so much more than another that on a linear axis the thrifty one would be an upright line.
func scaledAxes(gs []group) (all []scaledAxis) {
	const apart = 8
	for i, a := range axes() {
		mostSpent := func(rs []*Run) float64 {
			_, _, most := spread(rs, func(r *Run) float64 { return a.of(r.lastRecord()) })
			return most
		}
		least, largest := math.Inf(1), mostSpent(runsOf(gs))
		for _, g := range gs {
			least = min(least, mostSpent(g.runs))
		}
		if i > 0 && largest == 0 {
			continue
		}
		s := scaledAxis{axis: a, number: i, Scale: Linear}
		if least > 0 && largest > apart*least {
			s.Scale = Log
			largest /= 30 // the middle is what has to be easy to read
		}
		s.Unit = unitFor(a.units, largest)
		s.Label = a.label
		if s.Unit.name != "" {
			s.Label += " (" + s.Unit.name + ")"
		}
		if a.Name == callsAxis && slices.ContainsFunc(runsOf(gs), func(r *Run) bool { return r.usage().Hessian+r.usage().Jacobian > 0 }) {
			s.Label += ", a whole matrix as one"
		}
		all = append(all, s)
	}
	return all
}
