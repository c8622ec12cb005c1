package network

import (
	"fmt"
	"slices"
)

// Trimmed mixing is the screening of BRIDGE-T (Fang, Yang, Bajwa: "BRIDGE: Byzantine-Resilient
// Decentralized Gradient Descent", IEEE Transactions on Signal and Information Processing over
// Networks 8, 2022; arXiv:1908.08098): of each entry an agent leaves out the b largest and the b
// smallest numbers of its neighbours, and averages the rest with its own, with equal weights,
//
//	x_i ← (x_i + Σ_{j kept} x_j) / (d_i − 2b + 1),   d_i neighbours.
//
// Every number that is kept is between the numbers of honest agents. The weights of W do
// not matter.
//
// The paper promises, for strongly convex losses and near some minima of others, that honest agents
// agree and come to within an error of the minimizer of the expected loss that shrinks as their
// examples grow in number, where all draw from one law and the graph is so well connected that
// honest agents are led to agree however b of each one's edges are dropped: the complete graph of n
// > 3b agents is. On graphs with small cuts, such as a hypercube of 8, agents may never agree, even
// without a liar; [Matrix.WithMixing] finds that.
type Trimmed struct{ Liars int }

func (x Trimmed) String() string { return fmt.Sprintf("trimmed:%d", x.Liars) }
func (x Trimmed) liars() int     { return x.Liars }

func (x Trimmed) check(m *Matrix, name func(int) int) error { return m.checkAgreement(x, name) }

// combine implements Mixing. What is no number (NaN) counts as the smallest.
func (x Trimmed) combine(c *Combiner, dst []float64, in [][]float64) {
	b, share := x.Liars, 1/float64(len(in)-2*x.Liars)
	for e := range dst {
		s := c.sorted[:0]
		for k, v := range in {
			if k != c.self {
				s = append(s, v[e])
			}
		}
		slices.Sort(s)
		sum := in[c.self][e]
		for _, v := range s[b : len(s)-b] {
			sum += v
		}
		dst[e] = share * sum
	}
}
