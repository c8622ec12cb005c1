package algo

import (
	"dsbo"
	"dsbo/internal/vec"
)

// point holds the two variables of every method.
type point struct{ x, y []float64 }

func newPoint(p, q int, x0 float64) point {
	a := point{x: make([]float64, p), y: make([]float64, q)}
	vec.Fill(a.x, x0)
	return a
}

// X returns a view of x_i.
func (a *point) X() []float64 { return a.x }

// Y returns a view of y_i.
func (a *point) Y() []float64 { return a.y }

// estimate holds the two parts of a hypergradient estimate u = ∇_x f − J z.
type estimate struct{ z, u []float64 }

func newEstimate(p, q int) estimate {
	return estimate{z: make([]float64, q), u: make([]float64, p)}
}

// Z returns a view of z_i, the estimate of (Σ H)⁻¹ Σ b.
func (e *estimate) Z() []float64 { return e.z }

// U returns a view of u_i, the estimate of the hypergradient.
func (e *estimate) U() []float64 { return e.u }

// pack lays vectors end to end in dst, which is one message, and returns the part of dst that they fill.
func pack(dst []float64, vs ...[]float64) []float64 {
	n := 0
	for _, v := range vs {
		n += copy(dst[n:], v)
	}
	return dst[:n]
}

// track is one step of gradient tracking: d = mixed + s1 − s, then s = s1.
// It keeps Σ_i d = Σ_i s whenever the weights are doubly stochastic and the two sums start equal.
func track(d, mixed, s1, s []float64) {
	vec.Add(d, mixed, s1)
	vec.Sub(d, d, s)
	copy(s, s1)
}

// descend takes T local steps y −= β ∇_y g(x, y) with draws lower 0..T−1; g is scratch of length q.
func descend(w *turn, x, y, g []float64, T int, beta float64) {
	for t := range T {
		w.lowerGrad(g, x, y, w.draw(dsbo.Lower, t))
		vec.Axpy(y, -beta, g)
	}
}

// implicit sets u = ∇_x f − J z, where u holds ∇_x f on entry; j is scratch of length p.
func implicit(w *turn, u, j, x, y, z []float64) {
	w.jvp(j, x, y, z, w.draw(dsbo.Curvature, 0))
	vec.Sub(u, u, j)
}
