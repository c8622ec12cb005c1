package train

import (
	"context"
	"math"
	"time"

	"dsbo"
	"dsbo/internal/vec"
)

// An evaluator makes records. It remembers where its exact solves ended.
type evaluator struct {
	problem Problem
	exact   []*Exact // one for all agents; one an agent for methods of the personalized problem; none
	x, y, u []float64
}

func newEvaluator(c *Config) (*evaluator, error) {
	e := &evaluator{problem: c.Problem, x: make([]float64, c.p), y: make([]float64, c.q), u: make([]float64, c.p)}
	groups := [][]dsbo.ValueOracle{c.Problem.Evaluate}
	if c.personalized {
		groups = nil
		for _, o := range c.Problem.Evaluate {
			groups = append(groups, []dsbo.ValueOracle{o})
		}
	}
	if c.Problem.Evaluate == nil || c.NoExact {
		return e, nil
	}
	for _, g := range groups {
		s := &Exact{Oracles: g, Start: c.Problem.Start, Tol: c.Tol, AdjointTol: c.AdjointTol}
		if err := s.prepare(); err != nil {
			return nil, err
		}
		e.exact = append(e.exact, s)
	}
	return e, nil
}

// at evaluates the agents as they stand.
func (e *evaluator) at(ctx context.Context, agents []*Agent) (Record, error) {
	began := time.Now()
	r := Record{Iteration: agents[0].Iteration(), PeakRSSMiB: PeakRSS()}
	r.ConsensusX = spread(e.x, agents, func(a *Agent) []float64 { return a.alg.X() })
	r.ConsensusY = spread(e.y, agents, func(a *Agent) []float64 { return a.alg.Y() })
	r.ConsensusZ = unknown
	if agents[0].z() != nil {
		r.ConsensusZ = spread(make([]float64, len(e.y)), agents, (*Agent).z)
	}
	e.usage(&r, agents)
	if err := e.scores(&r); err != nil {
		return r, err
	}
	if err := e.solutions(ctx, &r, agents); err != nil {
		return r, err
	}
	r.EvaluationSeconds = time.Since(began).Seconds()
	return r, nil
}

// spread sets mean to the average of a variable over the agents and returns (1/n) Σ ‖v_i − mean‖².
func spread(mean []float64, agents []*Agent, of func(*Agent) []float64) Number {
	rows := make([][]float64, len(agents))
	for i, a := range agents {
		rows[i] = of(a)
	}
	vec.Mean(mean, rows...)
	sum := 0.0
	for _, r := range rows {
		sum += vec.Dist2(r, mean)
	}
	return Number(sum / float64(len(rows)))
}

func (e *evaluator) usage(r *Record, agents []*Agent) {
	var u Usage
	for _, a := range agents {
		u.Add(a.Usage())
	}
	r.UpperGrad, r.LowerGrad, r.HVP, r.JVP = u.Calls.UpperGrad, u.Calls.LowerGrad, u.Calls.HVP, u.Calls.JVP
	r.Hessian, r.Jacobian = u.Calls.Hessian, u.Calls.Jacobian
	r.Messages, r.Floats, r.Bytes = u.Sent.Messages, u.Sent.Floats, u.Sent.Bytes
	r.OracleSeconds, r.MixSeconds, r.AlgebraSeconds = u.OracleSeconds, u.MixSeconds, u.AlgebraSeconds()
}

func (e *evaluator) scores(r *Record) error {
	s := Scores{noScore, noScore, noScore}
	if e.problem.Score != nil {
		var err error
		if s, err = e.problem.Score(e.y); err != nil {
			return err
		}
	}
	r.TrainLoss, r.TrainAccuracy = Number(s.Train.Loss), Number(s.Train.Accuracy)
	r.ValLoss, r.ValAccuracy = Number(s.Val.Loss), Number(s.Val.Accuracy)
	r.TestLoss, r.TestAccuracy = Number(s.Test.Loss), Number(s.Test.Accuracy)
	return nil
}

// solutions adds the exact values. Those of a personalized problem are averages over the agents'.
func (e *evaluator) solutions(ctx context.Context, r *Record, agents []*Agent) error {
	r.Phi, r.GradNorm, r.HypergradientError, r.LowerError, r.LowerResidual = unknown, unknown, unknown, unknown, unknown
	if len(e.exact) == 0 {
		return nil
	}
	n, phi, residual, off, size := float64(len(e.exact)), 0.0, 0.0, 0.0, 0.0
	grad := make([]float64, len(e.x))
	for i, s := range e.exact {
		sol, err := s.Solve(ctx, e.x)
		if err != nil {
			return err
		}
		y := e.y
		if len(e.exact) > 1 {
			y = agents[i].Algorithm().Y()
		}
		phi += sol.Phi / n
		residual = math.Max(residual, sol.Residual)
		off += vec.Dist2(y, sol.Y)
		size += vec.Dot(sol.Y, sol.Y)
		vec.Axpy(grad, 1/n, sol.Gradient)
	}
	norm := vec.Norm(grad)
	r.Phi, r.GradNorm, r.LowerResidual = Number(phi), Number(norm), Number(residual)
	r.LowerError = Number(math.Sqrt(off / size))
	if agents[0].u() != nil && r.Iteration > 0 {
		spread(e.u, agents, (*Agent).u)
		r.HypergradientError = Number(math.Sqrt(vec.Dist2(e.u, grad)) / norm)
	}
	return nil
}

// state is what the next exact solves start from.
func (e *evaluator) state() []dsbo.Named {
	var all []dsbo.Named
	for _, s := range e.exact {
		all = append(all, s.state()...)
	}
	return all
}
