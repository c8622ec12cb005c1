package algotest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"dsbo"
	"dsbo/algo"
)

// A Call is one question to an oracle. X, Y and V are copies of what was given, V for products only.
type Call struct {
	Kind    string // "upper", "lower", "hvp", "jvp", "hessian", "jacobian"
	Sample  dsbo.Sample
	X, Y, V []float64
	DX, DY  bool // upper: which parts were asked for
}

// String names the question and its draw, as in "hvp curvature k=0 t=3".
func (c Call) String() string {
	return fmt.Sprintf("%s %s k=%d t=%d", c.Kind, c.Sample.Set, c.Sample.K, c.Sample.T)
}

// A Recorder passes questions on to an oracle and records them. It is dense when the oracle is;
// otherwise it answers dense questions with [dsbo.ErrCapability]. It can be made to fail.
type Recorder struct {
	dsbo.Oracle
	Calls []Call
	Total algo.Calls
	// FailAt, when not 0, makes the FailAt-th call (from 1) return Err without asking the oracle.
	FailAt int
	Err    error

	// guard, when not nil, is told of vectors of a wrong length and of destinations that overlap an input. Destinations are
	// then filled with NaN first, so that a method that counts on what stood there is found out; with nan they stay so.
	guard *testing.T
	nan   bool
}

// NewRecorder records what is asked of o.
func NewRecorder(o dsbo.Oracle) *Recorder { return &Recorder{Oracle: o} }

// Reset forgets what was recorded.
func (r *Recorder) Reset() { r.Calls, r.Total = nil, algo.Calls{} }

// A vector is an argument of a question with the length that it must have.
type vector struct {
	name string
	v    []float64
	n    int
}

// ask records a question and, unless it is to fail, answers it.
func (r *Recorder) ask(kind string, s dsbo.Sample, x, y, v []float64, dst []vector, answer func() error) error {
	r.Calls = append(r.Calls, Call{Kind: kind, Sample: s, X: slices.Clone(x), Y: slices.Clone(y), V: slices.Clone(v)})
	*map[string]*int{
		"upper": &r.Total.UpperGrad, "lower": &r.Total.LowerGrad, "hvp": &r.Total.HVP, "jvp": &r.Total.JVP,
		"hessian": &r.Total.Hessian, "jacobian": &r.Total.Jacobian,
	}[kind]++
	if len(r.Calls) == r.FailAt {
		return r.Err
	}
	if r.guard != nil {
		p, q := r.Dims()
		in := []vector{{"x", x, p}, {"y", y, q}}
		if v != nil {
			in = append(in, vector{"v", v, q})
		}
		if err := r.check(kind, dst, in); err != nil || r.nan {
			return err
		}
	}
	return answer()
}

// check looks at a question's arguments and fills the destinations with NaN.
func (r *Recorder) check(kind string, dst, in []vector) error {
	for _, v := range slices.Concat(dst, in) {
		if len(v.v) != v.n {
			r.guard.Errorf("%s: %s has %d entries, want %d", kind, v.name, len(v.v), v.n)
			return dsbo.Errorf(dsbo.ErrShape, "%s: %s must have %d entries; it has %d", kind, v.name, v.n, len(v.v))
		}
	}
	for i, d := range dst {
		for _, v := range slices.Concat(in, dst[:i]) {
			if overlap(d.v, v.v) {
				r.guard.Errorf("%s: %s overlaps %s", kind, d.name, v.name)
			}
		}
		for j := range d.v {
			d.v[j] = math.NaN()
		}
	}
	return nil
}

// overlap reports whether two slices share memory.
func overlap(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	const size = unsafe.Sizeof(float64(0))
	pa, pb := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return pa < pb+uintptr(len(b))*size && pb < pa+uintptr(len(a))*size
}

// UpperGrad records and asks.
func (r *Recorder) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	p, q := r.Dims()
	var dst []vector
	if dx != nil {
		dst = append(dst, vector{"dx", dx, p})
	}
	if dy != nil {
		dst = append(dst, vector{"dy", dy, q})
	}
	return r.ask("upper", s, x, y, nil, dst, func() error {
		c := &r.Calls[len(r.Calls)-1]
		c.DX, c.DY = dx != nil, dy != nil
		return r.Oracle.UpperGrad(dx, dy, x, y, s)
	})
}

// LowerGrad records and asks.
func (r *Recorder) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	return r.ask("lower", s, x, y, nil, []vector{{"dst", dst, len(y)}}, func() error { return r.Oracle.LowerGrad(dst, x, y, s) })
}

// HVP records and asks.
func (r *Recorder) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return r.ask("hvp", s, x, y, v, []vector{{"dst", dst, len(y)}}, func() error { return r.Oracle.HVP(dst, x, y, v, s) })
}

// JVP records and asks.
func (r *Recorder) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return r.ask("jvp", s, x, y, v, []vector{{"dst", dst, len(x)}}, func() error { return r.Oracle.JVP(dst, x, y, v, s) })
}

// Hessian records and asks.
func (r *Recorder) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	return r.askDense("hessian", s, x, y, vector{"dst", dst, len(y) * len(y)}, dsbo.DenseOracle.Hessian)
}

// Jacobian records and asks.
func (r *Recorder) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	return r.askDense("jacobian", s, x, y, vector{"dst", dst, len(x) * len(y)}, dsbo.DenseOracle.Jacobian)
}

func (r *Recorder) askDense(kind string, s dsbo.Sample, x, y []float64, dst vector, matrix func(o dsbo.DenseOracle, dst, x, y []float64, s dsbo.Sample) error) error {
	return r.ask(kind, s, x, y, nil, []vector{dst}, func() error {
		if d, ok := r.Oracle.(dsbo.DenseOracle); ok {
			return matrix(d, dst.v, x, y, s)
		}
		return dsbo.Errorf(dsbo.ErrCapability, "recorder: the oracle it records is not dense")
	})
}
