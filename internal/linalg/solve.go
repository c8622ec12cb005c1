package linalg

import (
	"math"
)

// A System is D + diag(E), where D is symmetric and known by its products.
type System struct {
	E        []float64 // not negative
	Diagonal []float64 // of D, or something near it
	// Product writes D v to dst. An error ends the solve.
	Product func(dst, v []float64) error
	// Descend says that s is a step down a function with gradient −r and this Hessian: at a
	// direction without positive curvature s goes on along it, as truncated Newton steps do (Dembo,
	// Steihaug 1983; Steihaug 1983), and the solve ends.
	Descend bool
}

// Solve adds to s an approximate solution of (D + diag(E)) s = r by at most n products of
// preconditioned conjugate gradients, and leaves the residual in r. The pairs of a solve are kept
// for the preconditioner of the next one. It asks for the conjugate directions by products, in this
// order, and the scalars are functions of what products returned: agents that are given the same
// bits do the same.
//
// With done nil it asks for exactly n products: after a direction d without positive curvature
// (d'Hd ≤ 0, or not finite) s, r and the memory stay as they are, and what the remaining products
// return is thrown away. Otherwise done is asked before each product, with the residual in r,
// whether to end; and such a direction ends the solve.
//
// It returns the products asked for, and whether all directions had positive curvature.
func (m *Memory) Solve(s, r []float64, sys System, products int,
	done func(asked int) bool) (asked int, positive bool, err error) {
	m.Prepare(sys.E, sys.Diagonal)
	m.Precondition(m.z, r)
	copy(m.d, m.z)
	positive = true
	for asked < products {
		if done != nil && (!positive || done(asked)) {
			break
		}
		if err := sys.Product(m.dd, m.d); err != nil {
			return asked, positive, err
		}
		asked++
		for i, d := range m.d {
			m.hd[i] = m.dd[i] + float64(sys.E[i]*d)
		}
		curvature := Dot(m.d, m.hd)
		if live := positive; !(live && curvature > 0 && curvature <= math.MaxFloat64) {
			if positive = false; live && sys.Descend {
				descend(s, r, m.d, curvature)
			}
			continue
		}
		m.Add(m.d, m.dd)
		step := Dot(m.d, r) / curvature
		Axpy(s, step, m.d)
		copy(m.r1, r)
		Axpy(m.r1, -step, m.hd)
		if asked < products {
			m.turn(r)
		}
		copy(r, m.r1)
	}
	return asked, positive, nil
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

// turn makes the next direction, conjugate to d: ζ₊ + [(r₊ − r)'ζ₊ / r'ζ] d with ζ = M⁻¹ r.
func (m *Memory) turn(r []float64) {
	before := Dot(r, m.z)
	m.Precondition(m.z, m.r1)
	Sub(m.hd, m.r1, r)
	Comb(m.d, 1, m.z, Dot(m.hd, m.z)/before, m.d)
}
