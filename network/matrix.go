package network

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"dsbo"
	"dsbo/internal/num"
)

// maxAgents bounds the size of a graph, and maxEdges the edges of a graph that is made by its name
// or from a list: each takes some 100 bytes.
const (
	maxAgents = 10_000
	maxEdges  = 1_000_000
)

// A Weight is one entry w_ij of row i.
type Weight struct {
	Agent  int // j
	Weight float64
}

// A Matrix is a mixing matrix W, stored by rows of its non-zero entries. It does not change
// after it is made and is safe for use by many goroutines.
type Matrix struct {
	rows       [][]Weight // ascending, the diagonal always there, an edge in both its rows
	neighbours [][]int
	server     bool   // agents exchange vectors with a server, one each way, whatever the rows are
	mixing     Mixing // nil: Plain

	eigenvalues func() spectrum // found once
	spanning    func() *Tree    // found once; nil where the graph is not connected
}

// NewMatrix returns the matrix with the given rows, which it copies. It checks the shape
// alone; [Matrix.Validate] checks the values.
func NewMatrix(rows [][]float64) (*Matrix, error) {
	n := len(rows)
	if err := checkAgents(n); err != nil {
		return nil, err
	}
	for i, row := range rows {
		if len(row) != n {
			return nil, dsbo.ConfigErrorf("row %d of W must have %d entries, as W has %d rows; it has %d",
				i, n, n, len(row))
		}
	}
	sparse := make([][]Weight, n)
	for i, row := range rows {
		for j, w := range row {
			if i == j || w != 0 || rows[j][i] != 0 {
				sparse[i] = append(sparse[i], Weight{j, w})
			}
		}
	}
	return newMatrix(sparse), nil
}

// newMatrix returns the matrix of rows as it keeps them: ascending, with the diagonal, each edge in
// both of its rows. The rows are the matrix's from then on.
func newMatrix(rows [][]Weight) *Matrix {
	m := &Matrix{rows: rows, neighbours: make([][]int, len(rows))}
	m.eigenvalues, m.spanning = sync.OnceValue(m.findSpectrum), sync.OnceValue(m.lowestTree)
	for i, row := range rows {
		m.neighbours[i] = make([]int, 0, len(row)-1)
		for _, w := range row {
			if w.Agent != i {
				m.neighbours[i] = append(m.neighbours[i], w.Agent)
			}
		}
	}
	return m
}

func checkAgents(n int) error {
	if n < 1 || n > maxAgents {
		return dsbo.ConfigErrorf("a graph must have 1 to %d agents; it has %d", maxAgents, n)
	}
	return nil
}

func checkEdges(n int) error {
	if n > maxEdges {
		return dsbo.ConfigErrorf("a graph must have at most %d edges; it has %d", maxEdges, n)
	}
	return nil
}

// N returns the number of agents.
func (m *Matrix) N() int { return len(m.rows) }

// At returns w_ij, in O(log d) time.
func (m *Matrix) At(i, j int) float64 {
	row := m.rows[i]
	k, ok := slices.BinarySearchFunc(row, j, func(w Weight, j int) int { return cmp.Compare(w.Agent, j) })
	if !ok {
		return 0
	}
	return row[k].Weight
}

// Row returns the weights of agent i's sum: of itself and its neighbours, in ascending order.
// The slice is a view and must not be changed.
func (m *Matrix) Row(i int) []Weight { return m.rows[i] }

// IsAverage reports whether all weights are 1/n, but for rounding.
func (m *Matrix) IsAverage() bool {
	for _, row := range m.rows {
		if len(row) < m.N() || slices.ContainsFunc(row, func(w Weight) bool {
			return math.Abs(w.Weight-1/float64(m.N())) > 1e-12
		}) {
			return false
		}
	}
	return true
}

// Neighbours returns the agents that i exchanges with, itself left out, in ascending order.
// The slice is a view and must not be changed.
func (m *Matrix) Neighbours(i int) []int { return m.neighbours[i] }

// Edges returns the edges i-j, i < j, in ascending order.
func (m *Matrix) Edges() (all [][2]int) {
	for i, neighbours := range m.neighbours {
		for _, j := range neighbours {
			if i < j {
				all = append(all, [2]int{i, j})
			}
		}
	}
	return all
}

// Sends returns how many vectors agent i sends in one exchange: one to each neighbour, or
// one to the server of [Server].
func (m *Matrix) Sends(i int) int {
	if m.server {
		return min(1, len(m.neighbours[i]))
	}
	return len(m.neighbours[i])
}

// Dense returns W as rows of numbers, in new memory.
func (m *Matrix) Dense() [][]float64 {
	rows := zeroRows(m.N(), m.N())
	for i, row := range m.rows {
		for _, w := range row {
			rows[i][w.Agent] = w.Weight
		}
	}
	return rows
}

// An edgeSet is an undirected graph without weights: the neighbours of each agent, ascending.
type edgeSet [][]int

// edgesWhere returns the graph of n agents whose edges are i-j, j < i, where linked(i, j). It asks
// in ascending order.
func edgesWhere(n int, linked func(i, j int) bool) edgeSet {
	e := make(edgeSet, n)
	for i := range n {
		for j := range i {
			if linked(i, j) {
				e[i], e[j] = append(e[i], j), append(e[j], i) // both ascend
			}
		}
	}
	return e
}

// link adds the edge i-j, whose ends differ, and reports whether it was not there before.
func (e edgeSet) link(i, j int) bool {
	for _, ends := range [][2]int{{i, j}, {j, i}} {
		at, found := slices.BinarySearch(e[ends[0]], ends[1])
		if found {
			return false
		}
		e[ends[0]] = slices.Insert(e[ends[0]], at, ends[1])
	}
	return true
}

func (e edgeSet) has(i, j int) bool {
	_, found := slices.BinarySearch(e[i], j)
	return found
}

func (e edgeSet) neighbours(i int) []int { return e[i] }

// inCircle reports whether a and b are next to each other in a circle of n.
func inCircle(a, b, n int) bool {
	d := max(a-b, b-a)
	return d == 1 || d == n-1
}

// powerOfTwo reports whether d is 0 or a power of two.
func powerOfTwo(d int) bool { return d&(d-1) == 0 }

func checkHypercube(n int) error {
	if !powerOfTwo(n) {
		below := 1 << (bits.Len(uint(n)) - 1)
		return dsbo.ConfigErrorf(
			"a hypercube must have a power of two of agents, such as %d or %d; it has %d", below, 2*below, n)
	}
	return nil
}

// erdosRenyiStream keeps the graph's draws apart from other uses of the same seed.
const erdosRenyiStream = 0x6772617068

// erdosRenyiEdges returns a graph in which each pair of agents is an edge with probability prob, 0
// as in [Options]: drawn up to 20 times until it is connected, else joined by bridges.
func erdosRenyiEdges(n int, prob float64, seed uint64) edgeSet {
	if prob == 0 {
		prob = min(1, 2*num.Log(float64(n))/float64(n))
	}
	r := rand.New(rand.NewPCG(seed, erdosRenyiStream))
	const draws = 20
	for draw := 1; ; draw++ {
		e := edgesWhere(n, func(int, int) bool { return r.Float64() < prob })
		if part := components(n, e.neighbours); slices.Max(part) == 0 || draw == draws {
			e.bridge(part, r)
			return e
		}
	}
}

// bridge links a random agent of every other component, if there are any, to a random one of
// component 0.
func (e edgeSet) bridge(part []int, r *rand.Rand) {
	members := make([][]int, slices.Max(part)+1)
	for i, p := range part {
		members[p] = append(members[p], i)
	}
	pick := func(p int) int { return members[p][r.IntN(len(members[p]))] }
	for p := 1; p < len(members); p++ {
		e.link(pick(0), pick(p))
	}
}

// graph gives the edges their weights, by the rule that w chooses, and checks the result. With w
// above 0 all agents must have one degree, as an edge then has one weight at both ends.
func (e edgeSet) graph(name string, w float64) (*Graph, error) {
	ends := 0
	for _, js := range e {
		ends += len(js)
	}
	if err := checkEdges(ends / 2); err != nil {
		return nil, err
	}
	weight := func(i, j int) float64 { return 1 / float64(1+max(len(e[i]), len(e[j]))) }
	if w != 0 {
		degree := len(e[0])
		for i, js := range e {
			if len(js) != degree {
				return nil, dsbo.ConfigErrorf(
					"self weight w must be 0 (Metropolis weights) in graph %s, where agent 0 has %d neighbours and "+
						"agent %d has %d; it is %v",
					name, degree, i, len(js), w)
			}
		}
		weight = func(int, int) float64 { return (1 - w) / float64(degree) }
	}
	rows := make([][]Weight, len(e))
	for i, js := range e {
		rows[i] = make([]Weight, 0, 1+len(js))
		others := 0.0
		for _, j := range js {
			rows[i] = append(rows[i], Weight{j, weight(i, j)})
			others += weight(i, j)
		}
		own := 1 - others
		if w != 0 && len(js) > 0 { // w itself, as 1 − others is off by its rounding
			own = w
		}
		at, _ := slices.BinarySearch(js, i)
		rows[i] = slices.Insert(rows[i], at, Weight{i, own})
	}
	return validGraph(name, newMatrix(rows))
}

func validGraph(name string, m *Matrix) (*Graph, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return &Graph{Name: name, W: m}, nil
}
