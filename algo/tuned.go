package algo

import (
	"cmp"
	"context"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/vec"
)

// TunedParams are MA-DSBO's, and options that are each off by default.
//
// # Differences from the paper
//
// Each field below departs from Algorithms 1-3; with none of them set the method is MA-DSBO, bit
// for bit but for one thing: the last message of Algorithm 1 holds z alone, as d_{N-1} is not used
// by anyone after it.
type TunedParams struct {
	MADSBOParams

	// WarmZ starts z where the last iteration left it, not at 0, and keeps its tracker consistent:
	// s⁺ = Hz − b at the new (x, y), d = mix(d) + s⁺ − s. It costs q numbers and a product more.
	WarmZ bool
	// TrackY tracks the gradient of y, so that y converges to the exact lower solution with a
	// constant β and without a consensus error. It costs Tq numbers more.
	TrackY bool
	// MomY and MomZ are heavy-ball momentum: mix(y + m (y − y₋)) in place of mix(y), z likewise.
	MomY, MomZ float64
	// ReuseB keeps b_0 (draw φ_0) for all steps of z. It saves N−1 gradients of f; without draws
	// (full batch) it changes nothing else.
	ReuseB bool
	// XStep is "sgd", the paper's form, or "adam": r is averaged first, and then
	// x = mix(x) − lr [r/(1−(1−α)^{k+1})] / (√(V/(1−v^{k+1})) + ε),  V = vV + (1−v)u²; Eta is not used.
	XStep string
	// Eta scales the step of x (sgd) apart from the averaging weight α: x = mix(x) − α η r. Default 1.
	Eta Schedule
	// Lr, V and Eps are adam's step, second moment and ε; defaults 0.1, 0.95, 1e-8.
	Lr     Schedule
	V, Eps float64
	// Clip, when it holds two numbers lo < hi, keeps each entry of x in [lo, hi] after the step.
	Clip []float64
}

func (c TunedParams) withDefaults() TunedParams {
	c.MADSBOParams = c.MADSBOParams.withDefaults()
	c.XStep, c.Eta, c.Lr = cmp.Or(c.XStep, "sgd"), c.Eta.or(1), c.Lr.or(0.1)
	c.V, c.Eps = cmp.Or(c.V, 0.95), cmp.Or(c.Eps, 1e-8)
	return c
}

// Validate names the first parameter that cannot work.
func (c TunedParams) Validate() error {
	c = c.withDefaults()
	if err := c.validate("madsbo_tuned"); err != nil {
		return err
	}
	v := checker{method: "madsbo_tuned"}
	v.momentum("mom_y", c.MomY)
	v.momentum("mom_z", c.MomZ)
	v.word("xstep", c.XStep, "sgd", "adam")
	v.step("eta", c.Eta)
	v.step("lr", c.Lr)
	v.momentum("v", c.V)
	v.positive("eps", c.Eps, "positive")
	if n := len(c.Clip); n != 0 && (n != 2 || !(c.Clip[0] < c.Clip[1])) {
		v.fail("clip", c.Clip, "two numbers, the lower one first")
	}
	return v.err
}

// Cost of an iteration: (1+track_y)Tq + (2N−1+warm)q + p numbers to each neighbour in T+N messages;
// T gradients of g, N of f (1 with ReuseB), N−1+warm Hessian-vector products and one Jacobian-vector product.
func (c TunedParams) Cost(p, q, k int) Cost {
	c = c.withDefaults()
	warm, tracked, upper := b2i(c.WarmZ), b2i(c.TrackY), c.N
	if c.ReuseB {
		upper = 1
	}
	return Cost{
		Floats: (1+tracked)*c.T*q + (2*c.N-1+warm)*q + p, Messages: c.T + c.N,
		Calls: Calls{UpperGrad: upper, LowerGrad: c.T, HVP: c.N - 1 + warm, JVP: 1},
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Tuned is MA-DSBO with options of our own ([TunedParams]). With all of them an iteration is
//
//	T times:  D ← mix(D) + G − G₋,  y⁺ = mix(y + m_y (y − y₋)) − β D
//	warm start of z, then N times:  z⁺ = mix(z + m_z (z − z₋)) − γ d,  d ← mix(d) + s⁺ − s
//	u = ∇_x f − J z;  x and r by sgd or adam;  x clipped
//
// Draws are those of MA-DSBO; a warm start uses ξ_0 for its product. The tracker d of a warm start
// is known when the iteration starts, so it travels with the first y, as x does.
type Tuned struct {
	c TunedParams
	x []float64
	estimate
	r, v    []float64
	loop    tunedLoop
	zp      []float64
	d, s    []float64
	s1, b   []float64
	j       []float64
	out, in []float64
}

// NewTuned makes the method of one agent.
func NewTuned(p, q int, c TunedParams) (*Tuned, error) {
	if err := sized("madsbo_tuned", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	c.Clip = slices.Clone(c.Clip)
	vecs := func(n int) []float64 { return make([]float64, n) }
	a := &Tuned{
		c: c, x: vecs(p), estimate: newEstimate(p, q), r: vecs(p), v: vecs(p),
		loop: newTunedLoop(q, p+b2i(c.WarmZ)*q, c.MomY, c.TrackY),
		zp:   vecs(q), d: vecs(q), s: vecs(q), s1: vecs(q), b: vecs(q), j: vecs(p), out: vecs(2 * q), in: vecs(2 * q),
	}
	vec.Fill(a.x, c.X0)
	return a, nil
}

// Step is one outer iteration.
func (a *Tuned) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("madsbo_tuned", ctx, k, o, m, len(a.x), len(a.s))
	y, beta := a.loop.y, a.c.Beta.At(k)
	if a.c.WarmZ {
		mixed := a.loop.run(&w, a.x, a.c.T, beta, a.x, a.d)
		a.warm(&w, mixed[len(a.x):])
	} else {
		a.loop.run(&w, a.x, a.c.T, beta, a.x)
		a.cold(&w)
	}
	a.solve(&w)
	implicit(&w, a.u, a.j, a.x, y, a.z)
	a.stepX(k, a.loop.in[a.loop.head():][:len(a.x)])
	return w.err
}

// cold is line 1 of Algorithm 1.
func (a *Tuned) cold(w *turn) {
	w.upperGrad(a.u, a.b, a.x, a.loop.y, w.draw(dsbo.Upper, 0))
	vec.Fill(a.z, 0)
	vec.Fill(a.zp, 0)
	vec.Scale(a.s, -1, a.b)
	copy(a.d, a.s)
}

// warm brings the tracker to the new (x, y): Σ d = Σ s holds again. From the zero state it is cold.
func (a *Tuned) warm(w *turn, mixedD []float64) {
	w.upperGrad(a.u, a.b, a.x, a.loop.y, w.draw(dsbo.Upper, 0))
	a.residual(w, 0)
	track(a.d, mixedD, a.s1, a.s)
}

// residual sets s1 = H z − b with draw t.
func (a *Tuned) residual(w *turn, t int) {
	w.hvp(a.s1, a.x, a.loop.y, a.z, w.draw(dsbo.Curvature, t))
	if t > 0 && !a.c.ReuseB {
		w.upperGrad(nil, a.b, a.x, a.loop.y, w.draw(dsbo.Upper, t))
	}
	vec.Sub(a.s1, a.s1, a.b)
}

// solve is the loop of Algorithm 1, with momentum.
func (a *Tuned) solve(w *turn) {
	q, gamma := len(a.z), a.c.Gamma.At(w.k)
	for t := range a.c.N {
		last := t == a.c.N-1
		extrapolate(a.out[:q], a.z, a.zp, a.c.MomZ)
		n := q
		if !last {
			n += copy(a.out[q:], a.d)
		}
		w.mix(a.in[:n], a.out[:n])
		copy(a.zp, a.z)
		vec.Comb(a.z, 1, a.in[:q], -gamma, a.d)
		if !last {
			a.residual(w, t+1)
			track(a.d, a.in[q:], a.s1, a.s)
		}
	}
}

// stepX moves r and x; mixed is the mix of the old x.
func (a *Tuned) stepX(k int, mixed []float64) {
	alpha := a.c.Alpha.At(k)
	if a.c.XStep == "adam" {
		vec.Comb(a.r, 1-alpha, a.r, alpha, a.u)
		a.adam(k, alpha, mixed)
	} else {
		vec.Comb(a.x, 1, mixed, -float64(alpha*a.c.Eta.At(k)), a.r) // the old r
		vec.Comb(a.r, 1-alpha, a.r, alpha, a.u)
	}
	if len(a.c.Clip) == 2 {
		for i, v := range a.x {
			a.x[i] = min(max(v, a.c.Clip[0]), a.c.Clip[1])
		}
	}
}

// adam is the step of x with one scale a coordinate, both moments corrected for their zero start.
func (a *Tuned) adam(k int, alpha float64, mixed []float64) {
	v, n := a.c.V, float64(k+1)
	first, second, lr := 1-math.Pow(1-alpha, n), 1-math.Pow(v, n), a.c.Lr.At(k)
	for i, u := range a.u {
		a.v[i] = float64(v*a.v[i]) + float64(float64((1-v)*u)*u)
		a.x[i] = mixed[i] - float64(lr*(a.r[i]/first))/(math.Sqrt(a.v[i]/second)+a.c.Eps)
	}
}

// X returns a view of x_i.
func (a *Tuned) X() []float64 { return a.x }

// Y returns a view of y_i.
func (a *Tuned) Y() []float64 { return a.loop.y }

// State holds what the options carry over too, whichever are on.
func (a *Tuned) State() []dsbo.Named {
	s := []dsbo.Named{{Name: "x", Value: a.x}, {Name: "r", Value: a.r}, {Name: "v", Value: a.v}}
	s = append(s, a.loop.state()...)
	return append(s,
		dsbo.Named{Name: "z", Value: a.z}, dsbo.Named{Name: "z_before", Value: a.zp},
		dsbo.Named{Name: "z_tracker", Value: a.d}, dsbo.Named{Name: "z_residual", Value: a.s})
}
