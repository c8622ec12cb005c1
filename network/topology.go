package network

import "dsbo"

// Ring returns n agents in a circle. With w it carries the paper's W: w_ii = w, w_{i,i±1} =
// (1−w)/2. For two agents the one edge carries 1 − w, for one agent W = [1].
func Ring(n int, w float64) (*Graph, error) {
	return New("ring", n, Options{W: w})
}

// Server returns the exact average W = J/n of the federated methods: each agent sends
// its vector to a server and receives the mean, which counts as one message.
func Server(n int) (*Graph, error) {
	if err := checkAgents(n); err != nil {
		return nil, err
	}
	if err := checkEdges(n * (n - 1) / 2); err != nil {
		return nil, err
	}
	rows := make([][]Weight, n)
	for i := range rows {
		rows[i] = make([]Weight, n)
		for j := range rows[i] {
			rows[i][j] = Weight{j, 1 / float64(n)}
		}
	}
	g, err := validGraph("server", newMatrix(rows))
	if err != nil {
		return nil, err
	}
	g.W.server = true
	return g, nil
}

// FromEdges returns the graph of n agents with the given edges, each named once. The
// weights follow w as in [Options].
func FromEdges(n int, edges [][2]int, w float64) (*Graph, error) {
	if err := (Options{W: w}).validate(); err != nil {
		return nil, err
	}
	if err := checkAgents(n); err != nil {
		return nil, err
	}
	e := make(edgeSet, n)
	for k, edge := range edges {
		i, j := edge[0], edge[1]
		for _, a := range edge {
			if a < 0 || a >= n {
				return nil, dsbo.ConfigErrorf("edge %d, [%d, %d]: an agent must be 0 to %d; it is %d",
					k, i, j, n-1, a)
			}
		}
		if i == j {
			return nil, dsbo.ConfigErrorf("edge %d, [%d, %d]: its ends must be two agents", k, i, j)
		}
		if !e.link(i, j) {
			return nil, dsbo.ConfigErrorf(
				"edge %d, [%d, %d]: an edge must be named once; this one was named before", k, i, j)
		}
	}
	return e.graph("custom", w)
}
