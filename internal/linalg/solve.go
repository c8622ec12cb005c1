package linalg

import (
	"math"
)

// A System is D + diag(E), where D is symmetric and known by its products.
type System struct {
	E        []float64 // not negative
	Diagonal []float64 // of D, or something near it
	// Descend is set if s is a step down a function with gradient −r and this Hessian. At a
	// direction without positive curvature, s then moves along it, as truncated Newton steps do
	// (Dembo, Steihaug 1983; Steihaug 1983).
	Descend bool
	// Prepared is set if the memory was last prepared for this E and Diagonal, with all its pairs.
	Prepared bool
}

// A solving is the state of a preconditioned conjugate gradient solve. The caller makes the
// products: it takes a direction from [solving.Next] and gives the product to [solving.Advance].
// Scalars depend on products alone, so agents with equal products do the same.
type solving struct {
	Asked    int  // products so far
	Positive bool // all directions had positive curvature
	// Gain is how much nearer s is to the solution by the steps so far: the decrease of the squared
	// distance in the norm of H. Of a Newton step it is the square of the Newton decrement, twice
	// the fall of the quadratic model.
	Gain float64

	System
	memory  *Memory
	s, r    []float64
	stepped bool // the next direction is to be made
}

// leastKnown bounds the rounding error of D d as a share of H d, where D d is a float32 product
// with H less diag(E) d. E is the exponential of numbers up to some 40, whose rounding in float32
// is a relative error of E of some 2e-6.
const leastKnown = 1e-5

// Begin starts a solve that adds an approximate solution of (D + diag(E)) s = r to s, and leaves
// the residual in r. The solve's pairs are kept for the next preconditioner, except those in which
// E leaves only rounding of D. A memory has one solve at a time.
func (m *Memory) Begin(s, r []float64, of System) solving {
	if !of.Prepared {
		m.Prepare(of.E, of.Diagonal)
	}
	m.Precondition(m.z, r)
	copy(m.d, m.z)
	return solving{Positive: true, System: of, memory: m, s: s, r: r}
}

// Next returns the next conjugate direction v, and where D v is to be written: views that hold
// until the next call. The direction after d is ζ₊ + [(r₊ − r)'ζ₊ / r'ζ] d with ζ = M⁻¹ r.
func (c *solving) Next() (dst, v []float64) {
	m := c.memory
	if c.stepped {
		before := Dot(m.before, m.z)
		m.Precondition(m.z, c.r)
		Sub(m.hd, c.r, m.before)
		Comb(m.d, 1, m.z, Dot(m.hd, m.z)/before, m.d)
		c.stepped = false
	}
	return m.dd, m.d
}

// Advance makes the step that follows from the product. After a direction d without positive
// curvature (d'Hd ≤ 0, or not finite), and the step of [System.Descend] along it, s, r and the
// memory stay as they are, whatever further products are.
func (c *solving) Advance() {
	c.Asked++
	m := c.memory
	for i, d := range m.d {
		m.hd[i] = m.dd[i] + float64(c.E[i]*d)
	}
	curvature := Dot(m.d, m.hd)
	if live := c.Positive; !(live && curvature > 0 && curvature <= math.MaxFloat64) {
		if c.Positive = false; live && c.Descend {
			descend(c.s, c.r, m.d, curvature)
		}
		return
	}
	if Norm(m.dd) > leastKnown*Norm(m.hd) {
		m.Add(m.d, m.dd)
	}
	slope := Dot(m.d, c.r)
	step := slope / curvature
	c.Gain += float64(step * slope)
	Axpy(c.s, step, m.d)
	copy(m.before, c.r)
	Axpy(c.r, -step, m.hd)
	c.stepped = true
}

// descend adds to s a multiple of the direction d, along which curvature is not positive: as long
// as if it were |curvature|, but no longer than s, or than d where s is still 0.
func descend(s, r, d []float64, curvature float64) {
	length, bound := Norm(d), Norm(s)
	if bound == 0 {
		bound = length
	}
	if step := min(Dot(d, r)/math.Abs(curvature), bound/length); step <= math.MaxFloat64 { // false for NaN
		Axpy(s, step, d)
	}
}
