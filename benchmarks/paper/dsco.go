package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/vec"
	"dsbo/models"
	"dsbo/train"
)

// composition is the problem min_x (1/n) Σ F_i((1/n) Σ G_j(x)) with G = sin(Ax) + b, which is not convex.
type composition struct {
	n, p, q int
	noise   float64 // deviation of the rows that minibatches add to G_i and to ∇F_i; their means are 0
	seed    uint64
}

func (c composition) problem(draws uint64) (train.Problem, error) {
	r, noise := rand.New(rand.NewPCG(c.seed, 3)), rand.New(rand.NewPCG(c.seed, 4))
	var p train.Problem
	common := normal(r, c.p*c.q, 0.7)
	for i := range c.n {
		a := normal(r, c.p*c.q, 0.3)
		vec.Add(a, a, common)
		d := make([]float64, c.q)
		for j := range d {
			d[j] = 0.5 + r.Float64()
		}
		m := models.SineBowl(c.p, a, normal(r, c.q, 0.5), d, normal(r, c.q, 0.7), normal(r, c.q, 1))
		cfg, s := models.Config{Agent: i, Seed: draws}, data.Shard{}
		if c.noise > 0 {
			cfg.Batch, m = 1, noisy(m)
			for _, e := range []*data.Examples{&s.Train, &s.Val} {
				var err error
				if *e, err = centred(noise, c.q, c.noise); err != nil {
					return p, err
				}
			}
		}
		o, err := models.NewOracle(m, s, cfg)
		if err != nil {
			return p, err
		}
		p.Oracles, p.Evaluate = append(p.Oracles, o), append(p.Evaluate, o)
	}
	return p, nil
}

// noisy adds the mean of a batch's rows to the inner map, and to the gradient of the outer one.
func noisy(m models.Compositional) models.Compositional {
	off := func(b models.Batch) *ad.Node { return ad.Scale(1/float64(b.Rows), ad.SumRows(b.X)) }
	n := m
	n.Inner = func(x *ad.Node, b models.Batch) *ad.Node { return ad.Add(m.Inner(x, b), off(b)) }
	n.Outer = func(y *ad.Node, b models.Batch) *ad.Node { return ad.Add(m.Outer(y, b), ad.Dot(y, off(b))) }
	return n
}

// centred makes rows whose mean is 0.
func centred(r *rand.Rand, q int, deviation float64) (e data.Examples, err error) {
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
	if e.X, err = ad.FloatTable(noiseRows, q, rows); err != nil {
		return e, err
	}
	e.Target, err = ad.FloatTable(noiseRows, 1, make([]float64, noiseRows))
	return e, err
}

// An optimum is a local minimum of Φ.
type optimum struct {
	x        []float64
	phi      float64
	gradient float64 // ‖∇Φ(x)‖
}

// solve follows the exact gradient of Φ from 0 in short steps, as the methods do, and ends with Newton steps until the
// gradient is below 1e-12.
func solve(ctx context.Context, p train.Problem) (optimum, error) {
	np, _, err := p.Dims()
	if err != nil {
		return optimum{}, err
	}
	e := train.Exact{Oracles: p.Evaluate, Tol: 1e-15, AdjointTol: 1e-15}
	x := make([]float64, np)
	s, err := e.Solve(ctx, x)
	for i := 0; err == nil && i < 20000 && vec.Norm(s.Gradient) > 1e-4; i++ {
		vec.Axpy(x, -0.1, s.Gradient)
		s, err = e.Solve(ctx, x)
	}
	for i := 0; err == nil && i < 20 && vec.Norm(s.Gradient) > 1e-12; i++ {
		var step []float64
		if step, err = newton(ctx, &e, x, s.Gradient); err == nil {
			vec.Sub(x, x, step)
			s, err = e.Solve(ctx, x)
		}
	}
	if err != nil {
		return optimum{}, err
	}
	g := vec.Norm(s.Gradient)
	if g > 1e-12 {
		return optimum{}, fmt.Errorf("the gradient of Φ must fall to 1e-12; it stops at %.3g", g)
	}
	return optimum{x, s.Phi, g}, nil
}

// newton returns (∇²Φ)⁻¹ g, with the Hessian from central differences of the gradient.
func newton(ctx context.Context, e *train.Exact, x, g []float64) ([]float64, error) {
	n := len(x)
	h := mat.NewDense(n, n, nil)
	for j := range x {
		const d = 1e-5
		v := x[j]
		x[j] = v + d
		up, err := e.Solve(ctx, x)
		if err != nil {
			return nil, err
		}
		x[j] = v - d
		down, err := e.Solve(ctx, x)
		if err != nil {
			return nil, err
		}
		x[j] = v
		for i := range n {
			h.Set(i, j, (up.Gradient[i]-down.Gradient[i])/(2*d))
		}
	}
	step := mat.NewVecDense(n, nil)
	if err := step.SolveVec(h, mat.NewVecDense(n, g)); err != nil {
		return nil, fmt.Errorf("the Hessian of Φ: %w", err)
	}
	return step.RawVector().Data, nil
}
