package main

import (
	"fmt"
	"io"
	"time"

	"dsbo"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// hvpOverGradient is what an HVP is meant to cost in gradients of g at most.
const hvpOverGradient = 1.6

// products are the times in ms of one agent's questions on MNIST, batch 1000, with a new draw each.
type products map[dtype]struct{ Gradient, HVP float64 }

func measureProducts() products {
	t := tasks()[0]
	m, d := t.problem(agents)
	ps := products{}
	for _, kind := range []dtype{f32, f64} {
		p := ps[kind]
		p.Gradient, p.HVP = productTimes(
			testkit.Get(models.NewOracle(m, d.Shards[0], models.Config{Batch: t.batch, Float32: kind == f32})))
		ps[kind] = p
	}
	return ps
}

// productTimes times the gradient of g and the HVP, in turn.
func productTimes(o dsbo.Oracle) (gradient, hvp float64) {
	p, q := o.Dims()
	x, y, v, dst := make([]float64, p), make([]float64, q), make([]float64, q), make([]float64, q)
	for i := range y {
		y[i], v[i] = float64(i%7)/100, float64(i%5)/10
	}
	var gs, hs []float64
	for k := range 200 {
		y[0] = -y[0]
		start := time.Now()
		testkit.OK(o.LowerGrad(dst, x, y, dsbo.Sample{Set: dsbo.Lower, K: k}))
		middle := time.Now()
		testkit.OK(o.HVP(dst, x, y, v, dsbo.Sample{Set: dsbo.Curvature, K: k}))
		gs, hs = append(gs, ms(middle.Sub(start))), append(hs, ms(time.Since(middle)))
	}
	return num.Median(gs), num.Median(hs)
}

func (ps products) print(out io.Writer) {
	for _, kind := range []dtype{f32, f64} {
		p := ps[kind]
		fmt.Fprintf(out, "products: MNIST %s, gradient of g %.3f ms, HVP %.3f ms, ratio %.2f, at most %g\n", kind,
			p.Gradient, p.HVP, p.HVP/p.Gradient, hvpOverGradient)
	}
}
