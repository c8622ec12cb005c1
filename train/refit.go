package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/vec"
	"dsbo/network"
	"dsbo/runs"
)

// Refit solves the lower problem at hyperparameters that stay, decentralized, on all examples: the y that it
// finds is the model to take home. During a run y only follows x, and is never quite there.
//
// The method is gradient descent with gradient tracking and momentum ([algo.Lower]), so that every agent ends at the solution of
// the averaged problem.
type Refit struct {
	Problem Problem
	W       *network.Matrix
	Beta    float64 // step of y; 0: 1/L_max of the worst agent, see Curvature, halved while it diverges
	MomY    float64 // momentum of y, in [0, 1); 0: 0.985
	// Tol bounds the tracked gradient of every agent, relative to the averaged gradient at Problem.Start; 0: 3e-4.
	Tol    float64
	Steps  int                              // bound of the steps of y, rounded up to tens; 0: 3000
	OnStep func(done int, gradient float64) // called every ten steps with the gradient that Tol bounds
	// Curvature is each agent's L_max at the x of Solve and Problem.Start, where it is known; nil: it is found.
	Curvature []float64
}

// A Refitted is the model that a refit has found.
type Refitted struct {
	Y         []float64 // ȳ
	Gradient  float64   // largest tracked gradient of an agent, relative as in Refit.Tol
	Consensus float64   // (1/n) Σ ‖y_i − ȳ‖²
	Steps     int       // steps of y taken
	Converged bool      // whether Gradient is at most Tol
	Floats    int64     // numbers sent by all agents
}

// refitChunk is the number of steps between two checks of the gradient.
const refitChunk = 10

// Solve refits at x (length p), from y on all agents; nil: from Problem.Start. It does not change them.
func (r Refit) Solve(ctx context.Context, x, y []float64) (res Refitted, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("refit: %w", err)
		}
	}()
	s, err := r.prepare(ctx, x)
	if err != nil {
		return res, err
	}
	if y == nil {
		y = s.start
	}
	if len(y) != len(s.start) {
		return res, dsbo.Errorf(dsbo.ErrShape, "start of y must have q = %d numbers; it has %d", len(s.start), len(y))
	}
	for try := 0; ; try++ {
		res, err := s.attempt(ctx, y)
		// How much tracking and momentum let of 1/L_max depends on the graph and on how unlike the agents are.
		if d := (*dsbo.DivergedError)(nil); r.Beta == 0 && try < 5 && errors.As(err, &d) { // not another agent's
			s.Beta /= 2
			continue
		}
		return res, err
	}
}

// A refitting is one call of Solve, with defaults filled in.
type refitting struct {
	Refit
	x, start []float64
	lmax     float64
	scale    float64 // the gradient that Tol is relative to
}

// allExamplesOracle is an oracle whose every draw is all the agent's examples.
type allExamplesOracle struct{ dsbo.Oracle }

func (o allExamplesOracle) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	return o.Oracle.LowerGrad(dst, x, y, allExamples)
}

// prepare checks the settings and finds what does not depend on the step.
func (r Refit) prepare(ctx context.Context, x []float64) (*refitting, error) {
	p, q, err := r.Problem.Dims()
	if err != nil {
		return nil, err
	}
	if n := len(r.Problem.Oracles); len(x) != p || r.W == nil || r.W.N() != n {
		return nil, dsbo.Errorf(dsbo.ErrShape, "x must have p = %d numbers and the graph %d agents; x has %d", p, n, len(x))
	}
	if !(r.MomY >= 0 && r.MomY < 1) || !(r.Beta >= 0) || !(r.Tol >= 0) || r.Steps < 0 {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "step %g, tolerance %g and count of steps %d must not be negative, momentum %g must be in [0, 1)",
			r.Beta, r.Tol, r.Steps, r.MomY)
	}
	s := &refitting{Refit: r, x: x, start: make([]float64, q)}
	copy(s.start, r.Problem.Start)
	if s.Curvature == nil {
		if s.Curvature, err = r.Problem.Curvature(ctx, x, s.start); err != nil {
			return nil, err
		}
	}
	s.lmax = slices.Max(s.Curvature)
	s.Beta, s.MomY = cmp.Or(r.Beta, 1/s.lmax), cmp.Or(r.MomY, 0.985)
	s.Tol, s.Steps = cmp.Or(r.Tol, 3e-4), cmp.Or(r.Steps, 3000)
	return s, s.setScale(ctx)
}

// setScale sets the gradient that Tol is relative to: the norm of the averaged one at the problem's start.
func (s *refitting) setScale(ctx context.Context) error {
	g, err := s.Problem.group()
	if err != nil {
		return err
	}
	mean := make([]float64, len(s.start))
	err = g.mean(ctx, mean, func(i int, part []float64) error {
		return s.Problem.Oracles[i].LowerGrad(part, s.x, s.start, allExamples)
	})
	s.scale = cmp.Or(vec.Norm(mean), 1)
	return err
}

// attempt runs [algo.Lower] on all agents with the step s.Beta, of which an iteration is refitChunk steps.
func (s *refitting) attempt(ctx context.Context, y []float64) (res Refitted, err error) {
	solvers := make([]*algo.Lower, len(s.Problem.Oracles))
	run, err := newStepper(s.Problem, s.W, func(i int) (dsbo.Algorithm, dsbo.Oracle, error) {
		a := &algo.Lower{Beta: algo.Constant(s.Beta), MomY: s.MomY, T: refitChunk}
		if err := a.Init(len(s.x), len(y), 0); err != nil {
			return nil, nil, err
		}
		copy(a.X(), s.x)
		setStart(a, y)
		solvers[i] = a
		return a, allExamplesOracle{s.Problem.Oracles[i]}, nil
	})
	if err != nil {
		return res, err
	}
	defer run.close()
	res.Gradient = math.Inf(1)
	for best := math.Inf(1); res.Steps < s.Steps && !res.Converged; {
		stop, first, err := run.advance(ctx, run.done+1)
		switch {
		case err != nil:
			return res, err
		case first != nil:
			return res, first
		case stop:
			return res, ErrInterrupted
		}
		res.Steps += refitChunk
		norm, err := s.gradient(ctx, run.group, solvers, best, res.Steps)
		if err != nil {
			return res, err
		}
		best = min(best, norm)
		res.Gradient = norm / s.scale
		res.Converged = res.Gradient <= s.Tol
		if s.OnStep != nil {
			s.OnStep(res.Steps, res.Gradient)
		}
	}
	ys, err := run.collect(ctx, len(y), func(i int, row []float64) error { copy(row, solvers[i].Y()); return nil })
	if err != nil {
		return res, err
	}
	res.Y = make([]float64, len(y))
	vec.Mean(res.Y, ys...)
	for _, own := range ys {
		res.Consensus += vec.Dist2(own, res.Y) / float64(len(ys))
	}
	usage, err := run.usages(ctx)
	res.Floats = runs.Total(usage).Floats
	return res, err
}

// gradient returns the largest norm of an agent's tracked gradient after so many steps. One that has grown far above the
// least so far is a divergence.
func (s *refitting) gradient(ctx context.Context, g group, solvers []*algo.Lower, best float64, steps int) (worst float64, err error) {
	const growth = 10 // more than momentum swings
	norms, err := g.collect(ctx, 1, func(i int, row []float64) error { row[0] = vec.Norm(solvers[i].Gradient()); return nil })
	if err != nil {
		return 0, err
	}
	for i, row := range norms {
		if !(row[0] <= growth*max(best, 1e-9*s.scale)) { // NaN too
			beta := trackedBound(s.W, s.lmax, s.MomY)
			return 0, &dsbo.DivergedError{Agent: i, Iteration: steps, Quantity: "tracked gradient of y", Value: row[0],
				Advice: fmt.Sprintf("stable with L_max = %.3g: beta below %.3g, or less momentum", s.lmax, beta)}
		}
		worst = max(worst, row[0])
	}
	return worst, nil
}
