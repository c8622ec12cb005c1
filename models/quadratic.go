package models

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/vec"
)

// Quadratic is a problem whose answer is known in closed form, see [SolveQuadratics]. Each agent has its own
//
//	f_i(x, y) = ½ (y−t)'D(y−t) + ½ x'Ex + e'x      g_i(x, y) = ½ y'Ay − y'(Bx + c)
//
// with A positive definite, D and E positive semidefinite, all three symmetric. Matrices are row-major.
//
// It needs no examples. If the agent has some, they are noise: the mean of the batch's rows (length q) is
// added to c in g_i and to t in f_i. Rows that average 0 leave the answer as it is.
type Quadratic struct {
	P, Q       int
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

// Validate reports the first array whose length does not fit P and Q, as [dsbo.ErrShape].
func (m Quadratic) Validate() error {
	if m.P < 1 || m.Q < 1 {
		return dsbo.Errorf(dsbo.ErrShape, "p and q of a quadratic must be at least 1; they are %d and %d", m.P, m.Q)
	}
	for _, a := range []struct {
		name string
		v    []float64
		n    int
	}{
		{"A", m.A, m.Q * m.Q}, {"B", m.B, m.Q * m.P}, {"c", m.C, m.Q}, {"D", m.D, m.Q * m.Q}, {"t", m.T, m.Q},
		{"E", m.E, m.P * m.P}, {"e", m.LinearTerm, m.P},
	} {
		if len(a.v) != a.n {
			return dsbo.Errorf(dsbo.ErrShape, "%s of a quadratic with p=%d, q=%d must have %d numbers; it has %d", a.name, m.P, m.Q, a.n, len(a.v))
		}
	}
	return nil
}

// Check implements [Checker].
func (m Quadratic) Check(s data.Shard) error {
	for _, e := range []data.Examples{s.Train, s.Val} {
		if e.X != nil && e.X.Cols() != m.Q {
			return dsbo.Errorf(dsbo.ErrShape, "noise rows of a quadratic must have q=%d numbers; they have %d", m.Q, e.X.Cols())
		}
	}
	return m.Validate()
}

// Lower implements [Model].
func (m Quadratic) Lower(x, y *ad.Node, b Batch) *ad.Node {
	linear := ad.Add(ad.MatVec(ad.NewConst(y, "B", m.Q, m.P, m.B), x, false), noisy(ad.NewConst(y, "c", m.Q, 0, m.C), b))
	return ad.Sub(quadraticForm(y, "A", m.A), ad.Dot(y, linear))
}

// Upper implements [Model].
func (m Quadratic) Upper(x, y *ad.Node, b Batch) *ad.Node {
	off := ad.Sub(y, noisy(ad.NewConst(y, "t", m.Q, 0, m.T), b))
	return ad.Sum(quadraticForm(off, "D", m.D), quadraticForm(x, "E", m.E), ad.Dot(ad.NewConst(y, "e", m.P, 0, m.LinearTerm), x))
}

// quadraticForm returns ½ v'Mv.
func quadraticForm(v *ad.Node, name string, m []float64) *ad.Node {
	n := v.Shape()[0]
	return ad.Scale(.5, ad.Dot(v, ad.MatVec(ad.NewConst(v, name, n, n, m), v, false)))
}

// noisy returns v plus the mean of the batch's rows.
func noisy(v *ad.Node, b Batch) *ad.Node {
	if b.X == nil {
		return v
	}
	return ad.Add(v, ad.Scale(1/float64(b.Rows), ad.SumRows(b.X)))
}

// Modulus implements [StronglyConvex]: the smallest eigenvalue of A, 0 where A is no such matrix.
func (m Quadratic) Modulus([]float64) float64 {
	var e mat.EigenSym
	if m.Validate() != nil || !e.Factorize(mat.NewSymDense(m.Q, m.A), false) {
		return 0
	}
	return e.Values(nil)[0]
}

// A QuadraticSolution is the answer to a problem of quadratic agents.
type QuadraticSolution struct {
	X, Y []float64 // x* and y*(x*)
	Phi  float64   // Φ(x*)
}

// SolveQuadratics returns the solution of the bilevel problem of agents ms. With the agents' averages A, B,
// c, D, E, e, and h that of D_i t_i, it is y*(x) = Mx + y_0 where M = A⁻¹B and y_0 = A⁻¹c, and
//
//	x* = (M'DM + E)⁻¹ (M'(h − D y_0) − e)
//
// It fails with [dsbo.ErrShape] if the agents do not fit together, and with [dsbo.ErrConfig] if the average
// of A, or the Hessian M'DM + E of Φ, is not positive definite. Time is O(n(p+q)² + q³ + q²p + qp² + p³).
func SolveQuadratics(ms []Quadratic) (QuadraticSolution, error) {
	avg, h, err := averageQuadratics(ms)
	if err != nil {
		return QuadraticSolution{}, err
	}
	p, q := avg.P, avg.Q
	m, err := solveSym("the average of A", avg.A, mat.NewDense(q, p, avg.B))
	if err != nil {
		return QuadraticSolution{}, err
	}
	y0, err := solveSym("the average of A", avg.A, column(avg.C))
	if err != nil {
		return QuadraticSolution{}, err
	}

	d := mat.NewDense(q, q, avg.D)
	var dm, hess, pull, rhs mat.Dense
	dm.Mul(d, m)
	hess.Mul(m.T(), &dm)
	hess.Add(&hess, mat.NewDense(p, p, avg.E))
	pull.Mul(d, y0)
	pull.Sub(column(h), &pull)
	rhs.Mul(m.T(), &pull)
	rhs.Sub(&rhs, column(avg.LinearTerm))
	x, err := solveSym("the Hessian M'DM + E of Φ", hess.RawMatrix().Data, &rhs)
	if err != nil {
		return QuadraticSolution{}, err
	}

	var y mat.Dense
	y.Mul(m, x)
	y.Add(&y, y0)
	s := QuadraticSolution{X: x.RawMatrix().Data, Y: y.RawMatrix().Data}
	for _, a := range ms {
		s.Phi += a.upper(s.X, s.Y) / float64(len(ms))
	}
	return s, nil
}

// upper returns f_i without noise.
func (m Quadratic) upper(x, y []float64) float64 {
	off := make([]float64, m.Q)
	vec.Sub(off, y, m.T)
	xv, ov := mat.NewVecDense(m.P, x), mat.NewVecDense(m.Q, off)
	return mat.Inner(ov, mat.NewDense(m.Q, m.Q, m.D), ov)/2 + mat.Inner(xv, mat.NewDense(m.P, m.P, m.E), xv)/2 + vec.Dot(m.LinearTerm, x)
}

// averageQuadratics returns the averages of the agents' arrays, and that of D_i t_i.
func averageQuadratics(ms []Quadratic) (avg Quadratic, h []float64, err error) {
	if len(ms) == 0 {
		return avg, nil, dsbo.Errorf(dsbo.ErrShape, "there must be at least one quadratic to solve")
	}
	p, q := ms[0].P, ms[0].Q
	avg = Quadratic{P: p, Q: q, A: make([]float64, q*q), B: make([]float64, q*p), C: make([]float64, q),
		D: make([]float64, q*q), E: make([]float64, p*p), LinearTerm: make([]float64, p)}
	h = make([]float64, q)
	var dt mat.Dense
	for i, m := range ms {
		if err := m.Validate(); err != nil {
			return avg, nil, fmt.Errorf("agent %d: %w", i, err)
		}
		if m.P != p || m.Q != q {
			return avg, nil, dsbo.Errorf(dsbo.ErrShape, "agents must have the same p and q; agent %d has %d and %d, agent 0 has %d and %d", i, m.P, m.Q, p, q)
		}
		dt.Mul(mat.NewDense(q, q, m.D), column(m.T))
		for _, sum := range [][2][]float64{{avg.A, m.A}, {avg.B, m.B}, {avg.C, m.C}, {avg.D, m.D}, {avg.E, m.E},
			{avg.LinearTerm, m.LinearTerm}, {h, dt.RawMatrix().Data}} {
			vec.Axpy(sum[0], 1/float64(len(ms)), sum[1])
		}
	}
	return avg, h, nil
}

// solveSym returns a⁻¹b for a symmetric positive definite matrix a, row-major.
func solveSym(name string, a []float64, b *mat.Dense) (*mat.Dense, error) {
	n, _ := b.Dims()
	var ch mat.Cholesky
	var z mat.Dense
	if !ch.Factorize(mat.NewSymDense(n, a)) {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must be positive definite, or the problem has no unique solution", name)
	}
	if err := ch.SolveTo(&z, b); err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s: %w", name, err)
	}
	return &z, nil
}

func column(v []float64) *mat.Dense { return mat.NewDense(len(v), 1, v) }
