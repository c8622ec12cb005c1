package assess

import (
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// A block is the predictions for some rows: for each row its weight (of mean 1) times the number of
// rows that it represents, and for each output of a row the predicted mean and the residual.
type block struct{ weight, mean, residual []float64 }

// mostLogarithm bounds the logarithm of a predicted count.
const mostLogarithm = 30

// predict returns the predictions for the n rows from a row on, with columns x, at these weights
// and levels. Class outputs are probabilities. The logarithms of counts are bounded, since a Newton
// step may lead to weights that overflow.
func (e *Effects) predict(s *rows, from, n int, x, weights, level []float64) block {
	m := e.outputs()
	b := block{make([]float64, n), linear(n, len(e.use), m, x, weights, level), make([]float64, n*m)}
	for r := range n {
		b.weight[r] = s.rowsOf(from+r) * (s.weight(from+r) / e.unit)
		mean, residual, y := b.mean[r*m:][:m], b.residual[r*m:][:m], s.Target[from+r]
		switch e.Kind {
		case Class:
			softmax(mean)
			if k := e.output(int(y)); k >= 0 {
				residual[k] = 1
			}
		case Count:
			mean[0] = num.Exp(min(max(mean[0], -mostLogarithm), mostLogarithm))
			residual[0] = y
		default:
			residual[0] = y
		}
		linalg.Sub(residual, residual, mean)
	}
	return b
}

// output returns the output of a class, -1 for the reference class.
func (e *Effects) output(class int) int {
	switch {
	case e.Classes == 0:
		return 0
	case class == e.Class:
		return -1
	case class > e.Class:
		return class - 1
	}
	return class
}

// linear returns for some rows x'w + level of each output.
func linear(n, p, m int, x, weights, level []float64) []float64 {
	out := make([]float64, n*m)
	kernel.GemmNT(n, m, p, out, m, x, p, weights, p, false)
	for r := range n {
		linalg.Axpy(out[r*m:][:m], 1, level)
	}
	return out
}

// softmax turns log-odds against a class into the probabilities of the other ones.
func softmax(z []float64) {
	most := max(0, slices.Max(z))
	sum := num.Exp(-most)
	for k, v := range z {
		z[k] = num.Exp(v - most)
		sum += z[k]
	}
	linalg.Scale(z, 1/sum, z)
}

// curvature returns the m×m second derivatives of row r's loss by its outputs, times its weight: of
// squares 1, of Poisson's likelihood the mean μ, of the softmax diag(p) − pp'.
func (b block) curvature(e *Effects, r int) []float64 {
	m := e.outputs()
	w, mean := make([]float64, m*m), b.mean[r*m:][:m]
	switch e.Kind {
	case Number:
		w[0] = 1
	case Count:
		w[0] = mean[0]
	default:
		for a, p := range mean {
			linalg.Axpy(w[a*m:][:m], -p, mean)
			w[a*m+a] += p
		}
	}
	linalg.Scale(w, b.weight[r], w)
	return w
}

// addPrior adds the term of Jeffreys' prior, the derivative of ½ log det F by a row's outputs, to
// its residual. v is the row's leverage V. For class a the term is ½ p_a [D_a − Σ_b D_b p_b − 2 ((V
// p)_a − p'V p)] with D = diag V, for a count ½ V μ. For a number F does not depend on the weights,
// so there is none.
func (e *Effects) addPrior(residual, mean, v []float64) {
	m := len(mean)
	switch e.Kind {
	case Count:
		residual[0] += float64(0.5 * v[0] * mean[0])
	case Class:
		var diagonal, square float64
		along := make([]float64, m)
		for a, p := range mean {
			along[a] = linalg.Dot(v[a*m:][:m], mean)
			diagonal += float64(v[a*m+a] * p)
			square += float64(p * along[a])
		}
		for a, p := range mean {
			residual[a] += float64(0.5 * p * (v[a*m+a] - diagonal - float64(2*(along[a]-square))))
		}
	}
}

// withoutLevel returns z = e_a ⊗ x_i − F_xs F_ss⁻¹ e_a for each row i and output a: the derivative
// of the output by the weights when the site's levels follow their optimum.
func (e *Effects) withoutLevel(s *rows, n int, x []float64) []float64 {
	m, p := e.outputs(), len(e.use)
	q := m * p
	z := make([]float64, n*m*q)
	for k := range n * m {
		a, to := k%m, z[k*q:][:q]
		linalg.Scale(to, -1, s.cross[a*q:][:q])
		linalg.Axpy(to[a*p:][:p], 1, x[k/m*p:][:p])
	}
	return z
}

// leverages returns V_i = z_i'F⁻¹ z_i + F_ss⁻¹ for each row, m×m: the covariance of the row's
// outputs. The second term is the share of the site's levels, the same for all of its rows.
func (e *Effects) leverages(s *rows, n int, z, inverse []float64) []float64 {
	m := e.outputs()
	q := m * len(e.use)
	along, v, constant := make([]float64, n*m*q), make([]float64, n*m*m), make([]float64, m*m)
	kernel.GemmNN(n*m, q, q, along, q, z, q, inverse, q, false)
	for a := range m {
		constant[a*m+a] = 1
		linalg.Solve(m, s.own, constant[a*m:][:m])
	}
	for r := range n {
		kernel.GemmNT(m, m, q, v[r*m*m:], m, along[r*m*q:], q, z[r*m*q:], q, false)
		linalg.Axpy(v[r*m*m:][:m*m], 1, constant)
	}
	return v
}
