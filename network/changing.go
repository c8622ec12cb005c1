package network

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"dsbo"
)

// changing mixing has other weights in each iteration, over the edges of the matrix.
type changing interface {
	Mixing
	// weights appends the weights with which agent i of m combines what it and its neighbours send
	// in iteration k, in the order of its row, to pull or to push.
	weights(dst []Weight, m *Matrix, i int, seed uint64, k int, push bool) []Weight
}

// IsChanging reports whether the weights of a mixing change from iteration to iteration.
func IsChanging(x Mixing) bool {
	_, ok := x.(changing)
	return ok
}

// weightStream keeps the draws of weights apart from other uses of the same seed.
const weightStream = 0x77656967687473

// edgeDraw returns the draw of an edge in iteration k: random bits by name.
func edgeDraw(seed uint64, k, i, j int) uint64 {
	return newDraws(seed, weightStream, uint64(k), uint64(min(i, j))).bits(max(i, j))
}

// Failing mixing loses each edge in each iteration with a probability, by draws that have names.
// The weight of an edge that fails stays with its two ends, so that weights are doubly stochastic
// still. Messages travel all the same, and are left aside.
type Failing struct {
	changingEdges
	Probability float64
}

func (x Failing) String() string { return fmt.Sprintf("failing:%v", x.Probability) }

// weights gives agent i's own weight the weights of the edges that fail in iteration k, so rows sum
// to 1. A matrix has all diagonal entries, so row i has that weight. Both ends draw the same number
// for an edge, in [0, 1) with the 53 bits of a float64. Weights are symmetric, and the same to pull
// and to push.
func (x Failing) weights(dst []Weight, m *Matrix, i int, seed uint64, k int, _ bool) []Weight {
	self, lost := len(dst), 0.0
	for _, w := range m.rows[i] {
		if w.Agent == i {
			self = len(dst)
		} else if draw := float64(edgeDraw(seed, k, i, w.Agent)>>11) * 0x1p-53; draw < x.Probability {
			lost += w.Weight
			w.Weight = 0
		}
		dst = append(dst, w)
	}
	dst[self].Weight += lost
	return dst
}

// Matchings mixing takes pairs of neighbours in each iteration, as many as fit, by draws that have
// names, and averages each pair; who finds no neighbour free keeps its vector. Messages travel over
// all edges, and are left aside but for the pair's.
type Matchings struct{ changingEdges }

func (Matchings) String() string { return "matchings" }

// weights pairs agents by edges in the order of iteration k's draws, skipping those with a paired
// end. All agents compute the same pairs: of equal draws the lower edge comes first.
func (Matchings) weights(dst []Weight, m *Matrix, i int, seed uint64, k int, _ bool) []Weight {
	type edge struct {
		draw uint64
		ends [2]int
	}
	var edges []edge
	for _, e := range m.Edges() {
		edges = append(edges, edge{edgeDraw(seed, k, e[0], e[1]), e})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.draw, b.draw) })
	partner, taken := i, make([]bool, m.N())
	for _, e := range edges {
		a, b := e.ends[0], e.ends[1]
		if taken[a] || taken[b] {
			continue
		}
		taken[a], taken[b] = true, true
		if a == i || b == i {
			partner = a + b - i // the other end
		}
	}
	for _, w := range m.rows[i] {
		w.Weight = 0
		switch {
		case w.Agent == i && partner == i:
			w.Weight = 1
		case w.Agent == i || w.Agent == partner:
			w.Weight = 0.5
		}
		dst = append(dst, w)
	}
	return dst
}

// changingEdges are what mixings with weights that are drawn have alike.
type changingEdges struct{}

// check refuses a server, which has no edges that could change.
func (changingEdges) check(m *Matrix) error {
	if m.server {
		return dsbo.ConfigErrorf("weights cannot change on graph server, where a server sums; take graph complete")
	}
	return nil
}

func parseFailing(text string) (Mixing, error) {
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p > 0 && p < 1) {
		return nil, dsbo.ConfigErrorf(
			"mixing failing:p must have the probability p with which an edge fails, between 0 and 1; it is %q", text)
	}
	return Failing{Probability: p}, nil
}
