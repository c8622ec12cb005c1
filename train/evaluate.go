package train

import (
	"context"
	"math"
	"slices"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/vec"
	"dsbo/runs"
)

// An evaluator makes the records of a run. The exact solutions of one evaluation are the start of those of the next.
type evaluator struct {
	*stepper
	problem Problem
	shared  *Exact         // the exact solution of the problem; nil: none
	own     map[int]*Exact // the exact solution of each agent of this process, for methods of the personalized problem
	x, y, u []float64      // averages over the agents
}

// newEvaluator makes the evaluator of a run, with exact solutions where the problem has them.
func newEvaluator(c *Config, s *stepper) (*evaluator, error) {
	e := &evaluator{stepper: s, problem: c.Problem, x: make([]float64, c.p), y: make([]float64, c.q), u: make([]float64, c.p)}
	if c.Problem.Evaluate == nil || c.NoExact {
		return e, nil
	}
	exact := Exact{Oracles: c.Problem.Evaluate, Team: c.Problem.Team, Start: c.Problem.Start, Tol: c.Tol, AdjointTol: c.AdjointTol}
	if !algo.TraitsOf(c.Method).Personalized {
		e.shared = &exact
		return e, e.shared.prepare()
	}
	e.own = map[int]*Exact{}
	for _, i := range e.local {
		one := exact
		one.Oracles, one.Team = c.Problem.Evaluate[i:i+1], nil
		if err := one.prepare(); err != nil {
			return nil, err
		}
		e.own[i] = &one
	}
	return e, nil
}

// record evaluates the agents. After an error the exact solutions are again what they were before: a run that was interrupted
// in its evaluation repeats it to the bit.
func (e *evaluator) record(ctx context.Context) (r runs.Record, err error) {
	began := time.Now()
	var before [][]float64
	for _, s := range e.state() {
		before = append(before, slices.Clone(s.Value))
	}
	defer func() {
		for i, s := range e.state() {
			if err != nil {
				copy(s.Value, before[i])
			}
		}
	}()
	one := e.agents[e.local[0]]
	r = runs.Record{Iteration: one.k, PeakRSSMiB: PeakRSS(), ConsensusZ: runs.Unknown(), HoldoutLoss: runs.Unknown(), HoldoutAccuracy: runs.Unknown()}
	for _, part := range []struct {
		into *runs.Number
		mean []float64
		of   func(*agent) []float64
	}{
		{&r.ConsensusX, e.x, (*agent).x},
		{&r.ConsensusY, e.y, (*agent).y},
		{&r.ConsensusZ, make([]float64, len(e.y)), (*agent).z},
		{new(runs.Number), e.u, (*agent).u},
	} {
		if part.of(one) == nil {
			continue
		}
		if *part.into, err = e.average(ctx, part.mean, part.of); err != nil {
			return r, err
		}
	}
	spent, err := e.usages(ctx)
	if err != nil {
		return r, err
	}
	total := runs.Total(spent)
	r.Calls, r.Sent, r.Times = total.Calls, total.Sent, total.Times
	if err := e.scores(ctx, &r); err != nil {
		return r, err
	}
	if err := e.solutions(ctx, &r); err != nil {
		return r, err
	}
	r.EvaluationSeconds = time.Since(began).Seconds()
	return r, nil
}

// average sets mean to the average of a variable v over all agents and returns (1/n) Σ ‖v_i − mean‖².
func (s *stepper) average(ctx context.Context, mean []float64, of func(*agent) []float64) (runs.Number, error) {
	rows, err := s.collect(ctx, len(mean), func(i int, row []float64) error {
		copy(row, of(s.agents[i]))
		return nil
	})
	if err != nil {
		return runs.Unknown(), err
	}
	vec.Mean(mean, rows...)
	sum := 0.0
	for _, r := range rows {
		sum += vec.Dist2(r, mean)
	}
	return runs.Number(sum / float64(len(rows))), nil
}

// usages returns the usage of each agent. Agents of other processes that may come back are without their times.
func (s *stepper) usages(ctx context.Context) ([]runs.Usage, error) {
	rows, err := s.collect(ctx, runs.UsageLen, func(i int, row []float64) error {
		copy(row, s.sharedUsage(s.agents[i].usage()).Pack())
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]runs.Usage, s.n)
	for i, row := range rows {
		if all[i] = runs.UnpackUsage(row); s.agents[i] != nil {
			all[i] = s.agents[i].usage()
		}
	}
	return all, nil
}

// scores adds the losses and accuracies at ȳ to a record.
func (e *evaluator) scores(ctx context.Context, r *runs.Record) error {
	s, err := e.problem.Scores(ctx, e.y)
	r.TrainLoss, r.TrainAccuracy = runs.Number(s.Train.Loss()), runs.Number(s.Train.Accuracy())
	r.ValLoss, r.ValAccuracy = runs.Number(s.Val.Loss()), runs.Number(s.Val.Accuracy())
	r.TestLoss, r.TestAccuracy = runs.Number(s.Test.Loss()), runs.Number(s.Test.Accuracy())
	return err
}

// solutions adds the exact values to a record. For a personalized problem these are averages over the agents' own solutions.
func (e *evaluator) solutions(ctx context.Context, r *runs.Record) error {
	r.Phi, r.GradNorm, r.HypergradientError, r.LowerError, r.LowerResidual = runs.Unknown(), runs.Unknown(), runs.Unknown(), runs.Unknown(), runs.Unknown()
	var rows [][]float64
	var err error
	switch {
	case e.shared != nil:
		rows = [][]float64{make([]float64, 4+len(e.x))}
		err = e.solve(ctx, e.shared, e.y, rows[0])
	case e.own != nil:
		rows, err = e.collect(ctx, 4+len(e.x), func(i int, row []float64) error { return e.solve(ctx, e.own[i], e.agents[i].y(), row) })
	default:
		return nil
	}
	if err != nil {
		return err
	}
	n, phi, residual, off, size := float64(len(rows)), 0.0, 0.0, 0.0, 0.0
	grad := make([]float64, len(e.x))
	for _, row := range rows {
		phi += row[0] / n
		residual = math.Max(residual, row[1])
		off += row[2]
		size += row[3]
		vec.Axpy(grad, 1/n, row[4:])
	}
	norm := vec.Norm(grad)
	r.Phi, r.GradNorm, r.LowerResidual = runs.Number(phi), runs.Number(norm), runs.Number(residual)
	r.LowerError = runs.Number(math.Sqrt(off / size))
	if e.agents[e.local[0]].u() != nil && r.Iteration > 0 {
		r.HypergradientError = runs.Number(math.Sqrt(vec.Dist2(e.u, grad)) / norm)
	}
	return nil
}

// solve sets row to Φ, the residual, ‖y − y*‖², ‖y*‖² and ∇Φ.
func (e *evaluator) solve(ctx context.Context, s *Exact, y, row []float64) error {
	sol, err := s.Solve(ctx, e.x)
	if err != nil {
		return err
	}
	row[0], row[1], row[2], row[3] = sol.Phi, sol.Residual, vec.Dist2(y, sol.Y), vec.Dot(sol.Y, sol.Y)
	copy(row[4:], sol.Gradient)
	return nil
}

// state returns where the next exact solves start, as views.
func (e *evaluator) state() []dsbo.Named {
	if e.shared != nil {
		return e.shared.state()
	}
	var all []dsbo.Named
	for _, i := range e.local {
		if s := e.own[i]; s != nil {
			all = append(all, s.state()...)
		}
	}
	return all
}
