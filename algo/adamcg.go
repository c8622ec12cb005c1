package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// AdamCG is a method of our own for lower problems that are trained by draws, such as deep networks
// on many examples: y by Adam, z by a few conjugate gradients, x by Adam. Iteration k is
//
//	T times  y −= ly · Adam(∇_y g(x, y))
//	z += solve(∇_y f(x, y) − (H + μ) z),  u = ∇_x f − J z;  x by Adam along u, clipped
//
// where gradients and products are on draws, each averaged over the agents, and solve(r) is N
// products of conjugate gradients on (H + μ) s = r, which end where curvature is not positive. So x
// follows y as it is trained, and z both. All agents have the same x, y and z.
//
// It is made of known parts: Adam (Kingma, Ba 2015) for both levels, and approximate implicit
// differentiation with a warm start (AID: Pedregosa 2016; Grazzi et al. 2020) on draws (stocBiO:
// Ji, Yang, Liang 2021), with exact averages in place of a server. Nothing is proved of it.
//
// For the first Wait iterations x stays where it is and only y is trained: while a network has not
// learned yet, each penalty seems too much. With Hold x stays where it is, and only y is trained:
// that is how the model of an x is found, by the same steps and draws for each x.
//
// The mixer must have Average of [dsbo.MixerCapabilities]. Draws: {Lower, k, t}, {Curvature,
// k, 0} and {Upper, k, 0}, each once, the last one not with All.
type AdamCG struct {
	T  int      `json:"T,omitzero" default:"20"`             // steps of y
	N  int      `json:"N,omitzero" default:"8"`              // products of a solve
	Ly Schedule `json:"ly,omitzero" default:"0.002*(1-k/K)"` // step of y
	Lr Schedule `json:"lr,omitzero" default:"0.2*(1-k/K)"`   // step of x
	Mu float64  `json:"mu,omitzero" default:"0.01"`          // μ
	// Wait is the number of iterations before x moves; default 0.
	Wait int `json:"wait,omitzero" must:"at least 0"`

	// Adam's weight of the averages of gradients
	Beta1 float64 `json:"beta1,omitzero" default:"0.9" must:"in (0, 1)"`
	// Adam's weight of the averages of their squares
	Beta2 float64   `json:"beta2,omitzero" default:"0.99" must:"in (0, 1)"`
	Eps   float64   `json:"eps,omitzero" default:"1e-8"`        // Adam's ε
	Clip  []float64 `json:"clip,omitempty" default:"[-14, 12]"` // lo and hi, the box of x after each step
	Hold  bool      `json:"hold,omitzero"`                      // x stays where it is in all iterations
	// All takes u on all examples, ∇f and J z, where products are on draws: for an x that has an
	// entry for each training example, of which a draw has few. Default: on draws.
	All bool `json:"all,omitzero"`

	methodState
	term struct{ lowerGrad, upperGrad, product, hypergradient term } // named once

	asked []float64 // number of products in each iteration, which solve counts; 0 in those to come
	adam  adam      // the constants of Adam, bound

	ry, vy, rx, vx []float64 // Adam's averages for y and x
	g              []float64 // an averaged gradient, then the residual of z
	s, hs          []float64 // the direction of z and its product
	// what the terms of the average under way read
	draw, products dsbo.Sample // the draws of gradients, and of products in the hypergradient
	along          []float64   // v of the product
}

// Traits implements [Described].
func (a *AdamCG) Traits() Traits {
	return a.traits(Traits{HoldX: func() { a.Hold = true }})
}

// Init implements [Method].
func (a *AdamCG) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		if !c.countable() {
			return
		}
		a.adam = adam{a.Beta1, a.Beta2, a.Eps}
		a.ry, a.vy, a.rx, a.vx = a.carried("y_mean", q), a.carried("y_square", q), a.carried("x_mean", p),
			a.carried("x_square", p)
		a.z, a.asked = a.carried("z", q), a.carried("products", K)
		a.averagesTerms()
		a.scratch(q, &a.g, &a.s, &a.hs)
		a.makeTerms()
	})
}

// makeTerms sets the functions that compute an agent's terms of averages, at the present x, y and
// z, on the examples of draw and products. It is called once, as steps must not allocate closures.
func (a *AdamCG) makeTerms() {
	a.term.lowerGrad = func(w *Turn, dst []float64) { w.LowerGrad(dst, a.x, a.y, a.draw) }
	a.term.upperGrad = func(w *Turn, dst []float64) { // ∇_y f, and ∇_x f in u
		w.UpperGrad(w.own(a.u), dst, a.x, a.y, a.draw)
	}
	a.term.product = func(w *Turn, dst []float64) {
		w.HVP(dst, a.x, a.y, a.along, w.Draw(dsbo.Curvature, 0))
	}
	a.term.hypergradient = func(w *Turn, dst []float64) { // ∇_x f − J z
		jz := w.scratch(0, len(dst))
		w.JVP(jz, a.x, a.y, a.z, a.products)
		linalg.Sub(dst, w.own(a.u), jz)
	}
}

// holdsX reports whether x stays where it is in iteration k; z and u stay 0 then.
func (a *AdamCG) holdsX(k int) bool { return a.Hold || k < a.Wait }

// Cost of an iteration: T + N + 2 averages of q numbers and one of p; T gradients of g, one of f,
// N+1 Hessian-vector products and a Jacobian-vector product. A solve may end with fewer products:
// after the iteration the number is known and Cost is exact; before it, Cost is an upper bound. In
// iterations in which x does not move: T gradients and averages.
func (a *AdamCG) Cost(k int) Cost {
	q := len(a.y)
	cost := Cost{Averages: a.T, AverageFloats: a.T * q, Calls: dsbo.Calls{LowerGrad: a.T}}
	if a.holdsX(k) {
		return cost
	}
	products := a.N + 1
	if a.asked[k] > 0 { // the iteration has run
		products = int(a.asked[k])
	}
	cost.Averages += products + 2
	cost.AverageFloats += (products+1)*q + len(a.x)
	cost.UpperGrad, cost.HVP, cost.JVP = 1, products, 1
	return cost
}

// step is one outer iteration.
func (a *AdamCG) step(w *Turn, k int) {
	for t := range w.steps(a.T) { // y −= ly · Adam(∇_y g)
		a.draw = w.Draw(dsbo.Lower, t)
		if w.average("gradients", a.g, a.term.lowerGrad); w.err == nil {
			adamStep(a.adam, k*a.T+t, a.schedules["ly"](k), a.y, a.ry, a.vy, a.g)
		}
	}
	if a.holdsX(k) {
		return
	}
	a.draw, a.products = w.Draw(dsbo.Upper, 0), w.Draw(dsbo.Curvature, 0)
	if a.All {
		a.draw, a.products = allExamples, allExamples
	}
	w.average("validation gradients", a.g, a.term.upperGrad)                 // ∇_y f
	a.solve(w)                                                               // z += solve(∇_y f − (H + μ) z)
	if w.average("hypergradient", a.u, a.term.hypergradient); w.err == nil { // u = ∇_x f − J z
		adamStep(a.adam, k-a.Wait, a.schedules["lr"](k), a.x, a.rx, a.vx, a.u) // x's step number k − Wait
		clipTo(a.Clip, a.x)
	}
}

// product sets hs to (H + μ) v on the iteration's draw.
func (a *AdamCG) product(w *Turn, v []float64) {
	a.along = v
	w.average("products with the Hessian", a.hs, a.term.product)
	linalg.Axpy(a.hs, a.Mu, v)
	a.asked[w.k]++
}

// solve takes up to N steps of conjugate gradients from z towards the solution of (H + μ) z = g.
// The H of a network may have negative eigenvalues. Along a direction whose curvature is not
// positive, or NaN, the quadratic has no minimum, so solve ends there and keeps z.
func (a *AdamCG) solve(w *Turn) {
	a.asked[w.k] = 0 // not 0 if a failed iteration is run again
	a.product(w, a.z)
	if w.err != nil {
		return
	}
	linalg.Sub(a.g, a.g, a.hs) // the residual
	cg := linalg.CG{V: a.z, R: a.g, D: a.s, HD: a.hs}
	cg.Start()
	for t := 0; t < a.N && cg.RR != 0; t++ {
		if a.product(w, a.s); w.err != nil {
			return
		}
		if curvature := cg.Curvature(); curvature > 0 {
			cg.Step(curvature)
		} else {
			return
		}
	}
}
