package ad

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// TestSparseHessian: by few products the same numbers as the whole Hessian, which has no others:
// for a chain, an arrow, a grid, blocks and a dense matrix, in a number of products that no larger
// size changes.
func TestSparseHessian(t *testing.T) {
	const q, side = 36, 6
	for name, c := range map[string]struct {
		loss     func(y *Node) *Node
		products int
	}{
		"diagonal": {func(y *Node) *Node { return SumAll(Exp(y)) }, 1},
		"chain": {func(y *Node) *Node {
			return SumAll(Square(Sub(PartVec(y, 1, q-1), Square(PartVec(y, 0, q-1)))))
		}, 3},
		"arrow": {func(y *Node) *Node { return Mul(SumAll(Sin(y)), Item(y, q-1)) }, 2},
		"grid": {func(y *Node) *Node {
			m := Reshape(y, side, side)
			down, right := Sub(Rows(m, 1, side-1), Rows(m, 0, side-1)), Sub(Cols(m, 1, side-1), Cols(m, 0, side-1))
			return Add(SumAll(Exp(down)), SumAll(Exp(right)))
		}, 9},
		"blocks": {func(y *Node) *Node { return SumAll(RowLogSumExp(Reshape(y, q/3, 3))) }, 3},
		"dense":  {func(y *Node) *Node { return Exp(SumAll(y)) }, q},
	} {
		d := testkit.Get(Differentiate(Loss{Q: q, Build: func(_, y *Node, _ []*Node) *Node { return c.loss(y) }}))
		_, y := point(q)
		s := testkit.Get(d.Sparsity(nil, y))
		if s.Products() > c.products {
			t.Errorf("%s: %d products, want at most %d", name, s.Products(), c.products)
		}
		for i := range y {
			y[i] = -.7 * y[i] // the same entries elsewhere
		}
		sparseAsDense(t, name, d, s, y, 1e-14)
	}
}

// TestRandomSparsity: so it is for random pairs of entries that meet, of some that meet many.
func TestRandomSparsity(t *testing.T) {
	const q = 30
	r := rand.New(rand.NewPCG(4, 9))
	fewer := 0
	for range 40 {
		pairs := 5 + r.IntN(60)
		ends := [2][]float64{}
		for range pairs {
			a, b := r.IntN(q), r.IntN(1+r.IntN(q))
			ends[0], ends[1] = append(ends[0], float64(a)), append(ends[1], float64(b))
		}
		d := testkit.Get(Differentiate(Loss{Q: q, Build: func(_, y *Node, _ []*Node) *Node {
			left := Gather(y, NewConst(y, "left", pairs, 0, ends[0]))
			return SumAll(Sin(Mul(left, Gather(y, NewConst(y, "right", pairs, 0, ends[1])))))
		}}))
		_, y := point(q)
		s := testkit.Get(d.Sparsity(nil, y))
		sparseAsDense(t, "random pairs", d, s, y, 1e-13)
		if s.Products() < q/2 {
			fewer++
		}
	}
	if fewer < 30 {
		t.Errorf("%d of 40 take fewer than half the products", fewer)
	}
}

// TestOtherSparsity: entries that a sparsity has not, for a choice went the other way, and one of
// other lengths, are refused.
func TestOtherSparsity(t *testing.T) {
	d := testkit.Get(Differentiate(Loss{Q: 3, Build: func(_, y *Node, _ []*Node) *Node {
		return Exp(SumAll(Where(Greater(y, Uniform(0, y)), Sin(y), Uniform(0, y))))
	}}))
	s := testkit.Get(d.Sparsity(nil, []float64{1, -1, -1}))
	if fmt.Sprint(s.beside) != "[[0] [1] [2]]" {
		t.Errorf("with one of three above 0 the entries %v meet", s.beside)
	}
	_, err := d.SparseHessian(s, nil, []float64{1, 1, -1})
	testkit.WantError(t, "a choice", err, dsbo.ErrConfig, "find the sparsity anew")
	_, err = d.SparseHessian(new(Sparsity), nil, []float64{1, 1, -1})
	testkit.WantError(t, "no entries", err, dsbo.ErrShape, "a sparsity must be of 3 entries of y; it is of 0")
}

// sparseAsDense checks the sparse Hessian at y against the dense one.
func sparseAsDense(t *testing.T, name string, d *Derivs, s *Sparsity, y []float64, tol float64) {
	t.Helper()
	q := len(y)
	want, got := make([]float64, q*q), make([]float64, q*q)
	testkit.OK(d.Hessian(want, nil, y))
	h := testkit.Get(d.SparseHessian(s, nil, y))
	for i := range q {
		columns, values := h.Row(i)
		for k, j := range columns {
			got[i*q+int(j)] = values[k]
		}
	}
	within(t, name, got, want, tol)
}
