package candidates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
	"dsbo/train/exact"
)

// A Model is one choice of hyperparameters with the solution of the lower problem there, which is
// the model to take home.
type Model struct {
	runs.Model
	// hyperparameters, length p; solution, length q, nil before it is found and where it is
	// not finite
	X, Y     []float64
	FoundBy  string    // the search that found X, one of those below; "": the iterations
	Finder   *Finder   // what has solved it; nil before
	z        []float64 // solution of the adjoint system
	gradient []float64 // ∇Φ, length p; nil where there is none, as at one of several solutions
	slope    float64   // of Φ along all entries of λ together
	phiError float64   // about how far off Φ may be; 0 where there is no Φ
	tol      float64   // PhiTol of its solution
	otherY   []float64 // solution from the other start of the two, length q; nil: there is none
	effort   string    // what Steps are, product where it is empty
}

// What finds X where the iterations have not, as verdicts name it.
const (
	FoundBySearch     = "a BFGS search from the best constant"
	FoundByHalving    = "a search between the best constant and the iterations"
	FoundByStructures = "a structure that folds chose"
	FoundByPath       = "a path and its hypergradient"
)

// NewModel returns a model at x, which it keeps, that is not solved yet. lambda is the number of
// all entries of x, unknown where they differ.
func NewModel(name string, lambda runs.Number, x []float64) *Model {
	m := &Model{Model: runs.Model{Name: name, Lambda: lambda}, X: x}
	for _, n := range []*runs.Number{&m.Phi, &m.ValLoss, &m.HoldoutLoss, &m.TestLoss, &m.TestAccuracy, &m.Gradient} {
		*n = runs.Unknown()
	}
	return m
}

// Fit returns the model with its hyperparameters.
func (m *Model) Fit() train.Fit { return train.Fit{X: m.X, Y: m.Y} }

// Other returns the solution of the lower problem from the other start of the two, if there is one.
func (m *Model) Other() (fit train.Fit, ok bool) {
	return train.Fit{X: m.X, Y: m.otherY}, m.otherY != nil
}

// Effort returns the cost of the solution, such as "41 products".
func (m *Model) Effort() string { return wording.Count(m.Steps, cmp.Or(m.effort, "product")) }

// objective returns the value by which models are compared: Φ, or +Inf if the model has not
// converged, unless Φ is at the solution reached; without Φ, the validation loss of the model
// itself.
func (m *Model) objective() float64 {
	switch phi := m.PhiSolved(); {
	case phi.Known():
		return float64(phi)
	case !m.Phi.Known() && m.ValLoss.Known():
		return float64(m.ValLoss)
	}
	return math.Inf(1)
}

// tells reports whether the model has a value to be compared by.
func (m *Model) tells() bool { return !math.IsInf(m.objective(), 1) }

// Below reports whether a model's objective is below another one's; false if neither has one.
func (m *Model) Below(other *Model) bool { return m.objective() < other.objective() }

// LosesTo reports whether a tuned model loses to a rival: its Φ is larger, or its held-out loss by
// more than a standard error, according to gains. A model that has not converged loses to one that
// has. Nothing loses to another finder's rival, whose y has another meaning.
func (m *Model) LosesTo(rival *Model, gains []runs.Gain) bool {
	return rival.Finder == m.Finder && (!(m.objective() <= rival.objective()) ||
		runs.LostHeldOut(gains))
}

// A Watcher receives a [Finder]'s progress, on its goroutine.
type Watcher interface {
	Begin(name string) // the model of that name is sought
	Solved()           // its solution has ended
	Found(m *Model)    // it has its losses
	Expect(models int) // about how many there will be
	Log(format string, args ...any)
}

// A Finder solves the lower problem at some λ, by all agents of a problem together. A solution
// gives both Φ and the model. It belongs to one goroutine, and all processes of the problem's team
// make the same calls.
type Finder struct {
	Problem train.Problem   // the run's
	Symbol  string          // of x, such as λ
	Tried   []runs.Constant // Φ of the constants so far, in their order
	// Second is where the lower problem is solved from too, beside its start, where it may not be
	// convex, length q; nil: nowhere. All models have the same two starts, and none depends on what
	// was solved before it.
	Second []float64
	// Spent is how many Hessian-vector products an agent has taken before, in the iterations: a
	// search for a better x takes no more than these and the models so far.
	Spent int

	length    int            // of x
	solver    *exact.Solver  // of models by Newton's method
	training  *train.Config  // a method with x fixed, which finds models; nil: solver does
	constants map[int]*Model // the models of constants so far
	roughTol  float64        // PhiTol of constants on the way to the best one
	fineTol   float64        // PhiTol of the models that are shown
	watch     Watcher        // receives models in progress
}

// New returns the finder of a problem whose x has p entries, which finds models by training where
// there is a configuration of it, else by solver. nil watches nothing. On wires narrower than
// float32 the digits that are shown are right at less exact solutions too; what solutions are off
// by, see [exact.Solver].
func New(p train.Problem, symbol string, length int, solver *exact.Solver, training *train.Config,
	watch Watcher) *Finder {
	if watch == nil {
		watch = unwatched{}
	}
	f := &Finder{Problem: p, Symbol: symbol, length: length, solver: solver, training: training,
		constants: map[int]*Model{}, roughTol: 1e-4, fineTol: 1e-4, watch: watch}
	if !p.Nonconvex {
		f.roughTol = 2e-2
		if p.Average.Wire > network.Float32 {
			f.fineTol = 1e-3
		}
	}
	return f
}

// unwatched is a Watcher that shows nothing.
type unwatched struct{}

func (unwatched) Begin(string)       {}
func (unwatched) Solved()            {}
func (unwatched) Found(*Model)       {}
func (unwatched) Expect(int)         {}
func (unwatched) Log(string, ...any) {}

// roughSlope is the least GradientTol of models: the slope of Φ gives a direction only.
const roughSlope = 1e-2

// MostProducts bounds the products of a solution from one start where the lower problem is not
// convex. For networks of 32 hidden units on 1000 examples of MNIST the lower loss settles after
// some 470 (at λ = 3), and is within 3 % of that after 300.
const MostProducts = 400

// Solve finds a model's y, and with it Φ and the losses, starting from y and z; nil: from the last
// solution. If the lower problem may not be convex, y and z are ignored: see Second. After a
// solution that is not finite the model counts as not converged.
func (f *Finder) Solve(ctx context.Context, m *Model, y, z []float64) error {
	return f.solve(ctx, m, y, z, f.fineTol)
}

// solve is Solve to a tolerance of its own.
func (f *Finder) solve(ctx context.Context, m *Model, y, z []float64, tol float64) error {
	f.watch.Begin(m.Name)
	m.Finder = f
	f.solver.PhiTol, f.solver.GradientTol, m.tol = tol, max(roughSlope, 2*tol), tol
	sol, other, err := f.solveLower(ctx, m.X, y, z)
	f.watch.Solved()
	switch {
	case errors.Is(err, dsbo.ErrDiverged):
		f.watch.Log("warning: model of %s: %v", m.Name, err)
		return nil
	case err != nil:
		return fmt.Errorf("model of %s: %w", m.Name, err)
	}
	if m.Gradient = runs.Number(sol.Residual); !m.Gradient.Known() && f.training == nil {
		f.watch.Log("warning: model of %s: the gradient of its training loss is not finite", m.Name)
		m.Y, m.z, m.gradient, m.Converged, m.Phi = nil, nil, nil, false, runs.Unknown()
		return nil
	}
	m.Y, m.z, m.gradient, m.Converged = sol.Y, sol.Z, sol.Gradient, sol.Converged
	m.Steps += sol.Products
	if f.training != nil {
		m.effort = "gradient"
	}
	if m.otherY = other.Y; other.Y != nil {
		m.Steps += other.Products
		m.Spread = runs.Number(math.Abs(sol.Phi - other.Phi))
	}
	m.Phi, m.phiError, m.slope, m.Reached = runs.Number(sol.Phi), 0, 0, f.Problem.Nonconvex
	if !m.Reached {
		m.phiError = sol.PhiError
	}
	for _, g := range sol.Gradient {
		m.slope += g
	}
	s, err := f.Problem.Scores(ctx, m.Fit())
	if err != nil {
		return fmt.Errorf("model of %s: %w", m.Name, err)
	}
	m.ValLoss, m.HoldoutLoss = runs.Number(s.Val.Loss()), runs.Number(s.Holdout.Loss())
	m.TestLoss, m.TestAccuracy = s.Test.Numbers()
	f.watch.Found(m)
	return nil
}

// solveLower solves the lower problem at x, by the run's method with x fixed, if there is one; else
// from y and z or the last solution. If it may have several solutions it is solved from both
// starts: sol has the smaller lower loss.
func (f *Finder) solveLower(ctx context.Context, x, y, z []float64) (sol, other exact.Solution, err error) {
	switch {
	case f.training != nil:
		sol, err = f.solveByTraining(ctx, x)
		return sol, other, err
	case !f.Problem.Nonconvex:
		sol, err = f.solver.SolveNear(ctx, x, y, z)
		return sol, other, err
	}
	f.solver = f.Problem.Solver()
	f.solver.MaxProducts = MostProducts
	sol, err = f.solver.Model(ctx, x, nil)
	if f.Second == nil || err != nil && !errors.Is(err, dsbo.ErrDiverged) {
		return sol, other, err
	}
	if err != nil { // the gradient that residuals are relative to may be lost with the first start
		f.solver = f.Problem.Solver()
		f.solver.Start, f.solver.MaxProducts = f.Second, MostProducts
	}
	second, secondErr := f.solver.Model(ctx, x, f.Second)
	return lowerOf(sol, second, err, secondErr)
}

// lowerOf returns the solution of two whose lower loss is less, and the other one where both are
// finite. Errors are of each; err, of the first, is nil or a divergence.
func lowerOf(first, second exact.Solution, err, secondErr error) (sol, other exact.Solution, _ error) {
	switch {
	case errors.Is(secondErr, dsbo.ErrDiverged) || secondErr == nil && !linalg.AllFinite(second.Y):
		return first, other, err
	case secondErr != nil || err != nil || !linalg.AllFinite(first.Y):
		return second, other, secondErr
	case second.LowerLoss < first.LowerLoss:
		return second, first, nil
	}
	return first, second, nil
}

// solveByTraining finds y of the lower problem at x by a run from the start, with the draws of
// every other model. It has converged as far as such a run does. Phi of the result is f(x, y), and
// Products are gradients of an agent; what is left of the lower gradient is not found.
func (f *Finder) solveByTraining(ctx context.Context, x []float64) (exact.Solution, error) {
	c := *f.training
	c.Problem, c.StartX = f.Problem, x
	// the model is scored afterwards, and there are no products
	c.Problem.Score, c.Problem.Each, c.Problem.Matrix = nil, nil, dsbo.Hessian
	result, err := train.Run(ctx, c)
	if result != nil {
		f.Problem.Sent.Add(runs.Total(result.Usage).Traffic)
		f.Problem.Sent.Add(result.Evaluation)
	}
	if errors.Is(err, train.ErrInterrupted) {
		return exact.Solution{}, ctx.Err() // it is the run that is interrupted
	}
	if err != nil {
		return exact.Solution{}, err
	}
	phi, _, err := f.Problem.Losses(ctx, train.Fit{X: x, Y: result.Y})
	return exact.Solution{Phi: phi, Y: result.Y, Converged: true, Residual: math.NaN(),
		Products: int(result.Usage[0].LowerGrad)}, err
}
