package algo

import (
	"fmt"

	"dsbo/internal/linalg"
)

// Methods with a penalty follow, for ν = 1/λ, the derivative in ν of the gradient in x of
// ℓ_ν(x) = min_y [g + νf], which is ∇Φ at ν = 0, by differences of minimizers y of g + νf and z:
//
//	order 1, z of g:       P_x = ∇_x f(x,y) + λ(∇_x g(x,y) − ∇_x g(x,z))
//	order 2, z of g − νf:  P_x = ½(∇_x f(x,y) + ∇_x f(x,z)) + (λ/2)(∇_x g(x,y) − ∇_x g(x,z))
//
// The errors are of order 1/λ and 1/λ². Order 2 is the central difference of F²SA-p (Chen, Li,
// Chayti, Zhang, "Faster Gradient Methods for Highly-smooth Stochastic Bilevel Optimization", ICLR
// 2026) with p = 2, whose public program is of one agent. It costs one more gradient of f for each
// of g at z, and the same numbers are sent. z has a minimum to go to for λ above L_f/μ_g, the
// curvature of f above and of g below. What y or z lags behind the other one is multiplied by λ/2
// in x's line.

// central turns P_x of order 1 into P_x of order 2, given ∇_x f(x, z).
func central(px, fxz []float64) {
	linalg.Add(px, px, fxz)
	linalg.Scale(px, 0.5, px)
}

// mostLag bounds the ratio of the steps of y and z with order 2: what one of them lags behind the
// other is multiplied by λ/2 in the direction of x.
const mostLag = 2

// centralSteps requires, with order 2, that y and z move about equally far along ∇_y g in the first
// step. y's step is on λg; z's is on ofZ·g, with ofZ = 1 or λ.
func (c *checker) centralSteps(order int, lambda, ofZ float64) {
	if order == 1 {
		return
	}
	gamma, equal, name := c.schedules["gamma"](0), c.schedules["beta"](0)*lambda/ofZ, "beta" // equal: γ for equal steps
	if ofZ != lambda {
		name = "lam*beta"
	}
	must := fmt.Sprintf("from 1/%d to %[1]d times %s = %.4g with order 2, so that y and z go equally far", mostLag,
		name, equal)
	tooFar := gamma > mostLag*equal || equal > mostLag*gamma // false of steps that are not bound yet, NaN
	c.require(!tooFar, "gamma", must, gamma)
}

// penaltyWeight is the default of λ in methods with a penalty λ(g(x, y) − g(x, z)).
const penaltyWeight = 10

// penaltyTraits are the traits of a method with such a penalty, whose z is a second y, given its
// other traits. Its step of y is along ∇_y f + λ∇_y g, where f has about the curvature of g, its
// step of z along ofZ times ∇_y g. The bounds are gradient tracking's. By default both steps go as
// far along ∇_y g: x is moved by how y differs from z, and must not see that one of them is slower.
func penaltyTraits(t Traits, order int, lambda, ofZ float64) Traits {
	t.SecondY, t.Z = t.Z, nil // its z estimates no adjoint
	if order == 2 {
		t.Central = lambda
	}
	t.Bounds = func(c Curvature) Curvature {
		tracked := min(c.Y, c.Z)
		beta := 0.8 * tracked / (1 + lambda)
		return Curvature{L: c.L, Y: tracked / (1 + lambda), Z: tracked / ofZ, Beta: beta, Gamma: beta * lambda / ofZ}
	}
	return t
}

// penaltyDirections sets d to the directions at v. With order 1, d.x and d.y are the gradients of f
// + λ(g(x, y) − g(x, z)), and d.z = λ∇_y g(x, z). With order 2, d.x is P_x of order 2 ([central])
// and d.z = λ∇_y g(x, z) − ∇_y f(x, z). v.z is a second y.
func (s *tripleState) penaltyDirections(w *Turn, d, v triple, lambda float64, order int, on draws) {
	w.UpperGrad(d.x, d.y, v.x, v.y, on.upper)
	lowerJointGrad(w, s.j, s.b, v.x, v.y, on.lower)
	linalg.Axpy(d.x, lambda, s.j)
	linalg.Axpy(d.y, lambda, s.b)
	lowerJointGrad(w, s.j, d.z, v.x, v.z, on.lower)
	linalg.Axpy(d.x, -lambda, s.j)
	linalg.Scale(d.z, lambda, d.z)
	if order == 2 {
		w.UpperGrad(s.j, s.b, v.x, v.z, on.upper)
		central(d.x, s.j)
		linalg.Sub(d.z, d.z, s.b)
	}
}
