package ad

import (
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/internal/testkit"
)

// TestLinearAlgebra: solutions, factors and determinants of matrices of several sizes, blocks of
// triangles among them, against what they are defined by. Entries are of size 1 and condition
// numbers below 1e3, so that k·1e3 roundings bound what is left.
func TestLinearAlgebra(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, k := range []int{1, 2, 5, 16, 17, 40} {
		q := k*k + k
		y := make([]float64, q)
		for i := range y {
			y[i] = r.NormFloat64() / math.Sqrt(float64(k))
		}
		p := testkit.Get(Compile(Func{P: 1, Q: q, Build: func(_, y *Node, _ []*Node) []*Node {
			half, b := Part(y, 0, k, k), PartVec(y, k*k, k)
			units := make([]float64, k*k)
			for i := range k {
				units[i*k+i] = 1
			}
			one := NewConst(y, "one", k, k, units)
			a := Add(half, ColScale(one, Uniform(2, b)))
			s := Add(MatMul(half, half, false, true), one)
			l := Cholesky(s)
			x := Solve(a, b)
			back := SolveLower(l, SolveLower(l, b, false), true)
			return []*Node{
				Sub(MatVec(a, x, false), b), Flatten(Sub(MatMul(a, Solve(a, one), false, false), one)),
				Flatten(Sub(MatMul(l, l, false, true), s)), Sub(MatVec(s, back, false), b),
				Sub(Flatten(LogDet(s)), Flatten(Scale(2, SumAll(Log(MatVec(Mul(l, one), Uniform(1, b), false)))))),
			}
		}}))
		dst := make([]float64, p.size)
		testkit.OK(p.Eval(dst, []float64{0}, y))
		for i, v := range dst {
			if !(math.Abs(v) <= float64(k)*1e3*0x1p-53) {
				t.Fatalf("k = %d: entry %d of what must be 0 is %g", k, i, v)
			}
		}
	}
}

// TestSingular: what has no solution is not finite, and no panic.
func TestSingular(t *testing.T) {
	p := testkit.Get(Compile(Func{P: 1, Q: 4, Build: func(_, y *Node, _ []*Node) []*Node {
		a := Part(y, 0, 2, 2)
		return []*Node{LogDet(a), SumAll(Solve(a, PartVec(y, 0, 2))), SumAll(Cholesky(a))}
	}}))
	dst := make([]float64, 3)
	testkit.OK(p.Eval(dst, []float64{0}, []float64{-1, 2, -2, 4}))
	if dst[0] != math.Inf(-1) || dst[1]-dst[1] == 0 || dst[2] == dst[2] {
		t.Errorf("log |det|, a solution and a Cholesky factor of a singular matrix are %v", dst)
	}
}
