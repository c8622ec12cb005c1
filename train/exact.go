package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/vec"
	"dsbo/network"
)

// Exact finds what the methods approximate: y*(x) of the averaged lower problem, Φ(x) and ∇Φ(x), on
// all the examples of all agents. It is an evaluator, not a method: it looks at every agent's oracle.
//
// The lower problem is solved by Newton's method, each step by conjugate gradients on products with the
// averaged Hessian, and the gradient by the formula
//
//	∇Φ(x) = ∇_x f(x, y*) − ∇²_xy g(x, y*) z,   ∇²_yy g(x, y*) z = ∇_y f(x, y*),
//
// again by conjugate gradients; no matrix is formed. Each solve starts where the last one ended, so
// that a sequence of nearby x costs little. It belongs to one goroutine at a time and asks the
// oracles in parallel; results do not depend on the number of processors.
type Exact struct {
	Oracles []dsbo.ValueOracle // one for each agent; nil for agents of other processes
	// Team is the way to the agents of other processes, all of which solve at the same x; nil: there are none.
	Team  network.Team
	Start []float64 // start of the first solve, length q; nil: 0
	// Tol bounds the gradient of the averaged lower loss at y, relative to the gradient at Start at the
	// first x that is solved for; 0: 1e-6. What is left of the error of Φ is of second order in it, as
	// the first order is known and taken off.
	Tol float64
	// AdjointTol bounds the residual of z, relative to the right-hand side; 0: 1e-4.
	AdjointTol float64

	group group
	p, q  int
	y, z  []float64 // solutions of the last solve, at which the next one starts
	scale []float64 // the gradient that Tol is relative to, one number; 0 before the first solve
	work  [6][]float64

	products int // Hessian-vector products of the solve so far, each over all agents
}

// mostProducts bounds the Hessian-vector products of one solve. A solve that reaches the bound ends with what it has, and
// Solution.Residual tells how far it came.
const mostProducts = 20000

// allExamples is the draw of all examples of an agent, which evaluation uses.
var allExamples = dsbo.Sample{Set: dsbo.Whole}

var errNotFinite = errors.New("the numbers are no longer finite")

// A Solution is the exact solution of the lower problem at one x, with what follows from it.
type Solution struct {
	Phi      float64   // Φ(x)
	Gradient []float64 // ∇Φ(x), length p
	Y        []float64 // y*(x), length q
	Z        []float64 // the solution of the adjoint system, length q
	// Residual is the norm of the averaged lower gradient at Y, relative as in Exact.Tol, and
	// AdjointResidual that of the adjoint system, relative to its right-hand side.
	Residual, AdjointResidual float64
}

// Solve returns the solution at x (length p), which it does not change. The slices of the result are
// the caller's. After an error the next solve starts where this one did.
func (s *Exact) Solve(ctx context.Context, x []float64) (Solution, error) {
	if err := s.prepare(); err != nil {
		return Solution{}, fmt.Errorf("exact solution: %w", err)
	}
	if err := s.setScale(ctx, x); err != nil {
		return Solution{}, fmt.Errorf("exact solution: %w", err)
	}
	s.products = 0
	sol := Solution{Y: slices.Clone(s.y), Z: slices.Clone(s.z), Gradient: make([]float64, s.p)}
	for _, part := range []func(context.Context, []float64, *Solution) error{s.solveLower, s.solveAdjoint, s.differentiate} {
		if err := part(ctx, x, &sol); err != nil {
			return Solution{}, fmt.Errorf("exact solution: %w", err)
		}
	}
	copy(s.y, sol.Y)
	copy(s.z, sol.Z)
	return sol, nil
}

// state returns where the next solve starts, as views.
func (s *Exact) state() []dsbo.Named {
	return []dsbo.Named{{Name: "exact_y", Value: s.y}, {Name: "exact_z", Value: s.z}, {Name: "exact_scale", Value: s.scale}}
}

// prepare checks the oracles and allocates the vectors, at the first call.
func (s *Exact) prepare() error {
	if s.y != nil {
		return nil
	}
	prob := Problem{Oracles: make([]dsbo.Oracle, len(s.Oracles)), Start: s.Start, Team: s.Team}
	for i, o := range s.Oracles {
		if o != nil {
			prob.Oracles[i] = o
		}
	}
	var err error
	if s.p, s.q, err = prob.Dims(); err != nil {
		return err
	}
	if s.group, err = prob.group(); err != nil {
		return err
	}
	for i := range s.work {
		s.work[i] = make([]float64, s.q)
	}
	s.y, s.z, s.scale = make([]float64, s.q), make([]float64, s.q), make([]float64, 1)
	copy(s.y, s.Start)
	return nil
}

// setScale sets the gradient that Tol is relative to, at the first solve.
func (s *Exact) setScale(ctx context.Context, x []float64) error {
	if len(x) != s.p {
		return dsbo.Errorf(dsbo.ErrShape, "x must have p = %d numbers; it has %d", s.p, len(x))
	}
	if s.scale[0] != 0 {
		return nil
	}
	g := s.work[0]
	if err := s.lowerGrad(ctx, g, x, s.y); err != nil {
		return err
	}
	s.scale[0] = cmp.Or(vec.Norm(g), 1)
	return nil
}

// solveLower brings sol.Y to y*(x) by damped Newton steps.
func (s *Exact) solveLower(ctx context.Context, x []float64, sol *Solution) error {
	tol := cmp.Or(s.Tol, 1e-6)
	g, step, trial := s.work[0], s.work[1], s.work[2]
	if err := s.lowerGrad(ctx, g, x, sol.Y); err != nil {
		return err
	}
	first := vec.Norm(g)
	// The gradient may well grow on the way from far off; where the loss can fall no more than its own
	// round-off, it has reached its floor once it no longer shrinks.
	floor := false
	for best, norm := math.Inf(1), first; ; {
		sol.Residual = norm / s.scale[0]
		switch {
		case math.IsNaN(norm) || math.IsInf(norm, 0):
			return errNotFinite
		case sol.Residual <= tol, s.products >= mostProducts, floor && norm >= best:
			return nil
		}
		best = norm
		// The closer, the more exact the step: the convergence is then faster than linear.
		forcing := max(min(0.1, math.Sqrt(norm/first)), 0.5*tol/sol.Residual)
		vec.Fill(step, 0)
		if _, err := s.conjugateGradients(ctx, x, sol, step, g, forcing*norm); err != nil {
			return err
		}
		moved, fall, err := s.lineSearch(ctx, x, sol.Y, g, step, trial)
		if err != nil || !moved {
			return err
		}
		floor = fall <= roundOff
		norm = vec.Norm(g)
	}
}

// roundOff is the share of the lower loss below which differences of two evaluations mean nothing: sums of
// some ten thousand terms, each right to 1e-16.
const roundOff = 1e-14

// lineSearch moves y along −step until the lower loss has fallen, and leaves the gradient there in g. It
// reports whether it moved: at the floor of round-off nothing falls. fall is what the step promised, as
// a share of the loss.
func (s *Exact) lineSearch(ctx context.Context, x, y, g, step, trial []float64) (moved bool, fall float64, err error) {
	_, here, err := s.values(ctx, x, y)
	if err != nil {
		return false, 0, err
	}
	slope := vec.Dot(g, step)
	slack := roundOff * math.Abs(here)
	fall = slope / math.Abs(here)
	for t := 1.0; t > 1e-10; t /= 2 {
		vec.Comb(trial, 1, y, -t, step)
		_, there, err := s.values(ctx, x, trial)
		if err != nil {
			return false, fall, err
		}
		if there <= here-float64(1e-4*t*slope)+slack {
			copy(y, trial)
			return true, fall, s.lowerGrad(ctx, g, x, y)
		}
	}
	return false, fall, nil
}

// solveAdjoint brings sol.Z to H⁻¹ ∇_y f at (x, sol.Y).
func (s *Exact) solveAdjoint(ctx context.Context, x []float64, sol *Solution) error {
	b := s.work[1]
	if err := s.upperGradY(ctx, b, x, sol.Y); err != nil {
		return err
	}
	norm := vec.Norm(b)
	if norm == 0 {
		vec.Fill(sol.Z, 0)
		return nil
	}
	left, err := s.conjugateGradients(ctx, x, sol, sol.Z, b, cmp.Or(s.AdjointTol, 1e-4)*norm)
	sol.AdjointResidual = left / norm
	return err
}

// conjugateGradients brings v to H⁻¹ b at (x, sol.Y) by conjugate gradients from v, until the residual is at most
// bound, and returns the residual. A direction of no curvature, which a lower loss that is not convex
// can have, ends it; if that is the first one, v becomes b.
func (s *Exact) conjugateGradients(ctx context.Context, x []float64, sol *Solution, v, b []float64, bound float64) (float64, error) {
	r, d, hd := s.work[3], s.work[4], s.work[5]
	copy(r, b)
	if vec.Dot(v, v) != 0 {
		if err := s.hvp(ctx, hd, x, sol.Y, v); err != nil {
			return 0, err
		}
		s.products++
		vec.Sub(r, r, hd)
	}
	cg := vec.CG{V: v, R: r, D: d, HD: hd}
	cg.Start()
	for first := true; math.Sqrt(cg.RR) > bound && s.products < mostProducts; first = false {
		if err := s.hvp(ctx, hd, x, sol.Y, d); err != nil {
			return 0, err
		}
		s.products++
		curvature := cg.Curvature()
		if math.IsNaN(curvature) || math.IsInf(curvature, 0) {
			return 0, errNotFinite
		}
		if curvature <= 0 {
			if first {
				copy(v, b)
			}
			break
		}
		cg.Step(curvature)
	}
	return math.Sqrt(cg.RR), nil
}

// differentiate computes Φ and its gradient from Y and Z.
func (s *Exact) differentiate(ctx context.Context, x []float64, sol *Solution) error {
	upper, _, err := s.values(ctx, x, sol.Y)
	if err != nil {
		return err
	}
	// f(y*) = f(y) − ∇_y f'H⁻¹∇_y g + ... = f(y) − z'∇_y g + ...
	sol.Phi = upper - vec.Dot(sol.Z, s.work[0])
	if err := s.upperGradX(ctx, sol.Gradient, x, sol.Y); err != nil {
		return err
	}
	j := make([]float64, s.p)
	if err := s.jvp(ctx, j, x, sol.Y, sol.Z); err != nil {
		return err
	}
	vec.Sub(sol.Gradient, sol.Gradient, j)
	return nil
}

// mean sets dst to the average over all agents of the vector that ask gets from an agent's oracle.
func (s *Exact) mean(ctx context.Context, dst []float64, ask func(o dsbo.ValueOracle, part []float64) error) error {
	return s.group.mean(ctx, dst, func(i int, part []float64) error {
		if err := ask(s.Oracles[i], part); err != nil {
			return fmt.Errorf("agent %d: %w", i, err)
		}
		return nil
	})
}

// lowerGrad sets dst to ∇_y g(x, y), averaged over the agents as are the derivatives below.
func (s *Exact) lowerGrad(ctx context.Context, dst, x, y []float64) error {
	return s.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.LowerGrad(part, x, y, allExamples) })
}

func (s *Exact) upperGradY(ctx context.Context, dst, x, y []float64) error {
	return s.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.UpperGrad(nil, part, x, y, allExamples) })
}

func (s *Exact) upperGradX(ctx context.Context, dst, x, y []float64) error {
	return s.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.UpperGrad(part, nil, x, y, allExamples) })
}

func (s *Exact) hvp(ctx context.Context, dst, x, y, v []float64) error {
	return s.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.HVP(part, x, y, v, allExamples) })
}

func (s *Exact) jvp(ctx context.Context, dst, x, y, v []float64) error {
	return s.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.JVP(part, x, y, v, allExamples) })
}

// values returns the average upper and lower losses.
func (s *Exact) values(ctx context.Context, x, y []float64) (upper, lower float64, err error) {
	var both [2]float64
	err = s.mean(ctx, both[:], func(o dsbo.ValueOracle, part []float64) (err error) {
		part[0], part[1], err = o.Values(x, y, allExamples)
		return err
	})
	return both[0], both[1], err
}
