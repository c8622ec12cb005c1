package algo

import "dsbo/internal/linalg"

// FedMSA is FedMSA for bilevel problems (Tarzanagh, Li, Sharma, Oymak, "Federated Multi-Sequence
// Stochastic Approximation with Local Hypergradient Estimation", ICML 2023). The mixer must be the
// exact average (the complete graph with weights 1/n), written avg. v = (x, y, z) is the server's:
//
//	D = (∇_x f − J z, ∇_y g, Hz − b);  h = avg(D + (1−ρ)(h − D(point before; draw of now)))
//	each client from v, with h_i = h: τ times v_i −= steps · h_i,  h_i = h + D(v_i) − D(v)
//	v = mean of the clients' v_i
//
// The lines are certain, from public code, but for two readings of ours: z starts at 0, not at a
// Neumann sum, and the momentum asks the draw of now at the point before, where the code keeps what
// it stored. It is exact with local steps and unlike agents. Draws, at all points: {Lower, k, 0},
// {Upper, k, 0}, and {Curvature, k, 0} for both products.
type FedMSA struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"`                // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`                 // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"`                // γ, step of z
	Tau   int      `json:"tau,omitzero" default:"1"`                    // τ, local steps
	Rho   float64  `json:"rho,omitzero" default:"0.5" must:"in (0, 1]"` // ρ, weight of the fresh estimate
	// who takes local steps, a list an iteration, over and over; all
	Clients [][]int `json:"clients,omitempty"`

	tripleState
	h, before  triple // h; the server's v of the iteration before
	d, now     triple // D(v); D(v_i), and for h D at before
	local, out triple // v_i; the vector to send, and in localSteps a direction
	work       work   // how many directions D this agent computed
}

// Init implements [Method].
func (a *FedMSA) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.h, a.before = a.carriedTriple("estimate"), a.carriedTriple("before")
		a.d, a.now, a.local, a.out = a.directionTriple(), a.newTriple(), a.newTriple(), a.newTriple()
		a.work = work{}
	})
}

// Traits implements [Described].
func (a *FedMSA) Traits() Traits { return a.serverTraits(float64(max(a.Tau, 1))) }

// Cost of an iteration: 2p + 4q numbers up, and as many down, in two exchanges; τ directions for a
// client that takes local steps, 1 for another, and one more with momentum from the second
// iteration on. Who does not take part sends zeros.
func (a *FedMSA) Cost(k int) Cost {
	most := a.Tau
	if k > 0 && a.Rho < 1 {
		most++
	}
	return Cost{Floats: 2 * len(a.h.all), Messages: 2, Calls: directionCalls(a.work.in(k, most))}
}

// step is one outer iteration.
func (a *FedMSA) step(w *Turn, k int) {
	a.work = work{next: k + 1, asked: 1}
	a.directions(w, a.d, a.point, drawsOf(k))
	copy(a.out.all, a.d.all)
	if k > 0 && a.Rho < 1 {
		a.directions(w, a.now, a.before, drawsOf(k))
		storm(a.out.all, a.h.all, a.d.all, a.now.all, a.Rho)
		a.work.asked++
	}
	w.Mix(a.h.all, a.out.all)
	copy(a.before.all, a.point.all)

	share := clientShare(w, a.Clients)
	copy(a.local.all, a.point.all)
	if share > 0 {
		a.localSteps(w)
	}
	linalg.Scale(a.out.all, share, a.local.all)
	w.Mix(a.point.all, a.out.all)
}

// localSteps takes a client's τ steps from the server's v: the first along h, as v_i = v there, the
// others along a.out = h + D(v_i) − D(v).
func (a *FedMSA) localSteps(w *Turn) {
	k := w.k
	a.local.descend(a.h, a.alpha(k), a.beta(k), a.gamma(k)) // at v itself h_i is h
	for range w.steps(a.Tau - 1) {
		a.directions(w, a.now, a.local, drawsOf(k))
		a.work.asked++
		copy(a.out.all, a.h.all)
		a.out.addDifference(a.now, a.d)
		a.local.descend(a.out, a.alpha(k), a.beta(k), a.gamma(k))
	}
}
