package ad

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// network is two layers of 3 tanh units each over constants, with 2 outputs a row: q = 12 + 12 + 8.
const networkSize = 32

func network(like, y *Node, rows int) *Node {
	a := normals(rand.New(rand.NewPCG(3, 1)), rows*4)
	h := Tanh(MatMul(NewConst(like, "a", rows, 4, a), Part(y, 0, 4, 3), false, false))
	h = Tanh(AddRow(MatMul(h, Part(y, 12, 3, 3), false, false), PartVec(y, 21, 3)))
	return AddRow(MatMul(h, Part(y, 24, 3, 2), false, false), PartVec(y, 30, 2))
}

// TestGaussNewton compares products with J'(∇²ℓ)J + ∇²r put together from J, for a loss ℓ that has
// a closed second derivative.
func TestGaussNewton(t *testing.T) {
	const rows, q = 5, networkSize
	penalty := func(x, y *Node) *Node { return Mul(SumAll(Exp(x)), Dot(Square(y), Square(y))) }
	loss := testkit.Get(Differentiate(Loss{P: 1, Q: q, Build: func(x, y *Node, _ []*Node) *Node {
		o := Outputs(network(y, y, rows))
		return Add(Sub(SumAll(RowLogSumExp(o)), SumAll(Scale(.3, o))), penalty(x, y))
	}}))
	outputs := testkit.Get(Compile(
		Func{P: 1, Q: q, Build: func(_, y *Node, _ []*Node) []*Node { return []*Node{network(y, y, rows)} }}))
	var jacobian [2 * rows][]float64
	r := rand.New(rand.NewPCG(1, 2))
	x, y, v := []float64{.2}, normals(r, q), normals(r, q)
	for k := range jacobian {
		one := testkit.Get(Differentiate(Loss{P: 1, Q: q, Build: func(_, y *Node, _ []*Node) *Node {
			return SumAll(PartVec(Flatten(network(y, y, rows)), k, 1))
		}}))
		jacobian[k] = make([]float64, q)
		testkit.OK(one.Grad(nil, jacobian[k], x, y))
	}
	o := make([]float64, 2*rows)
	testkit.OK(outputs.Eval(o, x, y))
	want := make([]float64, q)
	for i := range want { // ∇²r v, r = e^x Σ y⁴
		want[i] = math.Exp(x[0]) * 12 * y[i] * y[i] * v[i]
	}
	for row := range rows {
		p := 1 / (1 + math.Exp(o[2*row+1]-o[2*row]))
		along := p * (1 - p) * (linalg.Dot(jacobian[2*row], v) - linalg.Dot(jacobian[2*row+1], v)) // of two classes
		for i := range want {
			want[i] += along * (jacobian[2*row][i] - jacobian[2*row+1][i])
		}
	}
	got := make([]float64, q)
	testkit.OK(loss.GaussNewton(got, x, y, v))
	within(t, "product", got, want, 1e-13) // some hundred operations on numbers of that size
	// The mark changes no other derivative.
	plain := testkit.Get(Differentiate(Loss{P: 1, Q: q, Build: func(x, y *Node, _ []*Node) *Node {
		o := network(y, y, rows)
		return Add(Sub(SumAll(RowLogSumExp(o)), SumAll(Scale(.3, o))), penalty(x, y))
	}}))
	testkit.OK(loss.HVP(got, x, y, v))
	testkit.OK(plain.HVP(want, x, y, v))
	sameBits(t, "Hessian-vector product with marked outputs", got, want)
	if err := plain.GaussNewton(got, x, y, v); !errors.Is(err, dsbo.ErrCapability) {
		t.Errorf("without marked outputs the error is %v", err)
	}
}

// TestGaussNewtonOfLinear: where the outputs are linear in y, the matrix is the Hessian, also with
// several marks and a loss that takes y beside them.
func TestGaussNewtonOfLinear(t *testing.T) {
	const rows, q = 4, 9
	d := testkit.Get(Differentiate(Loss{P: 1, Q: q, Build: func(x, y *Node, _ []*Node) *Node {
		a := Outputs(Reshape(Scale(2, PartVec(y, 0, 6)), 3, 2))
		b := Outputs(PartVec(y, 5, 4))
		return Sum(SumAll(RowLogSumExp(a)), Dot(Square(b), PartVec(y, 1, 4)), Mul(SumAll(a), SumAll(Sin(b))), Dot(y, y))
	}}))
	r := rand.New(rand.NewPCG(1, 2))
	y, v := normals(r, q), normals(r, q)
	got, want := make([]float64, q), make([]float64, q)
	testkit.OK(d.GaussNewton(got, []float64{0}, y, v))
	testkit.OK(d.HVP(want, []float64{0}, y, v))
	within(t, "product", got, want, 1e-13)
}
