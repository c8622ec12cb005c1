package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// MADSBOParams are the inputs of Algorithm 3. Zero means the default.
type MADSBOParams struct {
	Alpha Schedule // α_k, step of x and weight of the moving average, in (0, 1]; default 0.1
	Beta  Schedule // β_k, step of y; default 0.1
	Gamma Schedule // γ, step of z, at most 0.8/L_max of the worst agent; default 0.1
	T     int      // steps of y; default 10
	N     int      // steps of z; default 10
	X0    float64  // start of every entry of x
}

func (c MADSBOParams) withDefaults() MADSBOParams {
	c.Alpha, c.Beta, c.Gamma = c.Alpha.or(0.1), c.Beta.or(0.1), c.Gamma.or(0.1)
	c.T, c.N = cmp.Or(c.T, 10), cmp.Or(c.N, 10)
	return c
}

// Validate names the first parameter that cannot work.
func (c MADSBOParams) Validate() error { return c.validate("madsbo") }

func (c MADSBOParams) validate(method string) error {
	c = c.withDefaults()
	v := checker{method: method}
	v.weight("alpha", c.Alpha)
	v.step("beta", c.Beta)
	v.step("gamma", c.Gamma)
	v.count("T", c.T)
	v.count("N", c.N)
	v.start(c.X0)
	return v.err
}

// Cost of an iteration: Tq + 2Nq + p numbers to each neighbour in T+N messages; T gradients of g,
// N of f, N−1 Hessian-vector products and one Jacobian-vector product.
func (c MADSBOParams) Cost(p, q, k int) Cost {
	c = c.withDefaults()
	return Cost{
		Floats: c.T*q + 2*c.N*q + p, Messages: c.T + c.N,
		Calls: Calls{UpperGrad: c.N, LowerGrad: c.T, HVP: c.N - 1, JVP: 1},
	}
}

// MADSBO is Algorithm 3 of Chen, Huang, Ma, Balasubramanian, "Decentralized Stochastic Bilevel
// Optimization with Improved per-Iteration Complexity" (ICML 2023), to the letter:
//
//	T times:  y ← mix(y) − β_k ∇_y g(x, y; ξ̃_t)
//	u = hypergradient estimate at (x, y)                (Algorithm 2)
//	x ← mix(x) − α_k r,   r ← (1−α_k) r + α_k u         (x uses the old r)
//
// The letter of the paper exchanges T + 2N + 1 times. Mix is linear and x does not change before
// line 11, so x travels with the first y, and z with d: T+N messages, the same numbers, the same
// bits. The draws are named as in the paper: ξ̃_t is {Lower, k, t}.
type MADSBO struct {
	c MADSBOParams
	point
	r     []float64
	lower lowerLoop
	hyper *Hypergradient
}

// NewMADSBO makes the method of one agent.
func NewMADSBO(p, q int, c MADSBOParams) (*MADSBO, error) {
	if err := sized("madsbo", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	a := &MADSBO{c: c, lower: newLowerLoop(p, q, c.X0), r: make([]float64, p)} // line 1
	a.point = a.lower.point
	a.hyper = newHypergradient(p, q, c)
	return a, nil
}

// Step is one pass through lines 3-13 of Algorithm 3.
func (a *MADSBO) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("madsbo", ctx, k, o, m, len(a.x), len(a.y))
	alpha, beta := a.c.Alpha.At(k), a.c.Beta.At(k)

	a.lower.run(&w, a.c.T, beta) // lines 3-8
	a.hyper.run(&w, a.x, a.y)    // line 9

	vec.Comb(a.x, 1, a.lower.mixedX(), -alpha, a.r) // line 11, the old r
	vec.Comb(a.r, 1-alpha, a.r, alpha, a.hyper.u)   // line 12
	return w.err
}

// Z returns a view of z_N of the last iteration.
func (a *MADSBO) Z() []float64 { return a.hyper.Z() }

// U returns a view of u of the last iteration.
func (a *MADSBO) U() []float64 { return a.hyper.U() }

// State holds x, r and y: z and u are made anew in each iteration.
func (a *MADSBO) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: a.x}, {Name: "r", Value: a.r}, {Name: "y", Value: a.y}}
}

// A lowerLoop is lines 3-8 of Algorithm 3, with x in the first message.
type lowerLoop struct {
	point
	yx, mixed, v []float64 // y then x; their mix; the gradient
}

func newLowerLoop(p, q int, x0 float64) lowerLoop {
	yx := make([]float64, q+p)
	vec.Fill(yx[q:], x0)
	return lowerLoop{point: point{x: yx[q:], y: yx[:q:q]}, yx: yx, mixed: make([]float64, q+p), v: make([]float64, q)}
}

func (l *lowerLoop) run(w *turn, T int, beta float64) {
	q := len(l.y)
	for t := range T { // line 4; line 3: y stands where the last iteration left it
		l.exchange(w, t)
		w.lowerGrad(l.v, l.x, l.y, w.draw(dsbo.Lower, t))
		vec.Comb(l.y, 1, l.mixed[:q], -beta, l.v) // line 6
	}
}

// exchange mixes y; x goes along once.
func (l *lowerLoop) exchange(w *turn, t int) {
	if t == 0 {
		w.mix(l.mixed, l.yx)
		return
	}
	w.mix(l.mixed[:len(l.y)], l.y)
}

// mixedX is the mix of the x that the loop ran with.
func (l *lowerLoop) mixedX() []float64 { return l.mixed[len(l.y):] }
