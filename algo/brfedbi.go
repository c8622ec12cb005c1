package algo

import (
	"fmt"
	"slices"

	"dsbo/internal/linalg"
)

// BRFedBi is BR-FedBi and, with momentum, BR-FedBiM (ICLR 2026): a server that combines the
// directions of its clients robustly, as some may lie. The graph must be the complete one.
//
//	D = (∇_x f − J z, ∇_y g, Hz − b);  m ← μ m + (1−μ) D, at the start D
//	(x, y, z) −= (α, β, γ) · AGG(m), entry by entry;  z to the ball
//
// AGG is the mean, the median, or the mean without the f largest and the f smallest. Known with
// medium to high certainty, from a summary that quotes every line; the form of the momentum is our
// reading, and so is what liars do: they send m times minus attack. Where agents are alike medians
// and trimmed means are exact, where they differ an error stays, as the paper proves it must, the
// smaller one with trimmed means. Draws: {Lower, k, 0}, {Upper, k, 0}, and {Curvature, k, 0} for
// both products.
type BRFedBi struct {
	Alpha  Schedule    `json:"alpha,omitzero" default:"0.1"`    // α, step of x
	Beta   Schedule    `json:"beta,omitzero" default:"0.1"`     // β, step of y
	Gamma  Schedule    `json:"gamma,omitzero" default:"0.1"`    // γ, step of z
	Agg    aggregation `json:"agg,omitzero"`                    // AGG; default the mean
	Mom    float64     `json:"mom,omitzero" must:"in [0, 1)"`   // μ, momentum
	Ball   float64     `json:"ball,omitzero" must:"at least 0"` // radius of the ball of z; 0: there is none
	Byz    []int       `json:"byz,omitempty"`                   // agents that lie, to try what that does
	Attack float64     `json:"attack,omitzero" default:"1"`     // what liars multiply by, with the other sign

	tripleState
	d, m, out triple                              // D, m, and what is sent, then AGG
	combine   func(dst []float64, in [][]float64) // AGG
}

// Init implements [Method].
func (a *BRFedBi) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.m = a.carriedTriple("momentum")
		a.d, a.out = a.directionTriple(), a.newTriple()
		a.combine = a.Agg.combine
	})
}

// Traits implements [Described].
func (a *BRFedBi) Traits() Traits { return a.serverTraits(1) }

// Cost of an iteration: p + 2q numbers up, and as many down, in one exchange; one direction.
func (a *BRFedBi) Cost(int) Cost {
	return Cost{Floats: len(a.d.all), Messages: 1, Calls: directionCalls(1)}
}

// step is one outer iteration.
func (a *BRFedBi) step(w *Turn, k int) {
	agent, agents := agentAndCount(w) // which Init does not know
	if err := a.Agg.fits(agents); err != nil && w.err == nil {
		w.err = fmt.Errorf("brfedbi: %w", err)
	}
	a.directions(w, a.d, a.point, drawsOf(k))
	if k == 0 {
		copy(a.m.all, a.d.all) // m starts as D
	}
	linalg.Comb(a.m.all, a.Mom, a.m.all, 1-a.Mom, a.d.all)
	copy(a.out.all, a.m.all)
	if slices.Contains(a.Byz, agent) { // a liar sends −attack·m
		linalg.Scale(a.out.all, -a.Attack, a.m.all)
	}
	mixCombined(w, a.out.all, a.out.all, a.combine)
	a.descend(a.out, k)
	project(a.z, a.Ball)
}
