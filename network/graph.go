package network

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/wording"
)

// A Graph is a named, valid mixing matrix.
type Graph struct {
	Name string
	W    *Matrix
}

// String describes the graph in one line.
func (g *Graph) String() string {
	rho := fmt.Sprintf("ρ = %.6f", g.W.Rho())
	if gap := 1 - g.W.Rho(); gap < 1e-5 {
		rho = fmt.Sprintf("1−ρ = %.2g", gap)
	}
	return fmt.Sprintf("%s, %s, %s", g.Name, wording.Count(g.W.N(), "agent"), rho)
}

// Options are the parameters of [New].
type Options struct {
	// W is each agent's weight on itself; its neighbours share 1 − W evenly. It needs a graph
	// whose agents all have the same number of neighbours. 0 means Metropolis weights.
	W float64
	// Prob is the probability of each edge of "erdos-renyi" and 0 for all other graphs.
	// There 0 means 2·ln(n)/n, twice the threshold of connectedness.
	Prob float64
	// Seed draws the edges of "erdos-renyi".
	Seed uint64
}

// validate returns an error that matches dsbo.ErrConfig unless 0 ≤ W < 1 and 0 ≤ Prob ≤ 1.
func (o Options) validate() error {
	if !(o.W >= 0 && o.W < 1) {
		return dsbo.ConfigErrorf("self weight w must be at least 0 (Metropolis weights) and below 1; it is %v", o.W)
	}
	if !(o.Prob >= 0 && o.Prob <= 1) {
		return dsbo.ConfigErrorf("edge probability must be at least 0 (0: 2 ln(n)/n) and at most 1; it is %v",
			o.Prob)
	}
	return nil
}

const erdosRenyi = "erdos-renyi"

// Names returns the names that [New] knows.
func Names() []string {
	return []string{"ring", "complete", "star", "path", "torus", "exponential", "hypercube", erdosRenyi, "server"}
}

// New returns the graph of that name with n agents, or the one in the file of that name if it
// ends in .json; n = 0 then means as many agents as the file has. Agents exchange
//
//	ring         with both neighbours in a circle
//	complete     with all others
//	star         agent 0 with all others
//	path         with both neighbours in a row
//	torus        with the four neighbours on a closed grid, as square as n allows
//	exponential  with those at distance 1, 2, 4, ... < n around the circle, in both directions
//	hypercube    where their numbers, of which there are a power of two, differ in one bit
//	erdos-renyi  at random, up to 20 times until connected; else its parts are joined
//	server       through a server that averages exactly: see [Server]
//
// Errors match dsbo.ErrConfig.
func New(name string, n int, o Options) (*Graph, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Prob != 0 && name != erdosRenyi {
		return nil, dsbo.ConfigErrorf(
			"edge probability must be 0 for graph %s; it is %v, which is for graph %s", name, o.Prob, erdosRenyi)
	}
	if strings.HasSuffix(name, ".json") {
		return load(name, n, o.W)
	}
	if !slices.Contains(Names(), name) {
		return nil, dsbo.ConfigErrorf("graph must be %s, or a file that ends in .json; it is %q",
			strings.Join(Names(), ", "), name)
	}
	if err := checkAgents(n); err != nil {
		return nil, err
	}
	switch name {
	case erdosRenyi:
		return erdosRenyiEdges(n, o.Prob, o.Seed).graph(name, o.W)
	case "server":
		if o.W != 0 {
			return nil, dsbo.ConfigErrorf(
				"self weight w must be 0 for graph server, which averages exactly; it is %v", o.W)
		}
		return Server(n)
	}
	linked, err := shape(name, n)
	if err != nil {
		return nil, err
	}
	return edgesWhere(n, linked).graph(name, o.W)
}

// shape returns the function that decides, for j < i, whether i-j is an edge of the named graph of
// n agents, if the numbers alone determine it.
func shape(name string, n int) (linked func(i, j int) bool, err error) {
	switch name {
	case "ring":
		return func(i, j int) bool { return inCircle(i, j, n) }, nil
	case "star":
		return func(_, j int) bool { return j == 0 }, nil
	case "path":
		return func(i, j int) bool { return i-j == 1 }, nil
	case "torus":
		rows, err := squarest(n)
		cols := n / max(rows, 1)
		return func(i, j int) bool {
			return i/cols == j/cols && inCircle(i, j, cols) || i%cols == j%cols && inCircle(i/cols, j/cols, rows)
		}, err
	case "exponential":
		return func(i, j int) bool { return powerOfTwo(i-j) || powerOfTwo(n-(i-j)) }, nil
	case "hypercube":
		return func(i, j int) bool { return powerOfTwo(i ^ j) }, checkHypercube(n)
	}
	return func(int, int) bool { return true }, nil // complete
}

// squarest returns the largest divisor of n that is at most √n, and refuses a prime n.
func squarest(n int) (int, error) {
	rows := int(math.Sqrt(float64(n)))
	for n%rows != 0 {
		rows--
	}
	if rows == 1 && n > 1 {
		return 0, dsbo.ConfigErrorf(
			"a torus must have rows × columns with both above 1, such as 4, 6, 8 or 9 agents; it has %d", n)
	}
	return rows, nil
}

// load returns the graph in a file, whose agents must be n, unless n is 0. w is as in [Options].
func load(path string, n int, w float64) (*Graph, error) {
	data, err := files.ReadFile(path)
	if err != nil {
		return nil, dsbo.ConfigErrorf("graph file: %w", err)
	}
	g, err := Parse(path, data, w)
	if err != nil {
		return nil, err
	}
	if n != 0 && n != g.W.N() {
		return nil, dsbo.ConfigErrorf("graph file %s has %d agents, but %d are asked for", path, g.W.N(), n)
	}
	return g, nil
}

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

// file is the content of a graph file.
type file struct {
	Agents *int        `json:"agents" must:"a whole number"`
	Edges  [][]int     `json:"edges" must:"pairs of whole numbers, [[0, 1], ...]"`
	W      [][]float64 `json:"W" must:"rows of numbers, [[0.5, 0.5], ...]"`

	Sequence [][][]float64 `json:"sequence" must:"a list of matrices, each rows of numbers"`
	Pull     [][][]float64 `json:"pull" must:"a list of matrices, each rows of numbers"`
	Push     [][][]float64 `json:"push" must:"a list of matrices, each rows of numbers"`
}

// Parse reads a graph file, whose format the package documentation states. w gives the
// weights of its edges as in [Options]. Errors begin with name and match dsbo.ErrConfig.
func Parse(name string, data []byte, w float64) (*Graph, error) {
	g, err := parse(data, w)
	if err != nil {
		return nil, dsbo.ConfigErrorf("graph file %s: %w", name, err)
	}
	g.Name = name
	return g, nil
}

// parse is Parse without the name in its errors and in the graph. The file has one of three kinds
// of content: lists of weights, "W", or "edges" with "agents".
func parse(data []byte, w float64) (*Graph, error) {
	var f file
	if err := files.StrictJSON(data, &f); err != nil {
		return nil, err
	}
	if f.Sequence != nil || f.Pull != nil || f.Push != nil {
		return f.lists(w)
	}
	switch {
	case f.W != nil && f.Edges != nil:
		return nil, errors.New(`one of "edges" and "W" must be given; both are`)
	case f.W != nil:
		if w != 0 {
			return nil, fmt.Errorf(`self weight w must be 0 where the file gives "W"; it is %v`, w)
		}
		if err := f.checkCount(`"W"`, len(f.W)); err != nil {
			return nil, err
		}
		m, err := NewMatrix(f.W)
		if err != nil {
			return nil, err
		}
		return validGraph("", m)
	case f.Edges == nil:
		return nil, errors.New(`one of "edges" and "W" must be given; neither is`)
	case f.Agents == nil:
		return nil, errors.New(`"agents" must be given beside "edges"`)
	}
	edges := make([][2]int, len(f.Edges))
	for k, ends := range f.Edges {
		if len(ends) != 2 {
			return nil, fmt.Errorf("edge %d, %v: an edge must have 2 ends; it has %d", k, ends, len(ends))
		}
		edges[k] = [2]int(ends)
	}
	return FromEdges(*f.Agents, edges, w)
}

// checkCount returns an error if the number of agents is given, and not the number of rows.
func (f *file) checkCount(what string, rows int) error {
	if f.Agents != nil && *f.Agents != rows {
		return fmt.Errorf(`"agents" must be the number of rows of %s, %d; it is %d`, what, rows, *f.Agents)
	}
	return nil
}

// lists is parse of a file with weights that change: "sequence", or "pull" and "push", neither of
// which goes with weights of another kind.
func (f *file) lists(w float64) (*Graph, error) {
	var m *Matrix
	var err error
	switch {
	case f.W != nil || f.Edges != nil || f.Sequence != nil && (f.Pull != nil || f.Push != nil):
		return nil, errors.New(`"sequence", or "pull" and "push", must stand without other weights`)
	case w != 0:
		return nil, fmt.Errorf("self weight w must be 0 where the file gives weights; it is %v", w)
	case f.Sequence != nil:
		m, err = Sequence(f.Sequence)
	default:
		m, err = NewDirected(f.Pull, f.Push)
	}
	if err != nil {
		return nil, err
	}
	return &Graph{W: m}, f.checkCount("the weights", m.N())
}
