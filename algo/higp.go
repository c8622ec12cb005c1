package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/linalg"
)

// HIGP is Algorithm 1 of the paper, the Hessian-inverse-gradient product: the agents together solve
//
//	Σ_i H_i z = Σ_i b_i,   H_t = ∇²_yy g_i(x, y; ξ_t),  b_t = ∇_y f_i(x, y; φ_t),
//
// by gradient descent with gradient tracking on a quadratic, with one Hessian-vector product a step
// and no matrix. It converges linearly for a constant γ below (1+λ_min(W))²/(2 L_max), with the
// largest curvature L_max of an agent. z_t and d_t travel in one message: N messages of 2q numbers.
// s_N and d_N never reach z_N and are not computed, so N steps cost N−1 products and N gradients
// of f.
type HIGP struct {
	zd       []float64 // z then d, one message
	z, d     []float64 // views of zd
	s, hz, b []float64 // s; H z; b
	kept     []float64 // a copy of d, for mixers without MixAdd
}

// NewHIGP makes the solver of one agent for vectors of length q.
func NewHIGP(q int) *HIGP {
	zd := make([]float64, 2*q)
	return &HIGP{zd: zd, z: zd[:q:q], d: zd[q:], s: make([]float64, q), hz: make([]float64, q), b: make([]float64, q)}
}

// Solve runs N steps with step gamma from z = 0 at (x, y), with the draws of iteration k.
func (h *HIGP) Solve(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer, x, y []float64,
	gamma float64, N int) error {
	w := newTurn("higp", ctx, k, o, m, len(x), len(h.z))
	h.run(&w, nil, x, y, gamma, N)
	return w.err
}

// Z returns a view of the solution.
func (h *HIGP) Z() []float64 { return h.z }

// run is Solve in a turn that has begun; errors stay in the turn. It leaves ∇_x f(x, y; φ_0), which
// comes from one call with b_0, in fx unless that is nil.
func (h *HIGP) run(w *Turn, fx, x, y []float64, gamma float64, N int) {
	w.kept = &h.kept
	w.UpperGrad(fx, h.b, x, y, w.Draw(dsbo.Upper, 0)) // b_0, φ_0
	clear(h.z)                                        // line 1: z_0 = 0
	linalg.Scale(h.s, -1, h.b)                        // line 1: s_0 = −b_0
	copy(h.d, h.s)                                    // line 1: d_0 = −b_0
	for t := range w.steps(N) {                       // line 2
		w.MixAdd(h.zd, h.zd, -gamma, h.d) // line 4: z = mix(z) − γ d; and d = mix(d) for line 6
		if t == N-1 {
			break
		}
		w.HVP(h.hz, x, y, h.z, w.Draw(dsbo.Curvature, t+1))  // H_{t+1} z_{t+1}, ξ_{t+1}
		w.UpperGrad(nil, h.b, x, y, w.Draw(dsbo.Upper, t+1)) // b_{t+1}, φ_{t+1}
		trackResidual(h.d, h.d, h.hz, h.b, h.s)              // lines 5 and 6: s' = Hz − b, d = mix(d) + s' − s
	}
}
