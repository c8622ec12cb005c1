package experiment

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// A rowBound is the most that one row can change an agent's averaged loss while all other rows are
// fixed.
type rowBound struct {
	Gradient float64 // norm by which the gradient by y moves at most
	Product  float64 // norm by which a product of the Hessian by y with v moves at most, for ‖v‖ = 1
}

// A privateOracle answers for an agent with noise. Beside gradients and products it has the inner
// oracle's LowerJointGrad and Penalty, and neither values, diagonals nor matrices. Draws are always
// of all rows.
//
// x must enter the problem through a penalty alone, the same for all data: ∇_x f, products with
// ∇²_xy g and P(x) then reveal nothing of rows, and have no noise.
type privateOracle struct {
	inner        dsbo.Oracle
	also         dsbo.OracleCapabilities
	lower, upper rowBound
	curator      *curator
}

// newPrivateOracle returns the noisy oracle of inner, with the bounds of its lower and upper loss.
func newPrivateOracle(inner dsbo.Oracle, lower, upper rowBound, c *curator) (*privateOracle, error) {
	of, err := dsbo.Capabilities(inner)
	o := &privateOracle{inner: inner, lower: lower, upper: upper, curator: c}
	o.also = dsbo.OracleCapabilities{Of: o, Penalty: of.Penalty}
	if ask := of.LowerJointGrad; ask != nil {
		o.also.LowerJointGrad = func(dx, dy, x, y []float64, _ dsbo.Sample) error {
			if err := ask(dx, dy, x, y, everyRow); err != nil || dy == nil {
				return err
			}
			return c.AddNoise(dy, trainingRows, lower.Gradient, "gradient of g", x, y)
		}
	}
	return o, err
}

// everyRow is the draw of all rows.
var everyRow = dsbo.Sample{Set: dsbo.Whole}

// Capabilities implements [dsbo.Oracle].
func (o *privateOracle) Capabilities() *dsbo.OracleCapabilities { return &o.also }

// Dims implements [dsbo.Oracle].
func (o *privateOracle) Dims() (p, q int) { return o.inner.Dims() }

// UpperGrad implements [dsbo.Oracle].
func (o *privateOracle) UpperGrad(dx, dy, x, y []float64, _ dsbo.Sample) error {
	if err := o.inner.UpperGrad(dx, dy, x, y, everyRow); err != nil || dy == nil {
		return err
	}
	return o.curator.AddNoise(dy, validationRows, o.upper.Gradient, "gradient of f", x, y)
}

// LowerGrad implements [dsbo.Oracle].
func (o *privateOracle) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	if err := o.inner.LowerGrad(dst, x, y, everyRow); err != nil {
		return err
	}
	return o.curator.AddNoise(dst, trainingRows, o.lower.Gradient, "gradient of g", x, y)
}

// HVP implements [dsbo.Oracle].
func (o *privateOracle) HVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	if err := o.inner.HVP(dst, x, y, v, everyRow); err != nil {
		return err
	}
	return o.curator.AddNoise(dst, trainingRows, o.lower.Product*linalg.Norm(v), "product", x, y, v)
}

// JVP implements [dsbo.Oracle]. It reveals nothing of rows.
func (o *privateOracle) JVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	return o.inner.JVP(dst, x, y, v, everyRow)
}
