package ad

import (
	"fmt"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A SparseMatrix is a constant matrix most of whose numbers are 0, such as the adjacency of a
// graph. It is immutable, so any number of losses may share it.
type SparseMatrix struct {
	rows, cols int
	starts     []int
	indices    []int32
	f64        []float64
	f32        []float32
}

// NewSparseMatrix makes a matrix of rows×cols numbers that are 0 except for values: row r has
// values from starts[r] to starts[r+1], in the columns indices, which ascend. It keeps the slices,
// which must not be changed afterwards, and takes 16 bytes for each value. It has the errors of
// [SparseTable], whose rows are of a batch.
func NewSparseMatrix(rows, cols int, starts []int, indices []int32, values []float64) (*SparseMatrix, error) {
	f32 := make([]float32, len(values))
	linalg.Convert(f32, values)
	if err := checkSparse(&engine.CSR{Starts: starts, Indices: indices, Values: f32}, rows, cols); err != nil {
		return nil, err
	}
	return &SparseMatrix{rows, cols, starts, indices, values, f32}, nil
}

// Dims returns the rows and columns.
func (s *SparseMatrix) Dims() (rows, cols int) { return s.rows, s.cols }

// sparseRule is op(S) B for a constant S, where op transposes if the flag is set.
type sparseRule struct {
	s          *SparseMatrix
	transposes bool
}

// SparseMatMul returns op(s)·b for a matrix or a vector b, where op transposes if the flag is set.
// It costs time by what is not 0 in s.
func SparseMatMul(s *SparseMatrix, b *Node, transposes bool) *Node {
	inner, height := s.cols, s.rows
	if transposes {
		inner, height = s.rows, s.cols
	}
	if r, _ := dims(b); r != inner {
		failf("SparseMatMul: inner lengths must be the same; they are %d and %d, of shape %v", inner, r, b.Shape())
	}
	return newNode(sparseRule{s, transposes}, tall(height, b), b)
}

func (r sparseRule) String() string {
	return fmt.Sprintf("SparseMatMul(%d, %d, %t)", r.s.rows, r.s.cols, r.transposes)
}

func (r sparseRule) grad(_ nodes, _, g *Node) nodes {
	return nodes{SparseMatMul(r.s, g, !r.transposes)}
}

func (r sparseRule) lower(nodes) engine.Op {
	return kernels("", sparseKernel(r, r.s.f32), sparseKernel(r, r.s.f64))
}

func sparseKernel[T Float](r sparseRule, values []T) func(*call[T]) {
	s := r.s
	if r.transposes {
		return func(c *call[T]) {
			clear(c.Dst.V)
			for i := range s.rows {
				from, to := s.starts[i], s.starts[i+1]
				kernel.SparseOuterT(c.Dst.V, c.Dst.C, c.In[0].Row(i), s.indices[from:to], values[from:to])
			}
		}
	}
	return func(c *call[T]) {
		for i := range s.rows {
			from, to := s.starts[i], s.starts[i+1]
			kernel.SparseRowNN(c.Dst.Row(i), s.indices[from:to], values[from:to], c.In[0].V, c.In[0].C)
		}
	}
}
