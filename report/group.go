package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo"
)

// A group is runs that differ in their seed alone: one line in the figures, one row in the tables.
type group struct {
	label string
	runs  []*Run
}

// incidental says whether a setting has no part in what a run computes, other than through chance: the
// seed and what follows from it, when is measured, and what built and ran it.
func incidental(key string) bool {
	return environment(key) || slices.Contains([]string{"seed", "curvature", "rho", "flags", "eval_every", "checkpoint_every"}, key)
}

// alike says whether a setting is the same in two runs. A step size that was chosen by the curvature
// is, and so is a bound of it, although the curvature of another seed's data gives another number.
func alike(a, b *Run, key string) bool {
	if a.Config.Get(key) == b.Config.Get(key) {
		return true
	}
	x, y := a.Config.Number(key), b.Config.Number(key)
	s, t := a.Config.Number("curvature"), b.Config.Number("curvature")
	same := func(v, w float64) bool { return math.Abs(v-w) <= 1e-9*math.Abs(v) }
	return strings.HasPrefix(key, "params.") && (same(x*s, y*t) || same(x/s, y/t))
}

// groups puts runs together, in the order of their first ones, and names each group by what tells
// it from the others. Runs of different tasks are refused.
func groups(runs []*Run) ([]group, error) {
	var gs []group
	for _, r := range runs {
		if r.task() != runs[0].task() {
			return nil, fmt.Errorf("%w: run %s is of the task %s and run %s of the task %s: want runs of one task in a report",
				dsbo.ErrConfig, runs[0].Name, runs[0].task(), r.Name, r.task())
		}
		i := slices.IndexFunc(gs, func(g group) bool { return len(differences(g.runs[0], r)) == 0 })
		if i < 0 {
			i = len(gs)
			gs = append(gs, group{})
		}
		gs[i].runs = append(gs[i].runs, r)
	}
	for i := range gs {
		gs[i].label = label(gs, i)
	}
	return gs, nil
}

// label names a group by its method, with the settings that differ from other groups of that method,
// or with the name of its first run where these are many.
func label(gs []group, i int) string {
	const most = 3
	method := gs[i].runs[0].method()
	var differ []string
	for j := range gs {
		if j != i && gs[j].runs[0].method() == method {
			differ = append(differ, differences(gs[i].runs[0], gs[j].runs[0])...)
		}
	}
	slices.Sort(differ) // the same order in all labels
	differ = slices.Compact(differ)
	if len(differ) == 0 {
		return method
	}
	if len(differ) > most {
		return method + " (" + gs[i].runs[0].Name + ")"
	}
	for k, key := range differ {
		value := gs[i].runs[0].Config.Get(key)
		if value == "" {
			value = "default"
		}
		differ[k] = symbol(key) + " " + value
	}
	return method + " (" + strings.Join(differ, ", ") + ")"
}

// symbol is the short name of a setting: the paper's letter where it has one.
func symbol(key string) string {
	name := key[strings.LastIndex(key, ".")+1:]
	switch name {
	case "alpha":
		return "α"
	case "beta":
		return "β"
	case "gamma":
		return "γ"
	}
	return name
}

// told says what tells groups apart: their methods, or the settings of one.
func told(gs []group) string {
	for _, g := range gs {
		if g.runs[0].Config.Get("algorithm") != gs[0].runs[0].Config.Get("algorithm") {
			return "Method"
		}
	}
	return "Setting"
}

// differences lists the settings in which two runs differ, in the order of the first.
func differences(a, b *Run) []string {
	var keys []string
	for _, fs := range []Fields{a.Config, b.Config} {
		for _, f := range fs {
			if !incidental(f.Key) && !alike(a, b, f.Key) && !slices.Contains(keys, f.Key) {
				keys = append(keys, f.Key)
			}
		}
	}
	return keys
}

// course is a group's line: the median over the runs, and their range where there are several. It
// goes as far as half of the runs do.
type course struct {
	x, y, low, high []float64
}

// mostPoints is about how many evaluations a line shows; of more, it shows every second, or third, and so on.
const mostPoints = 1000

// course returns a measured number against what was spent.
func (g group) course(a axis, key string) course {
	var c course
	iterations := g.iterations()
	stride := len(iterations)/mostPoints + 1
	for i, k := range iterations {
		if i%stride != 0 && i != len(iterations)-1 {
			continue
		}
		var xs, ys []float64
		for _, r := range g.runs {
			if row, ok := slices.BinarySearch(r.Metrics.Column(keyIteration), k); ok {
				xs = append(xs, r.spent(a, row))
				ys = append(ys, r.at(key, row))
			}
		}
		if 2*len(xs) < len(g.runs) {
			continue
		}
		c.x = append(c.x, median(xs))
		c.y = append(c.y, median(ys))
		low, high := span(ys)
		c.low = append(c.low, low)
		c.high = append(c.high, high)
	}
	if len(g.runs) == 1 {
		c.low, c.high = nil, nil
	}
	return c
}

// iterations lists when any of the runs was evaluated.
func (g group) iterations() []float64 {
	var ks []float64
	for _, r := range g.runs {
		ks = append(ks, r.Metrics.Column(keyIteration)...)
	}
	slices.Sort(ks)
	return slices.Compact(ks)
}

// value returns the median of a number at the runs' ends, with their range.
func (g group) value(of func(*Run) float64) (mid, low, high float64) {
	var vs []float64
	for _, r := range g.runs {
		vs = append(vs, of(r))
	}
	low, high = span(vs)
	return median(vs), low, high
}

// median of the numbers that are there; NaN for none. An even count takes the mean of the middle two.
func median(values []float64) float64 {
	vs := known(values)
	if len(vs) == 0 {
		return math.NaN()
	}
	slices.Sort(vs)
	n := len(vs)
	return (vs[(n-1)/2] + vs[n/2]) / 2
}

// span returns the least and the greatest of the numbers that are there, NaN for none.
func span(values []float64) (low, high float64) {
	vs := known(values)
	if len(vs) == 0 {
		return math.NaN(), math.NaN()
	}
	return slices.Min(vs), slices.Max(vs)
}

func known(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}
