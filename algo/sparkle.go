package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// Strategy names the correction of each variable of [Sparkle]: "ed" (the default), "extra", "gt"
// or "none".
type strategy struct {
	X string `json:"x,omitempty"`
	Y string `json:"y,omitempty"`
	Z string `json:"z,omitempty"`
}

func (s *strategy) check(c *checker, name string) {
	for _, v := range []struct {
		of   string
		kind *string
	}{{" of x", &s.X}, {" of y", &s.Y}, {" of z", &s.Z}} {
		c.choice(name+v.of, v.kind, "ed", "extra", "gt", "none")
	}
}

// Sparkle is SPARKLE (Zhu, Kong, Lu, Huang, Yuan, "SPARKLE: A Unified Single-Loop Primal-Dual
// Framework for Decentralized Bilevel Optimization", 2024). Each variable has its own correction
// for data that differ, v⁺ = C(Av − g) − D, D⁺ = D + B² v⁺:
//
//	y = U_y(y, β ∇_y g(x, y));  z = U_z(z, γ(Hz − b)) at the new y
//	r = (1−θ) r + θ (∇_x f − J z);  x = U_x(x, α r)
//
//	            A, C, B²           safe when all curvatures are L (a the step, λ = λ_min(W))
//	ed     I, W,  I−W       1 + λ(3 − 2aL) > 0
//	extra  W, I,  I−W       2aL < 1 + 3λ
//	gt     I, W², (I−W)²    2aLλ² < (1 + λ)²
//	none   I, W,  0
//
// ed, extra and gt converge exactly with constant steps. Where λ_min(W) < 0 use (I+W)/2. Known with
// medium to high certainty. Draws: {Lower, k, 0}, {Upper, k, 0}, {Curvature, k, 0} for
// both products.
type Sparkle struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z
	// θ, weight of the fresh hypergradient in r
	Theta    float64  `json:"theta,omitzero" default:"0.5" must:"in (0, 1]"`
	Strategy strategy `json:"strategy,omitzero"` // how y, z and x are corrected

	methodState
	r          []float64 // the moving average of u
	bx, by, bz corrected // the corrected exchanges of x, y and z
	gy, gx     []float64 // directions times steps, of length q and p
	b, j       []float64 // ∇_y f, J z
}

// Traits implements [Described].
func (a *Sparkle) Traits() Traits {
	t := a.traits(Traits{OneLoop: true})
	for _, kind := range []string{a.Strategy.X, a.Strategy.Y, a.Strategy.Z} {
		if kind != "gt" && kind != "none" {
			t.FixedGraph = "corrections ed and extra sum over iterations what W leaves of a variable; gt does not"
		}
	}
	return t
}

// Init implements [Method].
func (a *Sparkle) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.z, a.r = a.carried("z", q), a.carried("r", p)
		a.scratch(q, &a.gy, &a.b)
		a.scratch(p, &a.gx, &a.j)
		a.bx = newCorrected(&a.state, a.Strategy.X, "x", a.x)
		a.by = newCorrected(&a.state, a.Strategy.Y, "y", a.y)
		a.bz = newCorrected(&a.state, a.Strategy.Z, "z", a.z)
	})
}

// Cost of an iteration: p + 2q numbers to each neighbour in three messages, where a variable under
// "gt" counts twice; one gradient of f and of g, one Hessian- and one Jacobian-vector product.
func (a *Sparkle) Cost(int) Cost {
	x, y, z := vectorsSent(a.Strategy.X), vectorsSent(a.Strategy.Y), vectorsSent(a.Strategy.Z)
	return Cost{
		Floats: x*len(a.x) + (y+z)*len(a.y), Messages: x + y + z,
		Calls: directionCalls(1),
	}
}

// step is one outer iteration.
func (a *Sparkle) step(w *Turn, k int) {
	w.LowerGrad(a.gy, a.x, a.y, w.Draw(dsbo.Lower, 0))
	linalg.Scale(a.gy, a.beta(k), a.gy)
	a.by.step(w, a.gy) // y along β ∇_y g

	w.UpperGrad(a.u, a.b, a.x, a.y, w.Draw(dsbo.Upper, 0))
	w.HVP(a.gy, a.x, a.y, a.z, w.Draw(dsbo.Curvature, 0))
	linalg.Sub(a.gy, a.gy, a.b)
	linalg.Scale(a.gy, a.gamma(k), a.gy)
	a.bz.step(w, a.gy) // z along γ (Hz − b)

	implicitGrad(w, a.u, a.j, a.x, a.y, a.z)       // u = ∇_x f − J z
	linalg.Comb(a.r, 1-a.Theta, a.r, a.Theta, a.u) // r = (1−θ) r + θ u
	linalg.Scale(a.gx, a.alpha(k), a.r)
	a.bx.step(w, a.gx) // x along α r
}
