package train

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/network/collective"
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
	sent      dsbo.Traffic // what all agents have sent in evaluations
	lastUsage []runs.Usage // usage of each agent of the roster at the last record, by number
	bestState bestState    // the best iterate so far
	byPhi     bool         // whether some records have exact values, of which the last one is one
}

// newEvaluator makes the evaluator of a run, with exact solutions where the problem has them.
func newEvaluator(c *Config, s *stepper) (*evaluator, error) {
	e := &evaluator{stepper: s, config: c, problem: c.Problem, means: newMeans(c.p, c.q),
		bestState: newBestState(c.p, c.q)}
	e.CountIn(&e.sent)
	if c.Problem.Evaluate == nil || c.Evaluate == EvaluateOff || c.Problem.Nonconvex {
		return e, nil
	}
	e.byPhi = c.ExactAt(c.K)
	if !algo.TraitsOf(c.Method).Personalized {
		var err error
		e.sharedExact, err = e.newSolver(c.Problem.Evaluate, e.Group)
		return e, err
	}
	e.ownExact = map[int]*exact.Solver{}
	for _, i := range e.Local() {
		var err error
		alone := collective.New(
			collective.Config{N: 1, Numbers: []int{c.Problem.agentNumber(i)}, Average: c.Problem.Average})
		if e.ownExact[i], err = e.newSolver(c.Problem.Evaluate[i:i+1], alone); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// newSolver returns the solver of some agents of the problem.
func (e *evaluator) newSolver(oracles []dsbo.ValueOracle, agents *collective.Group) (*exact.Solver, error) {
	c := e.config
	s := &exact.Solver{Oracles: oracles, Agents: agents, Start: c.Problem.Start, Matrix: c.Problem.Matrix, Tol: c.Tol,
		AdjointTol: c.AdjointTol, Move: c.Problem.apart.moveNear(), Blur: c.Problem.apart.blur}
	return s, s.Prepare()
}

// makeRecord evaluates the agents. After an error the exact solutions and the counts are again what
// they were before: a run that was interrupted in its evaluation repeats it to the bit.
func (e *evaluator) makeRecord(ctx context.Context) (r runs.Record, err error) {
	began := time.Now()
	var before [][]float64 // some megabytes, which only a solve changes
	if e.config.ExactAt(e.done) {
		for _, s := range e.allSolverState() {
			before = append(before, slices.Clone(s.Value))
		}
	}
	sent := e.sent
	defer func() {
		if err == nil {
			return
		}
		for i, v := range before {
			copy(e.allSolverState()[i].Value, v)
		}
		e.sent = sent
	}()
	if err := e.Begin(2*uint64(e.done) + 1); err != nil { // between two iterations
		return r, err
	}
	r = runs.Record{Iteration: e.done, PeakRSSMiB: PeakRSS(), ConsensusZ: runs.Unknown()}
	if err := e.findMeans(ctx); err != nil {
		return r, err
	}
	r.ConsensusX, r.ConsensusY = runs.Number(e.means.spreads[0]), runs.Number(e.means.spreads[1])
	if e.means.z != nil {
		r.ConsensusZ = runs.Number(e.means.spreads[2])
	}
	if err := e.addScores(ctx, &r); err != nil {
		return r, err
	}
	if err := e.addExactValues(ctx, &r); err != nil {
		return r, err
	}
	if err := e.addSpectrum(ctx, &r); err != nil {
		return r, err
	}
	spent, err := e.usages(ctx)
	if err != nil {
		return r, err
	}
	if err := e.updateBest(ctx, r); err != nil {
		return r, err
	}
	e.products.SetDamping(float64(r.LeastEigenvalue))
	e.lastUsage = e.usageByNumber(spent)
	total := runs.Total(e.lastUsage) // of those that are not there any more too
	r.Calls, r.Traffic, r.Times = total.Calls, total.Traffic, total.Times
	r.EvaluationSent = e.sent
	r.EvaluationSeconds = time.Since(began).Seconds()
	return r, nil
}

// addScores adds the losses and accuracies at x̄ and ȳ to a record.
func (e *evaluator) addScores(ctx context.Context, r *runs.Record) error {
	s, err := e.problem.scores(ctx, e.Group, e.means.fit())
	r.TrainLoss, r.TrainAccuracy = runs.Number(s.Train.Loss()), runs.Number(s.Train.Accuracy())
	r.ValLoss, r.ValAccuracy = runs.Number(s.Val.Loss()), runs.Number(s.Val.Accuracy())
	r.HoldoutLoss, r.HoldoutAccuracy = runs.Number(s.Holdout.Loss()), runs.Number(s.Holdout.Accuracy())
	r.TestLoss, r.TestAccuracy = runs.Number(s.Test.Loss()), runs.Number(s.Test.Accuracy())
	return err
}

// addSpectrum adds the least eigenvalue of the averaged Hessian at x̄ and ȳ to a record, where it
// is due.
func (e *evaluator) addSpectrum(ctx context.Context, r *runs.Record) error {
	r.LeastEigenvalue = runs.Unknown()
	if !e.config.LeastEigenvalueAt(e.done) {
		return nil
	}
	least, err := e.problem.leastEigenvalue(ctx, e.Group, e.means.x, e.means.y)
	r.LeastEigenvalue = runs.Number(least)
	return err
}

// method returns the method that the first agent of this process runs.
func (s *stepper) method() dsbo.Algorithm { return s.agents[s.Local()[0]].alg }

// detachSolver makes the evaluator's solver the run's caller's, whose averages are counted by sent.
func (e *evaluator) detachSolver(sent *dsbo.Traffic) error {
	if e.sharedExact != nil && !e.config.ExactAt(e.done) {
		e.adoptPairs()
	}
	e.CountIn(cmp.Or(sent, new(dsbo.Traffic)))
	return e.Begin(collective.StageAfterRun)
}

// dampingName is the name of the damping of products in a checkpoint.
const dampingName = "curving"

// state returns the best iterate, where the next exact solves start and the damping of products, if
// they are damped, as views.
func (e *evaluator) state() []dsbo.Named {
	all := append(e.bestState.state(), e.solverState()...)
	if e.products.Kind == dsbo.DampedHessian {
		all = append(all, dsbo.Named{Name: dampingName, Value: e.products.Mu})
	}
	return all
}

// solverState returns where the next exact solves start, as views.
func (e *evaluator) solverState() (all []dsbo.Named) {
	if e.sharedExact != nil {
		return e.sharedExact.State()
	}
	for _, i := range e.Local() {
		if s := e.ownExact[i]; s != nil {
			all = append(append(all, s.State()...), s.Pairs()...)
		}
	}
	return all
}

// allSolverState is solverState with the pairs of the solver of all agents.
func (e *evaluator) allSolverState() []dsbo.Named { return append(e.solverState(), e.pairs()...) }

// pairs returns the pairs of the solver of all agents, as views; nil if there is none.
func (e *evaluator) pairs() []dsbo.Named {
	if e.sharedExact == nil {
		return nil
	}
	return e.sharedExact.Pairs()
}
