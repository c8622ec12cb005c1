package experiment

import (
	"context"
	"fmt"

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

// finish writes x̄ and ȳ of the run, finds the models at x̄, at λ = 0 and at the best constant λ, and writes the model at x̄ and the
// summary.
func (r *runner) finish(ctx context.Context) error {
	zero := newModel("λ = 0", 0, make([]float64, len(r.result.X)))
	tuned := newModel("λ tuned", runs.Unknown(), r.result.X)
	if err := r.writeModel(tuned.x, r.result.Y); err != nil { // the result of the run is safe, also if a solve fails
		return err
	}
	models, err := r.solutions(ctx, zero, tuned)
	if err != nil {
		return err
	}
	for _, m := range models {
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

// solver returns the solver of models, from the problem's start.
func (r *runner) solver() *train.Exact {
	problem := r.problem.Problem
	problem.W = r.graph.W
	e := train.NewExact(problem)
	e.MaxProducts = r.Settings.Refit
	return e
}

// solutions solves both models and returns them with that of the best of a few constant λ between them, where Φ is known.
func (r *runner) solutions(ctx context.Context, zero, tuned *model) ([]*model, error) {
	exact := r.solver()
	if _, err := r.solve(ctx, exact, tuned); err != nil {
		return nil, err
	}
	if !r.problem.convex { // each from the start, where their losses are alike
		exact = r.solver()
	}
	slope, err := r.solve(ctx, exact, zero)
	if err != nil || !r.problem.convex {
		return []*model{zero, tuned}, err
	}
	best := zero
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
		if _, err := r.solve(ctx, exact, m); err != nil {
			return nil, err
		}
		r.summary.Constants = append(r.summary.Constants, runs.Constant{Lambda: c, Phi: float64(m.Phi)})
		if m.Phi >= best.Phi {
			break
		}
		best = m
	}
	best.Name += ", best constant"
	if best == zero {
		return []*model{zero, tuned}, nil
	}
	return []*model{zero, best, tuned}, nil
}

// solve adds a model's y and exact values and returns the slope of Φ along all entries of λ together. The tuned model is solved
// from ȳ of the run.
func (r *runner) solve(ctx context.Context, e *train.Exact, m *model) (float64, error) {
	r.view.Log("exact solution at %s", m.Name)
	var near []float64
	if !m.Lambda.Known() {
		near = r.result.Y
	}
	sol, err := e.SolveNear(ctx, m.x, near, nil)
	if err != nil {
		return 0, err
	}
	s, err := r.problem.Scores(ctx, sol.Y)
	if err != nil {
		return 0, err
	}
	if r.problem.convex {
		m.Phi = runs.Number(sol.Phi)
		m.ExactTestLoss, m.ExactTestAccuracy = runs.Number(s.Test.Loss()), runs.Number(s.Test.Accuracy())
	}
	m.y, m.Steps, m.Converged, m.Gradient = sol.Y, sol.Products, sol.Converged, runs.Number(sol.Residual)
	m.ValLoss, m.TestLoss, m.TestAccuracy = runs.Number(s.Val.Loss()), runs.Number(s.Test.Loss()), runs.Number(s.Test.Accuracy())
	r.pace.step(modelling, 1)
	r.view.Log("model at %s: %d products, gradient %.1e, test loss %s, test accuracy %s",
		m.Name, m.Steps, sol.Residual, formatNumber("%.4f", m.TestLoss), formatNumber("%.4f", m.TestAccuracy))
	slope := 0.0
	for _, g := range sol.Gradient {
		slope += g
	}
	return slope, nil
}
