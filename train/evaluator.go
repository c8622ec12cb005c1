package train

import (
	"dsbo"
	"dsbo/algo"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train/exact"
)

// An evaluator makes the records of a run. The exact solutions of one evaluation are the start of
// the solutions of the next.
type evaluator struct {
	*stepper
	config      *Config       // of the run
	problem     Problem       // that is evaluated
	sharedExact *exact.Solver // the exact solution of the problem; nil: none
	// the exact solution of each agent of this process, for methods of the personalized problem
	ownExact  map[int]*exact.Solver
	means     means        // averages over the agents
	sent      dsbo.Traffic // all agents' traffic of evaluations
	lastUsage []runs.Usage // usage of each agent of the roster at the last record, by number
	bestState bestState    // the best iterate so far
	everExact bool         // whether some records, the last one among them, have exact values
}

// newEvaluator makes the evaluator of a run. It has a solver of exact values, unless evaluation is
// off or the lower problem is not convex; for personalized methods each agent has a solver of its
// own, as a group of one.
func newEvaluator(c *Config, s *stepper) (e *evaluator, err error) {
	e = &evaluator{stepper: s, config: c, problem: c.Problem, bestState: newBestState(c.p, c.q),
		means: means{x: make([]float64, c.p), y: make([]float64, c.q), z: make([]float64, c.q),
			u: make([]float64, c.p)}}
	e.CountIn(&e.sent)
	if c.Problem.Evaluate == nil || c.Evaluate == EvaluateOff || c.Problem.Nonconvex {
		return e, nil
	}
	e.everExact = c.ExactAt(c.K)
	if !algo.TraitsOf(c.Method).Personalized {
		e.sharedExact, err = e.newSolver(c.Problem.Solver(), e.Group)
		return e, err
	}
	e.ownExact = map[int]*exact.Solver{}
	for _, i := range e.Local() {
		alone := network.NewGroup(
			network.GroupConfig{N: 1, Numbers: []int{e.Number(i)}, Average: c.Problem.Average})
		own := c.Problem.Solver()
		own.Oracles = own.Oracles[i : i+1]
		if own.Rough != nil {
			own.Rough = own.Rough[i : i+1]
		}
		if e.ownExact[i], err = e.newSolver(own, alone); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// newSolver returns a solver with the tolerances of the run, for the agents of its oracles.
func (e *evaluator) newSolver(s *exact.Solver, agents *network.Group) (*exact.Solver, error) {
	s.Agents, s.Tol, s.AdjointTol = agents, e.config.Tol, e.config.AdjointTol
	return s, s.Prepare()
}

// dampingName is the name of the damping of products in a checkpoint.
const dampingName = "curving"

// state returns the best iterate, where the next exact solves start and the damping of products, if
// they are damped, as views.
func (e *evaluator) state() []dsbo.Named {
	starts, _ := e.solverState()
	all := append(e.bestState.state(), starts...)
	if e.products.Kind == dsbo.DampedHessian {
		all = append(all, dsbo.Named{Name: dampingName, Value: e.products.Mu})
	}
	return all
}

// solverState returns where the next exact solves start, and the pairs of the solver of all agents,
// as views.
func (e *evaluator) solverState() (starts, pairs []dsbo.Named) {
	if e.sharedExact != nil {
		return e.sharedExact.State(), e.sharedExact.Pairs()
	}
	for _, i := range e.Local() {
		if s := e.ownExact[i]; s != nil {
			starts = append(append(starts, s.State()...), s.Pairs()...)
		}
	}
	return starts, nil
}
