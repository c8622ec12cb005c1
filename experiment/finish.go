package experiment

import (
	"context"
	"fmt"
	"slices"

	"dsbo/internal/vec"
	"dsbo/runs"
	"dsbo/train"
)

// A model is one choice of hyperparameters x with the model y that it gives.
type model struct {
	runs.Model
	x, y []float64
}

// newModel returns a model whose losses and accuracies are not known yet.
func newModel(name string, lambda runs.Number, x []float64) *model {
	m := &model{Model: runs.Model{Name: name, Lambda: lambda}, x: x}
	for _, n := range []*runs.Number{&m.Phi, &m.ExactTestLoss, &m.ExactTestAccuracy, &m.ValLoss, &m.TestLoss, &m.TestAccuracy} {
		*n = runs.Unknown()
	}
	return m
}

// finish writes x̄ and ȳ of the run, refits at x̄, at λ = 0 and at the best constant λ, and writes the refitted model and the
// summary.
func (r *runner) finish(ctx context.Context) error {
	zero := newModel("λ = 0", 0, make([]float64, len(r.result.X)))
	tuned := newModel("λ tuned", runs.Unknown(), r.result.X)
	if err := r.writeModel(tuned.x, r.result.Y); err != nil { // the result of the run is safe, also if a refit fails
		return err
	}
	models := []*model{zero, tuned}
	if r.problem.convex {
		best, err := r.solutions(ctx, zero, tuned)
		if err != nil {
			return err
		}
		if best != zero {
			models = slices.Insert(models, 1, best)
		}
	}
	for _, m := range models {
		start := r.problem.Start
		if m == tuned {
			start = r.result.Y
		}
		if err := r.refit(ctx, m, start); err != nil {
			return err
		}
		r.summary.Models = append(r.summary.Models, m.Model)
	}
	if err := r.writeModel(tuned.x, tuned.y); err != nil || !r.layout.leads() {
		return err
	}
	r.summary = r.summarize(runs.Finished, nil)
	r.summary.Round = r.layout.round()
	return r.folder.WriteSummary(r.summary)
}

// writeModel writes lambda.npy and omega.npy.
func (r *runner) writeModel(x, y []float64) error {
	if !r.layout.leads() {
		return nil
	}
	if err := r.folder.WriteArray(runs.LambdaFile, x, len(x)); err != nil {
		return err
	}
	return r.folder.WriteArray(runs.OmegaFile, y, r.problem.shapeY...)
}

// solutions adds the exact values to both models, and returns the model of the best of a few constant λ.
func (r *runner) solutions(ctx context.Context, zero, tuned *model) (best *model, err error) {
	exact := train.Exact{Oracles: r.problem.Evaluate, Team: r.team, Start: r.problem.Start, Tol: exactTol, AdjointTol: adjointTol}
	if _, err := r.solve(ctx, &exact, tuned); err != nil {
		return nil, err
	}
	slope, err := r.solve(ctx, &exact, zero)
	if err != nil {
		return nil, err
	}
	best = zero
	r.summary.Constants = []runs.Constant{{Phi: float64(zero.Phi)}}
	// Downhill from 0, where the slope points, until Φ rises.
	step := 1.0
	if slope > 0 {
		step = -1
	}
	for i := 1; i <= 6; i++ {
		c := float64(i) * step
		m := newModel(fmt.Sprintf("λ = %g", c), runs.Number(c), make([]float64, len(zero.x)))
		vec.Fill(m.x, c)
		if _, err := r.solve(ctx, &exact, m); err != nil {
			return nil, err
		}
		r.summary.Constants = append(r.summary.Constants, runs.Constant{Lambda: c, Phi: float64(m.Phi)})
		if m.Phi >= best.Phi {
			break
		}
		best = m
	}
	best.Name += ", best constant"
	return best, nil
}

// solve adds a model's exact values and returns the slope of Φ along all entries of λ together.
func (r *runner) solve(ctx context.Context, e *train.Exact, m *model) (float64, error) {
	r.view.Log("exact solution at %s", m.Name)
	sol, err := e.Solve(ctx, m.x)
	r.pace.step(modelling, 1)
	if err != nil {
		return 0, err
	}
	m.Phi = runs.Number(sol.Phi)
	s, err := r.problem.Scores(ctx, sol.Y)
	if err != nil {
		return 0, err
	}
	m.ExactTestLoss, m.ExactTestAccuracy = runs.Number(s.Test.Loss()), runs.Number(s.Test.Accuracy())
	slope := 0.0
	for _, g := range sol.Gradient {
		slope += g
	}
	return slope, nil
}

// refit lets the agents find the model of m's λ together, from a start.
func (r *runner) refit(ctx context.Context, m *model, start []float64) error {
	steps := r.Settings.Refit
	r.view.Show(r.pace.progress("refit at "+m.Name, 0, 0))
	solver := train.Refit{Problem: r.problem.Problem, W: r.graph.W, Steps: steps}
	if slices.Equal(m.x, r.startX) {
		solver.Curvature = r.lmax
	}
	res, err := solver.Solve(ctx, m.x, start)
	if err != nil {
		return err
	}
	m.y, m.Steps, m.Converged = res.Y, res.Steps, res.Converged
	m.Gradient, m.Consensus = runs.Number(res.Gradient), runs.Number(res.Consensus)
	s, err := r.problem.Scores(ctx, res.Y)
	if err != nil {
		return err
	}
	m.ValLoss, m.TestLoss, m.TestAccuracy = runs.Number(s.Val.Loss()), runs.Number(s.Test.Loss()), runs.Number(s.Test.Accuracy())
	r.pace.step(modelling, 1)
	r.view.Log("refit at %s: %d steps, gradient %.1e, test loss %s, test accuracy %s",
		m.Name, m.Steps, res.Gradient, formatNumber("%.4f", m.TestLoss), formatNumber("%.4f", m.TestAccuracy))
	return nil
}
