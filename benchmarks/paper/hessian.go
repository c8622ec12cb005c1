package main

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// The numbers of a price: what second derivatives of one agent's lower loss cost at one q. Memory
// is what stays live. The whole Hessian's numbers are NaN where there is none.
const (
	sizeQ = iota
	gradientMs
	productMs
	hessianMs
	productMB
	hessianMB
)

// priceOf measures a model's lower loss of some examples.
func priceOf(m models.Model, e data.Examples, repeats int, dense bool) []float64 {
	pp, q := m.Dims()
	r := rand.New(rand.NewPCG(uint64(q), 5))
	x, y, v, dst := normal(r, pp, 0.1), normal(r, q, 0.1), normal(r, q, 1), make([]float64, q)
	before := num.LiveBytes()
	o := testkit.Get(models.NewOracle(m, data.Shard{Train: e, Val: e}, models.Config{}))
	// Each repeat is at another point: nothing of the last can be used again.
	p := []float64{float64(q),
		1e3 * fastest(repeats, func() error { y[0] += 1e-3; return o.LowerGrad(dst, x, y, allExamples) }),
		1e3 * fastest(repeats, func() error { y[0] += 1e-3; return o.HVP(dst, x, y, v, allExamples) }),
		math.NaN(), (num.LiveBytes() - before) / 1e6, math.NaN()}
	if dense {
		h := make([]float64, q*q)
		p[hessianMs] = 1e3 * fastest(min(repeats, 2), func() error { return o.Hessian(h, x, y, allExamples) })
		p[hessianMB] = (num.LiveBytes() - before) / 1e6
		runtime.KeepAlive(h)
	}
	runtime.KeepAlive(o)
	return p
}

// fastest returns the least time of several calls, after one that compiles.
func fastest(repeats int, f func() error) float64 {
	best := 0.0
	for i := range repeats + 1 {
		start := time.Now()
		testkit.OK(f())
		if t := time.Since(start).Seconds(); i == 1 || t < best {
			best = t
		}
	}
	return best
}

// hessian compares products with whole Hessians, of a convex loss and of networks.
func hessian(_ context.Context, l *lab) {
	time := newChart("hessian-time", "Second derivatives: time", "q, length of y", "milliseconds, 64 examples")
	memory := newChart("hessian-memory", "Second derivatives: memory", "q, length of y", "MB that stay live")
	for _, c := range secondOrder() {
		list := pick(l, c.sizes, c.quick)
		if len(list) == 0 {
			continue
		}
		rows := table{{c.name + ", q", "gradient, ms", "HVP, ms", "Hessian, ms", "HVP, MB", "Hessian, MB"}}
		var prices, dense [][]float64
		for _, size := range list {
			m, e := c.model(size)
			_, q := m.Dims()
			p := priceOf(m, e, pick(l, 10, 1), q <= c.dense)
			prices = append(prices, p)
			if q <= c.dense {
				dense = append(dense, p)
			}
			rows.add(p)
		}
		l.table(rows)
		number := func(ps [][]float64, k int) []float64 {
			return column(ps, func(p []float64) float64 { return p[k] })
		}
		exponent := func(ps [][]float64, k int) float64 {
			last := ps[max(0, len(ps)-3):]
			return slope(number(last, sizeQ), number(last, k))
		}
		l.printf("%s, exponents in q: HVP %.2f in time and %.2f in memory, whole Hessian %.2f and %.2f\n\n",
			c.name, exponent(prices, productMs), exponent(prices, productMB), exponent(dense, hessianMs),
			exponent(dense, hessianMB))
		for _, f := range []struct {
			*chart
			product, whole int
		}{{time, productMs, hessianMs}, {memory, productMB, hessianMB}} {
			f.line(c.name+": one Hessian-vector product", number(prices, sizeQ), number(prices, f.product))
			f.line(c.name+": the whole Hessian", number(dense, sizeQ), number(dense, f.whole))
		}
	}
	l.save(time, memory)
}
