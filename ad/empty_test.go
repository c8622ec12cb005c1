package ad

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// TestEmpty: what has no entries is 0 in sums and nothing in concatenations, as in NumPy, and has
// derivatives of 0; other values of it are refused by name.
func TestEmpty(t *testing.T) {
	empty := func(y *Node, r, c int) *Node { return Part(y, 1, r, c) }
	for name, c := range map[string]struct {
		f    func(y *Node) *Node
		want []float64 // nil: refused
	}{
		"SumAll":  {func(y *Node) *Node { return SumAll(PartVec(y, 2, 0)) }, []float64{0}},
		"SumRows": {func(y *Node) *Node { return SumRows(empty(y, 0, 2)) }, []float64{0, 0}},
		"SumCols": {func(y *Node) *Node { return SumCols(empty(y, 2, 0)) }, []float64{0, 0}},
		"Sum": {func(y *Node) *Node { return TensorOf(empty(y, 0, 6), 2, 0, 3).Sum(1).Node },
			make([]float64, 6)},
		"Sum, no": {func(y *Node) *Node { return SumAll(TensorOf(empty(y, 0, 6), 2, 0, 3).Sum(2).Node) },
			[]float64{0}},
		"Prod": {func(y *Node) *Node { return RowProd(empty(y, 2, 0)) }, []float64{1, 1}},
		"Dot":  {func(y *Node) *Node { return Dot(empty(y, 0, 1), empty(y, 0, 1)) }, []float64{0}},
		"MatMul": {func(y *Node) *Node { return MatMul(empty(y, 1, 0), empty(y, 0, 3), false, false) },
			make([]float64, 3)},
		"MatMul T": {func(y *Node) *Node { return MatMul(empty(y, 0, 2), empty(y, 0, 1), true, false) },
			make([]float64, 2)},
		"MatVec": {func(y *Node) *Node { return MatVec(empty(y, 2, 0), PartVec(y, 0, 0), false) },
			make([]float64, 2)},
		"BatchMatMul": {func(y *Node) *Node { return BatchMatMul(empty(y, 2, 0), empty(y, 0, 1), 2, false, false) },
			make([]float64, 2)},
		"concatenated": {func(y *Node) *Node {
			return ConcatRows(Cols(Reshape(y, 2, 2), 1, 0), Transpose(empty(y, 0, 2)), ConcatCols(Exp(empty(y, 2, 0)),
				empty(y, 2, 0)))
		}, []float64{}},
		"with others": {func(y *Node) *Node {
			return ConcatRows(Rows(Reshape(y, 2, 2), 2, 0), Scale(2, Reshape(y, 2, 2)), NewConst(y, "none", 0, 2, nil))
		}, []float64{2, 4, 6, 8}},
		"placed": {func(y *Node) *Node { return Add(y, Place(PartVec(y, 0, 0), 1, 4)) }, []float64{1, 2, 3, 4}},
		"Einsum": {func(y *Node) *Node {
			return Einsum("bij,bjk->ik", TensorOf(empty(y, 0, 6), 2, 3, 0), TensorOf(empty(y, 0, 2), 2, 0, 1)).Node
		}, make([]float64, 3)},
		"SegmentSum": {func(y *Node) *Node {
			return SegmentSum(empty(y, 0, 2), NewConst(y, "to", 0, 0, nil), 2)
		}, make([]float64, 4)},
		"Norm":         {func(y *Node) *Node { return RowNorm(empty(y, 1, 0)) }, []float64{0}},
		"Mean":         {func(y *Node) *Node { return Mean(PartVec(y, 0, 0)) }, nil},
		"Mean of rows": {func(y *Node) *Node { return TensorOf(empty(y, 2, 0), 2, 0).Mean(1).Node }, nil},
		"RowMax":       {func(y *Node) *Node { return RowMax(empty(y, 2, 0)) }, nil},
		"LogSumExp":    {func(y *Node) *Node { return RowLogSumExp(empty(y, 2, 0)) }, nil},
		"ArgMax":       {func(y *Node) *Node { return ArgMax(empty(y, 2, 0)) }, nil},
		"Cols":         {func(y *Node) *Node { return Cols(Reshape(y, 2, 2), 1, -1) }, nil},
	} {
		loss := func(_, y *Node, _ []*Node) *Node { return Add(Dot(y, y), SumAll(Exp(c.f(y)))) }
		p, err := Compile(Func{Q: 4, Build: func(_, y *Node, _ []*Node) []*Node { return []*Node{c.f(y)} }})
		if c.want == nil {
			testkit.WantError(t, name, err, dsbo.ErrShape, " ")
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, y := make([]float64, p.size), []float64{1, 2, 3, 4}
		testkit.OK(p.Eval(got, nil, y))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		d := testkit.Get(Differentiate(Loss{Q: 4, Build: loss}))
		hvp := make([]float64, 4)
		testkit.OK(d.HVP(hvp, nil, y, y))
		d.UseGorgonia()
		tape := make([]float64, 4)
		testkit.OK(d.HVP(tape, nil, y, y))
		within(t, name+", on the TapeMachine", tape, hvp, 1e-15)
		constant := name != "with others" && name != "placed"
		if constant && !slices.Equal(hvp, []float64{2, 4, 6, 8}) {
			t.Errorf("%s: a product of %v with what is constant", name, hvp)
		}
	}
}

// TestOpsOfNothing: no op on rows of which there are none fails but by its name.
func TestOpsOfNothing(t *testing.T) {
	for _, op := range slices.Concat(ops, alone) {
		err := testkit.Catch(func() {
			p, err := Compile(Func{Q: 300, Build: func(_, y *Node, _ []*Node) []*Node {
				k := &kit{z: y, idx: NewConst(y, "idx", 0, 0, nil), hot: NewConst(y, "hot", 0, 3, nil)}
				return []*Node{op.f(k)}
			}})
			if err == nil {
				err = p.Eval(make([]float64, p.size), nil, make([]float64, 300))
			}
			testkit.OK(err)
		})
		table := strings.HasPrefix(op.name, "SparseMatMul") // which the case makes
		if err != nil && !errors.Is(err, dsbo.ErrShape) && !table {
			t.Error(fmt.Errorf("%s: %w", op.name, err))
		} else if err != nil {
			t.Logf("%s: %v", op.name, err)
		}
	}
}
