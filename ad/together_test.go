package ad

import (
	"math/rand/v2"
	"testing"

	"dsbo/internal/testkit"
)

// BenchmarkTogether asks for a gradient, a Hessian- and a Jacobian-vector product at one point, in
// turn, as methods do, and in one pass: what values that stay from one question to the next lack
// of a pass for all three.
func BenchmarkTogether(b *testing.B) {
	const rows, in, units, classes = 256, 784, 300, 10
	const hidden, head = in * units, units * classes
	loss := func(weights, last *Node, batch []*Node) *Node {
		scores := MatMul(ReLU(MatMul(batch[0], Part(weights, 0, units, in), false, true)), last, false, true)
		return Mean(Sub(RowLogSumExp(scores), RowDot(scores, batch[1])))
	}
	for _, c := range []struct {
		name  string
		p, q  int
		build func(x, y *Node, batch []*Node) *Node
	}{
		{"hidden layers in x", hidden, head, func(x, y *Node, batch []*Node) *Node {
			return Add(loss(x, Part(y, 0, classes, units), batch), Scale(.01, Dot(y, y)))
		}},
		{"a penalty in x", 1, hidden + head, func(x, y *Node, batch []*Node) *Node {
			return Add(loss(y, Part(y, hidden, classes, units), batch), Mul(Exp(Item(x, 0)), Dot(y, y)))
		}},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		normal := func(n int) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = .05 * r.NormFloat64()
			}
			return v
		}
		d := testkit.Get(Differentiate(Loss{P: c.p, Q: c.q, Rows: rows, Float32: true, Build: c.build,
			Inputs: []Input{{Name: "X", Shape: []int{in}, Batch: true},
				{Name: "T", Shape: []int{classes}, Batch: true}}}))
		testkit.OK(d.Bind("X", testkit.Get(FloatTable(rows, in, normal(rows*in))), nil))
		testkit.OK(d.Bind("T", testkit.Get(LabelTable(make([]uint8, rows), classes)), nil))
		x, y, v := normal(c.p), normal(c.q), normal(c.q)
		gy, hv, jv := make([]float64, c.q), make([]float64, c.q), make([]float64, c.p)
		elsewhere := func() { x[0], y[0] = -x[0]-1e-3, -y[0]-1e-3 }
		b.Run(c.name+"/in turn", func(b *testing.B) {
			for b.Loop() {
				elsewhere()
				testkit.OK(d.Grad(nil, gy, x, y))
				testkit.OK(d.HVP(hv, x, y, v))
				testkit.OK(d.JVP(jv, x, y, v))
			}
		})
		b.Run(c.name+"/together", func(b *testing.B) {
			for b.Loop() {
				elsewhere()
				testkit.OK(d.compute(2, 1<<gradY|1<<hvp|1<<jvp, [derivCount][]float64{gradY: gy, hvp: hv, jvp: jv}, x,
					y, v))
			}
		})
	}
}
