package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/vec"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// A model is one choice of hyperparameters x with the solution y of the lower problem there, which is the model to take home.
type model struct {
	runs.Model
	x, y, z []float64 // z: of the adjoint system
	slope   float64   // of Φ along all entries of λ together
	refined bool      // whether it is solved to the tolerance of the models that are shown
}

// newModel returns a model that is not solved yet.
func newModel(name string, lambda runs.Number, x []float64) *model {
	m := &model{Model: runs.Model{Name: name, Lambda: lambda}, x: x}
	for _, n := range []*runs.Number{&m.Phi, &m.ValLoss, &m.HoldoutLoss, &m.TestLoss, &m.TestAccuracy, &m.Gradient} {
		*n = runs.Unknown()
	}
	return m
}

// A finder solves the lower problem at some λ, by all agents of a problem together. A solution gives both Φ and the model.
type finder struct {
	problem   problem
	length    int // of λ
	exact     *train.Exact
	constants map[int]*model  // the models of constants so far
	tried     []runs.Constant // Φ of those, in their order
	rough     float64         // PhiTol of constants on the way to the best one; 0: that of package train
	fine      float64         // PhiTol of the other models; 0: that of package train
	watcher   finderWatcher
}

// A finderWatcher shows what a finder does.
type finderWatcher interface {
	solving(name string)            // a model is about to be solved
	solved()                        // it is
	planned(models int)             // there will be about so many models
	Log(format string, args ...any) // a line about a model
	Note(n Note)                    // one with numbers
}

// onPace is the watcher of a runner, which shows its models as a part of its progress.
type onPace struct{ *runner }

func (w onPace) solving(name string) { w.view.Show(w.pace.progress("model of "+name, 0, 0)) }

func (w onPace) solved() { w.pace.step(modelling, 1) }

func (w onPace) planned(models int) { w.pace.plan(modelling, float64(max(modelsPlanned, models))) }

func (w onPace) Log(format string, args ...any) { w.view.Log(format, args...) }

func (w onPace) Note(n Note) { w.view.Note(n) }

func (r *runner) newFinder() *finder {
	f := &finder{problem: r.problem, length: len(r.result.X), exact: r.result.Exact, constants: map[int]*model{}, watcher: onPace{r}} // warm, where records had exact values
	if f.exact == nil {
		f.exact = train.NewExact(r.problem.Problem)
	}
	// On MNIST Φ was off by up to 1e-3 of it at 1e-2, where constants that are one apart differ by more than 1e-2.
	switch wire := r.problem.Average.Wire; {
	case wire == network.Float64 || !r.problem.convex:
	case wire == network.Float32:
		f.rough = 1e-2
	default:
		f.rough, f.fine = 2e-2, 1e-3
	}
	return f
}

// mostProducts bounds the products of a model whose lower problem is not convex. For a network on MNIST 300 bring the losses to
// within 1 to 6 % of those where the gradient vanishes, which takes thousands.
const mostProducts = 300

// solve finds a model's y, and with it Φ and the losses, from y and z; nil: from the last solution. A solution that is not finite leaves
// the model as one that has not converged.
func (f *finder) solve(ctx context.Context, m *model, y, z []float64, tol float64) error {
	f.watcher.solving(m.Name)
	if !f.problem.convex { // each from the start, where their losses are alike
		f.exact = train.NewExact(f.problem.Problem)
		f.exact.MaxProducts = mostProducts
	}
	f.exact.PhiTol, m.refined = tol, tol == f.fine
	sol, err := f.exact.SolveNear(ctx, m.x, y, z)
	f.watcher.solved()
	switch {
	case errors.Is(err, dsbo.ErrDiverged):
		f.watcher.Log("warning: model of %s: %v", m.Name, err)
		return nil
	case err != nil:
		return fmt.Errorf("model of %s: %w", m.Name, err)
	}
	m.y, m.z, m.Converged, m.Gradient = sol.Y, sol.Z, sol.Converged, runs.Number(sol.Residual)
	m.Steps += sol.Products
	if f.problem.convex {
		m.Phi, m.slope = runs.Number(sol.Phi), 0
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
	f.watcher.Note(Note{
		Text: fmt.Sprintf("model of %s: %d products, Φ %s, test loss %s", m.Name, m.Steps, formatNumber("%.5f", m.Phi), formatNumber("%.4f", m.TestLoss)),
		Name: "model", Facts: []any{"model", m.Name, "products", m.Steps, "phi", m.Phi, "val_loss", m.ValLoss, "holdout_loss", m.HoldoutLoss,
			"test_loss", m.TestLoss, "test_accuracy", m.TestAccuracy},
	})
	return nil
}

// refine solves a constant to the tolerance of the models that are shown, if that is not done yet.
func (f *finder) refine(ctx context.Context, m *model) error {
	if m.refined {
		return nil
	}
	if err := f.solve(ctx, m, m.y, m.z, f.fine); err != nil {
		return err
	}
	for i, c := range f.tried {
		if c.Lambda == float64(m.Lambda) {
			f.tried[i].Phi = float64(m.Phi)
		}
	}
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

// constant returns the model whose λ is one number, solved to a tolerance if it is not there yet, from a model that is near; nil: from
// the last solution.
func (f *finder) constant(ctx context.Context, c int, near *model, tol float64) (*model, error) {
	if m := f.constants[c]; m != nil {
		return m, nil
	}
	m := newModel(fmt.Sprintf("λ = %d", c), runs.Number(c), make([]float64, f.length))
	vec.Fill(m.x, float64(c))
	if near == nil {
		near = new(model)
	}
	if err := f.solve(ctx, m, near.y, near.z, tol); err != nil {
		return nil, err
	}
	f.constants[c] = m
	if m.Phi.Known() {
		f.tried = append(f.tried, runs.Constant{Lambda: float64(c), Phi: float64(m.Phi)})
	}
	return m, nil
}

// zero returns the refined model of λ = 0, solved from that of the constant nearest to it.
func (f *finder) zero(ctx context.Context) (*model, error) {
	nearest := slices.MinFunc(slices.Collect(maps.Keys(f.constants)), func(a, b int) int {
		return cmp.Or(max(a, -a)-max(b, -b), a-b)
	})
	m, err := f.constant(ctx, 0, f.constants[nearest], f.fine)
	if err != nil {
		return nil, err
	}
	return m, f.refine(ctx, m)
}

// mostConstants bounds the constants in a direction.
const mostConstants = 12

// bestConstant walks from a start downhill until Φ rises, first to where its slope points and, if it rises there at once, to the other
// side. It returns the best model of a constant, that of 0 among them.
func (f *finder) bestConstant(ctx context.Context, start int) (*model, error) {
	best, err := f.constant(ctx, start, nil, f.rough)
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
			f.watcher.planned(len(f.constants) + 3)
			m, err := f.constant(ctx, c, here, f.rough)
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
	zero, err := f.zero(ctx)
	if err != nil {
		return nil, err
	}
	if zero.objective() < best.objective() {
		best = zero
	}
	return f.refineBest(ctx, best.objective())
}

// refineBest refines the constants whose Φ may be the least, given the least so far, and returns the best of them.
func (f *finder) refineBest(ctx context.Context, least float64) (best *model, err error) {
	limit := least
	if f.rough > 0 {
		limit += f.rough * math.Abs(least)
	}
	for _, c := range slices.Sorted(maps.Keys(f.constants)) {
		m := f.constants[c]
		if !(m.objective() <= limit) {
			continue
		}
		if err := f.refine(ctx, m); err != nil {
			return nil, err
		}
		if best == nil || m.objective() < best.objective() {
			best = m
		}
	}
	return best, nil
}
