package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/internal/num"
	"dsbo/runs"
)

// A group is runs that differ in their seed alone: one line in the figures, one row in the tables.
type group struct {
	label string
	look  int // number of its look; -1 for a single group, whose parts have looks of their own
	runs  []*Run
}

// sample returns the look of the group's line, nil where its parts have looks of their own.
func (g group) sample() *Look {
	if g.look < 0 {
		return nil
	}
	l := LookOf(g.look)
	return &l
}

// runsOf lists the runs of all groups.
func runsOf(gs []group) (all []*Run) {
	for _, g := range gs {
		all = append(all, g.runs...)
	}
	return all
}

// problem names the data and the losses of a run: Φ of one has nothing to do with Φ of another.
// Seeds are draws of one problem.
func (r *Run) problem() string {
	return fmt.Sprint(r.Config.Task, r.Config.Agents, string(r.Config.Problem))
}

// byProblem puts groups of one problem together, in the order of their first ones.
func byProblem(gs []group) (problems [][]group) {
	for _, g := range gs {
		i := slices.IndexFunc(problems, func(p []group) bool { return p[0].runs[0].problem() == g.runs[0].problem() })
		if i < 0 {
			i = len(problems)
			problems = append(problems, nil)
		}
		problems[i] = append(problems[i], g)
	}
	return problems
}

// distinctSettings lists the settings in which run i differs from any of the others, those that are
// wanted, with their values in run i.
func distinctSettings(rs []*Run, i int, wanted func(other *Run, setting string) bool) (words []string) {
	for _, other := range rs {
		for _, d := range differences(rs[i], other) {
			if wanted(other, d.Name) {
				words = append(words, symbol(d.Name)+" "+shortNumber(d.Other))
			}
		}
	}
	slices.Sort(words) // the same order in all names
	return slices.Compact(words)
}

// shortNumber writes a number with four digits, and leaves other text.
func shortNumber(s string) string {
	if v, err := strconv.ParseFloat(s, 64); err == nil && len(s) > 6 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return s
}

// problemLabels names problems by the settings in which any two of them differ, "" for a
// single one.
func problemLabels(problems [][]group) (names []string) {
	var firsts []*Run
	for _, p := range problems {
		firsts = append(firsts, p[0].runs[0])
	}
	for i := range firsts {
		names = append(names, strings.Join(distinctSettings(firsts, i, func(_ *Run, setting string) bool {
			return setting == "agents" || strings.HasPrefix(setting, "problem.")
		}), ", "))
	}
	return names
}

// solver returns what has a part in what a run computes, other than through chance: not the seed
// and what follows from it, nor when is measured, nor what built and ran it; and the method's
// parameters apart.
func (r *Run) solver() (task runs.Config, params json.RawMessage) {
	task, params = r.Config, r.Config.Params
	task.Seed, task.Curvature, task.Rho, task.EvalEvery, task.CheckpointEvery = 0, 0, 0, 0, 0
	task.Flags, task.Identity, task.Build, task.Params = nil, "", runs.Build{}, nil
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	return task, params
}

// differences lists the settings in which two runs differ. A step size that was chosen by the
// curvature is the same, and so is a bound of it, although the curvature of another seed's data
// gives another number.
func differences(other, this *Run) runs.Differences {
	otherTask, otherParams := other.solver()
	thisTask, thisParams := this.solver()
	differ, err := runs.Diff(otherTask, thisTask)
	params, paramsErr := runs.Diff(otherParams, thisParams)
	if err != nil || paramsErr != nil {
		return nil // what was read as JSON can be written as JSON
	}
	same := func(v, w float64) bool { return math.Abs(v-w) <= 1e-9*math.Abs(v) }
	params = slices.DeleteFunc(params, func(d runs.Difference) bool {
		v, err := strconv.ParseFloat(d.Other, 64)
		w, otherErr := strconv.ParseFloat(d.This, 64)
		s, t := other.Config.Curvature, this.Config.Curvature
		return err == nil && otherErr == nil && s > 0 && t > 0 && (same(v*s, w*t) || same(v/s, w/t))
	})
	return append(differ, params...)
}

// groups puts runs together, in the order of their first ones, and names each group by its
// difference from the other groups. Runs of different tasks are refused.
func groups(all []*Run) ([]group, error) {
	if len(all) == 0 {
		return nil, dsbo.ConfigErrorf("a report must have at least one run")
	}
	var gs []group
	for _, r := range all {
		if r.task() != all[0].task() {
			return nil, dsbo.ConfigErrorf(
				"run %s is of the task %s and run %s of the task %s: the runs of a report must be of one task",
				all[0].Name, all[0].task(), r.Name, r.task())
		}
		i := slices.IndexFunc(gs, func(g group) bool {
			first := g.runs[0]
			return r.Label == first.Label && (r.Label != "" || len(differences(first, r)) == 0)
		})
		if i < 0 {
			i = len(gs)
			gs = append(gs, group{})
		}
		gs[i].runs = append(gs[i].runs, r)
	}
	setLowest(all)
	for i := range gs {
		gs[i].label = cmp.Or(gs[i].runs[0].Label, label(gs, i))
		if gs[i].look = i; alone(gs) {
			gs[i].look = -1
		}
	}
	return gs, nil
}

// setLowest finds the lowest Φ of all runs of the same problem and seed.
func setLowest(all []*Run) {
	for _, r := range all {
		r.lowest = math.NaN()
		for _, other := range all {
			for _, rec := range other.Records {
				phi, alike := float64(rec.Phi), other.Config.Seed == r.Config.Seed && other.problem() == r.problem()
				if alike && (phi < r.lowest || math.IsNaN(r.lowest)) {
					r.lowest = phi
				}
			}
		}
	}
}

// alone reports whether there is one group only: all parts of a quantity are then in one figure.
func alone(gs []group) bool { return len(gs) == 1 && gs[0].runs[0].Label == "" }

// label names a group by its method, with the settings that differ from other groups of that
// method, or with the name of its first run where these are many.
func label(gs []group, i int) string {
	const most = 3
	var firsts []*Run
	for _, g := range gs {
		firsts = append(firsts, g.runs[0])
	}
	method, own := firsts[i].method(), firsts[i].Name
	differ := distinctSettings(firsts, i, func(other *Run, _ string) bool { return other.method() == method })
	if len(differ) == 0 {
		return method
	} else if len(differ) <= most {
		own = strings.Join(differ, ", ")
	}
	return method + " (" + own + ")"
}

// symbol is the short name of a setting: the paper's letter where it has one.
func symbol(name string) string {
	letters := map[string]string{"alpha": "α", "beta": "β", "gamma": "γ"}
	name = name[strings.LastIndex(name, ".")+1:]
	return cmp.Or(letters[name], name)
}

// groupDifference names the difference of groups: their methods, or one setting.
func groupDifference(gs []group) string {
	if slices.ContainsFunc(gs, func(g group) bool { return g.runs[0].method() != gs[0].runs[0].method() }) {
		return "Method"
	}
	return "Setting"
}

// mostPoints is about how many evaluations a line shows; of more, it shows every second, or third,
// and so on.
const mostPoints = 1000

// A curve is a measured number of a group against what was spent on each axis, in its basic unit:
// the median over the runs, with their range where there are several, as far as half of the
// runs go.
type curve struct {
	Name string `json:"name"`
	look int
	Look
	X    [][]float64 `json:"x"` // for each of all axes
	Y    []float64   `json:"y"`
	Low  []float64   `json:"low,omitempty"`
	High []float64   `json:"high,omitempty"`
}

// named returns the curve with a name and look i.
func (c curve) named(name string, i int) curve {
	c.Name, c.look, c.Look = name, i, LookOf(i)
	return c
}

// An evaluated number is one evaluation of one run.
type evaluated struct {
	record *runs.Record
	y      float64
}

// course returns the curve of a part, less a number of its run by its name, over the evaluations
// that know it.
func (g group) course(p part, less string) curve {
	c := curve{X: make([][]float64, len(axes))}
	measured := map[int][]evaluated{} // by iteration
	for _, r := range g.runs {
		subtracted := 0.0
		if less != "" {
			subtracted = r.value(less)
		}
		for i := range r.Records {
			rec := &r.Records[i]
			if y := p.in(rec) - subtracted; runs.Number(y).Known() {
				measured[rec.Iteration] = append(measured[rec.Iteration], evaluated{rec, y})
			}
		}
	}
	iterations := slices.Sorted(maps.Keys(measured))
	stride := len(iterations)/mostPoints + 1
	for i, k := range iterations {
		samples := measured[k]
		if i%stride != 0 && i != len(iterations)-1 || 2*len(samples) < len(g.runs) {
			continue
		}
		for a, x := range axes {
			mid, _, _ := spread(samples, func(s evaluated) float64 { return x.of(s.record) })
			c.X[a] = append(c.X[a], mid)
		}
		mid, low, high := spread(samples, func(s evaluated) float64 { return s.y })
		c.Y = append(c.Y, mid)
		if len(g.runs) > 1 {
			c.Low, c.High = append(c.Low, low), append(c.High, high)
		}
	}
	return c
}

// spread returns the median of a number of some items, with the least and the greatest that is
// known, NaN for none.
func spread[T any](items []T, of func(T) float64) (mid, low, high float64) {
	var vs []float64
	for _, item := range items {
		vs = append(vs, of(item))
	}
	mid = num.Median(vs)
	if vs = slices.DeleteFunc(vs, math.IsNaN); len(vs) == 0 {
		return mid, math.NaN(), math.NaN()
	}
	return mid, slices.Min(vs), slices.Max(vs)
}
