package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"dsbo/experiment"
	"dsbo/internal/cli"
)

// print writes the tables of a comparison.
func (r *comparison) print(w io.Writer, c *command, page string) error {
	var b bytes.Buffer
	text := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	text("synthetic task, r = %v, p = q = %d, losses as a %s, %d agents, %d seeds; numbers are medians over seeds\n", &c.rates, c.task.Features, c.task.Reduce, c.Settings.Agents, c.seeds)
	text(`
Each method takes the step of x that ended with the lowest exact Φ on the first seed, of those tried. To the letter
MA-DSBO cannot: its α is a weight too, and at most 1. "Step η" is the letter with α = 1 for the upper loss times η, which
is the same problem. Sent are numbers, by an agent in an iteration to all its neighbours.

`)
	tables := []titled{{rows: r.methods()}}
	for _, l := range r.Levels {
		tables = append(tables, titled{r.title(l), r.reached(l)})
	}
	for _, l := range r.Levels {
		tables = append(tables, titled{fmt.Sprintf("How many times as much the others spend as MA-DSBO to reach Φ = %.2f", median(l.Phi)), r.factors(l)})
	}
	tables = append(tables, titled{"Lowest Φ with the same budget: what the thriftier of DSBO-JHIP and GBDSBO has spent in its whole run", r.within()})
	for _, t := range tables {
		if t.title != "" {
			text("\n%s\n\n", t.title)
		}
		if err := cli.Table(&b, t.rows); err != nil {
			return err
		}
	}
	if page != "" {
		text("\nreport      %s\n", page)
	}
	_, err := b.WriteTo(w)
	return err
}

// A titled table has a line above it.
type titled struct {
	title string
	rows  [][]string
}

// methods is the table of who ran, and what an iteration costs.
func (r *comparison) methods() [][]string {
	rows := [][]string{{"method", "step of x", "tried", "Φ at the end", "ms/iteration", "sent by an agent", "by formula"}}
	for _, m := range r.Rows {
		var tried []string
		for _, v := range m.Tried {
			tried = append(tried, fmt.Sprintf("%g", v))
		}
		rows = append(rows, []string{
			m.Method, fmt.Sprintf(m.symbol, m.Step), strings.Join(tried, ", "), fmt.Sprintf("%.2f", m.PhiEnd),
			experiment.Show("%.2f", m.MsPerIteration), fmt.Sprintf("%.0f", m.FloatsSent), fmt.Sprintf("%.0f", m.FloatsFormula),
		})
	}
	return rows
}

func (r *comparison) title(l level) string {
	not := ""
	for i, m := range r.Rows {
		if n := l.Reach[i].Runs; n < len(l.Phi) {
			not += fmt.Sprintf("; %s: with %d of %d seeds", m.Method, n, len(l.Phi))
		}
	}
	if not == "" {
		not = "; all do"
	}
	return fmt.Sprintf("To reach Φ = %.2f from %.2f%s", median(l.Phi), median(l.Start), not)
}

// reached is the table of what was spent to reach a level.
func (r *comparison) reached(l level) [][]string {
	rows := [][]string{{"method", "iterations", "time", "oracle calls", "traffic"}}
	for i, m := range r.Rows {
		s := l.Reach[i]
		if s.Runs == 0 {
			rows = append(rows, []string{m.Method, "-", "-", "-", "-"})
			continue
		}
		rows = append(rows, []string{
			m.Method, fmt.Sprintf("%.0f", s.Iterations), seconds(s.Seconds), fmt.Sprintf("%.0f", s.Products), megabytes(s.Bytes),
		})
	}
	return rows
}

// factors is the table of our variants against the others.
func (r *comparison) factors(l level) [][]string {
	rows := [][]string{{"against", "time", "oracle calls", "traffic"}}
	for i, us := range r.Rows {
		for j, m := range r.Rows {
			if !us.Ours || m.Ours || l.Reach[i].Runs == 0 || l.Reach[j].Runs == 0 {
				continue
			}
			a, b := l.Reach[i].spent, l.Reach[j].spent
			line := []string{us.Method + " / " + m.Method}
			for axis, f := range a.fields()[1:] {
				line = append(line, fmt.Sprintf("%.3g", *b.fields()[axis+1] / *f))
			}
			rows = append(rows, line)
		}
	}
	return rows
}

// within is the table of the same budget for all.
func (r *comparison) within() [][]string {
	b := r.Budget
	rows := [][]string{{"method", "time " + seconds(b.Seconds), fmt.Sprintf("%.0f oracle calls", b.Products), megabytes(b.Bytes)}}
	for i, m := range r.Rows {
		line := []string{m.Method}
		for _, phi := range r.Within[i] {
			line = append(line, fmt.Sprintf("%.2f", phi))
		}
		rows = append(rows, line)
	}
	return rows
}

func seconds(s float64) string { return fmt.Sprintf("%.3g s", s) }

func megabytes(b float64) string { return fmt.Sprintf("%.3g MB", b/1e6) }
