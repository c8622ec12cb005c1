package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// GBDSBOParams are the parameters of [GBDSBO]. Zero means the default.
type GBDSBOParams struct {
	Alpha Schedule // α, step of x; default 0.1
	Beta  Schedule // β, step of y; default 0.1
	Mav   float64  // b, weight of the fresh draw in the moving averages, in (0, 1]; default 0.5
	L     float64  // l, at least the largest eigenvalue of any H_i; must be given
	N     int      // factors of the Neumann product; default 10
	X0    float64  // start of every entry of x
}

func (c GBDSBOParams) withDefaults() GBDSBOParams {
	c.Alpha, c.Beta = c.Alpha.or(0.1), c.Beta.or(0.1)
	c.Mav, c.N = cmp.Or(c.Mav, 0.5), cmp.Or(c.N, 10)
	return c
}

// Validate names the first parameter that cannot work.
func (c GBDSBOParams) Validate() error {
	c = c.withDefaults()
	v := checker{method: "gbdsbo"}
	v.step("alpha", c.Alpha)
	v.step("beta", c.Beta)
	v.fraction("mav", c.Mav)
	v.curvature(c.L)
	v.count("N", c.N)
	v.start(c.X0)
	return v.err
}

// Cost of an iteration: p + q + N·q² + p·q + p + q numbers to each neighbour in 1+N messages; one
// gradient of f and of g, one Jacobian and N Hessians.
func (c GBDSBOParams) Cost(p, q, k int) Cost {
	c = c.withDefaults()
	return Cost{
		Floats: 2*p + 2*q + p*q + c.N*q*q, Messages: 1 + c.N,
		Calls: Calls{UpperGrad: 1, LowerGrad: 1, Jacobian: 1, Hessian: c.N},
	}
}

// DenseBytes is the memory of the method's matrices, one agent: N tracked Hessians, a mix and a
// fresh one, and three of the Jacobian's size. The oracle needs its own besides.
func (c GBDSBOParams) DenseBytes(p, q int) int64 {
	return denseBytes((c.withDefaults().N+2)*q*q + 3*p*q)
}

// GBDSBO is Gossip-Based DSBO (Yang, Zhang, Wang, "Decentralized Gossip-Based Stochastic Bilevel
// Optimization over Communication Networks", 2022, Algorithm 1). One step of x and y an iteration;
// gossip moving averages s, h, U, V_m of ∇_x f, ∇_y f, the Jacobian and N Hessians:
//
//	u = s − U Q h,   x ← mix(x) − α u,   y ← mix(y) − β ∇_y g(x, y)
//	s, h, U ← (1−b) mix(·) + b (∇_x f, ∇_y f, J);   V_m ← (1−b) mix(V_m) + b H(ζ_m)
//	Q = (1/l) Π-recursion: Q_0 = I, Q_m = I + (I − V_m/l) Q_{m−1}, Q = Q_N/l
//
// The structure is fairly sure; indices and scalings are our reading, and u uses the averages from
// before the iteration. With a constant b the averages stay apart when data differ, and the direction
// is off by the order of b². Only the product Q h is ever needed, so the recursion runs on the vector:
// N products of q² in place of q³, and no Q. Draws: {Upper, k, 0}, {Lower, k, 0}, the Jacobian at
// {Curvature, k, 0}, H(ζ_m) at {Curvature, k, m}, m = 1..N. It asks the oracle for [dsbo.DenseOracle].
type GBDSBO struct {
	c GBDSBOParams
	point
	head, mixed []float64 // x, y, s, h, U in one message; its mix
	s, h, jac   []float64 // views of head
	v           []float64 // V_1..V_N
	mixedV, hes []float64
	fresh       []float64 // ∇_x f, ∇_y f, J in one, as s, h, U lie
	gy, xo, yo  []float64 // ∇_y g; the point of this iteration's draws
	u, w, wv    []float64
}

// NewGBDSBO makes the method of one agent; see DenseBytes for its memory.
func NewGBDSBO(p, q int, c GBDSBOParams) (*GBDSBO, error) {
	if err := sized("gbdsbo", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	vecs := func(n int) []float64 { return make([]float64, n) }
	a := &GBDSBO{
		c: c, head: vecs(2*(p+q) + p*q), mixed: vecs(2*(p+q) + p*q), v: vecs(c.N * q * q), mixedV: vecs(q * q), hes: vecs(q * q),
		fresh: vecs(p + q + p*q), gy: vecs(q), xo: vecs(p), yo: vecs(q), u: vecs(p), w: vecs(q), wv: vecs(q),
	}
	a.x, a.y = a.head[:p:p], a.head[p:p+q:p+q]
	avg := a.head[p+q:]
	a.s, a.h, a.jac = avg[:p:p], avg[p:p+q:p+q], avg[p+q:]
	vec.Fill(a.x, c.X0)
	return a, nil
}

// Step is one outer iteration.
func (a *GBDSBO) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("gbdsbo", ctx, k, o, m, len(a.x), len(a.y))
	d, p, q, b := w.dense(), len(a.x), len(a.y), a.c.Mav
	copy(a.xo, a.x)
	copy(a.yo, a.y)
	w.upperGrad(a.fresh[:p], a.fresh[p:p+q], a.xo, a.yo, w.draw(dsbo.Upper, 0))
	w.lowerGrad(a.gy, a.xo, a.yo, w.draw(dsbo.Lower, 0))
	w.jacobian(d, a.fresh[p+q:], a.xo, a.yo, w.draw(dsbo.Curvature, 0))
	a.direction()

	w.mix(a.mixed, a.head)
	vec.Comb(a.x, 1, a.mixed[:p], -a.c.Alpha.At(k), a.u)
	vec.Comb(a.y, 1, a.mixed[p:p+q], -a.c.Beta.At(k), a.gy)
	vec.Comb(a.head[p+q:], 1-b, a.mixed[p+q:], b, a.fresh)
	for i := range a.c.N {
		v := a.v[i*q*q : (i+1)*q*q]
		w.mix(a.mixedV, v)
		w.hessian(d, a.hes, a.xo, a.yo, w.draw(dsbo.Curvature, i+1))
		vec.Comb(v, 1-b, a.mixedV, b, a.hes)
	}
	return w.err
}

// direction sets u = s − U Q h.
func (a *GBDSBO) direction() {
	q := len(a.y)
	copy(a.w, a.h)
	for i := range a.c.N {
		mulVec(a.wv, a.v[i*q*q:(i+1)*q*q], a.w)
		for j := range a.w {
			a.w[j] += a.h[j] - a.wv[j]/a.c.L
		}
	}
	vec.Scale(a.w, 1/a.c.L, a.w)
	mulVec(a.u, a.jac, a.w)
	vec.Sub(a.u, a.s, a.u)
}

// Z returns a view of Q h, the estimate of (Σ H)⁻¹ Σ b that the last direction used.
func (a *GBDSBO) Z() []float64 { return a.w }

// U returns a view of the direction u of the last step.
func (a *GBDSBO) U() []float64 { return a.u }

// State holds x, y and the moving averages, N q² numbers among them.
func (a *GBDSBO) State() []dsbo.Named {
	return []dsbo.Named{
		{Name: "x", Value: a.x}, {Name: "y", Value: a.y}, {Name: "s", Value: a.s}, {Name: "h", Value: a.h},
		{Name: "jacobian", Value: a.jac}, {Name: "hessians", Value: a.v},
	}
}
