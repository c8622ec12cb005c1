package ad

import (
	"math"
	"testing"

	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// wholeHessians are losses of 40 rows X of 6 numbers and of more parameters than there are lanes.
var wholeHessians = map[string]struct {
	q     int
	build func(x, y, in *Node) *Node
}{
	"layers in order": {151, func(x, y, in *Node) *Node {
		h := AddRow(MatMul(in, Part(y, 0, 7, 6), false, true), PartVec(y, 42, 7))
		h = AddRow(MatMul(Tanh(h), Part(y, 49, 9, 7), false, true), PartVec(y, 112, 9))
		h = AddRow(MatMul(Sin(h), Part(y, 121, 3, 9), false, true), PartVec(y, 148, 3))
		penalty := ScaleBy(Exp(Item(x, 0)), Dot(PartVec(y, 30, 90), PartVec(y, 30, 90)))
		return Add(Mean(RowLogSumExp(h)), penalty)
	}},
	"layers backwards": {77, func(_, y, in *Node) *Node {
		h := Tanh(MatMul(in, Part(y, 35, 7, 6), false, true))
		h = AddRow(MatMul(h, Part(y, 7, 4, 7), false, true), PartVec(y, 3, 4))
		return Mean(MatVec(Sigmoid(h), PartVec(y, 0, 4), false))
	}},
	"weights used twice, parts that overlap": {80, func(_, y, in *Node) *Node {
		w := Part(y, 0, 6, 6)
		h := Tanh(MatMul(Tanh(MatMul(in, w, false, true)), w, false, true))
		return Add(Mean(Square(AddRow(h, PartVec(y, 33, 6)))), SumAll(Exp(Mul(PartVec(y, 30, 20), PartVec(y, 31, 20)))))
	}},
	"columns of weights": {60, func(_, y, in *Node) *Node {
		w := Part(y, 0, 10, 6)
		h := Mul(Tanh(MatMul(in, Rows(w, 5, 5), false, true)), MatMul(in, Rows(w, 0, 5), false, true))
		return Add(Mean(h), SumAll(Sin(MatMul(Cols(w, 1, 3), Cols(w, 2, 3), true, false))))
	}},
	"normalized over the batch": {70, func(_, y, in *Node) *Node {
		h := MatMul(in, Part(y, 0, 8, 6), false, true)
		h = AddRow(h, Scale(-1./40, SumRows(h)))
		h = ColScale(h, Div(PartVec(y, 48, 8), Sqrt(Offset(.1, Scale(1./40, ColDot(h, h))))))
		return Mean(Square(AddRow(ReLU(h), PartVec(y, 56, 8))))
	}},
	"products of parameters": {78, func(_, y, _ *Node) *Node {
		a, b := Part(y, 0, 9, 4), Part(y, 36, 9, 4)
		m := Sub(MatMul(a, b, false, true), MatMul(b, a, false, true))
		scaled := ColScale(Reshape(Sin(y), 13, 6), PartVec(y, 50, 6))
		return Add(SumAll(Tanh(m)), SumAll(Mul(Reshape(Square(y), 13, 6), scaled)))
	}},
	"one vector": {55, func(_, y, in *Node) *Node {
		return Mean(Log1p(Exp(MatVec(in, PartVec(y, 20, 6), false))))
	}},
	"a solution": {30, func(_, y, _ *Node) *Node {
		a := Part(y, 0, 4, 4)
		z := Solve(Offset(.1, MatMul(a, a, true, false)), Tanh(Part(y, 16, 4, 2)))
		return Dot(Sin(z), Part(y, 20, 4, 2))
	}},
}

// TestWholeHessian: from the diagonal on columns of a whole Hessian have the bits of products, the
// rest mirrors them, and numbers of the point before it, here NaN, are in none.
func TestWholeHessian(t *testing.T) {
	for name, c := range wholeHessians {
		for _, single := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				d := testkit.Get(Differentiate(Loss{P: 1, Q: c.q, Rows: 40, Float32: single,
					Inputs: []Input{{Name: "X", Shape: []int{6}, Batch: true}},
					Build:  func(x, y *Node, in []*Node) *Node { return c.build(x, y, in[0]) }}))
				rows, y := make([]float64, 40*6), make([]float64, c.q)
				for i := range rows {
					rows[i] = math.Sin(float64(i))
				}
				testkit.OK(d.Bind("X", testkit.Get(FloatTable(40, 6, rows)), nil))
				setTile(d.Program, 16)
				linalg.Fill(y, math.NaN())
				testkit.OK(d.Hessian(make([]float64, c.q*c.q), []float64{.3}, y))
				for i := range y {
					y[i] = math.Cos(float64(3 * i))
				}
				products(t, d, []float64{.3}, y, 1)
			})
		}
	}
}
