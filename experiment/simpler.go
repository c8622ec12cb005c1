package experiment

import (
	"context"
	"fmt"

	"dsbo/experiment/candidates"
	"dsbo/models"
	"dsbo/runs"
)

// compareSimpler finds the best constant of a simpler model, if the run's model names one, and puts
// it first in the table. If it does as well as the kept model, or better, the verdict gets a note.
func (e *ending) compareSimpler(ctx context.Context, kept *candidates.Model) error {
	m, ok := e.problem.model.(models.Simplified)
	if !ok {
		return nil
	}
	name, simpler := m.Simpler()
	f, err := e.finderOf(", simpler model", e.problem.data, simpler) // the names' end of what it sends
	if err != nil {
		return fmt.Errorf("simpler model %s: %w", name, err)
	}
	f.Symbol = name + ", " + f.Symbol
	_, best, err := f.Constants(ctx, 0)
	if err != nil {
		return err
	}
	best.Lambda = runs.Unknown() // it is no constant of the run's own model
	e.summary.Models = append([]runs.Model{best.Model}, e.summary.Models...)
	if kept.Y == nil || !best.Converged {
		return nil
	}
	gains, err := e.problem.Compare(ctx, kept.Fit(), f.Problem, best.Fit())
	if err != nil || len(gains) == 0 {
		return err
	}
	if err := addSpread(ctx, gains, kept); err != nil {
		return err
	}
	if note := gains[0].SimplerNote(kept.Name, best.Name); note != "" {
		e.summary.Verdict.Notes = append(e.summary.Verdict.Notes, note)
	}
	return nil
}

// simplerLength returns the length of the y of a model's simpler one; 0: there is none.
func simplerLength(of models.Model) int {
	if m, ok := of.(models.Simplified); ok {
		_, simpler := m.Simpler()
		_, q := simpler.Dims()
		return q
	}
	return 0
}
