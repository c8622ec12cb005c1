package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"dsbo"
	"dsbo/internal/vec"
	"dsbo/runs"
	"dsbo/train"
)

// A model is one choice of hyperparameters x with the solution y of the lower problem there, which is the model to take home.
type model struct {
	runs.Model
	x, y  []float64
	slope float64 // of Φ along all entries of λ together
}

// newModel returns a model that is not solved yet.
func newModel(name string, lambda runs.Number, x []float64) *model {
	m := &model{Model: runs.Model{Name: name, Lambda: lambda}, x: x}
	for _, n := range []*runs.Number{&m.Phi, &m.ValLoss, &m.HoldoutLoss, &m.TestLoss, &m.TestAccuracy, &m.Gradient} {
		*n = runs.Unknown()
	}
	return m
}

// A finder solves the lower problem at some λ, by all agents together. A solution gives both Φ and the model.
type finder struct {
	*runner
	exact     *train.Exact
	constants map[int]*model // the models of constants so far
}

func (r *runner) newFinder() *finder {
	f := &finder{r, r.result.Exact, map[int]*model{}} // warm, where records had exact values
	if f.exact == nil {
		f.exact = train.NewExact(r.problem.Problem)
	}
	return f
}

// mostProducts bounds the products of a model whose lower problem is not convex. For a network on MNIST 300 bring the losses to
// within 1 to 6 % of those where the gradient vanishes, which takes thousands.
const mostProducts = 300

// solve finds a model's y, and with it Φ and the losses, from y; nil: from the last solution. A solution that is not finite leaves
// the model as one that has not converged.
func (f *finder) solve(ctx context.Context, m *model, y []float64) error {
	f.view.Show(f.pace.progress("model of "+m.Name, 0, 0))
	if !f.problem.convex { // each from the start, where their losses are alike
		f.exact = train.NewExact(f.problem.Problem)
		f.exact.MaxProducts = mostProducts
	}
	sol, err := f.exact.SolveNear(ctx, m.x, y, nil)
	f.pace.step(modelling, 1)
	switch {
	case errors.Is(err, dsbo.ErrDiverged):
		f.view.Log("warning: model of %s: %v", m.Name, err)
		return nil
	case err != nil:
		return fmt.Errorf("model of %s: %w", m.Name, err)
	}
	m.y, m.Steps, m.Converged, m.Gradient = sol.Y, sol.Products, sol.Converged, runs.Number(sol.Residual)
	if f.problem.convex {
		m.Phi = runs.Number(sol.Phi)
		for _, g := range sol.Gradient {
			m.slope += g
		}
	}
	s, err := f.problem.Scores(ctx, m.y)
	if err != nil {
		return fmt.Errorf("model of %s: %w", m.Name, err)
	}
	m.ValLoss, m.HoldoutLoss = runs.Number(s.Val.Loss()), runs.Number(s.Holdout.Loss())
	m.TestLoss, m.TestAccuracy = runs.Number(s.Test.Loss()), runs.Number(s.Test.Accuracy())
	f.view.Log("model of %s: %d products, Φ %s, test loss %s", m.Name, m.Steps, formatNumber("%.5f", m.Phi), formatNumber("%.4f", m.TestLoss))
	return nil
}

// objective returns what constants are compared by: Φ, of which a model that has not converged tells nothing; or, where the lower
// problem is not convex and has no one solution, the validation loss of the model itself.
func (m *model) objective() float64 {
	switch {
	case m.Phi.Known() && m.Converged:
		return float64(m.Phi)
	case !m.Phi.Known() && m.ValLoss.Known():
		return float64(m.ValLoss)
	}
	return math.Inf(1)
}

// constant returns the model whose λ is one number.
func (f *finder) constant(ctx context.Context, c int) (*model, error) {
	if m := f.constants[c]; m != nil {
		return m, nil
	}
	m := newModel(fmt.Sprintf("λ = %d", c), runs.Number(c), make([]float64, len(f.result.X)))
	vec.Fill(m.x, float64(c))
	if err := f.solve(ctx, m, nil); err != nil {
		return nil, err
	}
	f.constants[c] = m
	if m.Phi.Known() {
		f.summary.Constants = append(f.summary.Constants, runs.Constant{Lambda: float64(c), Phi: float64(m.Phi)})
	}
	return m, nil
}

// mostConstants bounds the constants in a direction.
const mostConstants = 12

// bestConstant walks from a start downhill until Φ rises, first to where its slope points and, if it rises there at once, to the other
// side. It returns the best model of a constant, that of 0 among them.
func (f *finder) bestConstant(ctx context.Context, start int) (*model, error) {
	best, err := f.constant(ctx, start)
	if err != nil {
		return nil, err
	}
	first, down := best, 1
	if best.slope > 0 {
		down = -1
	}
	for _, step := range []int{down, -down} {
		if best != first {
			break
		}
		for here, c := first, start+step; c != start+step*mostConstants; c += step {
			f.pace.plan(modelling, float64(max(modelsPlanned, len(f.constants)+3)))
			m, err := f.constant(ctx, c)
			if err != nil {
				return nil, err
			}
			if !(m.objective() < here.objective()) {
				break
			}
			here = m
			if m.objective() < best.objective() {
				best = m
			}
		}
	}
	zero, err := f.constant(ctx, 0)
	if err != nil {
		return nil, err
	}
	if zero.objective() < best.objective() {
		best = zero
	}
	return best, nil
}
