package train

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/exact"
	"dsbo/internal/recycle"
	"dsbo/internal/vec"
	"dsbo/network/collective"
	"dsbo/runs"
)

// An evaluator makes the records of a run. The exact solutions of one evaluation are the start of those of the next.
type evaluator struct {
	*stepper
	config      *Config
	problem     Problem
	sharedExact *exact.Solver         // the exact solution of the problem; nil: none
	ownExact    map[int]*exact.Solver // the exact solution of each agent of this process, for methods of the personalized problem
	means       means                 // averages over the agents
	sent        dsbo.Traffic          // what all agents have sent in evaluations
	lastUsage   []runs.Usage          // usage of each agent of the roster at the last record, by number
	bestState   bestState             // the best iterate so far
	byPhi       bool                  // whether some records have exact values, of which the last one is one
}

// newEvaluator makes the evaluator of a run, with exact solutions where the problem has them.
func newEvaluator(c *Config, s *stepper) (*evaluator, error) {
	e := &evaluator{stepper: s, config: c, problem: c.Problem, means: newMeans(c.p, c.q), bestState: newBestState(c.p, c.q)}
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
		alone := collective.New(collective.Config{N: 1, Numbers: []int{c.Problem.agentNumber(i)}, Average: c.Problem.Average})
		if e.ownExact[i], err = e.newSolver(c.Problem.Evaluate[i:i+1], alone); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// newSolver returns the solver of some agents of the problem.
func (e *evaluator) newSolver(oracles []dsbo.ValueOracle, agents *collective.Group) (*exact.Solver, error) {
	c := e.config
	s := &exact.Solver{Oracles: oracles, Agents: agents, Start: c.Problem.Start, Matrix: c.Problem.Matrix, Tol: c.Tol, AdjointTol: c.AdjointTol}
	return s, s.Prepare()
}

// makeRecord evaluates the agents. After an error the exact solutions and the counts are again what they were before: a run that was
// interrupted in its evaluation repeats it to the bit.
func (e *evaluator) makeRecord(ctx context.Context) (r runs.Record, err error) {
	began := time.Now()
	var before [][]float64 // some megabytes, which only a solve changes
	if e.config.ExactAt(e.done) {
		for _, s := range e.solverState() {
			before = append(before, slices.Clone(s.Value))
		}
	}
	sent := e.sent
	defer func() {
		if err == nil {
			return
		}
		for i, v := range before {
			copy(e.solverState()[i].Value, v)
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

// usageByNumber returns the usage of each agent of the roster, given that of the members: for others it is that at their last record.
func (e *evaluator) usageByNumber(members []runs.Usage) []runs.Usage {
	all := slices.Clone(e.lastUsage)
	for position, u := range members {
		number := e.problem.agentNumber(position)
		for len(all) <= number {
			all = append(all, runs.Usage{})
		}
		all[number] = u
	}
	return all
}

// usageName is the name of the agents' usage in a checkpoint.
const usageName = "spent"

// usageState returns the usage of each agent of the roster at the last record.
func (e *evaluator) usageState() []dsbo.Named {
	var all []float64
	for _, u := range e.lastUsage {
		all = append(all, u.Pack()...)
	}
	return []dsbo.Named{{Name: usageName, Value: all}}
}

// restoreShared takes over the usage of all agents and the damping of products from a checkpoint, if they are there.
func (e *evaluator) restoreShared(c *checkpoint) {
	for _, part := range c.arraysAfter(evaluationArrays, 0) {
		switch part.Name {
		case usageName:
			e.lastUsage = nil
			for u := range slices.Chunk(part.Value[:len(part.Value)/runs.UsageLen*runs.UsageLen], runs.UsageLen) {
				e.lastUsage = append(e.lastUsage, runs.UnpackUsage(u))
			}
		case dampingName:
			copy(e.products.Mu, part.Value)
		}
	}
}

// usageOf returns the usage of an agent of the roster at the last record that it was there.
func (e *evaluator) usageOf(number int) runs.Usage {
	if number < len(e.lastUsage) {
		return e.lastUsage[number]
	}
	return runs.Usage{}
}

// means are averages over all agents.
type means struct {
	x, y    []float64
	z, u    []float64  // nil of methods without
	spreads [4]float64 // (1/n) Σ_i ‖x_i − x̄‖², and so for y, z and u
}

// fit returns x̄ and ȳ.
func (m *means) fit() Fit { return Fit{X: m.x, Y: m.y} }

// newMeans returns averages to be found.
func newMeans(p, q int) means {
	return means{x: make([]float64, p), y: make([]float64, q), z: make([]float64, q), u: make([]float64, p)}
}

// findMeans finds the averages of the agents' x, y, z and u. Those which all agents have with the same bits are not exchanged. What
// all agents must have with the same bits, and have not, is an error.
func (e *evaluator) findMeans(ctx context.Context) error {
	s, m := e.stepper, &e.means
	one := s.agents[s.Local()[0]]
	if one.z() == nil {
		m.z = nil
	}
	if one.u() == nil {
		m.u = nil
	}
	variables := []func(i int) []float64{
		func(i int) []float64 { return s.agents[i].x() }, func(i int) []float64 { return s.agents[i].y() },
		func(i int) []float64 { return s.agents[i].z() }, func(i int) []float64 { return s.agents[i].u() }, e.commonVector(),
	}
	same, err := s.SameBits(ctx, variables...)
	if err == nil {
		err = e.checkAgreement(ctx, same, variables)
	}
	if err != nil {
		return err
	}
	for v, mean := range [][]float64{m.x, m.y, m.z, m.u} {
		if mean == nil {
			continue
		}
		if m.spreads[v], err = s.MeanAndSpread(ctx, mean, variables[v], same[v]); err != nil {
			return err
		}
	}
	return nil
}

// usages returns the usage of each agent. Agents of other processes that may come back are without their times.
func (s *stepper) usages(ctx context.Context) ([]runs.Usage, error) {
	rows, err := s.Gather(ctx, runs.UsageLen, func(i int, row []float64) error {
		copy(row, s.sharedUsage(s.agents[i].usage()).Pack())
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]runs.Usage, s.N())
	for i, row := range rows {
		if all[i] = runs.UnpackUsage(row); s.agents[i] != nil {
			all[i] = s.agents[i].usage()
		}
	}
	return all, nil
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

// addExactValues adds the exact values to a record. For a personalized problem these are averages over the agents' own solutions.
func (e *evaluator) addExactValues(ctx context.Context, r *runs.Record) error {
	r.Phi, r.GradNorm, r.HypergradientError, r.LowerError, r.LowerResidual = runs.Unknown(), runs.Unknown(), runs.Unknown(), runs.Unknown(), runs.Unknown()
	var all values
	var err error
	switch {
	case !e.config.ExactAt(e.done):
		return nil
	case e.sharedExact != nil:
		e.adoptPairs()
		all, err = e.exactValues(ctx, e.sharedExact, e.means.y, e.means.z)
	case e.ownExact != nil:
		all, err = e.personalizedValues(ctx)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	norm := vec.Norm(all.gradient)
	r.Phi, r.GradNorm, r.LowerResidual = runs.Number(all.phi), runs.Number(norm), runs.Number(all.residual)
	r.LowerError = runs.Number(math.Sqrt(all.off / all.size))
	if e.means.u != nil && r.Iteration > 0 {
		r.HypergradientError = runs.Number(math.Sqrt(vec.Dist2(e.means.u, all.gradient)) / norm)
	}
	return nil
}

// addSpectrum adds the least eigenvalue of the averaged Hessian at x̄ and ȳ to a record, where it is due.
func (e *evaluator) addSpectrum(ctx context.Context, r *runs.Record) error {
	r.LeastEigenvalue = runs.Unknown()
	if !e.config.LeastEigenvalueAt(e.done) {
		return nil
	}
	least, err := e.problem.leastEigenvalue(ctx, e.Group, e.means.x, e.means.y)
	r.LeastEigenvalue = runs.Number(least)
	return err
}

// adoptPairs gives the exact solver the pairs that the method has, if all agents have them alike: they are of a lower problem nearby.
func (e *evaluator) adoptPairs() {
	m, ok := e.method().(interface{ Pairs() *recycle.Memory })
	if ok && !e.problem.Average.ByMix && m.Pairs().Relative && m.Pairs().Pairs() > 0 {
		e.sharedExact.AdoptPairs(m.Pairs())
	}
}

// method returns the method that the first agent of this process runs.
func (s *stepper) method() dsbo.Algorithm { return s.agents[s.Local()[0]].alg }

// values are the exact values at one x: Φ, the residual of y*, ‖y − y*‖², ‖y*‖² and ∇Φ.
type values struct {
	phi, residual, off, size float64
	gradient                 []float64
}

// exactValues finds the exact values at x̄, for agents at y and z.
func (e *evaluator) exactValues(ctx context.Context, s *exact.Solver, y, z []float64) (values, error) {
	sol, err := s.SolveNear(ctx, e.means.x, y, z)
	if err != nil {
		return values{}, err
	}
	return values{sol.Phi, sol.Residual, vec.Dist2(y, sol.Y), vec.Dot(sol.Y, sol.Y), sol.Gradient}, nil
}

// personalizedValues finds the averages of the agents' own exact values, and the largest residual.
func (e *evaluator) personalizedValues(ctx context.Context) (all values, err error) {
	own := make([]values, e.N())
	all.residual, err = e.Maximum(ctx, func(i int) (_ float64, err error) {
		own[i], err = e.exactValues(ctx, e.ownExact[i], e.agents[i].y(), e.agents[i].z())
		return own[i].residual, err
	})
	if err != nil {
		return all, err
	}
	sums := make([]float64, 3)
	err = e.MeanNumbers(ctx, sums, func(i int, part []float64) error {
		part[0], part[1], part[2] = own[i].phi, own[i].off, own[i].size
		return nil
	})
	if err != nil {
		return all, err
	}
	all.phi, all.off, all.size, all.gradient = sums[0], sums[1], sums[2], make([]float64, len(e.means.x))
	return all, e.Mean(ctx, e.FineWire(), all.gradient, nil, func(i int, part []float64) error { copy(part, own[i].gradient); return nil })
}

// detachSolver makes the evaluator's solver that of the run's caller, whose averages are counted by sent.
func (e *evaluator) detachSolver(sent *dsbo.Traffic) error {
	if e.sharedExact != nil && !e.config.ExactAt(e.done) {
		e.adoptPairs()
	}
	e.CountIn(cmp.Or(sent, new(dsbo.Traffic)))
	return e.Begin(collective.StageAfterRun)
}

// dampingName is the name of the damping of products in a checkpoint.
const dampingName = "curving"

// state returns the best iterate, where the next exact solves start and the damping of products, if they are damped, as views.
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
			all = append(all, s.State()...)
		}
	}
	return all
}
