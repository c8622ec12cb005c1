package network

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"dsbo"
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
