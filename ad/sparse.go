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

// sparseRule is op(S) B for each row of its input, which is read as a matrix B of cols columns,
// where op transposes if the flag is set. Its derivative is the transposed rule.
type sparseRule struct {
	s          *SparseMatrix
	cols       int
	transposes bool
}

// SparseMatMul returns op(s)·b for a matrix or a vector b, where op transposes if the flag is set.
// It costs time by what is not 0 in s.
func SparseMatMul(s *SparseMatrix, b *Node, transposes bool) *Node {
	r, c := dims(b)
	rule := sparseRule{s, c, transposes}
	inner, height := rule.sizes()
	if r != inner {
		failf("SparseMatMul: inner lengths must be the same; they are %d and %d, of shape %v", inner, r, b.Shape())
	}
	return reshape(rule.of(Reshape(b, 1, r*c)), tall(height, b))
}

// of returns the products for each row of a.
func (r sparseRule) of(a *Node) *Node {
	m, _ := dims(a)
	_, height := r.sizes()
	return newNode(r, matShape(m, height*r.cols), a)
}

func (r sparseRule) sizes() (inner, height int) {
	if r.transposes {
		return r.s.rows, r.s.cols
	}
	return r.s.cols, r.s.rows
}

func (r sparseRule) String() string {
	return fmt.Sprintf("SparseMatMul(%d, %d, %d, %t)", r.s.rows, r.s.cols, r.cols, r.transposes)
}

func (r sparseRule) grad(_ nodes, _, g *Node) nodes {
	r.transposes = !r.transposes
	return nodes{r.of(g)}
}

func (r sparseRule) lower(nodes) engine.Op {
	return kernels("r", sparseKernel(r, r.s.f32), sparseKernel(r, r.s.f64))
}

// sumOfRows reports whether a row's values, from..to, sum neighbouring rows of what it multiplies,
// and the first of these. Vectors take such rows whole.
func (s *SparseMatrix) sumOfRows(from, to int) (first int, ok bool) {
	for e := from; e < to; e++ {
		if s.f64[e] != 1 || int(s.indices[e]-s.indices[from]) != e-from {
			return 0, false
		}
	}
	if from == to {
		return 0, false
	}
	return int(s.indices[from]), true
}

// sparseKernel returns the kernel that multiplies each row's matrix by a constant sparse one, or by
// its transpose.
func sparseKernel[T Float](r sparseRule, values []T) func(*call[T]) {
	s, n := r.s, r.cols
	return func(c *call[T]) {
		if r.transposes {
			clear(c.Dst.V)
		}
		for m := range c.Dst.R {
			a, d := c.In[0].Row(m), c.Dst.Row(m)
			for i := range s.rows {
				from, to := s.starts[i], s.starts[i+1]
				first, adds := s.sumOfRows(from, to)
				switch {
				case adds && r.transposes:
					for at := first * n; at < (first+to-from)*n; at += n {
						kernel.AddTo(d[at:][:n], d[at:][:n], a[i*n:][:n])
					}
				case adds:
					clear(d[i*n:][:n])
					kernel.SumRows(to-from, n, d[i*n:][:n], a[first*n:], n)
				case r.transposes:
					kernel.SparseOuterT(d, n, a[i*n:][:n], s.indices[from:to], values[from:to])
				default:
					kernel.SparseRowNN(d[i*n:][:n], s.indices[from:to], values[from:to], a, n)
				}
			}
		}
	}
}
