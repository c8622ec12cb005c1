package algo

// SRBA is SRBA (Dagréou, Moreau, Vaiter, Ablin, "A Lower Bound and a Near-Optimal Algorithm for
// Bilevel Empirical Risk Minimization", AISTATS 2024), for one agent: [SOBA] whose directions D are
// moved by differences (SARAH), and taken of all examples now and then.
//
//	D = (∇_x f − J z, ∇_y g, Hz − b): of all examples every period-th iteration, from 0 on,
//	else D += D(now; draw) − D(point before; same draw)
//	(x, y, z) −= (α D_x, β D_y, γ D_z)
//
// The lines are certain, from public code. With refresh, a 0 or 1 for each iteration whether all
// examples are taken, it is SPABA (Chu et al., ICML 2024) with a repeatable coin. It converges
// exactly with constant steps. Draws, at both points: {Lower, k, 0}, {Upper, k, 0}, and {Curvature,
// k, 0} for both products.
type SRBA struct {
	Alpha  Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta   Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma  Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z
	Period int      `json:"period,omitzero" default:"10"` // iterations from one D of all examples to the next
	// in place of period: 1 or 0 for each iteration, 1 first; over and over
	Refresh []int `json:"refresh,omitempty"`

	tripleState
	d, before triple // D; x, y and z of the iteration before
	now, past triple // directions on the draw, at the present x, y and z and at before
}

// Init implements [Method].
func (a *SRBA) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		for i, r := range a.Refresh {
			c.require(r == 1 || r == 0 && i > 0, "refresh", "a list of 0 and 1 that begins with 1", a.Refresh)
		}
		a.d, a.before = a.carriedTriple("direction"), a.carriedTriple("before")
		a.u = a.d.x
		a.now, a.past = a.newTriple(), a.newTriple()
	})
}

// Traits implements [Described].
func (a *SRBA) Traits() Traits { return a.traits(Traits{OneAgent: true}) }

// whole reports whether iteration k takes all examples.
func (a *SRBA) whole(k int) bool {
	if n := len(a.Refresh); n > 0 {
		return a.Refresh[k%n] == 1
	}
	return k%a.Period == 0
}

// Cost of an iteration: nothing is sent; two gradients of f and of g, two Hessian- and two
// Jacobian-vector products, or one of each where all examples are taken.
func (a *SRBA) Cost(k int) Cost {
	if a.whole(k) {
		return Cost{Calls: directionCalls(1)}
	}
	return Cost{Calls: directionCalls(2)}
}

// step is one outer iteration. D is computed on all examples, or updated by the difference of the
// directions on one draw at the present x, y and z and at the last ones.
func (a *SRBA) step(w *Turn, k int) {
	if a.whole(k) {
		a.directions(w, a.d, a.point, wholeDraws)
	} else {
		a.directions(w, a.now, a.point, drawsOf(k))
		a.directions(w, a.past, a.before, drawsOf(k))
		a.d.addDifference(a.now, a.past)
	}
	copy(a.before.all, a.point.all)
	a.descend(a.d, k)
}
