package algotest

import (
	"fmt"

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

// A Recorder passes questions on to an oracle and keeps them. It is dense when the oracle is;
// otherwise it answers dense questions with [dsbo.ErrCapability]. It can be made to fail.
type Recorder struct {
	dsbo.Oracle
	Calls []Call
	Total algo.Calls
	// FailAt, when not 0, makes the FailAt-th call (from 1) return Err without asking the oracle.
	FailAt int
	Err    error
}

// NewRecorder records what is asked of o.
func NewRecorder(o dsbo.Oracle) *Recorder { return &Recorder{Oracle: o} }

// Reset forgets what was recorded.
func (r *Recorder) Reset() { r.Calls, r.Total = nil, algo.Calls{} }

func (r *Recorder) record(c Call, x, y, v []float64) error {
	c.X, c.Y, c.V = clone(x), clone(y), clone(v)
	r.Calls = append(r.Calls, c)
	if len(r.Calls) == r.FailAt {
		return r.Err
	}
	return nil
}

func clone(v []float64) []float64 { return append([]float64(nil), v...) }

// UpperGrad records and asks.
func (r *Recorder) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	r.Total.UpperGrad++
	if err := r.record(Call{Kind: "upper", Sample: s, DX: dx != nil, DY: dy != nil}, x, y, nil); err != nil {
		return err
	}
	return r.Oracle.UpperGrad(dx, dy, x, y, s)
}

// LowerGrad records and asks.
func (r *Recorder) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	r.Total.LowerGrad++
	if err := r.record(Call{Kind: "lower", Sample: s}, x, y, nil); err != nil {
		return err
	}
	return r.Oracle.LowerGrad(dst, x, y, s)
}

// HVP records and asks.
func (r *Recorder) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	r.Total.HVP++
	if err := r.record(Call{Kind: "hvp", Sample: s}, x, y, v); err != nil {
		return err
	}
	return r.Oracle.HVP(dst, x, y, v, s)
}

// JVP records and asks.
func (r *Recorder) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	r.Total.JVP++
	if err := r.record(Call{Kind: "jvp", Sample: s}, x, y, v); err != nil {
		return err
	}
	return r.Oracle.JVP(dst, x, y, v, s)
}

// Hessian records and asks.
func (r *Recorder) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	r.Total.Hessian++
	if err := r.record(Call{Kind: "hessian", Sample: s}, x, y, nil); err != nil {
		return err
	}
	d, err := r.dense()
	if err != nil {
		return err
	}
	return d.Hessian(dst, x, y, s)
}

// Jacobian records and asks.
func (r *Recorder) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	r.Total.Jacobian++
	if err := r.record(Call{Kind: "jacobian", Sample: s}, x, y, nil); err != nil {
		return err
	}
	d, err := r.dense()
	if err != nil {
		return err
	}
	return d.Jacobian(dst, x, y, s)
}

func (r *Recorder) dense() (dsbo.DenseOracle, error) {
	d, ok := r.Oracle.(dsbo.DenseOracle)
	if !ok {
		return nil, fmt.Errorf("recorder: the oracle it records is not dense: %w", dsbo.ErrCapability)
	}
	return d, nil
}
