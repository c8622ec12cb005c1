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

// A Recorder passes questions on to an oracle and records them. It is all that the oracle is; what
// the oracle does not know it answers with [dsbo.ErrCapability], and records only what it is. It
// can be made to fail.
type Recorder struct {
	dsbo.Oracle
	Calls []Call
	Total dsbo.Calls
	// FailAt, when not 0, makes the FailAt-th call (from 1) return Err without asking the oracle.
	FailAt int
	Err    error

	// guard, when not nil, is told of vectors of a wrong length and of destinations that overlap an
	// input. Destinations are then filled with NaN first, so that a method that counts on what
	// stood there is found out; with nan they stay so.
	guard *testing.T
	nan   bool
}

// NewRecorder records what is asked of o.
func NewRecorder(o dsbo.Oracle) *Recorder { return &Recorder{Oracle: o} }

// Reset forgets what was recorded.
func (r *Recorder) Reset() { r.Calls, r.Total = nil, dsbo.Calls{} }

// A vector is an argument of a question with the length that it must have.
type vector struct {
	v []float64
	n int
}

// record records a question and, unless it is to fail, answers it.
func (r *Recorder) record(c Call, answer func() error, dst ...vector) error {
	p, q := r.Dims()
	in := []vector{{c.X, p}, {c.Y, q}}
	if c.V != nil {
		in = append(in, vector{c.V, q})
	}
	c.X, c.Y, c.V = slices.Clone(c.X), slices.Clone(c.Y), slices.Clone(c.V)
	r.Calls = append(r.Calls, c)
	*map[string]*int{
		"upper": &r.Total.UpperGrad, "lower": &r.Total.LowerGrad, "hvp": &r.Total.HVP, "jvp": &r.Total.JVP,
		"hessian": &r.Total.Hessian, "jacobian": &r.Total.Jacobian, "diagonal": &r.Total.Diagonal,
		"value": &r.Total.Value,
	}[c.Kind]++
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

// LowerJointGrad records and asks, if the oracle has gradients of g in both variables.
func (r *Recorder) LowerJointGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	o, err := dsbo.OracleAs[dsbo.JointOracle](r.Oracle, "gradient of g by x")
	if err != nil {
		return err
	}
	return r.askBoth("lower", o.LowerJointGrad, dx, dy, x, y, s)
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

// askFor records and asks a question to oracles of a type, which is for what, whose answer has n
// numbers.
func askFor[O dsbo.Oracle](r *Recorder, kind, what string, question func(o O, dst, x, y []float64, s dsbo.Sample) error,
	dst []float64, n int, x, y []float64, s dsbo.Sample) error {
	o, err := dsbo.OracleAs[O](r.Oracle, what)
	if err != nil {
		return err
	}
	c := Call{Kind: kind, Sample: s, X: x, Y: y}
	return r.record(c, func() error { return question(o, dst, x, y, s) }, vector{dst, n})
}

// LowerGrad records and asks.
func (r *Recorder) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	return askFor(r, "lower", "gradients", dsbo.Oracle.LowerGrad, dst, len(y), x, y, s)
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

// Hessian records and asks, if the oracle has matrices.
func (r *Recorder) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	return askFor(r, "hessian", "Hessian", dsbo.DenseOracle.Hessian, dst, len(y)*len(y), x, y, s)
}

// Jacobian records and asks, if the oracle has matrices.
func (r *Recorder) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	return askFor(r, "jacobian", "Jacobian", dsbo.DenseOracle.Jacobian, dst, len(x)*len(y), x, y, s)
}

// Diagonal records and asks, if the oracle has diagonals.
func (r *Recorder) Diagonal(dst, x, y []float64, s dsbo.Sample) error {
	return askFor(r, "diagonal", "diagonals", dsbo.DiagonalOracle.Diagonal, dst, len(y), x, y, s)
}

// Penalty asks without a record: no data are looked at.
func (r *Recorder) Penalty(dst, x []float64) error {
	o, err := dsbo.OracleAs[dsbo.PenaltyOracle](r.Oracle, "penalty")
	if err != nil {
		return err
	}
	return o.Penalty(dst, x)
}

// Batch asks without a record: no data are looked at.
func (r *Recorder) Batch(s dsbo.Sample, n int) (batch dsbo.Sample, share float64, err error) {
	o, err := dsbo.OracleAs[dsbo.PartitionOracle](r.Oracle, "batches of a partition")
	if err != nil {
		return batch, 0, err
	}
	return o.Batch(s, n)
}

// Values records and asks, if the oracle has values.
func (r *Recorder) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	o, err := dsbo.OracleAs[dsbo.ValueOracle](r.Oracle, "values")
	if err != nil {
		return 0, 0, err
	}
	upper, lower = math.NaN(), math.NaN()
	err = r.record(Call{Kind: "value", Sample: s, X: x, Y: y}, func() (err error) {
		upper, lower, err = o.Values(x, y, s)
		return err
	})
	return upper, lower, err
}
