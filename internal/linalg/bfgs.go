package linalg

import "slices"

// A BFGS approximates a function's Hessian H from changes of y and of the gradient, by BFGS with
// limited memory (Liu, Nocedal 1989). The zero value has no pairs.
type BFGS struct {
	Most    int // pairs at most; the oldest is forgotten first
	changes []change
}

// A change is by how much y and the gradient changed.
type change struct {
	y, g      []float64
	curvature float64 // their inner product
}

// Known reports whether there are pairs.
func (b *BFGS) Known() bool { return len(b.changes) > 0 }

// Forget drops all pairs, which are of other places.
func (b *BFGS) Forget() { b.changes = nil }

// Add remembers the changes from one y and gradient to the next, where the function curves upward.
// It copies them.
func (b *BFGS) Add(y, g, lastY, lastG []float64) {
	c := change{y: slices.Clone(y), g: slices.Clone(g)}
	Axpy(c.y, -1, lastY)
	Axpy(c.g, -1, lastG)
	if c.curvature = Dot(c.y, c.g); c.curvature > 0 {
		b.changes = append(b.changes, c)
		b.changes = b.changes[max(0, len(b.changes)-b.Most):]
	}
}

// Solve writes H⁻¹g to dst, g without pairs. dst may be g.
func (b *BFGS) Solve(dst, g []float64) {
	copy(dst, g)
	shares := make([]float64, len(b.changes))
	for k, c := range slices.Backward(b.changes) {
		shares[k] = Dot(c.y, dst) / c.curvature
		Axpy(dst, -shares[k], c.g)
	}
	if n := len(b.changes); n > 0 {
		newest := b.changes[n-1]
		Scale(dst, newest.curvature/Dot(newest.g, newest.g), dst)
	}
	for k, c := range b.changes {
		Axpy(dst, shares[k]-Dot(c.g, dst)/c.curvature, c.y)
	}
}
