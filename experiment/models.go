package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// A model is one choice of hyperparameters x with the solution y of the lower problem there, which is the model to take home.
type model struct {
	runs.Model
	x, y, z  []float64 // z: of the adjoint system
	finder   *finder   // what has solved it; nil before
	slope    float64   // of Φ along all entries of λ together
	phiError float64   // about how far off Φ may be; 0 where there is no Φ
	tol      float64   // PhiTol of its solution
}

// newModel returns a model that is not solved yet.
func newModel(name string, lambda runs.Number, x []float64) *model {
	m := &model{Model: runs.Model{Name: name, Lambda: lambda}, x: x}
	for _, n := range []*runs.Number{&m.Phi, &m.ValLoss, &m.HoldoutLoss, &m.TestLoss, &m.TestAccuracy, &m.Gradient} {
		*n = runs.Unknown()
	}
	return m
}

// planModels sets about how many models there will be.
func (f *finder) planModels(n int) { f.pace.plan(modelling, float64(max(modelsPlanned, n))) }

// fit returns the model with its hyperparameters.
func (m *model) fit() train.Fit { return train.Fit{X: m.x, Y: m.y} }

// A finder solves the lower problem at some λ, by all agents of a problem together. A solution gives both Φ and the model.
type finder struct {
	problem   problem
	length    int // of λ
	exact     *train.Exact
	constants map[int]*model  // the models of constants so far
	tried     []runs.Constant // Φ of those, in their order
	roughTol  float64         // PhiTol of constants on the way to the best one
	fineTol   float64         // PhiTol of the models that are shown
	view      Viewer          // shows what the finder does
	pace      *pace           // counts the models
	training  *train.Config   // of the run, with a method that holds x still: models are found by it; nil: by exact
}

// newFinder returns the finder of a problem. On wires narrower than float32 the digits that are shown are right at less exact solutions
// too; what solutions are off by, see [train.Exact].
func newFinder(p problem, length int, exact *train.Exact, v Viewer, pace *pace) *finder {
	f := &finder{problem: p, length: length, exact: exact, constants: map[int]*model{}, roughTol: 1e-4, fineTol: 1e-4, view: v, pace: pace}
	if !p.Nonconvex {
		f.roughTol = 2e-2
		if p.Average.Wire > network.Float32 {
			f.fineTol = 1e-3
		}
	}
	return f
}

// roughSlope is the least GradientTol of models: the slope of Φ says where to go, no more.
const roughSlope = 1e-2

// mostProducts bounds the products of a model whose lower problem is not convex. For networks of 32 hidden units on 1000 examples of
// MNIST the lower loss settles after some 470 (at λ = 3), and is within 3 % of that after 300.
const mostProducts = 400

// solve finds a model's y, and with it Φ and the losses, from y and z; nil: from the last solution. A solution that is not finite leaves
// the model as one that has not converged.
func (f *finder) solve(ctx context.Context, m *model, y, z []float64, tol float64) error {
	f.view.Show(f.pace.progress("model of "+m.Name, 0, 0))
	m.finder = f
	f.exact.PhiTol, f.exact.GradientTol, m.tol = tol, max(roughSlope, 2*tol), tol
	sol, err := f.solveLower(ctx, m.x, y, z)
	f.pace.step(modelling, 1)
	switch {
	case errors.Is(err, dsbo.ErrDiverged):
		f.view.Log("warning: model of %s: %v", m.Name, err)
		return nil
	case err != nil:
		return fmt.Errorf("model of %s: %w", m.Name, err)
	}
	if m.Gradient = runs.Number(sol.Residual); !m.Gradient.Known() {
		f.view.Log("warning: model of %s: the gradient of its training loss is not finite", m.Name)
		m.y, m.z, m.Converged, m.Phi = nil, nil, false, runs.Unknown()
		return nil
	}
	m.y, m.z, m.Converged = sol.Y, sol.Z, sol.Converged
	m.Steps += sol.Products
	m.Phi, m.phiError, m.slope, m.Reached = runs.Number(sol.Phi), 0, 0, f.problem.Nonconvex
	if !m.Reached {
		m.phiError = sol.PhiError
	}
	for _, g := range sol.Gradient { // none of a solution that is one of several
		m.slope += g
	}
	s, err := f.problem.Scores(ctx, m.fit())
	if err != nil {
		return fmt.Errorf("model of %s: %w", m.Name, err)
	}
	m.ValLoss, m.HoldoutLoss = runs.Number(s.Val.Loss()), runs.Number(s.Holdout.Loss())
	m.TestLoss, m.TestAccuracy = runs.Number(s.Test.Loss()), runs.Number(s.Test.Accuracy())
	f.view.Note(Note{
		Text: fmt.Sprintf("model of %s: %d products, Φ %s, test loss %s", m.Name, m.Steps, formatNumber("%.5f", m.Phi), formatNumber("%.4f", m.TestLoss)),
		Name: "model", Facts: []any{"model", m.Name, "products", m.Steps, "phi", m.Phi, "val_loss", m.ValLoss, "holdout_loss", m.HoldoutLoss,
			"test_loss", m.TestLoss, "test_accuracy", m.TestAccuracy},
	})
	return nil
}

// solveLower solves the lower problem at x, by the method of the run with x held still, if it has a way to; else from y and z or the last
// solution, or where it may have several solutions from its start, as far from all models alike, or from y.
func (f *finder) solveLower(ctx context.Context, x, y, z []float64) (train.Solution, error) {
	if f.training != nil {
		return f.solveByTraining(ctx, x)
	}
	if !f.problem.Nonconvex {
		return f.exact.SolveNear(ctx, x, y, z)
	}
	f.exact = train.NewExact(f.problem.Problem)
	f.exact.MaxProducts = mostProducts
	return f.exact.Model(ctx, x, y)
}

// objective returns what models are compared by: Φ, of which a model that has not converged tells nothing, unless Φ is at the solution
// reached; or, where there is no Φ, the validation loss of the model itself.
func (m *model) objective() float64 {
	switch {
	case m.Phi.Known() && (m.Converged || m.Reached):
		return float64(m.Phi)
	case !m.Phi.Known() && m.ValLoss.Known():
		return float64(m.ValLoss)
	}
	return math.Inf(1)
}
