package assess

import (
	"math"
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// A point of the fit: weights of the columns in use, output by output. The sites have their levels.
type point struct {
	weights []float64
	inverse []float64 // of the curvature, the sites' levels eliminated
}

// Bounds of the fit: steps, how far a step may move a row's prediction, and how far it moves the
// weights, in their errors, where the fit ends.
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

// solve finds the weights at which the slopes with Jeffreys' prior are 0, by steps of Newton's
// method with the expected curvature. It returns nil where there are more than mostSteps.
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
		if math.Sqrt(own+linalg.Dot(slope, move)) < nearEnd {
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

// advance makes a step, shortened until no row's prediction moves by more than farthestMove, and
// finds the curvature there.
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

// curve returns the expected curvature Σ W_i ⊗ x_i x_i' at the weights reached by a share of a
// move; the sites' levels take the same share of their steps. Each site eliminates its level: F_xx
// − F_xs F_ss⁻¹ F_sx. far is true if a row's prediction has moved by more than farthestMove; ok is
// false if a site's own curvature has no inverse.
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

// curveOf returns the curvature of a site's rows without its levels', and how far its predictions
// have moved at most. It is nil where the levels' curvature has no inverse.
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
	column := make([]float64, m)
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

// packLower adds the lower triangle of a matrix to part, row by row.
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

// slopes returns Σ x_i (r_i + j_i) with the sites' levels eliminated: a Newton step of the weights
// is F⁻¹ times it. r_i is a row's residual, F the curvature, and j_i the derivative of ½ log det F
// (Jeffreys' prior) by the row's prediction. own is Σ_s l_s'F_ss⁻¹ l_s, with l_s the slope by the
// levels of site s, F_ss the curvature by them: how far these are from their solution, squared, in
// their errors.
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
