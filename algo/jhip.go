package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// JHIPParams are those of MA-DSBO; α_k is only the step of x.
type JHIPParams struct{ MADSBOParams }

// Validate names the first parameter that cannot work.
func (c JHIPParams) Validate() error {
	d := c.withDefaults()
	v := checker{method: "jhip"}
	v.step("alpha", d.Alpha)
	v.step("beta", d.Beta)
	v.step("gamma", d.Gamma)
	v.count("T", d.T)
	v.count("N", d.N)
	v.start(d.X0)
	return v.err
}

// Cost of an iteration: Tq + 2Npq + p numbers to each neighbour in T+N messages; T gradients of g,
// one of f, N Jacobians and N−1 Hessians.
func (c JHIPParams) Cost(p, q, k int) Cost {
	d := c.withDefaults()
	return Cost{
		Floats: d.T*q + 2*d.N*p*q + p, Messages: d.T + d.N,
		Calls: Calls{UpperGrad: 1, LowerGrad: d.T, Jacobian: d.N, Hessian: d.N - 1},
	}
}

// DenseBytes is the memory of the method's matrices, one agent: a Hessian, and six of the
// Jacobian's size. The oracle needs its own besides.
func (c JHIPParams) DenseBytes(p, q int) int64 { return denseBytes(q*q + 6*p*q) }

// JHIP is DSBO-JHIP (Chen, Huang, Ma, "Decentralized Bilevel Optimization", 2022): the agents
// together solve Σ_i H_i Z = Σ_i J_i' for the q×p matrix Z by gradient tracking, and
//
//	T times:  y ← mix(y) − β ∇_y g(x, y)
//	Z = 0, S = D = −J';  N times:  Z ← mix(Z) − γ D;  S⁺ = H Z − J';  D ← mix(D) + S⁺ − S
//	u = ∇_x f − Z' b,   x ← mix(x) − α u
//
// The matrix that Z approximates is certain, the form likely; a constant γ and fresh H_t, J_t in each
// step (draws {Curvature, k, t}, as in Algorithm 1) are our reading. S_N and D_N reach nothing
// and are not computed. It asks the oracle for [dsbo.DenseOracle].
//
// Z is kept transposed, p×q, the layout of the Jacobian: H is symmetric, so (HZ)' = Z'H.
type JHIP struct {
	c MADSBOParams
	point
	lower     lowerLoop
	zd, mixed []float64 // Z' then D', one message; its mix
	s, s1, h  []float64
	b, u, zb  []float64
}

// NewJHIP makes the method of one agent; see DenseBytes for its memory.
func NewJHIP(p, q int, c JHIPParams) (*JHIP, error) {
	if err := sized("jhip", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := c.withDefaults()
	a := &JHIP{
		c: d, lower: newLowerLoop(p, q, d.X0), zd: make([]float64, 2*p*q), mixed: make([]float64, 2*p*q),
		s: make([]float64, p*q), s1: make([]float64, p*q), h: make([]float64, q*q),
		b: make([]float64, q), u: make([]float64, p), zb: make([]float64, p),
	}
	a.point = a.lower.point
	return a, nil
}

// Step is one outer iteration.
func (a *JHIP) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("jhip", ctx, k, o, m, len(a.x), len(a.y))
	d := w.dense()
	a.lower.run(&w, a.c.T, a.c.Beta.At(k))
	a.solve(&w, d, a.c.Gamma.At(k))

	w.upperGrad(a.u, a.b, a.x, a.y, w.draw(dsbo.Upper, 0))
	mulVec(a.zb, a.zd[:len(a.s)], a.b)
	vec.Sub(a.u, a.u, a.zb)
	vec.Comb(a.x, 1, a.lower.mixedX(), -a.c.Alpha.At(k), a.u)
	return w.err
}

func (a *JHIP) solve(w *turn, o dsbo.DenseOracle, gamma float64) {
	pq := len(a.s)
	z, d := a.zd[:pq], a.zd[pq:]
	w.jacobian(o, a.s, a.x, a.y, w.draw(dsbo.Curvature, 0))
	vec.Fill(z, 0)
	vec.Scale(a.s, -1, a.s)
	copy(d, a.s)
	for t := range a.c.N {
		w.mix(a.mixed, a.zd)
		vec.Comb(z, 1, a.mixed[:pq], -gamma, d)
		if t == a.c.N-1 {
			break
		}
		s := w.draw(dsbo.Curvature, t+1)
		w.hessian(o, a.h, a.x, a.y, s)
		w.jacobian(o, a.s1, a.x, a.y, s)
		vec.Scale(a.s1, -1, a.s1)
		if w.open() {
			addMulSym(a.s1, z, a.h, len(a.y))
		}
		track(d, a.mixed[pq:], a.s1, a.s)
	}
}

// U returns a view of u.
func (a *JHIP) U() []float64 { return a.u }

// State holds x and y: Z starts at 0 in each iteration.
func (a *JHIP) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: a.x}, {Name: "y", Value: a.y}}
}
