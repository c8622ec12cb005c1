package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestNothingKept: an answer that was kept, as ad keeps a whole Hessian that is asked for twice at
// one point, is not timed; answers at new points are, of each model and by each way to ask.
func TestNothingKept(t *testing.T) {
	for i, c := range secondOrder() {
		if testing.Short() && i > 2 {
			break // networks that take a while
		}
		m, e := c.model(c.quick[0])
		_, q := m.Dims()
		for _, asked := range questions(normal(rand.New(rand.NewPCG(1, 2)), q, 1)) {
			err := testkit.Catch(func() {
				if ms, mb := costOf(m, e, asked, 2); !(ms >= 0) || !(mb > 0) {
					t.Errorf("%s: the %s takes %v ms and %v MB", c.name, asked.name, ms, mb)
				}
			})
			if err != nil {
				t.Errorf("%s: %s: %v", c.name, asked.name, err)
			}
			fixed := asked // it is asked where it was asked before
			fixed.ask = func(o *models.Oracle, dst, x, y []float64) error {
				return asked.ask(o, dst, x, constant(len(y)))
			}
			if err := testkit.Catch(func() { costOf(m, e, fixed, 2) }); err == nil {
				t.Errorf("%s: a kept answer for the %s must be an error", c.name, asked.name)
			}
		}
	}
}

// constant returns n numbers of 0.1.
func constant(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 0.1
	}
	return v
}

// TestHessianByProducts: the two ways to a whole Hessian find the same one.
func TestHessianByProducts(t *testing.T) {
	for _, c := range secondOrder() {
		m, e := c.model(c.quick[0])
		pp, q := m.Dims()
		o := oracleOf(m, e)
		x, y := constant(pp), constant(q)
		var answers [questionCount][]float64
		for i, asked := range questions(constant(q)) {
			answers[i] = make([]float64, asked.length(q))
			testkit.OK(asked.ask(o, answers[i], x, y))
		}
		for i, v := range answers[whole] {
			if w := answers[byProducts][i]; !(math.Abs(v-w) <= 1e-12*(1+math.Abs(w))) {
				t.Fatalf("%s: entry %d of the Hessian is %v, by products %v", c.name, i, v, w)
			}
		}
	}
}

// BenchmarkHessian prices a gradient, a product and a whole Hessian, each asked at new points:
// milliseconds of the processor and MB at the peak.
func BenchmarkHessian(b *testing.B) {
	for _, c := range secondOrder() {
		m, e := c.model(c.sizes[0])
		_, q := m.Dims()
		b.Run(fmt.Sprintf("%s/q=%d", c.name, q), func(b *testing.B) {
			var p price
			for b.Loop() {
				p = priceOf(m, e, 3, true)
			}
			b.ReportMetric(0, "ns/op") // of all questions together
			for i, unit := range []string{"gradient", "HVP", "by-HVPs", "Hessian"} {
				b.ReportMetric(p.ms[i], unit+"-ms")
				b.ReportMetric(p.mb[i], unit+"-MB")
			}
		})
	}
}
