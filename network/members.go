package network

import (
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/network/membership"
)

// Members returns the mixing matrix of an epoch of a run with the roster's matrix m: row and column
// k are the agent e.Members[k]. The matrix of epoch 0 is m itself. The matrices of later epochs
// have Metropolis weights on the edges between members that m or an admission (e.Edges) has and
// that are not cut, moved towards the unit matrix as far as it takes for no agent to give itself
// less weight than the least that one gives itself in m: steps that were chosen for λ_min(W) of a
// lazy m stay stable. A server ([Server]) averages over the members. The members must be a subset
// of the roster, as members of a valid log are. A graph that falls apart is an error that matches
// dsbo.ErrConfig and names the parts, and edges that would join them.
func (m *Matrix) Members(e membership.Epoch) (*Matrix, error) {
	if e.Number == 0 {
		return m, nil
	}
	w, err := m.memberWeights(e)
	if err != nil {
		return nil, err
	}
	if w, err = w.WithMixing(m.Mixing()); err != nil {
		return nil, fmt.Errorf("epoch %d: %w", e.Number, err)
	}
	return w, nil
}

// memberWeights is Members with plain mixing, of a later epoch. Only edges that are not cut count.
func (m *Matrix) memberWeights(e membership.Epoch) (*Matrix, error) {
	if m.server {
		if len(e.Cut) > 0 {
			return nil, dsbo.ConfigErrorf("epoch %d must cut no edges, as the graph is a server; it cuts %v",
				e.Number, e.Cut)
		}
		g, err := Server(len(e.Members))
		if err != nil {
			return nil, err
		}
		return g.W, nil
	}
	roster := m.withEdges(e.Edges)
	edges := edgesWhere(len(e.Members), func(a, b int) bool {
		i, j := e.Members[a], e.Members[b] // j < i
		return roster.has(i, j) && !slices.Contains(e.Cut, [2]int{j, i})
	})
	part := components(len(e.Members), edges.neighbours)
	if slices.Max(part) > 0 {
		return nil, disconnectedError(e, part)
	}
	g, err := edges.graph("members", 0)
	if err != nil {
		return nil, err
	}
	return g.W.asLazyAs(m)
}

// asLazyAs returns (1−t) m + t I with the least t ≥ 0 for which no agent gives itself less weight
// than the least in other.
func (m *Matrix) asLazyAs(other *Matrix) (*Matrix, error) {
	have, want := m.leastSelfWeight(), other.leastSelfWeight()
	if have >= want {
		return m, nil
	}
	factor := (1 - want) / (1 - have) // 1 − t: the agent with the least keeps 1 − (1−t)(1−have) = want
	rows := m.Dense()
	for i, row := range rows {
		others := 0.0
		for j := range row {
			if j != i {
				row[j] = float64(row[j] * factor)
				others += row[j]
			}
		}
		row[i] = 1 - others // so that the row sums to 1 but for rounding
	}
	w, err := NewMatrix(rows)
	if err != nil {
		return nil, err
	}
	return w, w.Validate()
}

func (m *Matrix) leastSelfWeight() float64 {
	least := 1.0
	for i := range m.rows {
		least = min(least, m.At(i, i))
	}
	return least
}

// Giver returns the agent that hands the starting state to an agent joining in epoch e, and the
// source, the agent whose state it is, for the roster's matrix m. A source is a member of the epoch
// before. The giver is the first of the neighbours in e nearest to a source: it is one itself, or
// joins too and passes on the state that it was given.
func (m *Matrix) Giver(before, e membership.Epoch, agent int) (giver, source int, err error) {
	w, err := m.Members(e)
	if err != nil {
		return 0, 0, err
	}
	position, comes := e.Position(agent)
	if !comes || e.StateKept(before, agent) {
		return 0, 0, dsbo.ConfigErrorf("agent %d does not come into epoch %d", agent, e.Number)
	}
	var sources []int
	for k, i := range e.Members {
		if e.StateKept(before, i) {
			sources = append(sources, k)
		}
	}
	if len(sources) == 0 {
		return 0, 0, dsbo.ConfigErrorf("epoch %d must have a member of the epoch before", e.Number)
	}
	depth := w.Distances(sources...)
	nearer := func(k int) int { // the first neighbour of k that is nearer to a source
		neighbours := w.Neighbours(k)
		return neighbours[slices.IndexFunc(neighbours, func(l int) bool { return depth[l] < depth[k] })]
	}
	giver = nearer(position)
	for source = giver; depth[source] > 0; {
		source = nearer(source)
	}
	return e.Members[giver], e.Members[source], nil
}

// withEdges returns the edges of m and further ones, whose agents m may not have.
func (m *Matrix) withEdges(further [][2]int) edgeSet {
	e := make(edgeSet, m.N())
	for i := range e {
		e[i] = slices.Clone(m.neighbours[i])
	}
	for _, edge := range further {
		if more := edge[1] + 1 - len(e); more > 0 {
			e = append(e, make(edgeSet, more)...)
		}
		e.link(edge[0], edge[1])
	}
	return e
}

// disconnectedError is the error for an epoch whose members' graph has several parts, given by the
// part of each position. Edges from the first agent to the first one of each other part join them.
func disconnectedError(e membership.Epoch, part []int) error {
	parts := make([][]string, slices.Max(part)+1)
	var mend []string
	for position, p := range part {
		if agent := e.Members[position]; p > 0 && parts[p] == nil {
			mend = append(mend, fmt.Sprintf("%d-%d", e.Members[0], agent))
		}
		parts[p] = append(parts[p], fmt.Sprint(e.Members[position]))
	}
	var words []string
	for _, p := range parts {
		words = append(words, strings.Join(p, ", "))
	}
	return dsbo.ConfigErrorf(
		"the graph of the members of epoch %d must be connected; it falls apart into agents %s; edges such as these "+
			"join them: %s", e.Number, strings.Join(words, " | "), strings.Join(mend, ", "))
}
