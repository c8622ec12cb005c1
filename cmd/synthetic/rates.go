package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"dsbo/experiment"
	"dsbo/internal/cli"
	"dsbo/runs"
)

// allRates solves the task at each rate, one run folder each in one, and reports on all of them.
func (c *command) allRates(ctx context.Context, stdout, stderr io.Writer) error {
	s := experiment.Series{Make: remake}
	if err := s.Open(c.Job, stderr); err != nil {
		return err
	}
	var outcomes []experiment.Outcome
	for _, r := range c.rates {
		text := strconv.FormatFloat(r, 'g', -1, 64)
		o, err := s.Run(ctx, experiment.Part{Name: "r" + text, Label: "r = " + text, Flags: []string{"-r=" + text}})
		if err != nil {
			return s.Failed(err)
		}
		outcomes = append(outcomes, o)
	}
	page, err := s.Close("Synthetic task at several rates of heterogeneity", nil, outcomes)
	if err != nil {
		return s.Failed(err)
	}
	return c.printRates(stdout, page, outcomes)
}

// remake makes the job of a command line of this command.
func remake(flags []string) (*experiment.Job, error) {
	c, err := parse(flags, io.Discard)
	if err != nil {
		return nil, err
	}
	return c.Job, nil
}

// printRates writes the table at the end.
func (c *command) printRates(w io.Writer, page string, outcomes []experiment.Outcome) error {
	rows := [][]string{{"r", "Φ: λ = 0", "constant", "tuned", "test loss", "accuracy", "refitted: λ = 0", "constant", "tuned", "ms/iteration", "sent", "by formula"}}
	for i, o := range outcomes {
		s := o.Summary
		best, m := bestConstant(s), s.Models
		pair := func(m runs.Model) string {
			return experiment.Show("%.4f", m.TestLoss) + experiment.Show(" %.4f", m.TestAccuracy)
		}
		rows = append(rows, []string{
			strconv.FormatFloat(c.rates[i], 'g', -1, 64), experiment.Show("%.2f", s.PhiLambda0), experiment.Show("%.2f", best.Phi), experiment.Show("%.2f", s.PhiEnd),
			course(o.Records), experiment.Show("%.4f", s.TestAccuracy), pair(m[0]), pair(best), pair(m[len(m)-1]),
			experiment.Show("%.1f", s.MsPerIteration), fmt.Sprintf("%.0f", s.FloatsSent), fmt.Sprintf("%.0f", s.FloatsFormula),
		})
	}
	var b bytes.Buffer
	o := outcomes[0]
	fmt.Fprintf(&b, "synthetic task, p = q = %d, %d iterations of %s, %d agents (%s)\n\n", c.task.Features, o.Summary.Iterations, o.Summary.Algorithm, o.Config.Agents, o.Config.Graph)
	if err := cli.Table(&b, rows); err != nil {
		return err
	}
	b.WriteString(`
Φ is exact: at λ = 0, at the best of a few constant λ, and at the tuned λ. The test loss is that of the agents' average
model, from the first evaluation to the last, and its accuracy that at the last. Refitted are test loss and accuracy of the
models that the agents find together at these three λ. Sent are numbers, by an agent in an iteration to all its neighbours.
`)
	if page != "" {
		fmt.Fprintf(&b, "\nreport      %s\n", page)
	}
	_, err := b.WriteTo(w)
	return err
}

// bestConstant returns the model of the best constant λ, which may be 0.
func bestConstant(s runs.Summary) runs.Model { return s.Models[max(0, len(s.Models)-2)] }

// course shows a run's test loss from its first evaluation to its last.
func course(records []runs.Record) string {
	if len(records) < 2 {
		return "-"
	}
	return experiment.Show("%.4f", records[1].TestLoss) + " → " + experiment.Show("%.4f", records[len(records)-1].TestLoss)
}
