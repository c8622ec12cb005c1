package network

import (
	"fmt"
	"math"
	"slices"

	"dsbo/internal/linalg"
)

// Clipped mixing is ClippedGossip (He, Karimireddy, Jaggi: "Byzantine-Robust Decentralized Learning
// via ClippedGossip", arXiv:2202.01545, 2022), by whole vectors: an agent i takes a neighbour's
// vector for one that is no farther from its own than a radius τ_i,
//
//	x_i ← x_i + Σ_j w_ij s_j (x_j − x_i),   s_j = min(1, τ_i/‖x_j − x_i‖).
//
// A liar thus moves an agent by w_ij τ_i at most in one exchange. The paper's radius, of the honest
// neighbours' mean square distance over the liars' weight, takes knowing who is honest. Here τ_i is
// the (b+1)-th largest distance of a neighbour, as the authors' code has it for b = 1: at most b
// neighbours are clipped, to where an honest one may be. It shrinks as agents agree, and needs no
// number from the user. A vector at no finite distance counts as the agent's own.
//
// The paper promises convergence to a neighbourhood of a stationary point, O(δ ζ²/γ²) in the
// squared gradient, with the liars' weight δ, the spread ζ² of the agents' gradients and the
// spectral gap γ, where δ is small against γ²: it is for well-connected graphs.
type Clipped struct{ Liars int }

func (x Clipped) String() string { return fmt.Sprintf("clipped:%d", x.Liars) }
func (x Clipped) liars() int     { return x.Liars }

func (Clipped) check(*Matrix, func(int) int) error { return nil }

// combine implements Mixing: a plain sum with weights w_ij s_j, and what they leave of 1 for the
// agent itself.
func (x Clipped) combine(c *Combiner, dst []float64, in [][]float64) {
	radius, rest := x.radius(c, in), 1.0
	for k, w := range c.row {
		if k == c.self {
			continue
		}
		switch d := c.distances[k]; {
		case math.IsInf(d, 1):
			w.Weight, in[k] = 0, in[c.self]
		case d > radius:
			w.Weight *= radius / d
		}
		c.weights[k] = w
		rest -= w.Weight
	}
	c.weights[c.self] = Weight{c.row[c.self].Agent, rest}
	Combine(dst, c.weights, in)
}

// radius sets c.distances of the neighbours and returns τ, the (Liars+1)-th largest of them. A
// vector that is not finite is at distance +Inf.
func (x Clipped) radius(c *Combiner, in [][]float64) float64 {
	s := c.sorted[:0]
	for k := range in {
		if k == c.self {
			continue
		}
		d := math.Sqrt(linalg.Dist2(in[k], in[c.self]))
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		c.distances[k] = d
		s = append(s, d)
	}
	slices.Sort(s)
	return s[len(s)-1-x.Liars]
}
