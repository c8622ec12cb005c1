package algotest

import (
	"math"

	"dsbo"
)

// Wells is agent i of a problem whose lower loss is not convex: g_i = c_i Σ_j (y_j⁴/4 − b_j y_j²/2)
// with b_j = 1 + j, and f_i = ½ ‖y − e^x‖², of one x. Where the c_i average to 1 the averaged lower
// loss has a saddle at 0, with Hessian −diag(b), and minima −Σ b_j²/4 at y_j = ±√b_j.
type Wells struct {
	Q int // length of y
	C float64
}

var _ dsbo.ValueOracle = Wells{}

func b(j int) float64 { return 1 + float64(j) }

// Capabilities implements [dsbo.Oracle].
func (w Wells) Capabilities() *dsbo.OracleCapabilities {
	return &dsbo.OracleCapabilities{Of: w, Values: w.Values}
}

// Dims implements [dsbo.Oracle].
func (w Wells) Dims() (p, q int) { return 1, w.Q }

// UpperGrad implements [dsbo.Oracle].
func (w Wells) UpperGrad(dx, dy, x, y []float64, _ dsbo.Sample) error {
	e := math.Exp(x[0])
	if dx != nil {
		dx[0] = 0
	}
	for j, v := range y {
		if dx != nil {
			dx[0] -= e * (v - e)
		}
		if dy != nil {
			dy[j] = v - e
		}
	}
	return nil
}

// LowerGrad implements [dsbo.Oracle].
func (w Wells) LowerGrad(dst, _, y []float64, _ dsbo.Sample) error {
	for j, v := range y {
		dst[j] = w.C * (v*v*v - b(j)*v)
	}
	return nil
}

// HVP implements [dsbo.Oracle].
func (w Wells) HVP(dst, _, y, v []float64, _ dsbo.Sample) error {
	for j := range dst {
		dst[j] = w.C * (3*y[j]*y[j] - b(j)) * v[j]
	}
	return nil
}

// JVP implements [dsbo.Oracle].
func (w Wells) JVP(dst, _, _, _ []float64, _ dsbo.Sample) error {
	dst[0] = 0
	return nil
}

// Values implements [dsbo.ValueOracle].
func (w Wells) Values(x, y []float64, _ dsbo.Sample) (upper, lower float64, err error) {
	for j, v := range y {
		upper += (v - math.Exp(x[0])) * (v - math.Exp(x[0])) / 2
		lower += w.C * (v*v*v*v/4 - b(j)*v*v/2)
	}
	return upper, lower, nil
}
