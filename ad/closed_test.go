package ad

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// Two losses of the paper on random data, and what they come to where logits are large. Package
// models holds its own against closed forms.

// normals returns n normal numbers.
func normals(r *rand.Rand, n int) []float64 {
	a := make([]float64, n)
	for i := range a {
		a[i] = r.NormFloat64()
	}
	return a
}

// task is one random problem.
type task struct {
	m, d, c int
	data    []float64 // m×d
	labels  []uint8
	signs   []float64
	x, y, v []float64 // y and v are c×d
	tables  map[string]*Table
	idx     []int // the rows of a minibatch, nil for all
}

func newTask(m, d, c int, scale float64) *task {
	r := rand.New(rand.NewPCG(5, 6))
	k := &task{m: m, d: d, c: c, labels: make([]uint8, m), signs: make([]float64, m)}
	k.data, k.x, k.y, k.v = normals(r, m*d), normals(r, d), normals(r, c*d), normals(r, c*d)
	linalg.Scale(k.y, scale, k.y)
	for i := range k.labels {
		k.labels[i], k.signs[i] = uint8(r.IntN(c)), float64(2*r.IntN(2)-1)
	}
	k.tables = map[string]*Table{}
	k.tables["X"] = testkit.Get(FloatTable(m, d, k.data))
	k.tables["T"] = testkit.Get(LabelTable(k.labels, c))
	k.tables["S"] = testkit.Get(FloatTable(m, 1, k.signs))
	return k
}

// softmaxLoss is mean_e cross-entropy + 1/(cd) Σ e^{x_j} Y_kj².
func (k *task) softmaxLoss() Loss {
	return Loss{P: k.d, Q: k.c * k.d, Rows: k.m,
		Inputs: []Input{{Name: "X", Shape: []int{k.d}, Batch: true}, {Name: "T", Shape: []int{k.c}, Batch: true}},
		Build: func(x, y *Node, in []*Node) *Node {
			w := Part(y, 0, k.c, k.d)
			l := MatMul(in[0], w, false, true)
			ce := Scale(1/float64(k.m), Sub(SumAll(RowLogSumExp(l)), Dot(in[1], l)))
			return Add(ce, Scale(1/float64(k.c*k.d), SumAll(ColScale(Square(w), Exp(x)))))
		}}
}

// logisticLoss is Σ_e log(1 + e^{-s_e a_e'y}) + ½ Σ e^{x_j} y_j².
func (k *task) logisticLoss() Loss {
	return Loss{P: k.d, Q: k.d, Rows: k.m,
		Inputs: []Input{{Name: "X", Shape: []int{k.d}, Batch: true}, {Name: "S", Batch: true}},
		Build: func(x, y *Node, in []*Node) *Node {
			margins := Mul(in[1], MatVec(in[0], y, false))
			return Add(SumAll(Softplus(Neg(margins))), Scale(.5, Dot(Exp(x), Square(y))))
		}}
}

// evaluate returns the value, ∇_x, ∇_y, JVP and HVP.
func evaluate(d *Derivs, x, y, v []float64) [5][]float64 {
	p, q := len(x), len(y)
	r := [5][]float64{{0}, make([]float64, p), make([]float64, q), make([]float64, p), make([]float64, q)}
	spoil(d.Program)
	r[0][0] = testkit.Get(d.Value(x, y))
	spoil(d.Program)
	testkit.OK(d.Grad(r[1], r[2], x, y))
	spoil(d.Program)
	testkit.OK(d.JVP(r[3], x, y, v))
	spoil(d.Program)
	testkit.OK(d.HVP(r[4], x, y, v))
	return r
}

// within fails if an entry differs by more than tol of want's largest.
func within(t testing.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	scale := 0.
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*scale) {
			t.Fatalf("%s[%d] = %v, want %v: off by %.1e of the largest entry, allowed %.0e", what, i, got[i], want[i],
				math.Abs(got[i]-want[i])/scale, tol)
		}
	}
}

// TestExtremeLogits: entries of ±1000 and beyond neither overflow nor lose the small probabilities.
func TestExtremeLogits(t *testing.T) {
	for _, big := range []float64{50, 1000, 1e5} {
		d := testkit.Get(Differentiate(Loss{P: 1, Q: 3, Build: func(x, y *Node, _ []*Node) *Node {
			return Add(SumAll(RowLogSumExp(Part(y, 0, 1, 3))), SumAll(Softplus(PartVec(y, 0, 2))))
		}}))
		y := []float64{big, -big, 0}
		gy, hv := make([]float64, 3), make([]float64, 3)
		value := testkit.Get(d.Value([]float64{0}, y))
		testkit.OK(errors.Join(d.Grad(nil, gy, []float64{0}, y), d.HVP(hv, []float64{0}, y, []float64{0, 1, 0})))
		within(t, "value", []float64{value}, []float64{2 * big}, 1e-15)
		// e^{-big} of the softplus, e^{-2big} and e^{-big} of the softmax.
		tail, probability := math.Exp(-big), math.Exp(-2*big)
		within(t, "∇_y", gy, []float64{2, 0, 0}, 1e-15)
		within(t, "∇_y of the small entries", gy[1:], []float64{tail + probability, tail}, 1e-14)
		within(t, "curvature in a small entry", hv[1:2], []float64{tail + probability}, 1e-14)
		testkit.OK(d.HVP(hv, []float64{0}, y, []float64{1, 0, 1}))
		// the softmax does not see its logits move together
		within(t, "curvature in the large entry", hv[:1], []float64{tail}, 1e-14)
	}
}
