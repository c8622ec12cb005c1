package dsbo

// A CurvatureMatrix is the matrix used as the lower losses' second derivatives by y in products. If
// ∇²_yy g has negative eigenvalues, the steps and hypergradients of a method need a matrix without
// them.
type CurvatureMatrix uint8

// The matrices.
const (
	// Hessian is ∇²_yy g itself.
	Hessian CurvatureMatrix = iota
	// GaussNewton is the generalized Gauss-Newton matrix: second derivatives as if the model's
	// outputs were linear in y, which has no negative eigenvalue where the loss of the outputs is
	// convex. It needs GaussNewton of [OracleCapabilities].
	GaussNewton
	// DampedHessian is ∇²_yy g + μI, where μ is a little more than what the least eigenvalue of the
	// average over all agents, found on the way, is below 0.
	DampedHessian
)

var curvatureNames = [...]string{"hessian", "gauss-newton", "damped"}

// String returns the name of the matrix: hessian, gauss-newton or damped.
func (c CurvatureMatrix) String() string {
	if int(c) < len(curvatureNames) {
		return curvatureNames[c]
	}
	return "unknown"
}

// MarshalText returns the name.
func (c CurvatureMatrix) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name.
func (c *CurvatureMatrix) UnmarshalText(text []byte) error {
	for i, name := range curvatureNames {
		if name == string(text) {
			*c = CurvatureMatrix(i)
			return nil
		}
	}
	return Errorf(ErrConfig, "a curvature must be hessian, gauss-newton or damped; it is %q", text)
}
