package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// NewtonCG is a method of our own: full batches, exact averages over all agents, and no step size
// of y or z. An iteration is
//
//	y −= solve(∇_y g(x, y)),  z += solve(∇_y f(x, y) − H z),  u = ∇_x f − J z;
//	x by Adam along u, clipped
//
// where gradients and products are averages over the agents, and solve(r) is C products of
// conjugate gradients on H s = r. H is D + diag(P(x)), data and penalty; D is preconditioned by the
// pairs (v, D v) of earlier solves and its diagonal ([linalg.Memory]), so that a few products are
// enough. Only the terms of averages differ between agents, so all agents have the same x, y and z.
// The number of products is fixed, or with Most a function of equal bits, so agents cannot disagree
// about the next exchange.
//
// Its parts are known: inexact Newton steps by conjugate gradients (Dembo, Eisenstat, Steihaug
// 1982), limited-memory preconditioners from the products of earlier solves (Morales, Nocedal 2000)
// in Nyström's form (Frangella, Tropp, Udell 2023), approximate implicit differentiation (AID:
// Pedregosa 2016; Grazzi et al. 2020), Adam (Kingma, Ba 2015).
//
// Of [dsbo.OracleCapabilities] the oracle should have Penalty, the penalty's part of H (else P = 0,
// and a search for the start is not possible), and Diagonal, the diagonal of H (else four products
// with random signs estimate it). The memory of pairs has 3·Mem·q numbers an agent, 2·Mem·q of them
// in a checkpoint.
//
// A full Newton step may lead away from the solution. A step of y goes by the share at which the
// averaged lower loss is least, as with Damping, in the first iteration after members changed, when
// y is the solution of another problem, and once a step was too long, as the gain of the next one
// shows. There x and y go back by a step, and from then on x waits for y.
//
// The mixer must have Average of [dsbo.MixerCapabilities]. Draws: all examples, but with Part.
type NewtonCG struct {
	C    int `json:"c,omitzero" default:"4"`    // products of a solve
	Cold int `json:"cold,omitzero" default:"8"` // products of each of the three solves of iteration 0
	// Most, if it is more than C or Cold, extends a solve to at most this number of products, until
	// r'M⁻¹r, with the residual r and the preconditioner M, has fallen to reach times its start; 1:
	// no extension. All agents have the same bits, so they stop at the same product.
	Most int      `json:"most,omitzero" default:"8"`
	Mem  int      `json:"mem,omitzero" default:"60" must:"from 1 to 120"` // pairs kept
	Lr   Schedule `json:"lr,omitzero" default:"0.8*(1-k/K)"`              // step of x

	Beta1 float64 `json:"beta1,omitzero" default:"0.5" must:"in (0, 1)"` // Adam's weight of the average of u
	// lo and hi, the box of x after each step
	Clip    []float64 `json:"clip,omitempty" default:"[-14, 12]"`
	DgEvery int       `json:"dg_every,omitzero" default:"2"` // the diagonal is renewed where it divides k+1

	// Start is the start of x: "search", the default, tries constants until f no longer falls; "x0"
	// leaves x as it was set.
	Start     string `json:"init,omitzero" must:"one of search, x0"`
	Constants int    `json:"constants,omitzero" default:"16"` // the most constants that a search tries

	// eigenvalues of the pairs up to cut times the largest are left out
	Cut float64 `json:"cut,omitzero" default:"1e-3" must:"in (0, 1]"`
	// Absolute keeps the pairs as they are, and not relative to the diagonal of their time
	// ([linalg.Memory]). Relative pairs age less: as λ falls, a data part D that shrinks as its
	// diagonal does makes no pair stale. They want the diagonal renewed often.
	Absolute bool `json:"absolute,omitzero"`

	// Part takes the products of each solve on a draw of its own, {Curvature, k, t} for the t-th
	// solve of iteration k, for data that are too large for full batches; gradients and diagonals
	// stay on all examples. A draw must be several times what the features need: on MNIST a quarter
	// of 3750 examples an agent does, and a quarter of 250 diverges. A little Damping, 0.01, keeps
	// y nearer. Default: all examples.
	Part bool `json:"part,omitzero"`

	// Damping is for lower problems that are not convex, such as networks. Where it is positive, it
	// is the first μ of solves of H + μ diag |dg| in place of H; of a step of y the share is taken
	// at which the averaged lower loss is least, x takes the same share of its step, a sixteenth at
	// least, and μ follows. It costs an average of four numbers and four values a step of y. Before
	// x moves, y takes such steps until the lower loss has settled, at each constant of a search
	// too. Default 0: none.
	Damping float64 `json:"damping,omitzero" must:"at least 0"`

	methodState
	asked  productLog     // number of products in each iteration so far
	memory *linalg.Memory // the pairs, and the solver that uses them
	term   newtonTerms    // the terms of its averages, named once
	along  []float64      // v of the product under way

	cold     bool        // there are no pairs: it is iteration 0, or the first one since members changed
	examples dsbo.Sample // of the products of the present solve
	solves   int         // of the present iteration so far

	r, v             []float64 // Adam's averages of u and u²
	e, dg, damped    []float64 // P(x), the averaged diagonal of D, and P(x) + μ |dg|
	rhs, s           []float64 // of a solve: the right-hand side, which becomes the residual; the solution
	yOld, dgOld      []float64 // y and dg of the constant before, in a search
	overshoot        overshoot // of steps of y; with Damping it stays empty
	xBefore, yBefore []float64 // x and y before the last step of y
	mu               []float64 // the damping, one number
	trial, losses    []float64 // scratch; the lower losses after each share of a damped step
	share            float64   // of the last step of y that was taken
	fall             float64   // by how much the averaged lower loss fell in that step
	// tried has four counts of the search: the constants tried, the constant found, the steps in
	// which y settled, and the diagonals among these.
	tried  []float64
	number []float64 // a message of one number
	vote   float64   // this agent's vote: 1 for yes, 0 for no
}

// Traits implements [Described].
func (a *NewtonCG) Traits() Traits {
	t := a.traits(Traits{Pairs: a.memory, Adapt: a.adapt,
		StartConstant: func() (float64, bool) { return a.tried[1], a.tried[0] > 0 }})
	if !a.Part {
		t.FullBatch = "-set part=true takes products on draws"
	}
	return t
}

const (
	reach = 0.9  // of r'M⁻¹r, the share at which an extended solve ends
	beta2 = 0.95 // Adam's weight of the average of u²
	drop  = 0.85 // a search continues while f falls by a share 1 − drop of the size of the last f
	floor = 0.02 // least remainder of the diagonal of D beside the pairs, as a share of it
)

// networkDamping is the first damping where the lower problem is not convex.
const networkDamping = 1

// adapt damps steps if the lower problem is not convex. It drops the search for x's start if the
// start is known, or if the oracles have no penalties, which the search needs. The result is true
// only for the lack of penalties.
func (a *NewtonCG) adapt(s Setting) (gaveUpSearch bool) {
	if s.Nonconvex && !s.Given("damping") {
		a.Damping = networkDamping
	}
	if a.Start == "x0" || s.Given("init") || !s.StartKnown && s.Penalties {
		return false
	}
	a.Start = "x0"
	return !s.Penalties
}

// allExamples is the draw of all examples of an agent.
var allExamples = dsbo.Sample{Set: dsbo.Whole}

// Init implements [Method].
func (a *NewtonCG) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		if !c.countable() {
			return
		}
		a.z, a.r, a.v = a.carried("z", q), a.carried("r", p), a.carried("v", p)
		a.dg, a.tried, a.mu = a.carried("diagonal", q), a.carried("tried", 4), a.carried("damping", 1)
		a.asked, a.overshoot = a.carried("products", K), a.carried("overshoot", overshootNumbers)
		a.xBefore, a.yBefore = a.carried("x_before", p), a.carried("y_before", q)
		a.memory = linalg.NewMemory(q, a.Mem, floor, a.Cut)
		a.memory.Relative = !a.Absolute
		s, t, gram, counts := a.memory.State()
		a.named = append(a.named, dsbo.Named{Name: "pairs_v", Value: s}, dsbo.Named{Name: "pairs_dv", Value: t},
			dsbo.Named{Name: "pairs_gram", Value: gram}, dsbo.Named{Name: "pairs_counts", Value: counts})
		a.averagesTerms()
		a.restarts(s, t, gram, counts) // pairs hold products with the old members' average Hessian
		a.restarts(a.overshoot)        // gains are of the old members' lower problem
		a.scratch(q, &a.e, &a.rhs, &a.s)
		a.scratch(1, &a.number)
		a.scratch(q, &a.damped, &a.trial)
		a.scratch(len(dampedShares), &a.losses)
		a.scratch(q, &a.yOld, &a.dgOld)
		a.term = a.newTerms()
	})
}

// step is one outer iteration, line by line as in the type's comment.
func (a *NewtonCG) step(w *Turn, k int) {
	a.asked.begin(k)
	a.solves = 0
	if k == 0 {
		a.findStart(w)
	}
	products := a.C
	a.cold = k == 0 || a.memory.Pairs() == 0
	a.splitHessian(w) // H = D + diag(e)
	if a.cold {       // a step of y more
		products = a.Cold
		a.stepOfY(w, products, k > 0)
	}
	gain := a.stepOfY(w, products, !a.cold && a.renews(k)) // y −= solve(∇_y g)
	a.stepOfZ(w, products)                                 // z += solve(∇_y f − H z), and ∇_x f in u
	w.average("hypergradient", a.u, a.term.hypergradient)  // u = ∇_x f − J z
	if w.err != nil {
		return
	}
	share := max(a.share, leastShare)
	if a.Damping == 0 && k > 0 {
		share = a.overshoot.shareOfX(gain, share)
	}
	adamStep(adam{a.Beta1, beta2, 1e-12}, k, float64(share*a.schedules["lr"](k)), a.x, a.r, a.v, a.u)
	clipTo(a.Clip, a.x)
	if a.cold && k > 0 {
		a.asked.markCold(k)
	}
}

// stepOfY is y −= share · solve(∇_y g(x, y)), with renew after an update of the diagonal. The share
// is 1, except where a full step may be too long, as the type's comment states: there it is the one
// with the least lower loss. It returns the gain of the solve, 0 if y went back.
func (a *NewtonCG) stepOfY(w *Turn, products int, renew bool) (gain float64) {
	if renew {
		w.averageBoth(dsbo.Named{Name: "gradients", Value: a.rhs}, a.term.lowerGrad,
			dsbo.Named{Name: ofDiagonal, Value: a.dg}, a.term.diagonal)
	} else {
		w.average("gradients", a.rhs, a.term.lowerGrad)
	}
	clear(a.s)
	gain = a.solve(w, a.s, products, a.Damping > 0)
	if !a.cold && a.overshoot.found(gain) {
		a.goBack(w)
		return 0
	}
	copy(a.xBefore, a.x)
	copy(a.yBefore, a.y)
	if a.share = 1; a.Damping > 0 || a.cold && w.k > 0 || a.overshoot.past() {
		a.asked.markShorter(w.k)
		a.share = a.dampedShare(w)
	}
	if a.share > 0 { // else s may have entries that are not finite
		linalg.Axpy(a.y, -a.share, a.s)
	}
	return gain
}

// stepOfZ is z += solve(∇_y f(x, y) − H z); its term leaves ∇_x f in u.
func (a *NewtonCG) stepOfZ(w *Turn, products int) {
	w.average("residuals", a.rhs, a.term.adjoint)
	a.solve(w, a.z, products, false)
}

// solve adds an approximate solution of H s = rhs to s, by the given number of products, or by up
// to Most if that is larger; H is damped if Damping is set. With descend, a direction without
// positive curvature ends the solve, after a step along it. If Most sets no limit, solve makes
// exactly the given number of products even where fewer would do, so that Cost knows them
// beforehand. The gain is by how much the squared distance from s to the solution fell, in the norm
// of H: for a step of y, from 0, the square of the Newton decrement.
func (a *NewtonCG) solve(w *Turn, s []float64, products int, descend bool) (gain float64) {
	if w.err != nil {
		return 0
	}
	a.examples = allExamples
	if a.Part {
		a.examples = w.Draw(dsbo.Curvature, a.solves)
		a.solves++
	}
	a.damp()
	var ends func(asked int) bool // nil: the number of products is fixed
	if a.Most > products {
		ends, products = a.endRule(products), a.Most
	}
	c := a.memory.Begin(s, a.rhs, linalg.System{E: a.damped, Diagonal: a.dg, Descend: descend})
	for c.Asked < products && (ends == nil || c.Positive && !ends(c.Asked)) {
		var dst []float64
		dst, a.along = c.Next()
		if w.average("products with the Hessian", dst, a.term.product); w.err != nil {
			break
		}
		c.Advance()
	}
	a.asked.add(w.k, c.Asked)
	return c.Gain
}

// endRule returns the stopping rule of a solve: it ends after at least the given number of
// products, once r'M⁻¹r has fallen to reach times its value at the start, or at once if that is 0.
// The residual r is in a.rhs, which the solve updates.
func (a *NewtonCG) endRule(least int) func(asked int) bool {
	before := 0.0 // r'M⁻¹r at the start
	return func(asked int) bool {
		if 0 < asked && asked < least {
			return false
		}
		a.memory.Precondition(a.trial, a.rhs) // trial is free while a step is solved for
		size := linalg.Dot(a.trial, a.rhs)
		if asked == 0 {
			before = size
			return size == 0
		}
		return size <= float64(reach*before)
	}
}

// splitHessian sets e to P(x), or to 0 if the oracle gives no penalty, and reports which.
func (a *NewtonCG) splitHessian(w *Turn) bool {
	if penalty(w, a.e, a.x) {
		return true
	}
	clear(a.e)
	return false
}

// renewDiagonal sets dg to the averaged diagonal of D, for the e of the present x.
func (a *NewtonCG) renewDiagonal(w *Turn) { w.average(ofDiagonal, a.dg, a.term.diagonal) }

// ofDiagonal is the name of that average.
const ofDiagonal = "diagonal of the Hessian"
