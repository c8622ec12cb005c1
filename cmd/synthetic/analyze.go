package main

import (
	"math"
	"slices"

	"dsbo/train"
)

// spent is what all agents together have spent at some point of a run.
type spent struct {
	Iterations float64 `json:"iterations"`
	Seconds    float64 `json:"seconds"`
	// Products are oracle calls, a whole matrix counted as the q products that it takes.
	Products float64 `json:"oracle_calls"`
	Bytes    float64 `json:"bytes"`
}

func spentAt(r train.Record, q int) spent {
	return spent{
		Iterations: float64(r.Iteration), Seconds: r.Seconds, Bytes: float64(r.Bytes),
		Products: float64(r.UpperGrad + r.LowerGrad + r.HVP + r.JVP + q*(r.Hessian+r.Jacobian)),
	}
}

// fields lists the parts of s.
func (s *spent) fields() []*float64 {
	return []*float64{&s.Iterations, &s.Seconds, &s.Products, &s.Bytes}
}

// A reach says what a method spent up to a level of Φ: medians over the seeds.
type reach struct {
	Runs int `json:"runs_that_reach_it"`
	spent
}

// A level is a Φ, one for each seed, with what each method spent to get there.
type level struct {
	Start []float64 `json:"phi_start"`
	Phi   []float64 `json:"phi"`
	Reach []reach   `json:"reach"` // by method
}

// A row is a method and what an iteration of it costs.
type row struct {
	Method         string       `json:"method"`
	Ours           bool         `json:"ma_dsbo"`
	Step           float64      `json:"step"`
	Tried          []float64    `json:"steps_tried"`
	PhiEnd         float64      `json:"phi_end"`
	MsPerIteration train.Number `json:"ms_per_iteration"`
	FloatsSent     float64      `json:"floats_sent_per_agent_per_iteration"`
	FloatsFormula  float64      `json:"floats_by_formula_per_agent_per_iteration"`

	symbol string
}

// A comparison is the result of -compare.
type comparison struct {
	Rows   []row   `json:"methods"`
	Levels []level `json:"levels"`
	// Budget is the time, oracle calls and traffic of a whole run of the thriftier of the methods with matrices.
	Budget spent       `json:"budget"`
	Within [][]float64 `json:"phi_within_budget"` // by method; time, oracle calls, traffic
}

// analyze compares the trials.
func (c *command) analyze(trials []trial) (*comparison, error) {
	res := &comparison{}
	for _, t := range trials {
		res.Rows = append(res.Rows, t.row())
	}
	if c.phi > 0 {
		res.Levels = []level{c.level(trials, func(int) float64 { return c.phi })}
	} else {
		res.Levels = []level{c.level(trials, func(seed int) float64 { return lowest(trials, seed) })}
		fast := slices.DeleteFunc(slices.Clone(trials), func(t trial) bool { return t.letter })
		deeper := c.level(trials, func(seed int) float64 { return lowest(fast, seed) })
		if median(deeper.Phi) < median(res.Levels[0].Phi) {
			res.Levels = append(res.Levels, deeper)
		}
	}
	c.budget(res, trials)
	return res, nil
}

func (t trial) row() row {
	var ends, ms []float64
	for _, o := range t.runs {
		ends = append(ends, float64(o.Records[len(o.Records)-1].Phi))
		ms = append(ms, float64(o.Summary.MsPerIteration))
	}
	return row{
		Method: t.name, Ours: t.ours, Step: t.value, Tried: t.grid, symbol: t.symbol, PhiEnd: median(ends), MsPerIteration: train.Number(median(ms)),
		FloatsSent: t.runs[0].Summary.FloatsSent, FloatsFormula: t.runs[0].Summary.FloatsFormula,
	}
}

// lowest returns a level that all trials reach with a seed: nine tenths of the way down to the lowest that all reach, as the
// last tenth is a matter of who was stopped when.
func lowest(trials []trial, seed int) float64 {
	worst := math.Inf(-1)
	for _, t := range trials {
		best := math.Inf(1)
		for _, r := range t.runs[seed].Records {
			if r.Phi.Known() {
				best = min(best, float64(r.Phi))
			}
		}
		worst = max(worst, best)
	}
	start := float64(trials[0].runs[seed].Records[0].Phi)
	return start - 0.9*(start-worst)
}

// level finds what each trial spent to get to a level of each seed.
func (c *command) level(trials []trial, phi func(seed int) float64) level {
	var l level
	for seed := range c.seeds {
		l.Phi = append(l.Phi, phi(seed))
		l.Start = append(l.Start, float64(trials[0].runs[seed].Records[0].Phi))
	}
	for _, t := range trials {
		var all []spent
		for seed, o := range t.runs {
			i := slices.IndexFunc(o.Records, func(r train.Record) bool { return float64(r.Phi) <= l.Phi[seed] })
			if i >= 0 {
				all = append(all, spentAt(o.Records[i], c.task.Features))
			}
		}
		l.Reach = append(l.Reach, reach{len(all), medians(all)})
	}
	return l
}

// budget finds how low each trial comes with what the thriftier of the others' runs has spent.
func (c *command) budget(res *comparison, trials []trial) {
	for _, f := range res.Budget.fields() {
		*f = math.Inf(1)
	}
	for _, t := range trials {
		if t.ours {
			continue
		}
		var ends []spent
		for _, o := range t.runs {
			ends = append(ends, spentAt(o.Records[len(o.Records)-1], c.task.Features))
		}
		end := medians(ends)
		for i, f := range res.Budget.fields() {
			*f = min(*f, *end.fields()[i])
		}
	}
	for _, t := range trials {
		var phis []float64
		for axis := 1; axis < len(res.Budget.fields()); axis++ {
			var within []float64
			for _, o := range t.runs {
				within = append(within, c.lowestWithin(o.Records, axis, *res.Budget.fields()[axis]))
			}
			phis = append(phis, median(within))
		}
		res.Within = append(res.Within, phis)
	}
}

// lowestWithin returns the least Φ of the records that lie within a budget.
func (c *command) lowestWithin(records []train.Record, axis int, most float64) float64 {
	low := math.Inf(1)
	for _, r := range records {
		s := spentAt(r, c.task.Features)
		if *s.fields()[axis] <= most && r.Phi.Known() {
			low = min(low, float64(r.Phi))
		}
	}
	return low
}

// medians returns the median of each part.
func medians(all []spent) spent {
	var m spent
	for i, f := range m.fields() {
		var vs []float64
		for _, s := range all {
			vs = append(vs, *s.fields()[i])
		}
		*f = median(vs)
	}
	return m
}

// median returns the median, 0 for none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
