package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// Strategy names the correction of each variable of [Sparkle]: "ed" (the default), "extra", "gt" or "none".
type Strategy struct {
	X string `json:"x,omitempty"`
	Y string `json:"y,omitempty"`
	Z string `json:"z,omitempty"`
}

// SparkleParams are the parameters of [Sparkle]: those of [DSOBA] and a strategy. Zero means the default.
type SparkleParams struct {
	DSOBAParams
	Strategy Strategy
}

func (c SparkleParams) withDefaults() SparkleParams {
	s := c.Strategy
	return SparkleParams{
		DSOBAParams: c.DSOBAParams.withDefaults(),
		Strategy:    Strategy{X: cmp.Or(s.X, "ed"), Y: cmp.Or(s.Y, "ed"), Z: cmp.Or(s.Z, "ed")},
	}
}

// Validate names the first parameter that cannot work.
func (c SparkleParams) Validate() error {
	c = c.withDefaults()
	v := c.validate("sparkle")
	v.word("strategy of x", c.Strategy.X, "ed", "extra", "gt", "none")
	v.word("strategy of y", c.Strategy.Y, "ed", "extra", "gt", "none")
	v.word("strategy of z", c.Strategy.Z, "ed", "extra", "gt", "none")
	return v.err
}

// Cost of an iteration: p + 2q numbers to each neighbour in three messages, where a variable under
// "gt" counts twice; one gradient of f and of g, one Hessian- and one Jacobian-vector product.
func (c SparkleParams) Cost(p, q, k int) Cost {
	s := c.withDefaults().Strategy
	x, y, z := vectors(s.X), vectors(s.Y), vectors(s.Z)
	return Cost{Floats: x*p + (y+z)*q, Messages: x + y + z, Calls: Calls{UpperGrad: 1, LowerGrad: 1, HVP: 1, JVP: 1}}
}

// Sparkle is SPARKLE (Zhu, Kong, Lu, Huang, Yuan, "SPARKLE: A Unified Single-Loop Primal-Dual
// Framework for Decentralized Bilevel Optimization", 2024). Each variable has its own correction for
// data that differ, v⁺ = C(Av − g) − D, D⁺ = D + B² v⁺:
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
// medium to high certainty. Draws: {Lower, k, 0}, {Upper, k, 0}, {Curvature, k, 0} for both products.
type Sparkle struct {
	c SparkleParams
	point
	estimate
	r          []float64
	bx, by, bz corrected
	gy, gx     []float64 // directions, length q and p
	b, j       []float64
}

// NewSparkle makes the method of one agent.
func NewSparkle(p, q int, c SparkleParams) (*Sparkle, error) {
	if err := sized("sparkle", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	a := &Sparkle{c: c, point: newPoint(p, q, c.X0), estimate: newEstimate(p, q), r: make([]float64, p)}
	a.gy, a.b, a.gx, a.j = make([]float64, q), make([]float64, q), make([]float64, p), make([]float64, p)
	a.bx, a.by, a.bz = newCorrected(c.Strategy.X, a.x), newCorrected(c.Strategy.Y, a.y), newCorrected(c.Strategy.Z, a.z)
	return a, nil
}

// Step is one outer iteration.
func (a *Sparkle) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("sparkle", ctx, k, o, m, len(a.x), len(a.y))
	w.lowerGrad(a.gy, a.x, a.y, w.draw(dsbo.Lower, 0))
	vec.Scale(a.gy, a.c.Beta.At(k), a.gy)
	a.by.step(&w, a.gy)

	w.upperGrad(a.u, a.b, a.x, a.y, w.draw(dsbo.Upper, 0))
	w.hvp(a.gy, a.x, a.y, a.z, w.draw(dsbo.Curvature, 0))
	vec.Sub(a.gy, a.gy, a.b)
	vec.Scale(a.gy, a.c.Gamma.At(k), a.gy)
	a.bz.step(&w, a.gy)

	implicit(&w, a.u, a.j, a.x, a.y, a.z)
	vec.Comb(a.r, 1-a.c.Theta, a.r, a.c.Theta, a.u)
	vec.Scale(a.gx, a.c.Alpha.At(k), a.r)
	a.bx.step(&w, a.gx)
	return w.err
}

// State holds x, y and z with their corrections, and r.
func (a *Sparkle) State() []dsbo.Named {
	s := append(a.bx.state("x"), a.by.state("y")...)
	s = append(s, a.bz.state("z")...)
	return append(s, dsbo.Named{Name: "r", Value: a.r})
}
