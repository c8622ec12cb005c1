package onnx

import (
	"errors"
	"fmt"
	"math"
)

// entrywise makes the operation that takes f of each entry.
func entrywise(f func(v float64) float64) operation {
	return func(in []*Tensor) (*Tensor, error) {
		out := make([]float64, len(in[0].Doubles))
		for i, v := range in[0].Doubles {
			out[i] = f(v)
		}
		return &Tensor{Type: Double, Shape: in[0].Shape, Doubles: out}, checkType(in[0], Double)
	}
}

func isNaN(in []*Tensor) (*Tensor, error) {
	out := make([]bool, len(in[0].Doubles))
	for i, v := range in[0].Doubles {
		out[i] = math.IsNaN(v)
	}
	return &Tensor{Type: Bool, Shape: in[0].Shape, Bools: out}, checkType(in[0], Double)
}

// pairs calls visit with the places of each pair of entries of two tensors of a type, in the order of the shape that they have in common,
// which it returns.
func pairs(in []*Tensor, t Type, visit func(a, b int)) ([]int, error) {
	if err := checkTypes(in, t); err != nil {
		return nil, err
	}
	shape, err := commonShape(in)
	if err != nil {
		return nil, err
	}
	for i := range shape[0] {
		for j := range shape[1] {
			visit(in[0].place(i, j), in[1].place(i, j))
		}
	}
	return shape, nil
}

// arithmetic makes the operation that takes f of entries of two tensors.
func arithmetic(f func(a, b float64) float64) operation {
	return func(in []*Tensor) (*Tensor, error) {
		var out []float64
		shape, err := pairs(in, Double, func(a, b int) { out = append(out, f(in[0].Doubles[a], in[1].Doubles[b])) })
		return &Tensor{Type: Double, Shape: shape, Doubles: out}, err
	}
}

func equal(in []*Tensor) (*Tensor, error) {
	var out []bool
	shape, err := pairs(in, Int64, func(a, b int) { out = append(out, in[0].Ints[a] == in[1].Ints[b]) })
	return &Tensor{Type: Bool, Shape: shape, Bools: out}, err
}

// where takes entries of the second tensor where those of the first one are true, and else of the third one.
func where(in []*Tensor) (*Tensor, error) {
	if err := errors.Join(checkType(in[0], Bool), checkTypes(in[1:], Double)); err != nil {
		return nil, err
	}
	shape, err := commonShape(in)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, shape[0]*shape[1])
	for i := range shape[0] {
		for j := range shape[1] {
			from := in[2]
			if in[0].Bools[in[0].place(i, j)] {
				from = in[1]
			}
			out = append(out, from.Doubles[from.place(i, j)])
		}
	}
	return &Tensor{Type: Double, Shape: shape, Doubles: out}, nil
}

// commonShape returns the shape of a matrix in which those of tensors are repeated along dimensions of 1.
func commonShape(in []*Tensor) ([]int, error) {
	rows, cols := 1, 1
	for _, t := range in {
		r, c := t.size()
		if rows == 1 {
			rows = r
		}
		if cols == 1 {
			cols = c
		}
		if r != rows && r != 1 || c != cols && c != 1 {
			return nil, fmt.Errorf("a shape must be %d×%d, or 1 in a dimension; it is %v", rows, cols, t.Shape)
		}
	}
	return []int{rows, cols}, checkEntries(rows, cols)
}

// place returns where the entry of a row and column lies, if the tensor is repeated along dimensions of 1.
func (t *Tensor) place(i, j int) int {
	rows, cols := t.size()
	if rows == 1 {
		i = 0
	}
	if cols == 1 {
		j = 0
	}
	return i*cols + j
}

// matrixOf returns the size of a matrix of float64 that has columns.
func matrixOf(t *Tensor) (rows, cols int, err error) {
	rows, cols = t.size()
	if len(t.Shape) != 2 || cols == 0 {
		return 0, 0, fmt.Errorf("an input must be a matrix; its shape is %v", t.Shape)
	}
	return rows, cols, checkType(t, Double)
}

// gemm returns A·Bᵀ, plus a row C.
func gemm(in []*Tensor) (*Tensor, error) {
	rows, inner, errA := matrixOf(in[0])
	outs, same, errB := matrixOf(in[1])
	if err := errors.Join(errA, errB, checkEntries(rows, outs), checkTypes(in, Double)); err != nil {
		return nil, err
	}
	if inner != same || len(in) == 3 && len(in[2].Doubles) != outs {
		return nil, fmt.Errorf("inputs A and B must have as many columns, and C a number for each row of B; the shapes of A and B are %v and %v", in[0].Shape, in[1].Shape)
	}
	out := make([]float64, 0, rows*outs)
	for i := range rows {
		a := in[0].Doubles[i*inner:][:inner]
		for k := range outs {
			sum := 0.
			for j, w := range in[1].Doubles[k*inner:][:inner] {
				sum += float64(w * a[j])
			}
			if len(in) == 3 {
				sum += in[2].Doubles[k]
			}
			out = append(out, sum)
		}
	}
	return &Tensor{Type: Double, Shape: []int{rows, outs}, Doubles: out}, nil
}

func softmax(in []*Tensor) (*Tensor, error) {
	rows, cols, err := matrixOf(in[0])
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, rows*cols)
	for i := range rows {
		row := in[0].Doubles[i*cols:][:cols]
		top, sum := math.Inf(-1), 0.
		for _, v := range row {
			top = max(top, v)
		}
		for _, v := range row {
			out = append(out, math.Exp(v-top))
			sum += out[len(out)-1]
		}
		for j := range cols {
			out[i*cols+j] /= sum
		}
	}
	return &Tensor{Type: Double, Shape: in[0].Shape, Doubles: out}, nil
}

// argMax returns the column of each row's largest entry, the first one of several.
func argMax(in []*Tensor) (*Tensor, error) {
	rows, cols, err := matrixOf(in[0])
	if err != nil {
		return nil, err
	}
	out := make([]int64, rows)
	for i := range rows {
		row := in[0].Doubles[i*cols:][:cols]
		for j, v := range row {
			if v > row[out[i]] {
				out[i] = int64(j)
			}
		}
	}
	return &Tensor{Type: Int64, Shape: []int{rows}, Ints: out}, nil
}
