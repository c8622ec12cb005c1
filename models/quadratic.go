package models

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
)

// Quadratic is a problem with a closed-form answer, see [SolveQuadratics]. Agent i has its own
//
//	f_i(x, y) = ½ (y−t)'D(y−t) + ½ x'Ex + e'x      g_i(x, y) = ½ y'Ay − y'(Bx + c)
//
// with A positive definite, D and E positive semidefinite, all three symmetric. Matrices are
// row-major.
//
// It needs no examples. An agent's examples are noise: the mean of the batch's rows (length q) is
// added to c in g_i and to t in f_i. Rows that average 0 leave the answer as it is.
type Quadratic struct {
	P, Q       int       // lengths of x and y
	A          []float64 // q×q
	B          []float64 // q×p
	C          []float64 // q
	D          []float64 // q×q
	T          []float64 // q
	E          []float64 // p×p
	LinearTerm []float64 // e, length p
}

// Dims implements [Model].
func (m Quadratic) Dims() (p, q int) { return m.P, m.Q }

// Validate returns an error, as [dsbo.ErrShape], for the first array whose length does not fit P
// and Q.
func (m Quadratic) Validate() error {
	if m.P < 1 || m.Q < 1 {
		return dsbo.ShapeErrorf("p and q of a quadratic must be at least 1; they are %d and %d", m.P, m.Q)
	}
	for _, a := range m.arrays() {
		if len(*a.v) != a.n {
			return dsbo.ShapeErrorf("%s of a quadratic with p=%d, q=%d must have %d numbers; it has %d",
				a.name, m.P, m.Q, a.n, len(*a.v))
		}
	}
	return nil
}

// An array is one of a quadratic's, with the length that it must have.
type array struct {
	name string
	v    *[]float64
	n    int
}

func (m *Quadratic) arrays() []array {
	p, q := m.P, m.Q
	return []array{{"A", &m.A, q * q}, {"B", &m.B, q * p}, {"c", &m.C, q}, {"D", &m.D, q * q}, {"t", &m.T, q},
		{"E", &m.E, p * p}, {"e", &m.LinearTerm, p}}
}

// Check implements [Checker].
func (m Quadratic) Check(s data.Shard) error {
	for _, e := range []data.Examples{s.Train, s.Val} {
		if e.X != nil && e.X.Cols() != m.Q {
			return dsbo.ShapeErrorf("noise rows of a quadratic must have q=%d numbers; they have %d",
				m.Q, e.X.Cols())
		}
	}
	return m.Validate()
}

// Lower implements [Model].
func (m Quadratic) Lower(x, y *ad.Node, b Batch) *ad.Node {
	linear := ad.Add(ad.MatVec(ad.NewConst(y, "B", m.Q, m.P, m.B), x, false),
		withNoise(ad.NewConst(y, "c", m.Q, 0, m.C), b))
	return ad.Sub(quadraticForm(y, "A", m.A), ad.Dot(y, linear))
}

// Upper implements [Model].
func (m Quadratic) Upper(x, y *ad.Node, b Batch) *ad.Node {
	off := ad.Sub(y, withNoise(ad.NewConst(y, "t", m.Q, 0, m.T), b))
	return ad.Sum(quadraticForm(off, "D", m.D), quadraticForm(x, "E", m.E),
		ad.Dot(ad.NewConst(y, "e", m.P, 0, m.LinearTerm), x))
}

// quadraticForm returns ½ v'Mv.
func quadraticForm(v *ad.Node, name string, m []float64) *ad.Node {
	n := v.Shape()[0]
	return ad.Scale(.5, ad.Dot(v, ad.MatVec(ad.NewConst(v, name, n, n, m), v, false)))
}

// withNoise returns v plus the mean of the batch's rows.
func withNoise(v *ad.Node, b Batch) *ad.Node {
	if b.X == nil {
		return v
	}
	return ad.Add(v, ad.Scale(1/float64(b.Rows), ad.SumRows(b.X)))
}

// Diagonal implements [Curved]: the diagonal of A.
func (m Quadratic) Diagonal(_, y *ad.Node, _ Batch) *ad.Node {
	d := make([]float64, m.Q)
	for j := range d {
		d[j] = m.A[j*m.Q+j]
	}
	return ad.NewConst(y, "diagonal", m.Q, 0, d)
}

// Modulus implements [StronglyConvex]: the smallest eigenvalue of A, 0 where A is no such matrix.
func (m Quadratic) Modulus([]float64) float64 {
	values := make([]float64, m.Q)
	if m.Validate() != nil || !linalg.Eigenvalues(m.Q, slices.Clone(m.A), values) {
		return 0
	}
	return values[0]
}

// Values returns f_i(x, y) and g_i(x, y) without noise, in time O((p+q)²).
func (m Quadratic) Values(x, y []float64) (upper, lower float64) {
	off := make([]float64, m.Q)
	linalg.Sub(off, y, m.T)
	form := func(m, v []float64) float64 { return float64(linalg.Dot(v, affine(m, v, make([]float64, len(v)))) / 2) }
	return form(m.D, off) + form(m.E, x) + linalg.Dot(m.LinearTerm, x),
		form(m.A, y) - linalg.Dot(y, affine(m.B, x, m.C))
}

// A QuadraticSolution is the closed form of the bilevel problem of quadratic agents: with the
// agents' averages A, B, c, D, E, e, and h the average of D_i t_i,
//
//	y*(x) = A⁻¹(Bx + c)  z(y) = A⁻¹(Dy − h)  ∇Φ(x) = Ex + e + B'z(y*(x))
//	∇²Φ = M'DM + E with M = A⁻¹B
//
// Its methods take x of length p and y of length q, and return new slices. Each takes time
// O((p+q)q), [QuadraticSolution.Gradient] O((p+q)²).
type QuadraticSolution struct {
	X, Y []float64 // x* and y*(x*)
	Phi  float64   // Φ(x*)

	mean Quadratic     // the averages; T is −h
	a    *mat.Cholesky // factor of the average of A
}

// SolveQuadratics returns the solution of the bilevel problem of agents ms. It fails with
// [dsbo.ErrShape] if the agents do not fit together, and with [dsbo.ErrConfig] if the average of A,
// or the Hessian M'DM + E of Φ, is not positive definite. Time is O(n(p+q)² + q³ + q²p + qp² + p³).
func SolveQuadratics(ms []Quadratic) (s QuadraticSolution, err error) {
	if s.mean, err = averageQuadratics(ms); err != nil {
		return s, err
	}
	p, q := s.mean.P, s.mean.Q
	if s.a, err = factorize("the average of A", q, s.mean.A); err != nil {
		return s, err
	}
	var m, dm, hess mat.Dense
	if err := s.a.SolveTo(&m, mat.NewDense(q, p, s.mean.B)); err != nil {
		return s, err
	}
	dm.Mul(mat.NewDense(q, q, s.mean.D), &m)
	hess.Mul(m.T(), &dm)
	hess.Add(&hess, mat.NewDense(p, p, s.mean.E))
	h, err := factorize("the Hessian M'DM + E of Φ", p, hess.RawMatrix().Data)
	if err != nil {
		return s, err
	}
	s.X = solve(h, s.Gradient(make([]float64, p))) // ∇Φ is linear: x* = −(∇²Φ)⁻¹ ∇Φ(0)
	linalg.Scale(s.X, -1, s.X)
	s.Y = s.LowerSolution(s.X)
	for _, a := range ms {
		upper, _ := a.Values(s.X, s.Y)
		s.Phi += upper / float64(len(ms))
	}
	return s, nil
}

// LowerSolution returns y*(x).
func (s QuadraticSolution) LowerSolution(x []float64) []float64 {
	return solve(s.a, affine(s.mean.B, x, s.mean.C))
}

// InverseProduct returns z(y), the average Hessian's inverse times the average of ∇_y f_i.
func (s QuadraticSolution) InverseProduct(y []float64) []float64 {
	return solve(s.a, affine(s.mean.D, y, s.mean.T))
}

// Gradient returns the hypergradient ∇Φ(x).
func (s QuadraticSolution) Gradient(x []float64) []float64 {
	u := affine(s.mean.E, x, s.mean.LinearTerm)
	for i, z := range s.InverseProduct(s.LowerSolution(x)) {
		linalg.Axpy(u, z, s.mean.B[i*len(x):(i+1)*len(x)])
	}
	return u
}

// affine returns Mv + c.
func affine(m, v, c []float64) []float64 {
	sum := make([]float64, len(c))
	for i := range sum {
		sum[i] = linalg.Dot(m[i*len(v):(i+1)*len(v)], v) + c[i]
	}
	return sum
}

// averageQuadratics returns the averages of the agents' arrays, but as T the average of −D_i t_i.
func averageQuadratics(ms []Quadratic) (mean Quadratic, err error) {
	if len(ms) == 0 {
		return mean, dsbo.ShapeErrorf("there must be at least one quadratic to solve")
	}
	p, q := ms[0].P, ms[0].Q
	mean = Quadratic{P: p, Q: q}
	sums := mean.arrays()
	for _, a := range sums {
		*a.v = make([]float64, max(a.n, 0)) // p and q are checked with the first agent
	}
	for i, m := range ms {
		if err := m.Validate(); err != nil {
			return mean, fmt.Errorf("agent %d: %w", i, err)
		}
		if m.P != p || m.Q != q {
			return mean, dsbo.ShapeErrorf(
				"agents must have the same p and q; agent %d has %d and %d, agent 0 has %d and %d", i, m.P, m.Q, p, q)
		}
		m.T = affine(m.D, m.T, make([]float64, q)) // m is a copy
		linalg.Scale(m.T, -1, m.T)
		for k, a := range m.arrays() {
			linalg.Axpy(*sums[k].v, 1/float64(len(ms)), *a.v)
		}
	}
	return mean, nil
}

// factorize returns the Cholesky factors of a symmetric positive definite n×n matrix.
func factorize(name string, n int, m []float64) (*mat.Cholesky, error) {
	c := new(mat.Cholesky)
	if !c.Factorize(mat.NewSymDense(n, m)) || c.Cond() > mat.ConditionTolerance {
		return nil, dsbo.ConfigErrorf("%s must be positive definite, or the problem has no unique solution",
			name)
	}
	return c, nil
}

// solve returns the solution of c x = v.
func solve(c *mat.Cholesky, v []float64) []float64 {
	x := mat.NewVecDense(len(v), nil)
	_ = c.SolveVecTo(x, mat.NewVecDense(len(v), v)) // no error: the condition number is bounded
	return x.RawVector().Data
}
