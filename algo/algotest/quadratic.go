package algotest

import (
	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/models"
)

// A Quadratic is the oracle of a [models.Quadratic], without a graph. With Noise ≠ 0 each answer
// carries an error of that size, a pure function of the agent, the sample and the entry: one draw
// gives one answer, two draws differ. Draws of [dsbo.Whole] and values carry none; the errors of
// the batches of a partition sum to 0.
type Quadratic struct {
	models.Quadratic
	Noise float64
	Agent int
	also  dsbo.OracleCapabilities
}

// Capabilities implements [dsbo.Oracle].
func (o *Quadratic) Capabilities() *dsbo.OracleCapabilities {
	if o.also.Of != dsbo.Oracle(o) { // the first time, or of a copy
		o.also = dsbo.OracleCapabilities{Of: o, Values: o.Values, LowerJointGrad: o.lowerJointGrad, Batch: o.batch,
			Hessian: o.Hessian, Jacobian: o.Jacobian, Penalty: o.Penalty, Diagonal: o.Diagonal}
	}
	return &o.also
}

// noise is an error of the size of Noise that belongs to the sample, the quantity and the entry.
func (o *Quadratic) noise(s dsbo.Sample, quantity, entry int) float64 {
	if o.Noise == 0 || s.Set == dsbo.Whole {
		return 0
	}
	v := o.error(s, quantity, entry)
	if s.Set == dsbo.LowerBatch || s.Set == dsbo.UpperBatch { // errors of a partition cancel
		for b := range s.T {
			v -= o.error(dsbo.Sample{Set: s.Set, K: b, T: s.T}, quantity, entry) / float64(s.T)
		}
	}
	return v
}

// error is an error by its name, in [−Noise, Noise]: the upper 53 bits of an FNV-1a hash of words.
func (o *Quadratic) error(s dsbo.Sample, quantity, entry int) float64 {
	h := uint64(14695981039346656037)
	for _, v := range [...]int{o.Agent, int(s.Set), s.K, s.T, quantity, entry} {
		h = (h ^ uint64(v+1)) * 1099511628211
		h ^= h >> 29 // upper bits reach the lower ones
	}
	return o.Noise * (float64(h>>11)/float64(1<<52) - 1)
}

// answer returns an error for x and y of other lengths, and else writes entry i to dst[i].
func (o *Quadratic) answer(dst, x, y []float64, entry func(i int) float64) error {
	if len(x) != o.P || len(y) != o.Q {
		return dsbo.ShapeErrorf("x and y must have %d and %d numbers; they have %d and %d", o.P,
			o.Q, len(x), len(y))
	}
	for i := range dst {
		dst[i] = entry(i)
	}
	return nil
}

// rowDot is the product of row i of a row-major M, whose rows have v's length, with v.
func rowDot(m []float64, i int, v []float64) float64 { return linalg.Dot(m[i*len(v):(i+1)*len(v)], v) }

// UpperGrad writes Ex + e and D(y−t).
func (o *Quadratic) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	err := o.answer(dx, x, y, func(i int) float64 { return rowDot(o.E, i, x) + o.LinearTerm[i] + o.noise(s, 0, i) })
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
	return o.answer(dst, x, y,
		func(i int) float64 { return rowDot(o.A, i, y) - rowDot(o.B, i, x) - o.C[i] + o.noise(s, 2, i) })
}

// lowerJointGrad writes −B'y and Ay − Bx − c.
func (o *Quadratic) lowerJointGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	err := o.answer(dx, x, y, func(i int) float64 {
		sum := o.noise(s, 5, i)
		for j := range y {
			sum -= float64(o.B[j*o.P+i] * y[j])
		}
		return sum
	})
	if err != nil || dy == nil {
		return err
	}
	return o.LowerGrad(dy, x, y, s)
}

// batch takes batches in turn. Each has the error of its number, and there are no examples.
func (o *Quadratic) batch(s dsbo.Sample, n int) (batch dsbo.Sample, share float64, err error) {
	batch = dsbo.Sample{Set: dsbo.LowerBatch, K: (s.K + s.T) % n, T: n}
	switch s.Set {
	case dsbo.LowerBatch, dsbo.UpperBatch:
		batch = s
	case dsbo.Upper:
		batch.Set = dsbo.UpperBatch
	}
	return batch, 1 / float64(n), nil
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

// Hessian writes the matrix of HVP.
func (o *Quadratic) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	return o.answer(dst, x, y, func(k int) float64 {
		if i := k / o.Q; i == k%o.Q {
			return o.A[k] + o.noise(s, 3, i)
		}
		return o.A[k]
	})
}

// Diagonal writes the diagonal of HVP's matrix.
func (o *Quadratic) Diagonal(dst, x, y []float64, s dsbo.Sample) error {
	return o.answer(dst, x, y, func(i int) float64 { return o.A[i*o.Q+i] + o.noise(s, 3, i) })
}

// Penalty writes the part of A that counts as the penalty's: 1/2 of the unit matrix, which leaves
// the rest positive.
func (o *Quadratic) Penalty(dst, x []float64) error {
	return o.answer(dst, x, dst, func(int) float64 { return 0.5 })
}

// Jacobian writes the matrix of JVP.
func (o *Quadratic) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	return o.answer(dst, x, y, func(k int) float64 { i, j := k/o.Q, k%o.Q; return o.noise(s, 4, i) - o.B[j*o.P+i] })
}

// Values returns f and g, without noise.
func (o *Quadratic) Values(x, y []float64, _ dsbo.Sample) (upper, lower float64, err error) {
	if err := o.answer(nil, x, y, nil); err != nil {
		return 0, 0, err
	}
	upper, lower = o.Quadratic.Values(x, y)
	return upper, lower, nil
}

// NewQuadratics makes the oracles of n agents whose data differ. Eigenvalues of A lie in [1,
// 1+Q/2], the eigenvalues of D and E in [0, 2]. The same arguments give the same problem.
func NewQuadratics(n, p, q int, seed uint64) []*Quadratic {
	r := source(seed*2654435761 + 12345)
	out := make([]*Quadratic, n)
	for i := range out {
		out[i] = &Quadratic{Agent: i, Quadratic: models.Quadratic{
			P: p, Q: q, A: r.spd(q, 1, 0.5*float64(q)), B: r.vec(q * p), C: r.vec(q), D: r.spd(q, 0, 2), T: r.vec(q),
			E: r.spd(p, 0, 2), LinearTerm: r.vec(p),
		}}
	}
	return out
}

// source is a small generator (an xorshift of Marsaglia's), so that problems do not depend on
// a library's.
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

// Solve returns the closed form of the oracles' problem, without noise. It panics where there is no
// unique solution.
func Solve(qs []*Quadratic) models.QuadraticSolution {
	var ms []models.Quadratic
	for _, o := range qs {
		ms = append(ms, o.Quadratic)
	}
	s, err := models.SolveQuadratics(ms)
	if err != nil {
		panic(err)
	}
	return s
}
