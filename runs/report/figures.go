package report

import (
	"cmp"
	"math"
	"slices"
)

// A sheet is all that is drawn of some runs. What the page's script needs of it, in basic units, is
// in its JSON.
type sheet struct {
	Axes     []scaledAxis `json:"axes"`
	Panels   []*panel     `json:"figures"`
	Marks    []mark       `json:"marks,omitempty"` // of a single run
	Pictures []drawing    `json:"-"`
	// Assessments are of how good the predictions of a single run are.
	Assessments []drawing `json:"-"`
	id          string
}

// A scaledAxis is an axis in the unit that suits some runs.
type scaledAxis struct {
	axis
	Label  string  `json:"label"`
	Size   float64 `json:"size"` // of the unit
	Log    bool    `json:"log"`
	Number int     `json:"number"` // among all axes
}

// A panel is one figure of the page, which shows one of its views against one of the axes.
type panel struct {
	ID      string  `json:"id"` // of its element on the page
	Title   string  `json:"title"`
	Caption string  `json:"-"`
	Views   []*view `json:"views"`
	Static  *Figure `json:"-"` // its first view against the first axis
}

// A view is one quantity of some runs.
type view struct {
	Name   string     `json:"name"`  // name of its files, before the name of the axis
	Title  string     `json:"title"` // name among the views of its panel
	Label  string     `json:"label"`
	Log    bool       `json:"log"`
	Curves []curve    `json:"curves"`
	Levels []baseline `json:"levels"`
	title  string
	scale  scale
}

// A baseline is a horizontal line over the whole width, such as Φ of the best constant.
type baseline struct {
	Name string  `json:"name"`
	Y    float64 `json:"y"`
}

// A drawing is a figure with the name of its files.
type drawing struct {
	*Figure
	Name  string
	Label string // description for screen readers
}

// drawings lists all that is drawn, in the order of the page.
func (s *sheet) drawings() (all []drawing) {
	for _, p := range s.Panels {
		for _, v := range p.Views {
			for _, a := range s.Axes {
				all = append(all, drawing{s.figure(v, a), v.Name + "_" + a.Name, v.title + " against " + a.Title})
			}
		}
	}
	return append(append(all, s.Pictures...), s.Assessments...)
}

// newSheet draws all quantities of the groups, and their hyperparameters. What no run has numbers
// for is left out. The IDs of its panels begin with a text.
func newSheet(gs []group, id string) *sheet {
	s := &sheet{Pictures: lambdas(gs), Axes: scaledAxes(gs), id: id}
	if all := runsOf(gs); len(all) == 1 {
		s.Assessments, s.Marks = assessments(all[0]), changeMarks(all[0])
	}
	for _, q := range quantities(runsOf(gs)) {
		if alone(gs) { // all parts in one figure
			var lines []curve
			for i, p := range q.Parts {
				name := p.Name
				if len(q.Parts) == 1 && len(q.Levels) > 0 { // one line alone needs no name
					name = gs[0].label
				}
				lines = append(lines, gs[0].course(p, q.Less).named(name, i))
			}
			s.add(q, q.Name, q.Title, gs, lines)
			continue
		}
		for _, p := range q.Parts[:cmp.Or(q.Compared, len(q.Parts))] {
			var lines []curve
			// a quantity without values keeps its look, so that its colour is the same in all
			// figures
			for _, g := range gs {
				lines = append(lines, g.course(p, q.Less).named(g.label, g.look))
			}
			name, title := q.Name, q.Title
			if len(q.Parts) > 1 {
				name, title = p.Of, q.Title+", "+p.Name
			}
			s.add(q, name, title, gs, lines)
		}
	}
	return s
}

// add adds a view of a quantity to the panel before it, or with a panel of its own, if anything
// was measured.
func (s *sheet) add(q quantity, name, title string, gs []group, lines []curve) {
	empty := func(c curve) bool {
		return !slices.ContainsFunc(c.Y, func(y float64) bool { return onAxis(y, q.Log) })
	}
	v := &view{Name: name, Title: q.View, Label: q.Label, Levels: levels(q, gs),
		Curves: slices.DeleteFunc(lines, empty), title: title, scale: auto}
	if q.Log {
		v.scale = Log
	}
	f := s.figure(v, s.Axes[0])
	if f.Validate() != nil {
		return
	}
	_, y := f.Extents()
	v.Log = y.Log
	if n := len(s.Panels); q.View != "" && n > 0 && s.Panels[n-1].Views[0].Title != "" {
		s.Panels[n-1].Views = append(s.Panels[n-1].Views, v)
		return
	}
	p := &panel{ID: s.id + name, Title: title, Caption: q.Caption, Views: []*view{v}, Static: f}
	if v.Levels != nil {
		p.Caption += q.Lines
	}
	if y.Log && slices.ContainsFunc(v.Curves, func(c curve) bool { return slices.Contains(c.Y, 0) }) {
		p.Caption += " On a logarithmic axis exact zeros are left out."
	}
	s.Panels = append(s.Panels, p)
}

// levels returns the levels of a quantity, as medians over runs: all of a single group, of several
// the first for each problem.
func levels(q quantity, gs []group) (all []baseline) {
	problems := byProblem(gs)
	labels := problemLabels(problems)
	for i, l := range q.Levels {
		if i > 0 && !alone(gs) {
			break
		}
		for j, p := range problems {
			mid, _, _ := spread(runsOf(p), func(r *Run) float64 { return r.value(l.Value) })
			name := l.Title
			if labels[j] != "" && q.Less == "" {
				name += ", " + labels[j]
			}
			if !math.IsNaN(mid) && !slices.ContainsFunc(all, func(l baseline) bool { return l.Y == mid }) {
				all = append(all, baseline{Name: name, Y: mid})
			}
		}
	}
	return all
}

// figure returns the figure of a view against an axis, with its levels, and on the axis of
// iterations marks, as lines without an end.
func (s *sheet) figure(v *view, a scaledAxis) *Figure {
	f := &Figure{Title: v.title, XLabel: a.Label, YLabel: v.Label, YScale: v.scale}
	if a.Log {
		f.XScale = Log
	}
	for _, c := range v.Curves {
		line := Series{Name: c.Name, Look: 1 + c.look, Y: c.Y, Low: c.Low, High: c.High}
		for _, x := range c.X[a.Number] {
			line.X = append(line.X, x/a.Size)
		}
		f.Series = append(f.Series, line)
	}
	x, y := f.Extents()
	for _, l := range v.Levels {
		f.Series = append(f.Series, reference(l.Name, x.Low, x.High, l.Y, l.Y))
	}
	for _, m := range s.Marks {
		if at := float64(m.Iteration); a.Name == axes[0].Name && at >= x.Low && at <= x.High {
			f.Series = append(f.Series, reference("", at, at, y.Low, y.High))
		}
	}
	return f
}

// rangeText writes a range of numbers, one if they look the same.
func rangeText(low, high float64) string {
	if number(low) == number(high) {
		return number(low)
	}
	return number(low) + " to " + number(high)
}

// scaledAxes returns the axes of which the runs have spent something, the first in any case. One is
// logarithmic where a group spends so much more than another that on a linear axis the thrifty one
// would be an upright line.
func scaledAxes(gs []group) (all []scaledAxis) {
	const farApart = 8
	matrices := slices.ContainsFunc(runsOf(gs), func(r *Run) bool { return r.usage().Hessian+r.usage().Jacobian > 0 })
	for i, a := range axes {
		var most []float64
		for _, g := range gs {
			_, _, high := spread(g.runs, func(r *Run) float64 { return a.of(r.lastRecord()) })
			most = append(most, high)
		}
		spent := extentOf(most...)
		if i > 0 && spent.High <= 0 {
			continue
		}
		s := scaledAxis{axis: a, Number: i, Label: a.label, Log: spent.Low > 0 && spent.High > farApart*spent.Low}
		u := unitFor(a.units, spent.High)
		if s.Log {
			u = unitFor(a.units, spent.High/30) // the middle is what has to be easy to read
		}
		if s.Size = u.size; u.name != "" {
			s.Label += " (" + u.name + ")"
		}
		if a.Name == "calls" && matrices {
			s.Label += ", a whole matrix as one"
		}
		all = append(all, s)
	}
	return all
}
