package network

// Ring returns n agents in a circle. With w it carries the paper's W: w_ii = w, w_{i,i±1} = (1−w)/2.
// For two agents the one edge carries 1 − w, for one agent W = [1].
func Ring(n int, w float64) (*Graph, error) {
	return New("ring", n, Options{W: w})
}

// Complete returns n agents that all exchange with each other.
func Complete(n int) (*Graph, error) { return New("complete", n, Options{}) }

// Star returns n agents of which agent 0 exchanges with all the others.
func Star(n int) (*Graph, error) { return New("star", n, Options{}) }

// Path returns n agents in a row.
func Path(n int) (*Graph, error) { return New("path", n, Options{}) }

// Exponential returns n agents that exchange with those at distance 1, 2, 4, ... < n around
// the circle, in both directions.
func Exponential(n int) (*Graph, error) { return New("exponential", n, Options{}) }

// Hypercube returns n agents, a power of two, that exchange where their numbers differ in one bit.
func Hypercube(n int) (*Graph, error) { return New("hypercube", n, Options{}) }

// ErdosRenyi returns n agents with each edge there with probability prob, 0 meaning 2·ln(n)/n.
// The same seed gives the same graph. A graph that is not connected is drawn again, and
// after 20 draws its parts are joined by one random edge each.
func ErdosRenyi(n int, prob float64, seed uint64) (*Graph, error) {
	return New(erdosRenyi, n, Options{Prob: prob, Seed: seed})
}

// Torus returns rows × cols agents on a grid that closes at its borders, agent r·cols + c in
// row r and column c. Two rows, or columns, are joined by one edge.
func Torus(rows, cols int) (*Graph, error) {
	// Each factor alone is bounded first, so that the product cannot overflow.
	for _, n := range []int{rows, cols, rows * cols} {
		if err := checkAgents(n); err != nil {
			return nil, configError("a torus of %d × %d agents, want both at least 1 and at most %d agents", rows, cols, MaxAgents)
		}
	}
	return torusEdges(rows, cols).graph("torus", 0)
}

// Server returns the exact average W = J/n of the federated methods: each agent sends
// its vector to a server and receives the mean, which counts as one message.
func Server(n int) (*Graph, error) {
	if err := checkAgents(n); err != nil {
		return nil, err
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		for j := range rows[i] {
			rows[i][j] = 1 / float64(n)
		}
	}
	g, err := fromRows("server", rows)
	if err != nil {
		return nil, err
	}
	g.W.server = true
	return g, nil
}

// FromEdges returns the graph of n agents with the given edges, each named once. The
// weights follow w as in [Options].
func FromEdges(n int, edges [][2]int, w float64) (*Graph, error) {
	if err := (Options{W: w}).Validate(); err != nil {
		return nil, err
	}
	if err := checkAgents(n); err != nil {
		return nil, err
	}
	e := newEdgeSet(n)
	for k, edge := range edges {
		i, j := edge[0], edge[1]
		for _, a := range edge {
			if a < 0 || a >= n {
				return nil, configError("edge %d, [%d, %d]: no agent %d, want 0 to %d", k, i, j, a, n-1)
			}
		}
		if i == j {
			return nil, configError("edge %d, [%d, %d]: a self loop, want two different agents", k, i, j)
		}
		if e.linked[i][j] {
			return nil, configError("edge %d, [%d, %d]: named before, want each edge once", k, i, j)
		}
		e.link(i, j)
	}
	return e.graph("custom", w)
}
