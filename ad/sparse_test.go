package ad

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// sparseTask is a task whose X has mostly zeros and some empty rows, as floats and as a sparse
// table.
func sparseTask(m, d, c int) (k *task, asSparse *Table) {
	k = newTask(m, d, c, 1)
	r := rand.New(rand.NewPCG(3, 9))
	starts, indices, values := []int{0}, []int32(nil), []float32(nil)
	for i := range m {
		for j := range d {
			at := &k.data[i*d+j] // the float table is k.data
			if i%5 == 2 || r.IntN(4) > 0 {
				*at = 0
				continue
			}
			*at = float64(float32(*at))
			indices, values = append(indices, int32(j)), append(values, float32(*at))
		}
		starts = append(starts, len(values))
	}
	return k, testkit.Get(SparseTable(m, d, starts, indices, values))
}

// columnLoss is softmaxLoss with the weights as a d×c matrix.
func (k *task) columnLoss() Loss {
	l := k.softmaxLoss()
	l.Build = func(x, y *Node, in []*Node) *Node {
		w := Part(y, 0, k.d, k.c)
		logits := MatMul(in[0], w, false, false)
		return Add(Sub(SumAll(RowLogSumExp(logits)), Dot(in[1], logits)), Dot(Exp(x), SumCols(Square(w))))
	}
	return l
}

// squareLoss reads the squares of X as well.
func (k *task) squareLoss() Loss {
	l := k.softmaxLoss()
	l.Build = func(x, y *Node, in []*Node) *Node {
		w := Part(y, 0, k.c, k.d)
		u := Tanh(MatMul(in[0], w, false, true))
		return Add(SumAll(Square(MatMul(u, Square(in[0]), true, false))),
			Dot(Exp(MatVec(in[0], x, false)), MatVec(Square(in[0]), x, false)))
	}
	return l
}

// TestSparseIsDense: values and all derivatives are those of the same numbers in a dense table,
// for all rows and for a minibatch, in either float type.
func TestSparseIsDense(t *testing.T) {
	k, asSparse := sparseTask(61, 23, 3)
	if !asSparse.Sparse() || k.tables["X"].Sparse() {
		t.Error("the table of sparse rows must be sparse, and the other one must not")
	}
	idx := rand.New(rand.NewPCG(1, 1)).Perm(k.m)[:37]
	for name, build := range map[string]func() Loss{"softmax": k.softmaxLoss, "logistic": k.logisticLoss,
		"columns": k.columnLoss, "squares": k.squareLoss} {
		for _, single := range []bool{false, true} {
			for rows, idx := range map[int][]int{k.m: nil, len(idx): idx} {
				t.Run(fmt.Sprintf("%s/float32=%v/%d rows", name, single, rows), func(t *testing.T) {
					l := build()
					l.Rows, l.Float32 = rows, single
					want := everything(k, l, k.tables["X"], idx)
					l.Inputs[0].Sparse = true
					got := everything(k, l, asSparse, idx)
					tol := 1e-13 // sums of a few hundred terms in another order
					if single {
						tol = 1e-5
					}
					for i := range want {
						within(t, fmt.Sprintf("answer %d", i), got[i], want[i], tol)
					}
					l.Inputs[0].Sparse = false
					if read := everything(k, l, asSparse, idx); !slices.EqualFunc(read, want, slices.Equal) {
						t.Error("a sparse table that is read as a dense one has other bits than that")
					}
				})
			}
		}
	}
}

// everything returns the value, both gradients, both products and both matrices of l on rows idx
// of x.
func everything(k *task, l Loss, x *Table, idx []int) [][]float64 {
	d := testkit.Get(Differentiate(l))
	for _, in := range l.Inputs {
		table := k.tables[in.Name]
		if in.Name == "X" {
			table = x
		}
		testkit.OK(d.Bind(in.Name, table, idx))
	}
	p, q := l.P, l.Q
	y, v := k.y[:q], k.v[:q]
	first := evaluate(d, k.x, y, v)
	hessian, jacobian := make([]float64, q*q), make([]float64, p*q)
	testkit.OK(errors.Join(d.Hessian(hessian, k.x, y), d.Jacobian(jacobian, k.x, y)))
	return append(first[:], hessian, jacobian)
}

// TestSparseTiles: sums over the rows go on where they stood, so tiles of a product's rows leave
// its bits alone.
func TestSparseTiles(t *testing.T) {
	k, asSparse := sparseTask(61, 23, 3)
	for _, single := range []bool{false, true} {
		gradient := func(tile int) []float64 {
			p := testkit.Get(Compile(Func{P: k.d, Q: k.c * k.d, Rows: k.m, Float32: single,
				Inputs: []Input{{Name: "X", Shape: []int{k.d}, Batch: true, Sparse: true},
					{Name: "T", Shape: []int{k.c}, Batch: true}},
				Build: func(_, y *Node, in []*Node) []*Node {
					r := Sub(RowSoftmax(MatMul(in[0], Part(y, 0, k.c, k.d), false, true)), in[1])
					return []*Node{MatMul(r, in[0], true, false), MatMul(in[0], r, true, false),
						MatMul(r, Square(in[0]), true, false)}
				}}))
			setTile(p, tile)
			testkit.OK(errors.Join(p.Bind("X", asSparse, nil), p.Bind("T", k.tables["T"], nil)))
			dst := make([]float64, 3*k.c*k.d)
			testkit.OK(p.Eval(dst, k.x, k.y))
			return dst
		}
		want := gradient(61)
		for _, tile := range []int{1, 7, 32} {
			if !slices.Equal(gradient(tile), want) {
				t.Errorf("float32=%v: tiles of %d rows change the bits", single, tile)
			}
		}
	}
}

// TestSparseRefusals: what would make sparse rows dense is refused by name.
func TestSparseRefusals(t *testing.T) {
	for _, c := range []struct {
		build func(x, y, a *Node) *Node
		says  string
	}{
		{func(x, y, a *Node) *Node { return SumAll(Exp(a)) }, "Exp cannot read sparse rows"},
		{func(x, y, a *Node) *Node { return SumAll(SumRows(a)) }, "SumRows cannot read sparse rows"},
		{func(x, y, a *Node) *Node { return SumAll(ColScale(a, x)) }, "ColScale cannot read sparse rows"},
		{func(x, y, a *Node) *Node { return SumAll(Square(Square(a))) }, "Mul cannot read sparse rows"},
		{func(x, y, a *Node) *Node { return SumAll(MatMul(Part(y, 0, 2, 3), a, false, true)) },
			"MatMul(A, Bᵀ) cannot read sparse rows"},
		{func(x, y, a *Node) *Node { return SumAll(MatMul(a, a, true, false)) },
			"MatMul(Aᵀ, B) cannot read sparse rows"},
		{func(x, y, a *Node) *Node { return a }, "sparse rows cannot be a value"},
	} {
		_, err := Compile(Func{P: 3, Q: 6, Rows: 4,
			Inputs: []Input{{Name: "A", Shape: []int{3}, Batch: true, Sparse: true}},
			Build:  func(x, y *Node, in []*Node) []*Node { return []*Node{c.build(x, y, in[0])} }})
		wantError(t, err, ErrGraph, c.says)
	}
	p := testkit.Get(Compile(
		Func{P: 3, Q: 6, Rows: 4, Inputs: []Input{{Name: "A", Shape: []int{3}, Batch: true, Sparse: true}},
			Build: func(x, y *Node, in []*Node) []*Node { return []*Node{MatVec(in[0], x, false)} }}))
	wantError(t, p.Bind("A", testkit.Get(FloatTable(4, 3, make([]float64, 12))), nil), dsbo.ErrShape, "declared sparse")
}

func TestSparseTableErrors(t *testing.T) {
	for _, c := range []struct {
		starts  []int
		indices []int32
		values  []float32
		kind    error
		says    string
	}{
		{[]int{0, 1}, []int32{0}, []float32{1}, dsbo.ErrShape, "2 rows needs 3 starts"},
		{[]int{0, 1, 2}, []int32{0}, []float32{1, 2}, dsbo.ErrShape, "3 starts, 1 columns and 2 values"},
		{[]int{1, 1, 1}, []int32{0}, []float32{1}, dsbo.ErrShape, "from 0 to the number of values"},
		{[]int{0, 2, 1}, []int32{0}, []float32{1}, dsbo.ErrShape,
			"the values of row 0 must end after their start, within 1 values; they are from 0 to 2"},
		{[]int{0, -1, 1}, []int32{0}, []float32{1}, dsbo.ErrShape, "they are from 0 to -1"},
		{[]int{0, 0, 2}, []int32{1, 1}, []float32{1, 2}, dsbo.ErrShape,
			"columns of a row must ascend, from 0 to 2; row 1 has 1 after 1"},
		{[]int{0, 1, 1}, []int32{3}, []float32{1}, dsbo.ErrShape, "row 0 has 3 after -1"},
		{[]int{0, 1, 1}, []int32{-1}, []float32{1}, dsbo.ErrShape, "row 0 has -1 after -1"},
		{[]int{0, 0, 1}, []int32{2}, []float32{float32(math.NaN())}, dsbo.ErrConfig, "row 1, column 2 has NaN"},
	} {
		_, err := SparseTable(2, 3, c.starts, c.indices, c.values)
		wantError(t, err, c.kind, c.says)
	}
	_, err := SparseTable(0, 3, []int{0}, nil, nil)
	wantError(t, err, dsbo.ErrShape, "")
}
