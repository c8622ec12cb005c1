package algo

import (
	"math"

	"dsbo/internal/linalg"
)

// AdaSDBO is AdaSDBO (Zhai, Yan, Zhang, NeurIPS 2025). Its steps follow the gradients seen so far:
// nothing of the problem has to be known.
//
//	D = (∇_x f − Jz, ∇_y g, Hz − b);  M_c += ‖D_c‖² for c of x, y, z;  φ = √max(M_y, M_z)
//	x ← mix(x − α/(√M_x φ) D_x),  y ← mix(y − β/√M_y D_y),  z ← mix(z − γ/φ D_z)
//	M_c ← mix(M_c)                                   M_c starts at m0_c²
//
// Known with low to medium certainty: single loop, all at once, steps of accumulated norms, their
// exchange and the six variables of one message are certain; the lines are our reading, S-TFBO's
// steps (Yang et al., ICLR 2025, which it is for one agent) in D-AdaST's exchange. Where agents
// differ their own D do not vanish, and the step of x falls as 1/k: right, but slow. track is our
// own addition: T ← mix(T) + D − D₋ takes the place of D, and the method converges exactly. The
// start of M_x is ours too: from a small one the first steps of x, along a z that is not yet found,
// are its longest. At α/200 steps are 200/φ whatever α, which says when they begin to fall.
// Draws: {Lower, k, 0}, {Upper, k, 0}, and {Curvature, k, 0} for both products.
type AdaSDBO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"1"` // α, step of x before it is divided; auto: L
	Beta  Schedule `json:"beta,omitzero" default:"1"`  // β, step of y likewise
	Gamma Schedule `json:"gamma,omitzero" default:"1"` // γ, step of z likewise
	// starts of √M_x, √M_y, √M_z; default α/200, 0.01, 0.01
	M0    []float64 `json:"m0,omitempty" must:"three positive numbers"`
	Track bool      `json:"track,omitzero"` // directions by gradient tracking

	tripleState
	sums    []float64 // M_x, M_y, M_z
	d       triple    // D
	t, past triple    // with track: T and D₋
	message []float64 // x, y, z and the sums, in one vector
}

// Init implements [Method].
func (a *AdaSDBO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.d = a.directionTriple()
		if a.Track {
			a.t, a.past = a.carriedTriple("tracker"), a.carriedTriple("last")
			a.tracksTriple(a.t, a.past)
		}
		a.sums = a.carried("m", 3)
		a.message = a.newVec(len(a.d.all) + 3)
	})
}

// Traits implements [Described].
func (a *AdaSDBO) Traits() Traits {
	return a.traits(Traits{OneLoop: !a.Track, Bounds: func(c Curvature) Curvature {
		return Curvature{L: c.L, Y: math.Inf(1), Z: math.Inf(1), Alpha: c.L}
	}})
}

// Cost of an iteration: p + 2q + 3 numbers to each neighbour in one message, with track 2p + 4q + 3
// in two (p + 2q + 3 in one in the first); one gradient of f and of g, one Hessian- and one
// Jacobian-vector product.
func (a *AdaSDBO) Cost(k int) Cost {
	cost := Cost{Floats: len(a.message), Messages: 1, Calls: directionCalls(1)}
	if a.Track && k > 0 {
		cost.Floats, cost.Messages = cost.Floats+len(a.d.all), 2
	}
	return cost
}

// step is one outer iteration.
func (a *AdaSDBO) step(w *Turn, k int) {
	if k == 0 {
		start := a.M0
		if start == nil {
			start = []float64{a.alpha(0) / 200, 0.01, 0.01}
		}
		for c, m0 := range start { // of x, y and z
			a.sums[c] = m0 * m0
		}
	}
	a.directions(w, a.d, a.point, drawsOf(k))
	d := a.d
	if a.Track {
		d = a.t
		if k > 0 {
			w.Mix(a.t.all, a.t.all)
		}
		track(a.t.all, a.t.all, a.d.all, a.past.all) // T ← mix(T) + D − D₋
	}
	for c, v := range [][]float64{d.x, d.y, d.z} {
		a.sums[c] += linalg.Dot(v, v)
	}
	phi := math.Sqrt(max(a.sums[1], a.sums[2]))
	a.point.descend(d, a.alpha(k)/(math.Sqrt(a.sums[0])*phi), a.beta(k)/math.Sqrt(a.sums[1]), a.gamma(k)/phi)
	in := w.mixJoined(a.message, a.point.all, a.sums)
	ofPoint := copy(a.point.all, in)
	copy(a.sums, in[ofPoint:])
}
