package ad

import (
	"errors"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// TestKeptMatrices: a matrix that was asked for twice is kept, and follows x, y and the rows of
// the batch all the same, also where another program of the workspace has moved the point.
func TestKeptMatrices(t *testing.T) {
	k, d, dst := softmaxTask(false, false, 100)
	q, p := len(k.y), len(k.x)
	h, j := make([]float64, q*q), make([]float64, p*q)
	idx := k.idx
	ask := func(step string) {
		t.Helper()
		testkit.OK(errors.Join(d.Hessian(h, k.x, k.y), d.Jacobian(j, k.x, k.y)))
		fresh := testkit.Get(Differentiate(loss(k, 100)))
		setTile(fresh.Program, 64)
		testkit.OK(errors.Join(fresh.Bind("X", k.tables["X"], idx), fresh.Bind("T", k.tables["T"], idx)))
		wantH, wantJ := make([]float64, q*q), make([]float64, p*q)
		testkit.OK(errors.Join(fresh.Hessian(wantH, k.x, k.y), fresh.Jacobian(wantJ, k.x, k.y)))
		sameBits(t, step+": Hessian", h, wantH)
		sameBits(t, step+": Jacobian", j, wantJ)
		clear(h) // what a caller does with its own is its own affair
	}
	ask("first")
	if d.kept[hvp].numbers != nil {
		t.Error("a matrix that was asked for once is kept")
	}
	ask("second")
	if d.kept[hvp].numbers == nil || d.kept[jvp].numbers == nil {
		t.Error("a matrix that was asked for twice at one point is not kept")
	}
	ask("third")
	testkit.OK(d.HVP(dst[2], k.x, k.y, k.v))
	ask("after a product")
	k.y[3]++
	ask("another y")
	k.x[2]--
	ask("another x")
	rows := slices.Clone(idx)
	rows[0], rows[7] = rows[7], rows[9]
	idx = rows
	testkit.OK(errors.Join(d.Bind("X", k.tables["X"], rows), d.Bind("T", k.tables["T"], rows)))
	ask("other rows")

	other := testkit.Get(Differentiate(
		Loss{P: p, Q: q, Workspace: d.f.Workspace, Build: func(_, y *Node, _ []*Node) *Node { return Dot(y, y) }}))
	k.y[0]++
	testkit.OK(other.Grad(nil, dst[1], k.x, k.y))
	ask("a point that another program has moved to")
}

// loss is the softmax loss on a number of rows.
func loss(k *task, rows int) Loss {
	l := k.softmaxLoss()
	l.Rows = rows
	return l
}

// TestEntrywiseJacobian: two products make a Jacobian only where an entry of a product reads no
// other entry of the vector.
func TestEntrywiseJacobian(t *testing.T) {
	const n = 3
	for _, c := range []struct {
		name  string
		build func(x, y *Node) *Node
		want  bool
		j     []float64 // at x = (0, 0, 0), y = (1, −2, 3)
	}{
		{"a penalty for each entry", func(x, y *Node) *Node { return Scale(.5, Dot(Exp(x), Square(y))) }, true,
			[]float64{1, 0, 0, 0, -2, 0, 0, 0, 3}},
		{"a bilinear form", func(x, y *Node) *Node { return Dot(x, y) }, true, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
		{"one penalty, thrice", func(x, y *Node) *Node { return Mul(SumAll(x), SumAll(y)) }, false,
			[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"a part elsewhere", func(x, y *Node) *Node { return Dot(PartVec(x, 0, 2), PartVec(y, 1, 2)) }, false,
			[]float64{0, 1, 0, 0, 0, 1, 0, 0, 0}},
		{"none", func(x, y *Node) *Node { return Add(SumAll(x), Dot(y, y)) }, false, make([]float64, n*n)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := testkit.Get(Differentiate(
				Loss{P: n, Q: n, Build: func(x, y *Node, _ []*Node) *Node { return c.build(x, y) }}))
			if got := testkit.Get(d.isEntrywise(jvp)); got != c.want {
				t.Errorf("entrywise: %v, want %v", got, c.want)
			}
			j := make([]float64, n*n)
			testkit.OK(d.Jacobian(j, make([]float64, n), []float64{1, -2, 3}))
			within(t, "Jacobian", j, c.j, 0)
		})
	}
}
