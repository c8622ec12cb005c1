package assess

import (
	"math"
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// A point is an iterate of the fit: weights of the columns in use, output by output. The levels of
// a site are not here, since each site keeps its own.
type point struct {
	weights []float64
	inverse []float64 // of the curvature, the sites' levels eliminated
}

// Limits of the fit: the most Newton steps; the farthest that a step may move the prediction of a
// row; and the length of a step, in standard errors, at which the fit has converged.
const (
	mostSteps    = 40
	farthestMove = 3
	nearEnd      = 1e-6
)

// begin sets the levels of the sites to where a fit begins.
func (e *Effects) begin() {
	m := e.outputs()
	for _, s := range e.sites {
		if s != nil {
			s.level, s.step = make([]float64, m), make([]float64, m)
			if e.Kind == Count {
				s.level[0] = num.Log(e.start)
			}
		}
	}
}

// solve finds the weights at which the gradient, with Jeffreys' prior, is 0, by Fisher scoring
// (Newton's method with the expected curvature). It returns nil if that takes more than mostSteps
// steps, or a curvature cannot be inverted. The first call of advance moves nothing: it computes
// the curvature at the start.
func (e *Effects) solve() (*point, error) {
	q := e.outputs() * len(e.use)
	at := point{weights: make([]float64, q)}
	e.begin()
	ok, err := e.advance(&at, at.weights)
	for step := 0; step < mostSteps && ok; step++ {
		slope, own, err := e.slopes(at)
		if err != nil {
			return nil, err
		}
		move := make([]float64, q)
		kernel.GemmNN(q, 1, q, move, 1, at.inverse, q, slope, 1, false)
		if math.Sqrt(own+linalg.Dot(slope, move)) < nearEnd { // distance to the solution, in errors
			return &at, nil
		}
		e.moveLevels(move)
		if ok, err = e.advance(&at, move); err != nil {
			return nil, err
		}
	}
	return nil, err
}

// moveLevels sets the steps of the levels that belong to a step of the weights.
func (e *Effects) moveLevels(move []float64) {
	m := e.outputs()
	for _, s := range e.sites {
		if s != nil {
			copy(s.step, s.slope)
			linalg.Solve(m, s.own, s.step)
			kernel.GemmNN(m, 1, len(move), s.step, 1, s.cross, len(move), scaled(-1, move), 1, true)
		}
	}
}

// advance takes a step, halved until no row's prediction moves by more than farthestMove, and sets
// the inverse curvature there. Least squares takes it in full: one step is exact. ok is false if
// the curvature of a site, or of all, cannot be inverted.
func (e *Effects) advance(at *point, move []float64) (ok bool, err error) {
	for share := 1.0; ; {
		weights := slices.Clone(at.weights)
		linalg.Axpy(weights, share, move)
		full, far, ok, err := e.curve("second derivatives, no penalties", weights, move, share)
		if err != nil || !ok || !far || e.Kind == Number {
			for _, s := range e.sites {
				if s != nil {
					linalg.Axpy(s.level, share, s.step)
				}
			}
			if at.weights = weights; ok {
				at.inverse = inverted(len(weights), full)
			}
			return ok && at.inverse != nil, err
		}
		share /= 2
	}
}

// scaled returns a·v.
func scaled(a float64, v []float64) []float64 {
	w := make([]float64, len(v))
	linalg.Scale(w, a, v)
	return w
}

// curve returns the expected curvature Σ W_i ⊗ x_i x_i', summed over all sites, at weights that
// were reached by a share of move; the sites' levels take the same share of their steps. Each site
// eliminates its levels s from its term: F_xx − F_xs F_ss⁻¹ F_sx. far reports whether some row's
// prediction has moved by more than farthestMove; ok is false if F_ss of a site is singular. Both
// travel as two more numbers of the sum: the count of sites with that problem.
func (e *Effects) curve(name string, weights, move []float64, share float64) (full []float64, far, ok bool, err error) {
	q := len(weights)
	sum := make([]float64, triangle(q)+2)
	err = e.sum(name, sum, func(s *rows, part []float64) {
		full, largest := e.curveOf(s, weights, move, share)
		if full == nil {
			part[triangle(q)] = 1
			return
		}
		if largest > farthestMove {
			part[triangle(q)+1] = 1
		}
		packLower(part, q, full)
	})
	return unpackLower(sum, q), sum[triangle(q)+1] > 0, sum[triangle(q)] == 0, err
}

// curveOf returns a site's term of the curvature, with its levels eliminated, and the largest
// change of its predictions. It is nil if F_ss is singular. The first pass over the rows sums F_ss
// and F_xs (s.own, s.cross); the second uses them, in the form Σ z_i W_i z_i', which cannot lose
// its definiteness by cancellation.
func (e *Effects) curveOf(s *rows, weights, move []float64, share float64) (full []float64, largest float64) {
	m, p, q := e.outputs(), len(e.use), len(weights)
	level, moved, along := slices.Clone(s.level), scaled(share, s.step), scaled(share, move)
	linalg.Axpy(level, 1, moved)
	full, s.own, s.cross = make([]float64, q*q), make([]float64, m*m), make([]float64, m*q)
	e.each(s, func(from, n int, x []float64) {
		at := e.predict(s, from, n, x, weights, level)
		for _, v := range linear(n, p, m, x, along, moved) {
			largest = max(largest, math.Abs(v))
		}
		for r := range n {
			for k, c := range at.curvature(e, r) {
				s.own[k] += c
				linalg.Axpy(s.cross[k/m*q+k%m*p:][:p], c, x[r*p:][:p])
			}
		}
	})
	if !linalg.Cholesky(m, s.own) {
		return nil, 0
	}
	column := make([]float64, m) // s.own is F_ss's factor now; s.cross becomes (F_xs F_ss⁻¹)'
	for j := range q {
		for a := range m {
			column[a] = s.cross[a*q+j]
		}
		linalg.Solve(m, s.own, column)
		for a, v := range column {
			s.cross[a*q+j] = v
		}
	}
	e.each(s, func(from, n int, x []float64) {
		at := e.predict(s, from, n, x, weights, level)
		z := e.withoutLevel(s, n, x)
		weighted := make([]float64, n*m*q)
		for r := range n {
			kernel.GemmNN(m, q, m, weighted[r*m*q:], q, at.curvature(e, r), m, z[r*m*q:], q, false)
		}
		kernel.GemmTN(q, q, n*m, full, q, z, q, weighted, q, true)
	})
	return full, largest
}

// triangle is the number of numbers of the lower triangle of a q×q matrix.
func triangle(q int) int { return q * (q + 1) / 2 }

// packLower writes the lower triangle of a matrix to part, row by row.
func packLower(part []float64, q int, full []float64) {
	for j := range q {
		copy(part[triangle(j):], full[j*q:][:j+1])
	}
}

// unpackLower returns the symmetric matrix of a lower triangle.
func unpackLower(part []float64, q int) []float64 {
	full := make([]float64, q*q)
	for j := range q {
		for k, v := range part[triangle(j):][:j+1] {
			full[j*q+k], full[k*q+j] = v, v
		}
	}
	return full
}

// slopes returns the gradient Σ z_i (r_i + j_i) by the weights, with the sites' levels eliminated;
// a Newton step is F⁻¹ times it. r_i is a row's residual, and j_i the derivative of ½ log det F
// (Jeffreys' prior) by its prediction. own is Σ_s l_s'F_ss⁻¹ l_s, where l_s is the gradient by the
// levels of site s: the squared distance of the levels from their solution, in standard errors.
func (e *Effects) slopes(at point) (slope []float64, own float64, err error) {
	m, q := e.outputs(), len(at.weights)
	sum := make([]float64, q+1)
	err = e.sum("slopes, no penalties", sum, func(s *rows, part []float64) {
		s.slope = make([]float64, m)
		e.each(s, func(from, n int, x []float64) {
			rows, z := e.predict(s, from, n, x, at.weights, s.level), e.withoutLevel(s, n, x)
			v := e.leverages(s, n, z, at.inverse)
			for r := range n {
				residual := rows.residual[r*m:][:m]
				e.addPrior(residual, rows.mean[r*m:][:m], v[r*m*m:][:m*m])
				linalg.Scale(residual, rows.weight[r], residual)
				linalg.Axpy(s.slope, 1, residual)
			}
			kernel.GemmTN(q, 1, n*m, part, 1, z, q, rows.residual, 1, true)
		})
		back := slices.Clone(s.slope)
		linalg.Solve(m, s.own, back)
		part[q] = linalg.Dot(back, s.slope)
	})
	return sum[:q], sum[q], err
}
