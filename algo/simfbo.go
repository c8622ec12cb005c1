package algo

import (
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
)

// SimFBO is SimFBO and, with shro, ShroFBO (Yang, Xiao, Ji, "SimFBO: Towards Simple, Flexible and
// Communication-efficient Federated Bilevel Learning", NeurIPS 2023). The mixer must be the exact
// average (the complete graph with weights 1/n). D = (∇_x f − J z, ∇_y g, Hz − b):
//
//	client i: τ_i local steps (x, y, z) −= (e_x D_x, e_y D_y, e_z D_z);  q_i = Σ of its D
//	          (shro: divided by τ_i)
//	server:   (x, y, z) −= (α, β, γ) · mean of the clients' q_i;  z to the ball
//
// One round an iteration, three variables at once and the server's step are certain; the lines are
// from memory, with medium to high certainty. With unequal τ_i SimFBO solves the problem weighted
// by τ_i, ShroFBO the right one, both up to the order of the local steps. Draws of all local steps:
// {Lower, k, 0}, {Upper, k, 0}, and {Curvature, k, 0} for both products.
type SimFBO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"`    // α, the server's step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`     // β, its step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"`    // γ, its step of z
	Tau   counts   `json:"tau,omitempty" default:"1"`       // τ, local steps: one number, or one for each agent
	Ex    float64  `json:"ex,omitzero" default:"0.01"`      // e_x, local step of x
	Ey    float64  `json:"ey,omitzero" default:"0.01"`      // e_y, local step of y
	Ez    float64  `json:"ez,omitzero" default:"0.01"`      // e_z, local step of z
	Shro  bool     `json:"shro,omitzero"`                   // ShroFBO
	Ball  float64  `json:"ball,omitzero" must:"at least 0"` // radius of the ball of z; 0: there is none
	// who takes part, a list an iteration, over and over; all
	Clients [][]int `json:"clients,omitempty"`

	tripleState
	local, d, sum triple // the client's x, y and z, then the mean of q; D; q
	work          work   // how many directions D this agent computed
}

// Init implements [Method].
func (a *SimFBO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		c.require(slices.Min(a.Tau) >= 1, "tau", "at least 1", a.Tau)
		a.local, a.d, a.sum = a.newTriple(), a.directionTriple(), a.newTriple()
		a.work = work{}
	})
}

// Traits implements [Described].
func (a *SimFBO) Traits() Traits {
	if a.Shro || len(a.Tau) == 0 {
		return a.serverTraits(1)
	}
	return a.serverTraits(float64(slices.Max(a.Tau)))
}

// Cost of an iteration: p + 2q numbers up, and as many down, in one exchange; τ_i directions for a
// client that takes part. Who does not sends zeros.
func (a *SimFBO) Cost(k int) Cost {
	return Cost{Floats: len(a.d.all), Messages: 1, Calls: directionCalls(a.work.in(k, slices.Max(a.Tau)))}
}

// tau returns the agent's number of local steps.
func (a *SimFBO) tau(w *Turn) int {
	if len(a.Tau) == 1 {
		return a.Tau[0]
	}
	agent, agents := agentAndCount(w)
	if len(a.Tau) != agents && w.err == nil {
		w.err = dsbo.ConfigErrorf("simfbo: tau must have one number, or one for each of %d agents; it has %d",
			agents, len(a.Tau))
	}
	return a.Tau[min(agent, len(a.Tau)-1)] // in range even after that error
}

// step is one outer iteration.
func (a *SimFBO) step(w *Turn, k int) {
	share, tau := clientShare(w, a.Clients), a.tau(w)
	a.work = work{next: k + 1}
	clear(a.sum.all)
	copy(a.local.all, a.point.all)
	for t := 0; t < tau && share > 0 && w.err == nil; t++ {
		a.directions(w, a.d, a.local, drawsOf(k))
		a.work.asked++
		linalg.Add(a.sum.all, a.sum.all, a.d.all)
		a.local.descend(a.d, a.Ex, a.Ey, a.Ez)
	}
	if a.Shro {
		share /= float64(tau)
	}
	linalg.Scale(a.sum.all, share, a.sum.all)
	w.Mix(a.local.all, a.sum.all)
	a.descend(a.local, k)
	project(a.z, a.Ball)
}
