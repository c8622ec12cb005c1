package ad

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/internal/testkit"
)

// riskLoss is the partial likelihood's loss of scores y, with its gradient and a product.
func riskLoss(t *testing.T, efron bool, times, weights, y, v []float64) (loss float64, gradient, product []float64) {
	t.Helper()
	n := len(y)
	d := testkit.Get(Differentiate(Loss{P: 1, Q: n, Rows: n,
		Inputs: []Input{{Name: "times", Batch: true}, {Name: "weights", Batch: true}},
		Build: func(_, y *Node, in []*Node) *Node {
			r := Risk{in[0], in[1], efron}
			return Dot(in[1], Mul(Step(in[0]), Sub(r.TieMean(r.Log(y)), y)))
		}}))
	testkit.OK(errors.Join(d.Bind("times", testkit.Get(FloatTable(n, 1, times)), nil),
		d.Bind("weights", testkit.Get(FloatTable(n, 1, weights)), nil)))
	gradient, product = make([]float64, n), make([]float64, n)
	loss = testkit.Get(d.ValueGrad(nil, gradient, []float64{0}, y))
	testkit.OK(d.HVP(product, []float64{0}, y, v))
	return loss, gradient, product
}

// TestRisk: values are finite at scores of ±2000, where a sum of risks less another one is 0; the
// slopes sum to 0, as what is added to all scores cancels, and so do products; of one row, of no
// event and of all events at one time too.
func TestRisk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 40
	draw := func(f func() float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = f()
		}
		return v
	}
	times := draw(func() float64 { return float64(1+r.IntN(12)) * float64(1-2*r.IntN(2)) })
	one := draw(func() float64 { return 1 })
	weights, v := draw(func() float64 { return .5 + r.Float64() }), draw(r.NormFloat64)
	for _, c := range []struct {
		name  string
		times []float64
		rows  int
	}{{"times", times, n}, {"one row", []float64{3}, 1}, {"all tied", one, n},
		{"no event", draw(func() float64 { return -1 - r.Float64() }), n}} {
		for _, size := range []float64{1, 2000} {
			for _, efron := range []bool{false, true} {
				y := draw(func() float64 { return size * r.NormFloat64() })[:c.rows]
				loss, g, h := riskLoss(t, efron, c.times, weights[:c.rows], y, v[:c.rows])
				sum, products, most := 0.0, 0.0, 1.0
				for i := range g {
					sum, products, most = sum+g[i], products+h[i], max(most, math.Abs(g[i]), math.Abs(h[i]))
				}
				// n terms, each right to some 1e-13 of it at scores of 2000
				if !(math.Abs(sum) <= 1e-11*most*n && math.Abs(products) <= 1e-11*most*n) || math.IsInf(loss, 0) {
					t.Errorf("%s of size %g, Efron %t: loss %g, slopes sum to %g, products to %g", c.name, size, efron,
						loss, sum, products)
				}
			}
		}
	}
}
