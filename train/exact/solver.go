// Package exact finds the exact values that methods approximate, on all examples of all agents:
// y*(x), Φ(x) and ∇Φ(x) if the lower problem is strongly convex, else a solution that descent
// reaches.
//
// A [Solver] takes Newton's steps by conjugate gradients on products with the averaged Hessian. The
// agents compute it together: an agent sends its part of exact averages of losses, gradients,
// products and diagonals of Hessians, and nothing else.
//
// [Solver.Solve] finds a start, then y* (lower.go) and z (adjoint.go), both by the conjugate
// gradients of cg.go, and again where y* has turned out too far off for Φ. [Solver.Model] descends
// (nonconvex.go). The averages are in averages.go, with what narrow wires lose.
package exact

import (
	"cmp"
	"context"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// A Solver finds y*(x) of the averaged lower problem, Φ(x) and ∇Φ(x), on all the examples of all
// agents. y*(x) is also the model to take home at hyperparameters x: during a run y only follows x,
// and is never quite there.
//
// The lower problem is solved by Newton's method, each step by preconditioned conjugate gradients
// on products with the averaged Hessian, and the gradient by the formula
//
//	∇Φ(x) = ∇_x f(x, y*) − ∇²_xy g(x, y*) z,   ∇²_yy g(x, y*) z = ∇_y f(x, y*),
//
// again by conjugate gradients; no matrix is formed. The preconditioner is the memory of package
// linalg: products of earlier solves, and the diagonal of the Hessian where the oracles give it.
// Each solve starts where the last one ended, so that a sequence of nearby x costs little. It
// belongs to one goroutine at a time and asks the oracles in parallel; results depend neither on
// the number of processors nor on where the agents are.
//
// On a wire other than float64, products travel in int8, residuals and the change of a gradient
// from one step to the next in bf16, and the first gradient of a solve in float32, or bf16 on
// narrower wires: what products lose the next residual corrects, and what gradients and residuals
// lose is fed back. Products that lead away are not rounded so far any more. Where Tol or
// AdjointTol bound residuals, these and gradients travel in float32.
type Solver struct {
	Oracles []dsbo.ValueOracle // one for each agent; nil for agents of other processes
	// Rough answers for products and diagonals, which the next residual corrects, where that is
	// cheaper than Oracles, such as in float32; nil: Oracles do.
	Rough []dsbo.Oracle
	// Agents are the agents of the oracles; nil: all are in this process. All processes solve at
	// the same x.
	Agents *network.Group
	Start  []float64            // where the first solve begins, length q; nil: 0
	Matrix dsbo.CurvatureMatrix // of the products
	// Move moves the y and z near which a solve starts, in case sums other than the solver's were
	// taken there; nil: they stay.
	Move func(v []float64)
	// Blur changes an agent's diagonal, without penalties, before it is summed; nil: it stays.
	Blur func(diagonal []float64)

	// Tol, where it is not 0, bounds the gradient of the averaged lower loss at y, relative to the
	// gradient at Start at the first x that is solved for; what is left of the error of Φ is of
	// second order in it, as the first order is known and taken off. 0: the solve ends by PhiTol.
	Tol float64
	// PhiTol, where Tol is 0, is about the share of Φ that Solution.PhiError may be; 0: 1e-4. On
	// MNIST with 250 examples an agent and products in int8, against solves to 1e-8, Φ was then off
	// by 5e-7 to 2e-5 of it, and the gradient by 0.4 % to 14 %, most near the end of a run, where
	// it is small. At 2e-4 Φ was off by up to 5e-5, at 1e-2 by up to 1e-3.
	PhiTol float64
	// GradientTol, where Tol is 0, is the share of D², as in Solution.PhiError, that may be left of
	// what it is at z = 0, for the sake of the gradient, which is of first order in D; 0: 2 PhiTol.
	GradientTol float64
	// AdjointTol bounds the residual of z, relative to the right-hand side; 0: 1e-4, or without Tol
	// what PhiError needs.
	AdjointTol float64
	// MaxProducts bounds the Products of one solve; 0: 2000. A solve that reaches the bound ends
	// unconverged.
	MaxProducts int
	// MostPairs is the most products that the memory keeps; 0: 120, or fewer if they would take
	// more than some 100 MB. A solution takes about as many products with 30, and n pairs take n²q
	// multiplications before each step.
	MostPairs int

	products *linalg.Matrix // the matrix of products
	p, q     int            // lengths of x and y
	y, z     []float64      // solutions of the last solve, at which the next one may start
	scale    []float64      // the gradient that Tol is relative to, one number; 0 before the first solve
	memory   *linalg.Memory // of pairs, from solution to solution
	g        []float64      // ∇_y g at the solution's y
	// scratch of length q: the unknown and the residual of a system, another point, a difference
	step, rest, trial, change []float64
	cgStart, cgRest           []float64 // where the last conjugate gradients began, and the residual there, length q
	e, diag                   []float64 // the penalty's part of the Hessian's diagonal, and the rest of it
}

// allExamples is the draw of all examples of an agent.
var allExamples = dsbo.Sample{Set: dsbo.Whole}

// A Solution is the exact solution of the lower problem at one x, with the values that follow from
// it.
type Solution struct {
	Phi      float64   // Φ(x)
	Gradient []float64 // ∇Φ(x), length p
	Y        []float64 // y*(x), length q
	Z        []float64 // the solution of the adjoint system, length q
	// Residual is the norm of the averaged lower gradient at Y, relative as in Solver.Tol, and
	// AdjointResidual the residual of the adjoint system, relative to its right-hand side.
	Residual, AdjointResidual float64
	// PhiError estimates a bound of the error of Φ: with the distances d² = g'H⁻¹g of Y from y* and
	// D² = r'H⁻¹r of Z from its solution, as conjugate gradients see them shrink, it is d² f/g + d
	// D, and twice what f(y) − Z'∇_y g(x, y) changes by over the distance d. It is short where
	// conjugate gradients see little of flat directions: of 558 solves for logistic regressions
	// with penalties of e⁻¹⁰ to e⁶ Φ was off by more in some 3 %. NaN where Tol and AdjointTol
	// bound the residuals instead.
	PhiError float64
	// Converged is true if both solves reached their tolerances and met no direction of negative
	// curvature. It is false if the lower problem is not strongly convex, or the products did not
	// suffice.
	Converged bool
	Products  int     // Hessian-vector products, each over all agents; of Descend: gradients
	LowerLoss float64 // of Model and Descend: the averaged lower loss at Y
}

// Solve returns the solution at x (length p), which it does not change. The slices of the result
// are the caller's. It starts where the last solve ended, also after an error.
func (s *Solver) Solve(ctx context.Context, x []float64) (Solution, error) {
	return s.SolveNear(ctx, x, nil, nil)
}

// SolveNear is Solve with a second start, y and z (both of length q, not changed; nil: unknown),
// which is taken if its lower loss is below the last solution's. A solution that is not finite is
// not kept as the next start.
func (s *Solver) SolveNear(ctx context.Context, x, y, z []float64) (Solution, error) {
	w, err := s.newSolve(ctx, x, y, z)
	if err != nil {
		return Solution{}, err
	}
	y, z = s.moved(y), s.moved(z)
	start := func() error { return w.chooseStart([2][]float64{s.y, s.z}, [2][]float64{y, z}) }
	if err := w.runParts(start, w.findSystem, w.solveBoth, w.findGradient); err != nil {
		return Solution{}, err
	}
	if linalg.AllFinite(w.Y) && linalg.AllFinite(w.Z) {
		copy(s.y, w.Y)
		copy(s.z, w.Z)
	}
	return w.Solution, nil
}

// moved returns a vector, or where it is to be moved a copy that is.
func (s *Solver) moved(v []float64) []float64 {
	if v == nil || s.Move == nil {
		return v
	}
	v = slices.Clone(v)
	s.Move(v)
	return v
}

// check prepares the first solve, and checks where a solve is to start.
func (s *Solver) check(x, y, z []float64) error {
	if err := s.Prepare(); err != nil {
		return err
	}
	if len(x) != s.p || y != nil && len(y) != s.q || z != nil && len(z) != s.q {
		return dsbo.ShapeErrorf("x must have p = %d numbers and y and z q = %d; x has %d", s.p, s.q, len(x))
	}
	if !linalg.AllFinite(x) {
		return dsbo.ConfigErrorf("x must be finite")
	}
	return nil
}

// State returns where the next solve starts, as views, for a checkpoint. The solver must
// be prepared.
func (s *Solver) State() []dsbo.Named {
	return []dsbo.Named{
		{Name: "exact_y", Value: s.y}, {Name: "exact_z", Value: s.z},
		{Name: "exact_scale", Value: s.scale}, {Name: "exact_diagonal", Value: s.diag},
	}
}

// Pairs returns the pairs of earlier solves, which with State are all that the next one depends on:
// views too, and most of the memory. [Solver.AdoptPairs] replaces them.
func (s *Solver) Pairs() []dsbo.Named {
	v, dv, gram, counts := s.memory.State()
	return []dsbo.Named{
		{Name: "exact_v", Value: v}, {Name: "exact_dv", Value: dv}, {Name: "exact_gram", Value: gram},
		{Name: "exact_pairs", Value: counts},
	}
}

// AdoptPairs gives the solver the pairs of a method's solves, which must be the same bits on all
// agents and relative: they are of a lower problem nearby. The solver must be prepared.
func (s *Solver) AdoptPairs(pairs *linalg.Memory) { s.memory.CopyFrom(pairs) }

// Prepare checks the oracles and allocates the vectors, as the first solve does where it has not
// been called. The error matches [dsbo.ErrShape].
func (s *Solver) Prepare() error {
	if s.y != nil {
		return nil
	}
	if s.Agents == nil {
		s.Agents = network.NewGroup(network.GroupConfig{N: len(s.Oracles)})
	}
	var err error
	if s.p, s.q, err = network.Dims(s.Agents, s.Oracles); err != nil {
		return err
	}
	if s.Start != nil && len(s.Start) != s.q {
		return dsbo.ShapeErrorf("start of y must have q = %d numbers; it has %d", s.q, len(s.Start))
	}
	for _, v := range []*[]float64{&s.y, &s.z, &s.g, &s.e, &s.diag, &s.step, &s.rest, &s.trial, &s.change,
		&s.cgStart, &s.cgRest} {
		*v = make([]float64, s.q)
	}
	s.scale, s.products = make([]float64, 1), linalg.NewMatrix(s.Matrix)
	copy(s.y, s.Start)
	// q pairs determine the matrix; 4,000,000/q pairs, of three vectors each, take 96 MB.
	most := min(cmp.Or(s.MostPairs, linalg.MostPairs), max(4, s.q), max(4, 4_000_000/s.q))
	s.memory = linalg.NewMemory(s.q, most, 0.02, 1e-3)
	s.memory.Relative = true
	return nil
}
