package algotest

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/internal/vec"
)

// A Quadratic is an oracle in closed form:
//
//	g(x, y) = y'Ay/2 − y'(Bx + c),   f(x, y) = (y−t)'D(y−t)/2 + x'Ex/2 + e'x
//
// Matrices are row-major: A and D are Q×Q symmetric (A positive definite), B is Q×P, E is P×P
// symmetric. It gives values and dense matrices too. With Noise ≠ 0 each answer carries an error of
// that size, a pure function of the agent, the sample and the entry: one draw gives one answer, two
// draws differ. Draws of [dsbo.Whole] carry none.
type Quadratic struct {
	P, Q                int
	A, B, C, D, T, E, V []float64 // V is the e of the formula
	Noise               float64
	Agent               int
}

// Dims returns P and Q.
func (o *Quadratic) Dims() (p, q int) { return o.P, o.Q }

// noise is an error in [−Noise, Noise] that belongs to the sample, the quantity and the entry.
func (o *Quadratic) noise(s dsbo.Sample, quantity, entry int) float64 {
	if o.Noise == 0 || s.Set == dsbo.Whole {
		return 0
	}
	h := uint64(14695981039346656037)
	for _, v := range [...]int{o.Agent, int(s.Set), s.K, s.T, quantity, entry} {
		h = (h ^ uint64(v+1)) * 1099511628211
		h ^= h >> 29
	}
	return o.Noise * (float64(h>>11)/float64(1<<52) - 1)
}

// answer returns an error for x and y of other lengths, and else writes entry i to dst[i].
func (o *Quadratic) answer(dst, x, y []float64, entry func(i int) float64) error {
	if len(x) != o.P || len(y) != o.Q {
		return dsbo.Errorf(dsbo.ErrShape, "x and y must have %d and %d numbers; they have %d and %d", o.P, o.Q, len(x), len(y))
	}
	for i := range dst {
		dst[i] = entry(i)
	}
	return nil
}

// rowDot is the product of row i of a row-major M, whose rows have v's length, with v.
func rowDot(m []float64, i int, v []float64) float64 { return vec.Dot(m[i*len(v):(i+1)*len(v)], v) }

// UpperGrad writes Ex + e and D(y−t).
func (o *Quadratic) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	err := o.answer(dx, x, y, func(i int) float64 { return rowDot(o.E, i, x) + o.V[i] + o.noise(s, 0, i) })
	if err != nil {
		return err
	}
	return o.answer(dy, x, y, func(i int) float64 {
		sum := o.noise(s, 1, i)
		for j := range y {
			sum += float64(o.D[i*o.Q+j] * (y[j] - o.T[j]))
		}
		return sum
	})
}

// LowerGrad writes Ay − Bx − c.
func (o *Quadratic) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	return o.answer(dst, x, y, func(i int) float64 { return rowDot(o.A, i, y) - rowDot(o.B, i, x) - o.C[i] + o.noise(s, 2, i) })
}

// HVP writes (A + noise) v, where the noise is diagonal.
func (o *Quadratic) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return o.answer(dst, x, y, func(i int) float64 { return rowDot(o.A, i, v) + float64(o.noise(s, 3, i)*v[i]) })
}

// JVP writes (noise − B')v, where the noise is the same in a row.
func (o *Quadratic) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return o.answer(dst, x, y, func(i int) (sum float64) {
		n := o.noise(s, 4, i)
		for j := range v {
			sum += float64((n - o.B[j*o.P+i]) * v[j])
		}
		return sum
	})
}

// Hessian writes what HVP multiplies by.
func (o *Quadratic) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	return o.answer(dst, x, y, func(k int) float64 {
		if i := k / o.Q; i == k%o.Q {
			return o.A[k] + o.noise(s, 3, i)
		}
		return o.A[k]
	})
}

// Jacobian writes what JVP multiplies by.
func (o *Quadratic) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	return o.answer(dst, x, y, func(k int) float64 { i, j := k/o.Q, k%o.Q; return o.noise(s, 4, i) - o.B[j*o.P+i] })
}

var all = dsbo.Sample{Set: dsbo.Whole}

// Values returns f and g, without noise: as they are quadratic, they follow from gradients.
func (o *Quadratic) Values(x, y []float64, _ dsbo.Sample) (upper, lower float64, err error) {
	fx, fy, g, g0 := make([]float64, o.P), make([]float64, o.Q), make([]float64, o.Q), make([]float64, o.Q)
	err = errors.Join(o.UpperGrad(fx, fy, x, y, all), o.LowerGrad(g, x, y, all), o.LowerGrad(g0, x, make([]float64, o.Q), all))
	if err != nil {
		return 0, 0, err
	}
	for i, v := range x {
		upper += v * (fx[i] + o.V[i]) / 2
	}
	for i, v := range y {
		upper += (v - o.T[i]) * fy[i] / 2
		lower += v * (g[i] + g0[i]) / 2
	}
	return upper, lower, nil
}

// NewQuadratics makes the oracles of n agents whose data differ. Eigenvalues of A lie in [1, 1+Q/2],
// those of D and E in [0, 2]. The same arguments give the same problem.
func NewQuadratics(n, p, q int, seed uint64) []*Quadratic {
	r := source(seed*2654435761 + 12345)
	out := make([]*Quadratic, n)
	for i := range out {
		out[i] = &Quadratic{
			P: p, Q: q, Agent: i,
			A: r.spd(q, 1, 0.5*float64(q)), B: r.vec(q * p), C: r.vec(q), D: r.spd(q, 0, 2), T: r.vec(q), E: r.spd(p, 0, 2), V: r.vec(p),
		}
	}
	return out
}

// source is a small generator (an xorshift of Marsaglia's), so that problems do not depend on a library's.
type source uint64

// next is uniform in [−1, 1).
func (r *source) next() float64 {
	v := uint64(*r)
	v ^= v << 13
	v ^= v >> 7
	v ^= v << 17
	*r = source(v)
	return float64(v>>11)/float64(1<<52) - 1
}

func (r *source) vec(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = r.next()
	}
	return v
}

// spd is low·I + scale·GG'/‖G‖²_F, whose eigenvalues lie in [low, low+scale].
func (r *source) spd(n int, low, scale float64) []float64 {
	var m mat.Dense
	g := mat.NewDense(n, n, r.vec(n*n))
	m.Mul(g, g.T())
	m.Scale(scale/m.Trace(), &m) // the trace is ‖G‖²_F
	for i := range n {
		m.Set(i, i, low+m.At(i, i))
	}
	return m.RawMatrix().Data
}

// mean averages over the agents what part writes for each.
func mean(qs []*Quadratic, n int, part func(o *Quadratic, dst []float64)) []float64 {
	sum, one := make([]float64, n), make([]float64, n)
	for _, o := range qs {
		part(o, one)
		vec.Axpy(sum, 1/float64(len(qs)), one)
	}
	return sum
}

// solveHessian returns H⁻¹ v for the averaged Hessian of g.
func solveHessian(qs []*Quadratic, v []float64) []float64 {
	return solve(mean(qs, len(v)*len(v), func(o *Quadratic, dst []float64) { copy(dst, o.A) }), v)
}

// LowerSolution returns y*(x), the solution of the averaged lower problem.
func LowerSolution(qs []*Quadratic, x []float64) []float64 {
	zero := make([]float64, qs[0].Q)
	g := mean(qs, len(zero), func(o *Quadratic, dst []float64) { o.LowerGrad(dst, x, zero, all) })
	vec.Scale(g, -1, g)
	return solveHessian(qs, g)
}

// InverseProduct returns z* = (Σ H_i)⁻¹ Σ b_i at y, with b_i = ∇_y f_i.
func InverseProduct(qs []*Quadratic, x, y []float64) []float64 {
	return solveHessian(qs, mean(qs, len(y), func(o *Quadratic, dst []float64) { o.UpperGrad(nil, dst, x, y, all) }))
}

// Gradient returns the exact hypergradient ∇Φ(x).
func Gradient(qs []*Quadratic, x []float64) []float64 {
	y := LowerSolution(qs, x)
	z := InverseProduct(qs, x, y)
	u := mean(qs, len(x), func(o *Quadratic, dst []float64) { o.UpperGrad(dst, nil, x, y, all) })
	vec.Axpy(u, -1, mean(qs, len(x), func(o *Quadratic, dst []float64) { o.JVP(dst, x, y, z, all) }))
	return u
}

// Minimum returns x* with ∇Φ(x*) = 0: Φ is quadratic, so its Hessian is read off p+1 gradients.
func Minimum(qs []*Quadratic) []float64 {
	p := qs[0].P
	g, h, x := Gradient(qs, make([]float64, p)), make([]float64, p*p), make([]float64, p)
	for j := range p {
		x[j] = 1
		for i, v := range Gradient(qs, x) {
			h[i*p+j] = v - g[i]
		}
		x[j] = 0
	}
	for i := range g {
		g[i] = -g[i]
	}
	return solve(h, g)
}

// solve returns M⁻¹ v for a symmetric positive definite M.
func solve(m, v []float64) []float64 {
	var c mat.Cholesky
	var x mat.VecDense
	n := len(v)
	if !c.Factorize(mat.NewSymDense(n, m)) || c.SolveVecTo(&x, mat.NewVecDense(n, v)) != nil {
		panic("a matrix that is not positive definite")
	}
	return x.RawVector().Data
}
