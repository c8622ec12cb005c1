package algotest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"dsbo"
	"dsbo/internal/linalg"
)

// A Call is one question to an oracle. X, Y and V are copies of what was given, V for
// products only.
type Call struct {
	Kind    string // "upper", "lower", "hvp", "jvp", "hessian", "jacobian", "diagonal", "value"
	Sample  dsbo.Sample
	X, Y, V []float64
	DX, DY  bool // upper, and lower in both variables: which parts were asked for
}

// String names the question and its draw, as in "hvp curvature k=0 t=3".
func (c Call) String() string {
	return fmt.Sprintf("%s %s k=%d t=%d", c.Kind, c.Sample.Set, c.Sample.K, c.Sample.T)
}

// A Recorder passes questions on to an oracle and records them. But for GaussNewton it has the
// oracle's capabilities. It can be made to fail.
type Recorder struct {
	dsbo.Oracle
	also  dsbo.OracleCapabilities
	Calls []Call
	Total dsbo.Calls
	// FailAt, when not 0, makes the FailAt-th call (from 1) return Err without asking the oracle.
	FailAt int
	Err    error

	// guard, when not nil, fails on vectors of a wrong length and on destinations that overlap an
	// input. Destinations are filled with NaN first, which exposes a method that relies on their
	// old content; with nan they stay NaN.
	guard *testing.T
	nan   bool
}

// NewRecorder records the calls of o.
func NewRecorder(o dsbo.Oracle) *Recorder { return &Recorder{Oracle: o} }

// Reset forgets the recorded calls.
func (r *Recorder) Reset() { r.Calls, r.Total = nil, dsbo.Calls{} }

// A vector is an argument of a question with the length that it must have.
type vector struct {
	v []float64
	n int
}

// record records a question and, unless it is to fail, answers it. With nan the question is not
// answered, and its destinations stay NaN.
func (r *Recorder) record(c Call, answer func() error, dst ...vector) error {
	p, q := r.Dims()
	in := []vector{{c.X, p}, {c.Y, q}}
	if c.V != nil {
		in = append(in, vector{c.V, q})
	}
	c.X, c.Y, c.V = slices.Clone(c.X), slices.Clone(c.Y), slices.Clone(c.V)
	r.Calls = append(r.Calls, c)
	counts := map[string]*int{
		"upper": &r.Total.UpperGrad, "lower": &r.Total.LowerGrad, "hvp": &r.Total.HVP, "jvp": &r.Total.JVP,
		"hessian": &r.Total.Hessian, "jacobian": &r.Total.Jacobian, "diagonal": &r.Total.Diagonal,
		"value": &r.Total.Value,
	}
	*counts[c.Kind]++
	if len(r.Calls) == r.FailAt {
		return r.Err
	}
	if r.guard != nil {
		if err := r.check(c, dst, in); err != nil || r.nan {
			return err
		}
	}
	return answer()
}

// check looks at a question's arguments and fills the destinations with NaN.
func (r *Recorder) check(c Call, dst, in []vector) error {
	for _, v := range slices.Concat(dst, in) {
		if len(v.v) != v.n {
			r.guard.Errorf("%v: a vector has %d entries, want %d", c, len(v.v), v.n)
			return dsbo.ShapeErrorf("%v: a vector must have %d entries; it has %d", c, v.n, len(v.v))
		}
	}
	for i, d := range dst {
		if slices.ContainsFunc(slices.Concat(in, dst[:i]), func(v vector) bool { return overlap(d.v, v.v) }) {
			r.guard.Errorf("%v: a destination overlaps another vector", c)
		}
		linalg.Fill(d.v, math.NaN())
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
	return r.askBoth("upper", r.Oracle.UpperGrad, dx, dy, x, y, s)
}

// askBoth records and asks for a gradient in both variables, of which a nil one is skipped.
func (r *Recorder) askBoth(kind string, grad func(dx, dy, x, y []float64, s dsbo.Sample) error,
	dx, dy, x, y []float64, s dsbo.Sample) error {
	var dst []vector
	if dx != nil {
		dst = append(dst, vector{dx, len(x)})
	}
	if dy != nil {
		dst = append(dst, vector{dy, len(y)})
	}
	c := Call{Kind: kind, Sample: s, X: x, Y: y, DX: dx != nil, DY: dy != nil}
	return r.record(c, func() error { return grad(dx, dy, x, y, s) }, dst...)
}

// recorded returns a question of a kind, whose answer has n numbers, with a record of each time
// that it is asked; nil stays nil.
func (r *Recorder) recorded(kind string, n int,
	ask func(dst, x, y []float64, s dsbo.Sample) error) func(dst, x, y []float64, s dsbo.Sample) error {
	if ask == nil {
		return nil
	}
	return func(dst, x, y []float64, s dsbo.Sample) error {
		c := Call{Kind: kind, Sample: s, X: x, Y: y}
		return r.record(c, func() error { return ask(dst, x, y, s) }, vector{dst, n})
	}
}

// LowerGrad records and asks.
func (r *Recorder) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	return r.recorded("lower", len(y), r.Oracle.LowerGrad)(dst, x, y, s)
}

// HVP records and asks.
func (r *Recorder) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	c := Call{Kind: "hvp", Sample: s, X: x, Y: y, V: v}
	return r.record(c, func() error { return r.Oracle.HVP(dst, x, y, v, s) }, vector{dst, len(y)})
}

// JVP records and asks.
func (r *Recorder) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	c := Call{Kind: "jvp", Sample: s, X: x, Y: y, V: v}
	return r.record(c, func() error { return r.Oracle.JVP(dst, x, y, v, s) }, vector{dst, len(x)})
}

// Capabilities implements [dsbo.Oracle]. Questions that look at no data are not recorded.
func (r *Recorder) Capabilities() *dsbo.OracleCapabilities {
	of, err := dsbo.Capabilities(r.Oracle)
	if err != nil {
		return r.Oracle.Capabilities() // which asking for them refuses, too
	}
	if r.also.Of == dsbo.Oracle(r) {
		return &r.also
	}
	p, q := r.Dims()
	r.also = dsbo.OracleCapabilities{Of: r, Penalty: of.Penalty, Batch: of.Batch,
		Hessian: r.recorded("hessian", q*q, of.Hessian), Jacobian: r.recorded("jacobian", p*q, of.Jacobian),
		Diagonal: r.recorded("diagonal", q, of.Diagonal)}
	if ask := of.LowerJointGrad; ask != nil {
		r.also.LowerJointGrad = func(dx, dy, x, y []float64, s dsbo.Sample) error {
			return r.askBoth("lower", ask, dx, dy, x, y, s)
		}
	}
	if ask := of.Values; ask != nil {
		r.also.Values = func(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
			upper, lower = math.NaN(), math.NaN()
			err = r.record(Call{Kind: "value", Sample: s, X: x, Y: y}, func() (err error) {
				upper, lower, err = ask(x, y, s)
				return err
			})
			return upper, lower, err
		}
	}
	return &r.also
}
