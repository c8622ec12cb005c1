package algo

import (
	"cmp"

	"dsbo"
	"dsbo/internal/linalg"
)

// C2DFB is C²DFB (Wen, Liu, Abdelmoniem, Zhou, Xu, "A Communication and Computation Efficient Fully
// First-order Method for Decentralized Bilevel Optimization", 2024), with a penalty as in [DBIFO].
// Inner loops move y on r = f + λg by steps β and z on r = g by steps γ, T steps each, by gradient
// tracking with compressed residuals. d is y or z, s its tracker, d̂ and ŝ what all neighbours know
// of them, 0 at the start, Q the compressor:
//
//	s += ∇r(x, d) − ∇r(x₋, d), at the start ∇r;  then T times
//	d⁺ = d + γ_i(mix d̂ − d̂) − step s;  s⁺ = s + γ_i(mix ŝ − ŝ) + ∇r(d⁺) − ∇r(d)
//	d̂ += Q(d⁺ − d̂);  ŝ += Q(s⁺ − ŝ)
//	u = ∇_x f + λ(∇_x g(x,y) − ∇_x g(x,z));  s_x += γ_o(mix s_x − s_x) + u − u₋, at the start u
//	x += γ_o(mix x − x) − α s_x
//
// With order 2 (penalty.go) r of z is g − f/λ, and u P_x of that order.
//
// Class and ingredients are certain from the abstract; the lines are our own, after compressed
// gradient tracking (BEER). γ_i must fall with the share that is sent. It converges to DBIFO's x
// exactly, and with no error feedback beside: what was not sent stays in d − d̂. All examples: the
// first line takes ∇r at two points.
type C2DFB struct {
	Alpha    Schedule    `json:"alpha,omitzero" default:"0.1"`                // α, step of x
	Beta     Schedule    `json:"beta,omitzero" default:"0.01"`                // β, step of y, below 2/(L_f + λL_g)
	Gamma    Schedule    `json:"gamma,omitzero" default:"0.1"`                // γ, step of z, below 2/L_g
	Lam      float64     `json:"lam,omitzero" default:"10"`                   // λ, weight of the penalty
	T        int         `json:"T,omitzero" default:"10"`                     // inner steps
	Order    int         `json:"order,omitzero" default:"1" must:"1 or 2"`    // 2: central differences
	Gin      float64     `json:"gin,omitzero" default:"0.5" must:"in (0, 1]"` // γ_i, mixing of the inner loops
	Gout     float64     `json:"gout,omitzero" default:"1" must:"in (0, 1]"`  // γ_o, mixing of x
	Compress compression `json:"compress,omitzero"`                           // Q; default none

	methodState
	ofY     innerLoop       // the loop of y
	ofZ     innerLoop       // the loop of z
	b       []float64       // ∇_y f
	sx, un  []float64       // s_x, and u before it is taken up
	message []float64       // x and s_x
	send    dsbo.Compressor // Q
}

// Init implements [Method].
func (a *C2DFB) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		c.centralSteps(a.Order, a.Lam, 1)
		a.u, a.sx = a.carried("u", p), a.carried("x_tracker", p)
		a.tracks(a.sx, a.u)
		a.send = a.Compress.compressor()
		a.z = a.carried("z", q)
		a.ofY, a.ofZ = newInnerLoop(&a.state, "y", a.y), newInnerLoop(&a.state, "z", a.z)
		a.un, a.b = a.newVec(p), a.newVec(q)
		a.message = a.newVec(2 * p)
	})
}

// Traits implements [Described].
func (a *C2DFB) Traits() Traits {
	return penaltyTraits(a.traits(Traits{
		FixedGraph: "agents keep the sum of what their neighbours have sent so far, by its weights",
		FullBatch:  "its trackers are of the gradients themselves; dbifo takes draws",
	}), a.Order, cmp.Or(a.Lam, penaltyWeight), 1)
}

// Cost of an iteration: 2p numbers to each neighbour (p in the first) and 4T vectors of q as the
// compressor leaves them, in 4T+1 messages; 2(T+1) gradients of g and, with order 1, half as
// many of f, of which the last are in both variables.
func (a *C2DFB) Cost(k int) Cost {
	ofX := 2 * len(a.x)
	if k == 0 {
		ofX /= 2
	}
	inner := len(a.y)
	if a.send != nil {
		inner = a.send.Floats(inner)
	}
	return Cost{Floats: ofX + 4*a.T*inner, Messages: 4*a.T + 1,
		Calls: dsbo.Calls{UpperGrad: a.Order * (a.T + 1), LowerGrad: 2 * (a.T + 1)}}
}

// step is one outer iteration.
func (a *C2DFB) step(w *Turn, k int) {
	a.descend(w, &a.ofY, a.beta(k))
	a.descend(w, &a.ofZ, a.gamma(k))
	linalg.Sub(a.un, a.ofY.gx, a.ofZ.gx)
	linalg.Comb(a.un, 1, a.ofY.fx, a.Lam, a.un) // u
	if a.Order == 2 {
		central(a.un, a.ofZ.fx)
	}

	in := a.message
	if k == 0 { // there are no trackers to send
		w.Mix(in[:len(a.x)], a.x)
		copy(a.sx, a.un)
		copy(a.u, a.un)
	} else {
		w.mixJoined(in, a.x, a.sx)
		approach(a.sx, in[len(a.x):], a.sx, a.Gout)
		track(a.sx, a.sx, a.un, a.u)
	}
	approach(a.x, in, a.x, a.Gout)
	linalg.Axpy(a.x, -a.alpha(k), a.sx)
}

// An innerLoop is the state of the loop of y or of z.
type innerLoop struct {
	d, s       []float64 // the variable and its tracker
	dRef, sRef reference // d̂ and ŝ
	g, gNew    []float64 // ∇r at d, and at d⁺
	fx, gx     []float64 // ∇_x f (of z with order 2 alone) and ∇_x g at the last d
}

// newInnerLoop makes the loop of a variable, whose memory is part of the state.
func newInnerLoop(s *state, name string, d []float64) innerLoop {
	q := len(d)
	l := innerLoop{d: d, s: s.carried(name+"_tracker", q), dRef: s.newReference(name, q),
		sRef: s.newReference(name+"_tracker", q), g: s.carried(name+"_gradient", q), gNew: s.newVec(q)}
	s.tracks(l.s, l.g)
	s.scratch(len(s.x), &l.fx, &l.gx)
	return l
}

// descend takes the T steps of an inner loop. Since the last one x has moved, so the change of ∇r
// is first added to the tracker.
func (a *C2DFB) descend(w *Turn, l *innerLoop, step float64) {
	a.gradient(w, l, false)
	track(l.s, l.s, l.gNew, l.g)
	for t := range w.steps(a.T) {
		for i := range l.d {
			l.d[i] += float64(a.Gin*(l.dRef.heard[i]-l.dRef.sent[i])) - float64(step*l.s[i])
			l.s[i] += float64(a.Gin * (l.sRef.heard[i] - l.sRef.sent[i]))
		}
		a.gradient(w, l, t == a.T-1)
		track(l.s, l.s, l.gNew, l.g)
		l.dRef.exchange(w, l.d, a.send)
		l.sRef.exchange(w, l.s, a.send)
	}
}

// gradient sets gNew to ∇r at d. In the last step of a loop it also sets fx and gx, the gradients
// by x, from which step computes u.
func (a *C2DFB) gradient(w *Turn, l *innerLoop, last bool) {
	var fx, gx []float64 // nil: not asked for
	if last {
		fx, gx = l.fx, l.gx
	}
	if l == &a.ofY {
		w.UpperGrad(fx, a.b, a.x, l.d, allExamples)
		lowerJointGrad(w, gx, l.gNew, a.x, l.d, allExamples)
		linalg.Comb(l.gNew, 1, a.b, a.Lam, l.gNew) // r = f + λg
		return
	}
	lowerJointGrad(w, gx, l.gNew, a.x, l.d, allExamples) // r = g
	if a.Order == 2 {
		w.UpperGrad(fx, a.b, a.x, l.d, allExamples)
		linalg.Axpy(l.gNew, -1/a.Lam, a.b) // r = g − f/λ
	}
}

// approach sets dst = v + share·(mixed − v).
func approach(dst, mixed, v []float64, share float64) {
	for i := range dst {
		dst[i] = v[i] + float64(share*(mixed[i]-v[i]))
	}
}
