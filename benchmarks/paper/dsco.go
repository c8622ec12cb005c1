package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"dsbo/ad"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/train"
	"dsbo/train/exact"
)

// composition is the problem min_x (1/n) Σ F_i((1/n) Σ G_j(x)) with G = sin(Ax) + b, which is not convex.
type composition struct {
	n, p, q int
	noise   float64 // deviation of the rows that minibatches add to G_i and to ∇F_i; their means are 0
	seed    uint64
}

func (c composition) problem(draws uint64) train.Problem {
	r, noise := rand.New(rand.NewPCG(c.seed, 3)), rand.New(rand.NewPCG(c.seed, 4))
	var p train.Problem
	common := normal(r, c.p*c.q, 0.7)
	for range c.n {
		a := normal(r, c.p*c.q, 0.3)
		linalg.Add(a, a, common)
		d := make([]float64, c.q)
		for j := range d {
			d[j] = 0.5 + r.Float64()
		}
		m := models.SineBowl(c.p, a, normal(r, c.q, 0.5), d, normal(r, c.q, 0.7), normal(r, c.q, 1))
		if c.noise > 0 {
			m = noisy(m)
		}
		addAgent(&p, m, draws, c.noise > 0, func() []float64 { return centred(noise, c.q, c.noise) })
	}
	return p
}

// noisy adds the mean of a batch's rows to the inner map, and to the gradient of the outer one.
func noisy(m models.Compositional) models.Compositional {
	off := func(b models.Batch) *ad.Node { return ad.Scale(1/float64(b.Rows), ad.SumRows(b.X)) }
	n := m
	n.Inner = func(x *ad.Node, b models.Batch) *ad.Node { return ad.Add(m.Inner(x, b), off(b)) }
	n.Outer = func(y *ad.Node, b models.Batch) *ad.Node { return ad.Add(m.Outer(y, b), ad.Dot(y, off(b))) }
	return n
}

// centred draws rows of noise whose mean is 0.
func centred(r *rand.Rand, q int, deviation float64) []float64 {
	rows := normal(r, noiseRows*q, deviation)
	for j := range q {
		sum := 0.0
		for i := range noiseRows {
			sum += rows[i*q+j]
		}
		for i := range noiseRows {
			rows[i*q+j] -= sum / noiseRows
		}
	}
	return rows
}

// An optimum is a local minimum of Φ.
type optimum struct {
	x        []float64
	phi      float64
	gradient float64 // ‖∇Φ(x)‖
}

// solve follows the exact gradient of Φ from 0 in short steps, as the methods do, and ends with Newton steps until the
// gradient is below 1e-12.
func solve(ctx context.Context, p train.Problem) optimum {
	np, _ := p.Oracles[0].Dims()
	e := exact.Solver{Oracles: p.Evaluate, Tol: 1e-15, AdjointTol: 1e-15}
	x := make([]float64, np)
	s := testkit.Get(e.Solve(ctx, x))
	for i := 0; i < 20000 && linalg.Norm(s.Gradient) > 1e-4; i++ {
		linalg.Axpy(x, -0.1, s.Gradient)
		s = testkit.Get(e.Solve(ctx, x))
	}
	for i := 0; i < 20 && linalg.Norm(s.Gradient) > 1e-12; i++ {
		linalg.Sub(x, x, newton(ctx, &e, x, s.Gradient))
		s = testkit.Get(e.Solve(ctx, x))
	}
	g := linalg.Norm(s.Gradient)
	if g > 1e-12 {
		testkit.OK(fmt.Errorf("the gradient of Φ must fall to 1e-12; it stops at %.3g", g))
	}
	return optimum{x, s.Phi, g}
}

// newton returns (∇²Φ)⁻¹ g, with the Hessian from central differences of the gradient.
func newton(ctx context.Context, e *exact.Solver, x, g []float64) []float64 {
	n := len(x)
	h := mat.NewDense(n, n, nil)
	for j := range x {
		const d = 1e-5
		v := x[j]
		x[j] = v + d
		up := testkit.Get(e.Solve(ctx, x))
		x[j] = v - d
		down := testkit.Get(e.Solve(ctx, x))
		x[j] = v
		for i := range n {
			h.Set(i, j, (up.Gradient[i]-down.Gradient[i])/(2*d))
		}
	}
	step := mat.NewVecDense(n, nil)
	testkit.OK(step.SolveVec(h, mat.NewVecDense(n, g)))
	return step.RawVector().Data
}
