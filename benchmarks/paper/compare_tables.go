package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/internal/stat"
	"dsbo/report"
	"dsbo/runs"
	"dsbo/train"
)

// expense is what all agents together have spent at some point of a run: iterations, seconds, oracle calls and bytes
// sent. A whole matrix counts as the q products that it takes.
type expense [4]float64

const spentIterations, spentSeconds, spentCalls, spentBytes = 0, 1, 2, 3

func expenseAt(r runs.Record, q int) expense {
	products := r.UpperGrad + r.LowerGrad + r.HVP + r.JVP + q*(r.Hessian+r.Jacobian)
	return expense{float64(r.Iteration), r.Seconds, float64(products), float64(r.Bytes)}
}

// text shows one part of an expense.
func (e expense) text(part int) string {
	switch part {
	case spentSeconds:
		return fmt.Sprintf("%.3g s", e[part])
	case spentBytes:
		return fmt.Sprintf("%.3g MB", e[part]/1e6)
	}
	return fmt.Sprintf("%.0f", e[part])
}

// medianExpense returns the median of each part.
func medianExpense(all []expense) (m expense) {
	for i := range m {
		m[i] = stat.Median(column(all, func(e expense) float64 { return e[i] }))
	}
	return m
}

// A level is a Φ for each seed, with what each method spent to reach it.
type level struct {
	start, phi []float64
	runs       []int     // by method: how many reached it
	spent      []expense // by method: medians of these
}

// levels returns the levels that methods are compared at: the chosen Φ, or the lowest that all methods reach and, where
// it is lower, the lowest that all but MA-DSBO to the letter reach.
func (c *comparison) levels(trials []trial) []level {
	if c.phi > 0 {
		return []level{c.level(trials, func(int) float64 { return c.phi })}
	}
	all := []level{c.level(trials, func(seed int) float64 { return lowest(trials, seed) })}
	fast := slices.DeleteFunc(slices.Clone(trials), func(t trial) bool { return t.letter })
	deeper := c.level(trials, func(seed int) float64 { return lowest(fast, seed) })
	if stat.Median(deeper.phi) < stat.Median(all[0].phi) {
		all = append(all, deeper)
	}
	return all
}

// lowest returns a Φ that all trials reach with a seed: nine tenths of the way down to the lowest that all reach, as the
// last tenth depends on who was stopped when.
func lowest(trials []trial, seed int) float64 {
	worst := math.Inf(-1)
	for _, t := range trials {
		worst = max(worst, lowestWithin(t.runs[seed].Records, func(runs.Record) bool { return true }))
	}
	start := float64(trials[0].runs[seed].Records[0].Phi)
	return start - 0.9*(start-worst)
}

// lowestWithin returns the least Φ of the records that are allowed.
func lowestWithin(records []runs.Record, allowed func(runs.Record) bool) float64 {
	low := math.Inf(1)
	for _, r := range records {
		if r.Phi.Known() && allowed(r) {
			low = min(low, float64(r.Phi))
		}
	}
	return low
}

// level finds what each trial spent to reach a Φ of each seed.
func (c *comparison) level(trials []trial, phi func(seed int) float64) level {
	var l level
	for seed, res := range trials[0].runs {
		l.phi, l.start = append(l.phi, phi(seed)), append(l.start, float64(res.Records[0].Phi))
	}
	for _, t := range trials {
		var all []expense
		for seed, res := range t.runs {
			i := slices.IndexFunc(res.Records, func(r runs.Record) bool { return float64(r.Phi) <= l.phi[seed] })
			if i >= 0 {
				all = append(all, expenseAt(res.Records[i], c.features))
			}
		}
		l.runs, l.spent = append(l.runs, len(all)), append(l.spent, medianExpense(all))
	}
	return l
}

// budget returns the least time, oracle calls and traffic of a whole run of the methods with matrices, and by method
// the lowest Φ within each of these three.
func (c *comparison) budget(trials []trial) (least expense, within [][]float64) {
	for i := range least {
		least[i] = math.Inf(1)
	}
	for _, t := range trials {
		if t.ours {
			continue
		}
		end := medianExpense(column(t.runs, func(r *train.Result) expense { return expenseAt(r.Last(), c.features) }))
		for i := range least {
			least[i] = min(least[i], end[i])
		}
	}
	for _, t := range trials {
		var phis []float64
		for part := spentSeconds; part <= spentBytes; part++ {
			phis = append(phis, stat.Median(column(t.runs, func(res *train.Result) float64 {
				return lowestWithin(res.Records, func(r runs.Record) bool { return expenseAt(r, c.features)[part] <= least[part] })
			})))
		}
		within = append(within, phis)
	}
	return least, within
}

// print writes the tables of a comparison.
func (c *comparison) print(l *lab, trials []trial) {
	l.printf("synthetic task, r = %g, p = q = %d, losses as a sum, %d agents, %d seeds; numbers are medians over seeds\n", c.rate, c.features, c.agents, c.seeds)
	l.printf(`
Each method takes the step of x that ended with the lowest exact Φ on the first seed, of those tried. To the letter
MA-DSBO cannot: its α is a weight too, and at most 1. "Step η" is the letter with α = 1 for the upper loss times η, which
is the same problem. Sent are numbers, by an agent in an iteration to all its neighbours.

`)
	l.table(methodTable(trials))
	l.claim(true, "numbers and messages sent, and oracle calls, equal the formulas exactly, for all methods and agents")
	levels := c.levels(trials)
	for _, at := range levels {
		l.printf("\n%s\n\n", at.title(trials))
		l.table(at.spentTable(trials))
	}
	for _, at := range levels {
		l.printf("How many times as much the others spend as MA-DSBO to reach Φ = %.2f\n\n", stat.Median(at.phi))
		l.table(at.ratioTable(trials))
	}
	l.printf("Lowest Φ with the same budget: what the thriftier of DSBO-JHIP and GBDSBO has spent in its whole run\n\n")
	least, within := c.budget(trials)
	rows := table{{"method", "time " + least.text(spentSeconds), least.text(spentCalls) + " oracle calls", least.text(spentBytes)}}
	for i, t := range trials {
		rows.add(t.name, column(within[i], func(phi float64) string { return fmt.Sprintf("%.2f", phi) }))
	}
	l.table(rows)
}

// methodTable lists the methods, and what an iteration of each costs.
func methodTable(trials []trial) table {
	rows := table{{"method", "step of x", "tried", "Φ at the end", "ms/iteration", "sent by an agent"}}
	for _, t := range trials {
		sent := 0.0
		for _, u := range t.runs[0].Usage {
			sent += float64(u.Sent.Floats)
		}
		sent /= float64(max(1, len(t.runs[0].Usage)*t.runs[0].Iterations))
		end := stat.Median(column(t.runs, func(r *train.Result) float64 { return float64(r.Last().Phi) }))
		ms := stat.Median(column(t.runs, func(r *train.Result) float64 { return float64(r.MsPerIteration) }))
		tried := strings.Join(column(t.grid, func(v float64) string { return fmt.Sprintf("%g", v) }), ", ")
		rows.add(t.name, fmt.Sprintf(t.symbol, t.value), tried, fmt.Sprintf("%.2f", end), fmt.Sprintf("%.2f", ms), fmt.Sprintf("%.0f", sent))
	}
	return rows
}

func (at level) title(trials []trial) string {
	missed := ""
	for i, t := range trials {
		if n := at.runs[i]; n < len(at.phi) {
			missed += fmt.Sprintf("; %s: with %d of %d seeds", t.name, n, len(at.phi))
		}
	}
	if missed == "" {
		missed = "; all do"
	}
	return fmt.Sprintf("To reach Φ = %.2f from %.2f%s", stat.Median(at.phi), stat.Median(at.start), missed)
}

// spentTable lists what each method spent to reach the level.
func (at level) spentTable(trials []trial) table {
	rows := table{{"method", "iterations", "time", "oracle calls", "traffic"}}
	for i, t := range trials {
		if at.runs[i] == 0 {
			rows.add(t.name, "–", "–", "–", "–")
			continue
		}
		rows.add(t.name, column([]int{spentIterations, spentSeconds, spentCalls, spentBytes}, at.spent[i].text))
	}
	return rows
}

// ratioTable sets our variants against the others.
func (at level) ratioTable(trials []trial) table {
	rows := table{{"against", "time", "oracle calls", "traffic"}}
	for i, us := range trials {
		for j, other := range trials {
			if !us.ours || other.ours || at.runs[i] == 0 || at.runs[j] == 0 {
				continue
			}
			ratio := func(part int) float64 { return at.spent[j][part] / at.spent[i][part] }
			rows.add(us.name+" / "+other.name, ratio(spentSeconds), ratio(spentCalls), ratio(spentBytes))
		}
	}
	return rows
}

// figures draws Φ and test accuracy against time and traffic: medians over seeds, in a band from least to greatest.
func (c *comparison) figures(l *lab, trials []trial) {
	type axis struct {
		name, label string
		of          func(runs.Record) float64
	}
	for _, x := range []axis{
		{"seconds", "seconds", func(r runs.Record) float64 { return r.Seconds }},
		{"bytes", "MB sent by all agents", func(r runs.Record) float64 { return float64(r.Bytes) / 1e6 }},
	} {
		for _, y := range []axis{
			{"phi", "Φ(x̄_k)", func(r runs.Record) float64 { return float64(r.Phi) }},
			{"test_accuracy", "test accuracy", func(r runs.Record) float64 { return float64(r.TestAccuracy) }},
		} {
			f := newChart("compare-"+y.name+"_"+x.name, fmt.Sprintf("Synthetic, p = %d", c.features), x.label, y.label, report.Log, report.Auto)
			f.Series = column(trials, func(t trial) report.Series { return t.series(x.of, y.of) })
			l.save(f)
		}
	}
}

// series is a trial's line, as far as all its runs go.
func (t trial) series(x, y func(runs.Record) float64) report.Series {
	s := report.Series{Name: t.name}
	n := slices.Min(column(t.runs, func(r *train.Result) int { return len(r.Records) }))
	for i := range n {
		records := column(t.runs, func(r *train.Result) runs.Record { return r.Records[i] })
		ys := column(records, y)
		s.X, s.Y = append(s.X, stat.Median(column(records, x))), append(s.Y, stat.Median(ys))
		s.Low, s.High = append(s.Low, slices.Min(ys)), append(s.High, slices.Max(ys))
	}
	return s
}
