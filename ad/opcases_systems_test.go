package ad

import (
	"fmt"

	"dsbo/internal/testkit"
)

// systems are the cases of indices, orders, sparse constants and small dense systems.
var systems = []opCase{
	{"ScatterAdd", func(k *kit) *Node { return ScatterAdd(Sin(k.mat(4, 2)), k.idx, k.rowsMat(2)) }},
	{"CustomGrad", func(k *kit) *Node {
		a := k.rowsMat(2)
		by := func(in []*Node, _, g *Node) []*Node { return []*Node{Mul(g, Cos(in[0]))} }
		return CustomGrad(Sin(a), by, a)
	}},
	{"ConvTranspose", func(k *kit) *Node {
		return ConvTranspose(k.rowsMat(2*padded.Patches()), k.mat(2, padded.Taps()), padded, 1)
	}},
	{"SortRows", func(k *kit) *Node { return SortRows(k.rowsMat(4)) }},
	{"TopK", func(k *kit) *Node {
		v, at := TopK(k.rowsMat(4), 2)
		return Add(v, Scale(.1, at))
	}},
	{"TakeAlongRows", func(k *kit) *Node {
		a := k.rowsMat(4)
		return Mul(TakeAlongRows(a, ArgSort(k.rowsMat(4))), Sin(a))
	}},
	{"TakeAlongRows, one a row", func(k *kit) *Node {
		a := k.rowsMat(4)
		return Sub(RowLogSumExp(a), TakeAlongRows(a, k.idx))
	}},
	{"PlaceAlongRows", func(k *kit) *Node {
		a := k.rowsMat(2)
		return PlaceAlongRows(a, ConcatCols(k.idx, ArgMax(k.rowsMat(4))), 4)
	}},
	{"ArgMax", func(k *kit) *Node { a := k.rowsMat(3); return TakeAlongRows(Sin(a), ArgMax(a)) }},
	{"SparseMatMul", func(k *kit) *Node { return SparseMatMul(sparseRows(k.rows), k.rowsMat(5), false) }},
	{"SparseMatMul(Sᵀ)", func(k *kit) *Node { return SparseMatMul(sparseRows(k.rows), Sin(k.mat(4, 3)), true) }},
	{"SparseMatMul of a vector", func(k *kit) *Node { return SparseMatMul(sparseRows(k.rows), k.rowsVec(), false) }},
	{"Solve", func(k *kit) *Node { return Solve(dominant(k.mat(3, 3), 1), k.mat(3, 2)) }},
	{"Solve a vector, with pivots", func(k *kit) *Node {
		a := ConcatRows(Rows(dominant(k.mat(3, 3), 1), 1, 2), Rows(dominant(k.mat(3, 3), 1), 0, 1))
		return Solve(a, k.vec(3))
	}},
	{"BatchSolve", func(k *kit) *Node {
		a, b := Reshape(k.rowsMat(4), 2*k.rows, 2), Reshape(k.rowsMat(4), 2*k.rows, 2)
		return BatchSolve(dominant(a, k.rows), b, k.rows)
	}},
	{"LogDet", func(k *kit) *Node { return LogDet(dominant(k.mat(3, 3), 1)) }},
	{"BatchLogDet", func(k *kit) *Node {
		return BatchLogDet(dominant(Reshape(k.rowsMat(4), 2*k.rows, 2), k.rows), k.rows)
	}},
	{"Cholesky", func(k *kit) *Node { return Cholesky(dominant(k.mat(3, 3), 1)) }},
	{"BatchCholesky", func(k *kit) *Node {
		return BatchCholesky(dominant(Reshape(k.rowsMat(4), 2*k.rows, 2), k.rows), k.rows)
	}},
	{"SolveLower", func(k *kit) *Node {
		l, b := dominant(k.mat(3, 3), 1), k.mat(3, 2)
		return Add(SolveLower(l, b, false), SolveLower(l, b, true))
	}},
	{"BatchSolveLower", func(k *kit) *Node {
		l := dominant(Reshape(k.rowsMat(4), 2*k.rows, 2), k.rows)
		return BatchSolveLower(l, Reshape(k.rowsMat(2), 2*k.rows, 1), k.rows, true)
	}},
}

// sparseRows is a sparse matrix of 4 rows and a number of columns, one row of which has no values.
func sparseRows(cols int) *SparseMatrix {
	starts, indices, values := []int{0}, []int32{}, []float64{}
	for r := range 4 {
		for j := range cols {
			if r != 1 && (r+j)%2 == 0 {
				indices, values = append(indices, int32(j)), append(values, .3*float64(r)-.1*float64(j)+.25)
			}
		}
		starts = append(starts, len(values))
	}
	return testkit.Get(NewSparseMatrix(4, cols, starts, indices, values))
}

// dominant returns n matrices, one below the other, whose diagonals are far larger than the rest.
func dominant(a *Node, n int) *Node {
	r, k := dims(a)
	units := make([]float64, r*k)
	for i := range r {
		units[i*k+i%k] = 4
	}
	return Add(Tanh(a), NewConst(a, fmt.Sprint("dominant ", r, k), r, k, units))
}
