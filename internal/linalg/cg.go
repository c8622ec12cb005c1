package linalg

// CG is conjugate gradients on H v = b for a symmetric positive definite H that the caller
// multiplies with. The slices are the caller's, all of one length.
type CG struct {
	V  []float64 // the solution so far
	R  []float64 // the residual b − H v
	D  []float64 // the direction of the next step
	HD []float64 // H times D, which the caller sets before each step
	RR float64   // ‖R‖²
}

// Start begins at V with residual R.
func (c *CG) Start() {
	copy(c.D, c.R)
	c.RR = Dot(c.R, c.R)
}

// Curvature returns D'HD: a step needs it to be positive.
func (c *CG) Curvature() float64 { return Dot(c.D, c.HD) }

// Step moves V along D, where the curvature is the curvature of D, and turns D.
func (c *CG) Step(curvature float64) {
	a := c.RR / curvature
	Axpy(c.V, a, c.D)
	Axpy(c.R, -a, c.HD)
	next := Dot(c.R, c.R)
	Comb(c.D, 1, c.R, next/c.RR, c.D)
	c.RR = next
}
