package compare

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"dsbo"
	"dsbo/runs"
	"dsbo/runs/report"
)

// A Result is what a comparison has found.
type Result struct {
	Spec      *Spec
	Processes int           // runs at once
	Rankings  []*ranking    // one for each task, in the order of the spec
	Plates    []report.Part // of the paper, see AddPaper
}

// A ranking is the methods on one task.
type ranking struct {
	Task    task
	Entries []*entry // in the order of the spec
	// of the criterion, to which costs are counted: the median over seeds; NaN if no method has
	// a value
	Target float64

	Spec    *Spec
	untuned *entry             // the best model without tuning, such as the best constant λ
	first   map[uint64]*trial  // by seed, whose problem and start all have
	targets map[uint64]float64 // by seed, whose data are others
}

// An entry is a method on a task.
type entry struct {
	Method method
	Best   []*trial // the runs of the best point, one for each seed
	Edges  []string // parameters that may have better values beyond the grid, or beyond the points that were tried

	search *search
	points map[string][]*trial
}

func newEntry(m method) *entry { return &entry{Method: m, points: map[string][]*trial{}} }

// all returns the entries, and last what is untuned.
func (k *ranking) all() []*entry { return append(slices.Clip(k.Entries), k.untuned) }

// Trials returns the runs of all points that were tried.
func (e *entry) Trials() (all []*trial) {
	for _, p := range e.search.tried {
		all = append(all, e.at(p)...)
	}
	return all
}

// at returns the runs of a point.
func (e *entry) at(point []int) []*trial { return e.points[e.Method.Grid.String(point)] }

// began reports whether any run of the method did.
func (e *entry) began() bool {
	return slices.ContainsFunc(e.Trials(), func(t *trial) bool {
		return t.State != refused && t.State != notApplicable
	})
}

// value returns the mean over the seeds of a quantity that the runs of a point found, as p is of
// means too; NaN if one of them does not have it.
func (e *entry) value(point []int, q quantity) float64 {
	return stat.Mean(each(e.at(point), func(t *trial) float64 { return t.found(q) }), nil)
}

// rank sets each entry's best point and the tasks' targets, and checks that all runs of a task
// solved the same problem. Finally the runs of the untuned entry take the values of their baselines
// in place of their own records. Edges of a grid are only reported for entries with a value.
func (r *Result) rank() error {
	for _, k := range r.Rankings {
		for _, e := range k.all() {
			e.Best = e.at(e.search.best)
			if !math.IsNaN(k.median(e)) {
				e.Edges = e.Method.Grid.edges(e.search)
			}
		}
		if err := k.checkProblem(); err != nil {
			return err
		}
		k.setTargets()
		for _, t := range k.untuned.Best {
			t.showBaseline()
		}
	}
	return nil
}

// checkProblem returns an error if two runs of a task with the same seed had different problems, or
// different starts although the spec makes all start at the best constant. Runs are compared with
// the first one of their seed; a run that has not begun has no configuration, and is skipped.
func (k *ranking) checkProblem() error {
	k.first = map[uint64]*trial{}
	for _, e := range k.Entries {
		for _, t := range e.Trials() {
			b := t.Config
			if b.Task == "" {
				continue
			}
			if k.first[t.Seed] == nil {
				k.first[t.Seed] = t
			}
			first := k.first[t.Seed]
			a := first.Config
			sameProblem := a.Agents == b.Agents && a.Holdout == b.Holdout && bytes.Equal(a.Problem, b.Problem)
			if sameStart := a.X0 == b.X0 || k.Spec.Start != constantStart; !sameProblem || !sameStart {
				return dsbo.ConfigErrorf(
					"task %q: the problem of method %q is not that of %q, and results of unlike problems are not "+
						"ranked, nor those of other starts: %s, %d agents, %g held out; %s, %d agents, %g held out",
					k.Task.Name, t.Method, first.Method, b.Problem, b.Agents, b.Holdout, a.Problem, a.Agents, a.Holdout)
			}
		}
	}
	return nil
}

// setTargets sets the target of each seed: the task's own, else the lowest value that all methods
// reach, which is the largest of their final values. Methods without a value do not count.
func (k *ranking) setTargets() {
	k.targets = map[uint64]float64{}
	var all []float64
	for i, seed := range k.Spec.Seeds {
		target := math.NaN()
		for _, e := range k.Entries {
			v, hasValue := k.end(e.Best[i]), !math.IsNaN(k.median(e))
			if hasValue && !(v <= target) { // larger, or the first: NaN compares with nothing
				target = v
			}
		}
		if k.Task.Target != nil {
			target = *k.Task.Target
		}
		k.targets[seed] = target
		all = append(all, target)
	}
	k.Target = median(all)
}

// costReached returns the median of what the best runs had spent when they reached their targets,
// NaN if one of them did not.
func (k *ranking) costReached(e *entry, c cost) float64 {
	return medianOf(e.Best, func(t *trial) float64 { return t.costUntil(k.targets[t.Seed], k.Spec.Choose, c) })
}

// sorted returns the methods' entries by the criterion, those without a value last.
func (k *ranking) sorted() []*entry { return sortedBy(k.Entries, k.median) }

// end returns the criterion of what a run found.
func (k *ranking) end(t *trial) float64 { return t.found(k.Spec.Choose) }

// median returns the criterion's median over the seeds at the best point.
func (k *ranking) median(e *entry) float64 { return medianOf(e.Best, k.end) }

func sortedBy(entries []*entry, value func(*entry) float64) []*entry {
	all := slices.Clone(entries)
	slices.SortStableFunc(all, func(a, b *entry) int {
		return cmp.Compare(-value(b), -value(a)) // Compare has NaN before all others, and here it comes last
	})
	return all
}

// sentence names the entries with the lowest value of the criterion, and with the lowest test loss,
// by the digits shown. For comparison it adds the values of the best method and of the best untuned
// model.
func (k *ranking) sentence() string {
	first := k.sorted()[0]
	if math.IsNaN(k.median(first)) {
		return fmt.Sprintf("No method ended with a known %s.", k.Spec.Choose.Title())
	}
	text := "Lowest " + k.lowest(k.Spec.Choose.Title(), k.median, fiveDigits, first, k.untuned)
	loss := func(e *entry) float64 { return medianOf(e.Best, (*trial).testLoss) }
	if of := k.lowest("test loss", loss, lossDigits, first); of != "" {
		text += " Lowest " + of
	}
	return text
}

// lowest names all entries with the least value, to the digits shown, and adds the values of
// others. It returns "" if no value is known.
func (k *ranking) lowest(title string, value func(*entry) float64, digits func(float64) string,
	others ...*entry) string {
	var least []string
	v := digits(value(sortedBy(k.all(), value)[0]))
	for _, e := range k.all() {
		if digits(value(e)) == v {
			least = append(least, e.Method.Name)
		}
	}
	if v == unknown {
		return ""
	}
	text := fmt.Sprintf("%s: %s, %s", title, strings.Join(least, " and "), v)
	for _, e := range others {
		if at := digits(value(e)); at != v && at != unknown {
			text += fmt.Sprintf("; %s has %s", e.Method.Name, at)
		}
	}
	return text + "."
}

// StartsBest reports whether all methods start at the best constant.
func (k *ranking) StartsBest() bool {
	first := k.first[k.Spec.Seeds[0]]
	return first != nil && first.Config.X0Best
}

// refusals lists the errors of runs that were refused or failed, without repetitions, as all seeds
// of a point mostly have the same error. Errors of several lines are joined into one.
func (k *ranking) refusals() (all []string) {
	for _, e := range k.all() {
		for _, t := range e.Trials() {
			of := strings.TrimSpace(t.Method + " " + t.Point)
			text := strings.Join(strings.Fields(of+": "+t.endText()), " ")
			if t.Error != "" && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// Failure returns an error if a run failed, or if every run was refused; else nil.
func (r *Result) Failure() error {
	began := false
	for _, k := range r.Rankings {
		for _, e := range k.Entries {
			began = began || e.began()
			for _, t := range e.Trials() {
				if t.State == runs.Failed {
					return fmt.Errorf("%s, %s, seed %d failed: %s", t.Task, t.Method, t.Seed, t.Error)
				}
			}
		}
	}
	if !began {
		return dsbo.ConfigErrorf("no run began: %s", strings.Join(r.Rankings[0].refusals(), "; "))
	}
	return nil
}
