package algotest

import (
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

// mul sets dst = M v for a row-major M with rows of v's length.
func mul(dst, m, v []float64) {
	n := len(v)
	for i := range dst {
		dst[i] = vec.Dot(m[i*n:(i+1)*n], v)
	}
}

// mulT sets dst = M' v for a row-major M with rows of dst's length.
func mulT(dst, m, v []float64) {
	n := len(dst)
	for j := range dst {
		s := 0.0
		for i, x := range v {
			s += float64(m[i*n+j] * x)
		}
		dst[j] = s
	}
}

func (o *Quadratic) check(x, y []float64) error {
	if len(x) != o.P || len(y) != o.Q {
		return dsbo.Errorf(dsbo.ErrShape, "x and y must have %d and %d numbers; they have %d and %d", o.P, o.Q, len(x), len(y))
	}
	return nil
}

// UpperGrad writes Ex + e and D(y−t).
func (o *Quadratic) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	if err := o.check(x, y); err != nil {
		return err
	}
	if dx != nil {
		mul(dx, o.E, x)
		for i := range dx {
			dx[i] += o.V[i] + o.noise(s, 0, i)
		}
	}
	for i := range dy {
		dy[i] = o.noise(s, 1, i)
		for j := range y {
			dy[i] += float64(o.D[i*o.Q+j] * (y[j] - o.T[j]))
		}
	}
	return nil
}

// LowerGrad writes Ay − Bx − c.
func (o *Quadratic) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	if err := o.check(x, y); err != nil {
		return err
	}
	mul(dst, o.A, y)
	for i := range dst {
		for j := range x {
			dst[i] -= float64(o.B[i*o.P+j] * x[j])
		}
		dst[i] += o.noise(s, 2, i) - o.C[i]
	}
	return nil
}

// HVP writes (A + noise) v, where the noise is diagonal.
func (o *Quadratic) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	if err := o.check(x, y); err != nil {
		return err
	}
	mul(dst, o.A, v)
	for i := range dst {
		dst[i] += float64(o.noise(s, 3, i) * v[i])
	}
	return nil
}

// JVP writes −B'v, and in entry i noise times the sum of v.
func (o *Quadratic) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	if err := o.check(x, y); err != nil {
		return err
	}
	mulT(dst, o.B, v)
	sum := 0.0
	for _, e := range v {
		sum += e
	}
	for i := range dst {
		dst[i] = float64(o.noise(s, 4, i)*sum) - dst[i]
	}
	return nil
}

// Hessian writes what HVP multiplies by.
func (o *Quadratic) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	copy(dst, o.A)
	for i := range o.Q {
		dst[i*o.Q+i] += o.noise(s, 3, i)
	}
	return o.check(x, y)
}

// Jacobian writes what JVP multiplies by.
func (o *Quadratic) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	for i := range o.P {
		for j := range o.Q {
			dst[i*o.Q+j] = o.noise(s, 4, i) - o.B[j*o.P+i]
		}
	}
	return o.check(x, y)
}

// Values returns f and g, without noise.
func (o *Quadratic) Values(x, y []float64, _ dsbo.Sample) (upper, lower float64, err error) {
	if err := o.check(x, y); err != nil {
		return 0, 0, err
	}
	w, b := make([]float64, o.Q), make([]float64, o.Q)
	vec.Sub(w, y, o.T)
	mul(b, o.B, x)
	vec.Add(b, b, o.C)
	return form(o.D, w)/2 + form(o.E, x)/2 + vec.Dot(o.V, x), form(o.A, y)/2 - vec.Dot(y, b), nil
}

// form is v'Mv.
func form(m, v []float64) float64 {
	mv := make([]float64, len(v))
	mul(mv, m, v)
	return vec.Dot(v, mv)
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
	g, m, f := r.vec(n*n), make([]float64, n*n), 0.0
	for _, v := range g {
		f += v * v
	}
	for i := range n {
		for j := range n {
			for k := range n {
				m[i*n+j] += g[i*n+k] * g[j*n+k] * scale / f
			}
		}
		m[i*n+i] += low
	}
	return m
}

// mean averages a matrix over the agents.
func mean(qs []*Quadratic, part func(*Quadratic) []float64) []float64 {
	m := make([]float64, len(part(qs[0])))
	for _, o := range qs {
		for i, v := range part(o) {
			m[i] += v / float64(len(qs))
		}
	}
	return m
}

// LowerSolution returns y*(x), the solution of the averaged lower problem.
func LowerSolution(qs []*Quadratic, x []float64) []float64 {
	y := make([]float64, qs[0].Q)
	mul(y, mean(qs, func(o *Quadratic) []float64 { return o.B }), x)
	for i, c := range mean(qs, func(o *Quadratic) []float64 { return o.C }) {
		y[i] += c
	}
	return solve(mean(qs, func(o *Quadratic) []float64 { return o.A }), y)
}

// InverseProduct returns z* = (Σ H_i)⁻¹ Σ b_i at y, with b_i = ∇_y f_i.
func InverseProduct(qs []*Quadratic, x, y []float64) []float64 {
	b := mean(qs, func(o *Quadratic) []float64 {
		dy := make([]float64, o.Q)
		o.UpperGrad(nil, dy, x, y, dsbo.Sample{Set: dsbo.Whole})
		return dy
	})
	return solve(mean(qs, func(o *Quadratic) []float64 { return o.A }), b)
}

// Gradient returns the exact hypergradient ∇Φ(x).
func Gradient(qs []*Quadratic, x []float64) []float64 {
	y := LowerSolution(qs, x)
	z := InverseProduct(qs, x, y)
	return mean(qs, func(o *Quadratic) []float64 {
		u, j := make([]float64, o.P), make([]float64, o.P)
		o.UpperGrad(u, nil, x, y, dsbo.Sample{Set: dsbo.Whole})
		o.JVP(j, x, y, z, dsbo.Sample{Set: dsbo.Whole})
		for i := range u {
			u[i] -= j[i]
		}
		return u
	})
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
