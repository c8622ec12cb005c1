package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// Tuned is MA-DSBO with options of our own. With all of them an iteration is
//
//	T times:  D ← mix(D) + G − G₋,  y⁺ = mix(y + m_y (y − y₋)) − β D
//	warm start of z, then N times:  z⁺ = mix(z + m_z (z − z₋)) − γ d,  d ← mix(d) + s⁺ − s
//	u = ∇_x f − J z;  x and r by sgd or adam;  x clipped
//
// Draws are named as in MA-DSBO; a warm start uses ξ_0 for its product. The tracker d of a warm
// start is known when the iteration starts, so it travels with the first y, as x does.
//
// # Differences from the paper
//
// Each field from WarmZ on departs from Algorithms 1-3; with none of them set the method is
// MA-DSBO, bit for bit but for one thing: the last message of Algorithm 1 is z alone, since d_{N-1}
// is not used after it.
type Tuned struct {
	// α_k, step of x, weight of the moving average
	Alpha Schedule `json:"alpha,omitzero" default:"0.1" must:"in (0, 1]"`
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β_k, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z
	T     int      `json:"T,omitzero" default:"10"`      // steps of y
	N     int      `json:"N,omitzero" default:"10"`      // steps of z

	// WarmZ starts z where the last iteration left it, not at 0, and keeps its tracker consistent:
	// s⁺ = Hz − b at the new (x, y), d = mix(d) + s⁺ − s. It costs q numbers and a product more.
	WarmZ bool `json:"warm_z,omitzero"`
	// TrackY tracks the gradient of y, so that y converges to the exact lower solution with a
	// constant β and without a consensus error. It costs Tq numbers more.
	TrackY bool `json:"track_y,omitzero"`
	// MomY and MomZ are heavy-ball momentum, in [0, 1): mix(y + m (y − y₋)) in place of mix(y),
	// z likewise.
	MomY float64 `json:"mom_y,omitzero" must:"in [0, 1)"`
	MomZ float64 `json:"mom_z,omitzero" must:"in [0, 1)"` // the same for z
	// ReuseB uses b_0 (draw φ_0) for all steps of z. It saves N−1 gradients of f; without draws
	// (full batch) it changes nothing else.
	ReuseB bool `json:"reuse_b,omitzero"`
	// XStep is "sgd", the paper's form, or "adam": r is averaged first, and then x = mix(x) − lr
	// [r/(1−(1−α)^{k+1})] / (√(V/(1−v^{k+1})) + ε), V = vV + (1−v)u²; Eta is not used.
	XStep string `json:"xstep,omitzero" must:"one of sgd, adam"`
	// Eta scales the step of x (sgd) beside the averaging weight α: x = mix(x) − αηr.
	Eta Schedule `json:"eta,omitzero" default:"1"`
	// Lr, V and Eps are adam's step, second moment and ε.
	Lr Schedule `json:"lr,omitzero" default:"0.1"`
	// Adam's weight of the average of u², with XStep adam
	V   float64 `json:"v,omitzero" default:"0.95" must:"in (0, 1)"`
	Eps float64 `json:"eps,omitzero" default:"1e-8"` // Adam's ε
	// Clip, if set to two numbers lo < hi, limits each entry of x to [lo, hi] after the step.
	Clip []float64 `json:"clip,omitempty"`

	methodState
	r, v        []float64 // for x: the moving average of u, and adam's second moment
	yOld, g     []float64 // for y: y₋, and G = ∇_y g
	gOld, dY    []float64 // G₋ and the tracker D of G
	zOld, b, ju []float64 // for z: z₋, b = ∇_y f, and J z
	s, hz, dZ   []float64 // the last H z − b, H z, and the tracker d of H z − b
	first       message   // sent with the first step of y, then its mix: y, D (TrackY), x and d (WarmZ)
	head        int       // the length of y and D in first, all that later steps of y send
	ofZ         message   // sent in a step of z, then its mix: z and d
}

// A message is vectors that are sent together, end to end in all, with views of them. A vector that
// is not sent has an empty view.
type message struct{ all, y, dY, x, z, dZ []float64 }

// newMessage makes a message of parts with these lengths.
func newMessage(y, dY, x, z, dZ int) message {
	all, end := make([]float64, y+dY+x+z+dZ), 0
	next := func(n int) []float64 {
		end += n
		return all[end-n : end : end]
	}
	return message{all, next(y), next(dY), next(x), next(z), next(dZ)}
}

// Init implements [Method].
func (a *Tuned) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.r, a.v = a.carried("r", p), a.carried("v", p)
		a.yOld, a.dY, a.gOld = a.carried("y_before", q), a.carried("y_tracker", q), a.carried("y_gradient", q)
		a.z, a.zOld = a.carried("z", q), a.carried("z_before", q)
		a.dZ, a.s = a.carried("z_tracker", q), a.carried("z_residual", q)
		a.tracks(a.dY, a.gOld)
		a.tracks(a.dZ, a.s)
		a.scratch(q, &a.g, &a.b, &a.hz)
		a.scratch(p, &a.ju)
		dY, dZ := 0, 0 // lengths of the trackers in the first message
		if a.TrackY {
			dY = q
		}
		if a.WarmZ {
			dZ = q
		}
		a.head, a.first = q+dY, newMessage(q, dY, p, 0, dZ)
		a.ofZ = newMessage(0, 0, 0, q, q)
	})
}

// Cost of an iteration: (1+track_y)Tq + (2N−1+warm_z)q + p numbers to each neighbour in T+N
// messages, of which z's have two vectors but for the last; T gradients of g, N of f (1 with
// ReuseB), N−1+warm_z Hessian-vector products and one Jacobian-vector product.
func (a *Tuned) Cost(int) Cost {
	p, q := len(a.x), len(a.y)
	cost := Cost{
		Floats: a.T*q + (2*a.N-1)*q + p, Messages: a.T + a.N,
		Calls: dsbo.Calls{UpperGrad: a.N, LowerGrad: a.T, HVP: a.N - 1, JVP: 1},
	}
	if a.TrackY {
		cost.Floats += a.T * q
	}
	if a.WarmZ {
		cost.Floats += q
		cost.HVP++
	}
	if a.ReuseB {
		cost.UpperGrad = 1
	}
	return cost
}

// step is one outer iteration, line by line as in the type's comment.
func (a *Tuned) step(w *Turn, k int) {
	copy(a.first.x, a.x) // x and z's tracker travel with the first y
	copy(a.first.dZ, a.dZ)
	a.stepsOfY(w, a.beta(k))
	w.UpperGrad(a.u, a.b, a.x, a.y, w.Draw(dsbo.Upper, 0)) // b_0, and ∇_x f in u
	a.startZ(w)
	a.stepsOfZ(w, a.gamma(k))
	implicitGrad(w, a.u, a.ju, a.x, a.y, a.z) // u = ∇_x f − J z
	a.stepOfX(k, a.alpha(k))
}

// stepsOfY takes T steps of y; x and the tracker of z are mixed with the first one.
func (a *Tuned) stepsOfY(w *Turn, beta float64) {
	for t := range w.steps(a.T) {
		extrapolate(a.first.y, a.y, a.yOld, a.MomY) // y + m (y − y₋)
		copy(a.first.dY, a.dY)
		if t == 0 {
			w.Mix(a.first.all, a.first.all)
		} else {
			w.Mix(a.first.all[:a.head], a.first.all[:a.head])
		}
		w.LowerGrad(a.g, a.x, a.y, w.Draw(dsbo.Lower, t)) // G
		direction := a.g
		if a.TrackY {
			track(a.dY, a.first.dY, a.g, a.gOld) // D = mix(D) + G − G₋
			direction = a.dY
		}
		copy(a.yOld, a.y)
		linalg.Comb(a.y, 1, a.first.y, -beta, direction) // y = mix(y + m (y − y₋)) − β D
	}
}

// startZ prepares z and its tracker for the steps of z, given b_0: with WarmZ z stays as the last
// iteration left it, else it is 0.
func (a *Tuned) startZ(w *Turn) {
	if a.WarmZ { // in the first iteration z, s and d are 0, which amounts to the cold start
		w.HVP(a.hz, a.x, a.y, a.z, w.Draw(dsbo.Curvature, 0))
		trackResidual(a.dZ, a.first.dZ, a.hz, a.b, a.s) // d = mix(d) + s⁺ − s, s⁺ = H z − b at the new (x, y)
		return
	}
	clear(a.z) // line 1 of Algorithm 1
	clear(a.zOld)
	linalg.Scale(a.s, -1, a.b)
	copy(a.dZ, a.s)
}

// stepsOfZ takes N steps of z: the loop of Algorithm 1 with momentum. The last message is z alone.
func (a *Tuned) stepsOfZ(w *Turn, gamma float64) {
	for t := range w.steps(a.N) {
		last := t == a.N-1
		extrapolate(a.ofZ.z, a.z, a.zOld, a.MomZ) // z + m (z − z₋)
		copy(a.ofZ.dZ, a.dZ)
		if last {
			w.Mix(a.ofZ.z, a.ofZ.z)
		} else {
			w.Mix(a.ofZ.all, a.ofZ.all)
		}
		copy(a.zOld, a.z)
		linalg.Comb(a.z, 1, a.ofZ.z, -gamma, a.dZ) // z = mix(z + m (z − z₋)) − γ d
		if last {
			break
		}
		w.HVP(a.hz, a.x, a.y, a.z, w.Draw(dsbo.Curvature, t+1))
		if !a.ReuseB {
			w.UpperGrad(nil, a.b, a.x, a.y, w.Draw(dsbo.Upper, t+1))
		}
		trackResidual(a.dZ, a.ofZ.dZ, a.hz, a.b, a.s) // d = mix(d) + s⁺ − s, s⁺ = H z − b
	}
}

// stepOfX moves x from its mix, which the first step of y has received, and updates the moving
// average r of u. sgd steps along r from before the update, as the paper does, adam along r after.
func (a *Tuned) stepOfX(k int, alpha float64) {
	if a.XStep == "adam" {
		linalg.Comb(a.r, 1-alpha, a.r, alpha, a.u) // r = (1−α) r + α u
		copy(a.x, a.first.x)
		weights := 1 - num.Pow(1-alpha, float64(k+1))
		adamMove(adam{beta2: a.V, eps: a.Eps}, k, a.schedules["lr"](k), weights, a.x, a.r, a.v, a.u)
	} else {
		linalg.Comb(a.x, 1, a.first.x, -float64(alpha*a.schedules["eta"](k)), a.r) // x = mix(x) − α η r, the old r
		linalg.Comb(a.r, 1-alpha, a.r, alpha, a.u)                                 // r = (1−α) r + α u
	}
	if len(a.Clip) == 2 {
		clipTo(a.Clip, a.x)
	}
}

// extrapolate sets dst = v + m (v − before).
func extrapolate(dst, v, before []float64, m float64) {
	copy(dst, v)
	if m != 0 {
		for i := range dst {
			dst[i] += float64(m * (v[i] - before[i]))
		}
	}
}
