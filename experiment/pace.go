package experiment

import (
	"fmt"
	"time"
)

// A Progress is the share of a job that is done: of its phase, and of all.
type Progress struct {
	Phase       string        // the present activity
	Done, Total int           // steps of the phase; Total is 0 where they are not counted
	Share       float64       // share of the time of all phases that is spent, from 0 to 1; it never falls
	Remaining   time.Duration // time to the end of all phases; negative: not known yet
}

// String returns the progress for people, such as "iteration 12 of 20, 1m10s left".
func (p Progress) String() string {
	text := p.Phase
	if p.Total > 0 {
		text += fmt.Sprintf(" %d of %d", p.Done, p.Total)
	}
	if p.Remaining < 0 {
		return text
	}
	unit := time.Second
	if p.Remaining > time.Hour {
		unit = time.Minute
	}
	return fmt.Sprintf("%s, %v left", text, p.Remaining.Round(unit))
}

// A work is a kind of work in a run, whose parts take about as long for each unit of it.
type work int

const (
	iterating work = iota // unit: a gradient, or half a product, of an agent
	evaluating
	modelling // unit, as in evaluating: an exact solution
	workKinds
)

// solutionWork is about the units of iterating that an exact solution takes: two dozen products and
// as many gradients. It counts until one has been timed.
const solutionWork = 75

// A pace predicts the time left of a run from counts of its work, which are known beforehand, and
// from the time that each kind of it has taken so far. A kind that has not begun takes as long for
// a unit as its nearest one: models as evaluations do.
type pace struct {
	now   func() time.Time
	last  time.Time // the end of the step before
	kinds [workKinds]struct {
		units, done float64 // units of work in all, and done
		timed       float64 // units that this process has done
		seconds     float64 // time that these took
	}
	share float64
}

// plan sets the units of a kind of work in all.
func (p *pace) plan(w work, units float64) { p.kinds[w].units = units }

// skip counts units as done before this process began.
func (p *pace) skip(w work, units float64) { p.kinds[w].done += units }

// begin starts the clock for the work that follows.
func (p *pace) begin() { p.last = p.now() }

// step counts units of a kind as done in the time since the step before. More units than planned
// lengthen the plan.
func (p *pace) step(w work, units float64) {
	k, now := &p.kinds[w], p.now()
	k.done += units
	k.timed += units
	k.seconds += now.Sub(p.last).Seconds()
	k.units = max(k.units, k.done)
	p.last = now
}

// rate returns the seconds for a unit of a kind of work; false while nothing has been timed. For a
// kind that has not begun it scales the rate of the most similar kind that has, by their work for a
// unit.
func (p *pace) rate(w work) (float64, bool) {
	unitWork := [workKinds]float64{1, solutionWork, solutionWork}
	nearest := [workKinds][]work{{iterating, evaluating, modelling}, {evaluating, modelling, iterating},
		{modelling, evaluating, iterating}}
	for _, like := range nearest[w] {
		if k := p.kinds[like]; k.timed > 0 {
			return k.seconds / k.timed * unitWork[w] / unitWork[like], true
		}
	}
	return 0, false
}

// progress returns the progress after done of a phase's steps. The share never falls, even if the
// plan grows. While a kind of work has no rate, the share stays and the remaining time is unknown.
func (p *pace) progress(phase string, done, of int) Progress {
	spent, remaining := 0.0, 0.0
	now := Progress{Phase: phase, Done: done, Total: of, Share: p.share, Remaining: -1}
	for w, k := range p.kinds {
		rate, known := p.rate(work(w))
		if !known {
			return now
		}
		spent += float64(k.done * rate)
		remaining += float64((k.units - k.done) * rate)
	}
	if spent > 0 {
		p.share = max(p.share, spent/(spent+remaining))
	}
	now.Share, now.Remaining = p.share, time.Duration(remaining*float64(time.Second))
	return now
}
