package algo

import "math"

// FedBiOAcc is FedBiOAcc (Li, Huang, Huang, "Communication-Efficient Federated Bilevel Optimization
// with Global and Local Lower Level Problems", NeurIPS 2023), for the global lower problem. The
// mixer must be the exact average (the complete graph with weights 1/n), written avg. An iteration
// is a local step; D = (∇_x f − J z, ∇_y g, Hz − b), at the start V = D:
//
//	v⁻ = (x, y, z) − a_k (α V_x, β V_y, γ V_z);  every I-th iteration v⁻ = avg(v⁻)
//	V = D(v⁻; draw k+1) + (1 − c a_k²)(V − D(v; draw k+1));  every I-th iteration V = avg(V)
//
// Its structure is certain: z solves a quadratic problem, STORM, local steps; the lines are from
// memory, with medium to high certainty. With c a² = 1 it is FedBiO. Where agents differ it stops
// off the solution by the order of c. Draws, at both points: {Lower, k+1, 0}, {Upper, k+1, 0}, and
// {Curvature, k+1, 0} for both products, at the start k = 0.
type FedBiOAcc struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z
	I     int      `json:"I,omitzero" default:"5"`       // local steps from one average to the next
	At    Schedule `json:"at,omitzero" default:"1"`      // a_k
	Cx    float64  `json:"cx,omitzero" default:"0.2"`    // c of x, c a_k² in (0, 1]
	Cy    float64  `json:"cy,omitzero" default:"0.2"`    // c of y likewise
	Cz    float64  `json:"cz,omitzero" default:"0.2"`    // c of z likewise

	tripleState
	v, before triple // V; x, y and z before this iteration's step
	d, past   triple // D after the step, and before it on the same draw
}

// Init implements [Method].
func (a *FedBiOAcc) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		bound := math.Sqrt(1 / max(a.Cx, a.Cy, a.Cz))
		c.schedule("at", a.At, "positive, and its square at most 1/cx, 1/cy and 1/cz",
			func(v float64) bool { return v > 0 && v <= bound })
		a.v = a.carriedTriple("estimate")
		a.before, a.d, a.past = a.newTriple(), a.directionTriple(), a.newTriple()
	})
}

// Traits implements [Described].
func (a *FedBiOAcc) Traits() Traits { return a.serverTraits(1) }

// Cost of an iteration: two directions, three in the first. One that ends a round sends 2p + 4q
// numbers up, and as many come down, in two exchanges; others send nothing.
func (a *FedBiOAcc) Cost(k int) Cost {
	cost := Cost{Calls: directionCalls(2)}
	if k == 0 {
		cost.Calls = directionCalls(3)
	}
	if (k+1)%a.I == 0 {
		cost.Floats, cost.Messages = 2*len(a.v.all), 2
	}
	return cost
}

// step is one outer iteration.
func (a *FedBiOAcc) step(w *Turn, k int) {
	at := a.schedules["at"](k) // a_k
	if k == 0 {
		a.directions(w, a.v, a.point, drawsOf(0))
	}
	copy(a.before.all, a.point.all)
	a.point.descend(a.v, at*a.alpha(k), at*a.beta(k), at*a.gamma(k))
	a.average(w, a.point)
	a.directions(w, a.d, a.point, drawsOf(k+1))
	a.directions(w, a.past, a.before, drawsOf(k+1))
	square := float64(at * at)
	storm(a.v.x, a.v.x, a.d.x, a.past.x, float64(a.Cx*square))
	storm(a.v.y, a.v.y, a.d.y, a.past.y, float64(a.Cy*square))
	storm(a.v.z, a.v.z, a.d.z, a.past.z, float64(a.Cz*square))
	a.average(w, a.v)
}

// average averages v in iterations that end a round.
func (a *FedBiOAcc) average(w *Turn, v triple) {
	if (w.k+1)%a.I == 0 {
		w.Mix(v.all, v.all)
	}
}
