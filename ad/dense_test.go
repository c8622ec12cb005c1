package ad

import (
	"errors"
	"fmt"
	"testing"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/testkit"
)

// TestKeptMatrices: a matrix that was asked for twice is kept, whatever the caller does with its
// own. TestSameBitsAfterAnyHistory is about what it must follow.
func TestKeptMatrices(t *testing.T) {
	k, d, _ := softmaxTask(false, false, 100)
	q, p := len(k.y), len(k.x)
	first, h, j := make([]float64, q*q), make([]float64, q*q), make([]float64, p*q)
	for time := range 3 {
		testkit.OK(errors.Join(d.Hessian(h, k.x, k.y), d.Jacobian(j, k.x, k.y)))
		if time == 0 {
			copy(first, h)
		}
		sameBits(t, fmt.Sprint("Hessian ", time), h, first)
		clear(h)
		if kept := d.kept[hvp].numbers != nil; kept != (time > 0) || kept != (d.kept[jvp].numbers != nil) {
			t.Errorf("matrices that were asked for %d times are kept: %t", time+1, kept)
		}
	}
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

// products holds every step-th column of d's whole Jacobian, and of its Hessian from the diagonal
// on, against its products with the unit vectors, to the bit. What is above the diagonal mirrors
// that. All lanes have their turn with a step that has no factor in common with 24, their number.
func products(t *testing.T, d *Derivs, x, y []float64, step int) {
	t.Helper()
	p, q := len(x), len(y)
	h, again, j := make([]float64, q*q), make([]float64, q*q), make([]float64, p*q)
	testkit.OK(d.Hessian(h, x, y))
	testkit.OK(d.Jacobian(j, x, y))
	e, hv, jv, col := make([]float64, q), make([]float64, q), make([]float64, p), make([]float64, p)
	for k := 0; k < q; k += step {
		e[k] = 1
		testkit.OK(d.HVP(hv, x, y, e))
		testkit.OK(d.JVP(jv, x, y, e))
		e[k] = 0
		for i := range col {
			col[i] = j[i*q+k]
		}
		wantColumn(t, h, hv, k)
		sameBits(t, fmt.Sprint("column of the Jacobian ", k), col, jv)
	}
	testkit.OK(d.Hessian(again, x, y))
	sameBits(t, "the Hessian after the products", again, h)
	many := engine.Lanes + 2
	vs, dst := make([]float64, many*q), make([]float64, many*q)
	for i := range vs {
		vs[i] = float64(i%7-3) / float64(1+i%5)
	}
	testkit.OK(d.HVPs(dst, x, y, vs))
	for k := range many {
		testkit.OK(d.HVP(hv, x, y, vs[k*q:][:q]))
		sameBits(t, fmt.Sprint("one of many products ", k), dst[k*q:][:q], hv)
	}
}

// wantColumn holds column k of a whole Hessian against the product with the unit vector, from the
// diagonal on, with no tolerance but for the sign of 0, and against row k, to the bit.
func wantColumn(t *testing.T, h, hv []float64, k int) {
	t.Helper()
	q := len(hv)
	column := make([]float64, q)
	for i := range column {
		column[i] = h[i*q+k]
	}
	within(t, fmt.Sprint("column of the Hessian from the diagonal on ", k), column[k:], hv[k:], 0)
	sameBits(t, fmt.Sprint("row of the Hessian ", k), h[k*q:][:q], column)
}

// TestWholeMatricesOnEveryPath: so it is for every column of the tasks of the paper, which are more
// than there are lanes.
func TestWholeMatricesOnEveryPath(t *testing.T) {
	for path := kernel.Generic; kernel.Supported(path); path++ {
		t.Run(path.String(), func(t *testing.T) {
			defer kernel.Use(path)()
			for _, c := range []struct {
				name string
				k    *task
				loss func(k *task) Loss
			}{
				{"softmax", newTask(70, 13, 5, 1), (*task).softmaxLoss},
				{"logistic", newTask(150, 37, 2, 1), (*task).logisticLoss},
			} {
				for _, single := range []bool{false, true} {
					l := c.loss(c.k)
					l.Float32 = single
					d := testkit.Get(Differentiate(l))
					setTile(d.Program, 64)
					for _, in := range l.Inputs {
						testkit.OK(d.Bind(in.Name, c.k.tables[in.Name], nil))
					}
					t.Run(fmt.Sprint(c.name, " float32=", single),
						func(t *testing.T) { products(t, d, c.k.x[:l.P], c.k.y[:l.Q], 1) })
				}
			}
		})
	}
}

// TestKeptProducts: where there is no room for all that another product at the point would begin
// with, the products of matrices are kept, and the next product has the bits of one by a new
// program.
func TestKeptProducts(t *testing.T) {
	const rows, width, steps = 40, 160, 6
	d, x, y, v := recurrent(rows, width, steps, false)
	// Each step keeps 2 values forwards, and each but the first 1 backwards.
	budget := (3*steps - 1) * rows * width
	d.template.Limit(0, budget)
	got, want := make([]float64, len(y)), make([]float64, len(y))
	testkit.OK(d.HVP(got, x, y, y))
	r := d.template.Report(d.plans[0][1<<hvp].Load())
	if r.Products != 2*steps-1 || r.Kept != r.Products || r.Numbers != budget {
		t.Errorf("%d of %d products and %d numbers are kept, want all of %d, and %d", r.Kept, r.Products, r.Numbers,
			2*steps-1, budget)
	}
	testkit.OK(d.HVP(got, x, y, v))
	fresh, _, _, _ := recurrent(rows, width, steps, false)
	testkit.OK(fresh.HVP(want, x, y, v))
	sameBits(t, "HVP", got, want)
}

// TestShortGradientIsKept: ∇_y is found once at a point and batch, and anew at others.
func TestShortGradientIsKept(t *testing.T) {
	w := newWalker(t)
	d := w.program(t)
	at := state{}
	want := w.derivative(t, d, at, "both")[:24]
	clear(d.gradY) // what is given out again shows it
	sameBits(t, "the same point", w.derivative(t, d, at, "∇_y"), make([]float64, 24))
	for _, other := range []state{{x: 1}, {y: 1}, {batch: 1}} {
		sameBits(t, "another point", w.derivative(t, d, other, "∇_y"), w.derivative(t, w.program(t), other, "∇_y"))
		sameBits(t, "and back", w.derivative(t, d, at, "∇_y"), want)
	}
}
