package privacy

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// A Bound says how far one row can move an agent's averaged loss, whose other rows stay as
// they are.
type Bound struct {
	Gradient float64 // norm by which the gradient by y moves at most
	Product  float64 // norm by which a product of the Hessian by y with v moves at most, for ‖v‖ = 1
}

// An Oracle answers for an agent with noise. It is a [dsbo.Oracle] and, if the one behind it is, a
// [dsbo.JointOracle] and a [dsbo.PenaltyOracle]; it has neither values, diagonals nor matrices.
// Draws are always of all rows.
//
// The problem must be one whose x enters a penalty alone, the same for all data: ∇_x f and products
// with ∇²_xy g then tell nothing of rows, and are without noise.
type Oracle struct {
	inner        dsbo.Oracle
	lower, upper Bound
	curator      *Curator
}

// NewOracle returns the oracle that stands before inner, whose losses lower and upper bound.
func NewOracle(inner dsbo.Oracle, lower, upper Bound, c *Curator) *Oracle {
	return &Oracle{inner, lower, upper, c}
}

var _ dsbo.PenaltyOracle = (*Oracle)(nil)

// everyRow is the draw of all rows.
var everyRow = dsbo.Sample{Set: dsbo.Whole}

// Dims implements [dsbo.Oracle].
func (o *Oracle) Dims() (p, q int) { return o.inner.Dims() }

// Penalty implements [dsbo.PenaltyOracle]. It tells nothing of rows.
func (o *Oracle) Penalty(dst, x []float64) error {
	of, err := dsbo.OracleAs[dsbo.PenaltyOracle](o.inner, "penalty")
	if err != nil {
		return err
	}
	return of.Penalty(dst, x)
}

// UpperGrad implements [dsbo.Oracle].
func (o *Oracle) UpperGrad(dx, dy, x, y []float64, _ dsbo.Sample) error {
	if err := o.inner.UpperGrad(dx, dy, x, y, everyRow); err != nil || dy == nil {
		return err
	}
	return o.curator.AddNoise(dy, Validation, o.upper.Gradient, "gradient of f", x, y)
}

// LowerGrad implements [dsbo.Oracle].
func (o *Oracle) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	if err := o.inner.LowerGrad(dst, x, y, everyRow); err != nil {
		return err
	}
	return o.curator.AddNoise(dst, Training, o.lower.Gradient, "gradient of g", x, y)
}

// LowerJointGrad implements [dsbo.JointOracle]. The part by x tells nothing of rows.
func (o *Oracle) LowerJointGrad(dx, dy, x, y []float64, _ dsbo.Sample) error {
	of, err := dsbo.OracleAs[dsbo.JointOracle](o.inner, "gradients of g by x")
	if err != nil {
		return err
	}
	if err := of.LowerJointGrad(dx, dy, x, y, everyRow); err != nil || dy == nil {
		return err
	}
	return o.curator.AddNoise(dy, Training, o.lower.Gradient, "gradient of g", x, y)
}

// HVP implements [dsbo.Oracle].
func (o *Oracle) HVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	if err := o.inner.HVP(dst, x, y, v, everyRow); err != nil {
		return err
	}
	return o.curator.AddNoise(dst, Training, o.lower.Product*linalg.Norm(v), "product", x, y, v)
}

// JVP implements [dsbo.Oracle]. It tells nothing of rows.
func (o *Oracle) JVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	return o.inner.JVP(dst, x, y, v, everyRow)
}
