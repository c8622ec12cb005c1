package network

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/membership"
)

// Members returns the mixing matrix of an epoch of a run with the roster's matrix m: row and column k are the agent e.Members[k]. That of
// epoch 0 is m itself. Those of later epochs have Metropolis weights on the edges between members that m or an admission (e.Edges) has
// and that are not cut; a server ([Server]) averages over the members. The members must be a subset of the roster, as those of a
// valid log are. A graph that falls apart is an error that matches dsbo.ErrConfig and names the parts, and the fewest edges that
// would join them.
func (m *Matrix) Members(e membership.Epoch) (*Matrix, error) {
	if e.Number == 0 {
		return m, nil
	}
	if m.server {
		if len(e.Cut) > 0 {
			return nil, dsbo.Errorf(dsbo.ErrConfig, "epoch %d must cut no edges, as the graph is a server; it cuts %v", e.Number, e.Cut)
		}
		g, err := Server(len(e.Members))
		if err != nil {
			return nil, err
		}
		return g.W, nil
	}
	roster := m.grown(e.Edges)
	edges := edgesWhere(len(e.Members), func(a, b int) bool {
		i, j := e.Members[a], e.Members[b] // j < i
		return roster.linked[i][j] && !slices.Contains(e.Cut, [2]int{j, i})
	})
	part := components(len(e.Members), edges.neighbours)
	if slices.Max(part) > 0 {
		return nil, apart(e, part, roster)
	}
	g, err := edges.graph("members", 0)
	if err != nil {
		return nil, err
	}
	return g.W, nil
}

// grown returns the edges of m and further ones, whose agents m may not have.
func (m *Matrix) grown(further [][2]int) edgeSet {
	n := m.N()
	for _, edge := range further {
		n = max(n, edge[1]+1)
	}
	e := edgesWhere(n, func(i, j int) bool {
		if i >= m.N() {
			return false
		}
		_, is := slices.BinarySearch(m.neighbours[i], j)
		return is
	})
	for _, edge := range further {
		e.link(edge[0], edge[1])
	}
	return e
}

// apart is the error for an epoch whose members' graph has several parts, given by the part of each position.
func apart(e membership.Epoch, part []int, roster edgeSet) error {
	parts := make([][]string, slices.Max(part)+1)
	for position, p := range part {
		parts[p] = append(parts[p], fmt.Sprint(e.Members[position]))
	}
	var words, mend []string
	for _, p := range parts {
		words = append(words, strings.Join(p, ", "))
	}
	for _, edge := range mending(e, part, roster) {
		mend = append(mend, fmt.Sprintf("%d-%d", edge[0], edge[1]))
	}
	these := "this edge joins them"
	if len(mend) > 1 {
		these = "these edges join them"
	}
	return dsbo.Errorf(dsbo.ErrConfig, "the graph of the members of epoch %d must be connected; it falls apart into agents %s; %s: %s",
		e.Number, strings.Join(words, " | "), these, strings.Join(mend, ", "))
}

// mending returns the fewest edges that join the parts: cut ones first, then those between neighbours of an agent that is gone, and
// among equals the first.
func mending(e membership.Epoch, part []int, roster edgeSet) [][2]int {
	gone := func(i, j int) int { // how many neighbours both have that are no members
		count := 0
		for _, k := range roster.neighbours(i) {
			if _, is := e.Position(k); !is && roster.linked[j][k] {
				count++
			}
		}
		return count
	}
	type candidate struct {
		a, b int // positions
		cut  bool
		gone int
	}
	var all []candidate
	for b, j := range e.Members {
		for a, i := range e.Members[:b] {
			if part[a] != part[b] {
				all = append(all, candidate{a, b, slices.Contains(e.Cut, [2]int{i, j}), gone(i, j)})
			}
		}
	}
	slices.SortStableFunc(all, func(c, d candidate) int {
		switch {
		case c.cut != d.cut && c.cut:
			return -1
		case c.cut != d.cut:
			return 1
		}
		return cmp.Or(cmp.Compare(d.gone, c.gone), cmp.Compare(c.a, d.a), cmp.Compare(c.b, d.b))
	})
	joined := slices.Clone(part)
	var edges [][2]int
	for _, c := range all {
		from, to := joined[c.b], joined[c.a]
		if from == to {
			continue
		}
		edges = append(edges, [2]int{e.Members[c.a], e.Members[c.b]})
		for k, p := range joined {
			if p == from {
				joined[k] = to
			}
		}
	}
	return edges
}
