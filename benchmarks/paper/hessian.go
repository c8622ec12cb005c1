package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs/report"
)

// A price is what second derivatives of one agent's lower loss cost at one q; the last two are 0
// where there is no whole Hessian.
type price struct {
	q                     int
	gradient, product     float64 // seconds
	productBytes          float64 // that stay live with the product
	hessian, hessianBytes float64
}

// priceOf measures a model's lower loss of some examples.
func priceOf(m models.Model, e data.Examples, repeats int, dense bool) price {
	pp, q := m.Dims()
	r := rand.New(rand.NewPCG(uint64(q), 5))
	x, y, v, dst := normal(r, pp, 0.1), normal(r, q, 0.1), normal(r, q, 1), make([]float64, q)
	p := price{q: q}
	before := num.LiveBytes()
	o := testkit.Get(models.NewOracle(m, data.Shard{Train: e, Val: e}, models.Config{}))
	s := dsbo.Sample{Set: dsbo.Whole}
	// Each repeat is at another point: nothing of the last can be used again.
	p.gradient = fastest(repeats, func() error { y[0] += 1e-3; return o.LowerGrad(dst, x, y, s) })
	p.product = fastest(repeats, func() error { y[0] += 1e-3; return o.HVP(dst, x, y, v, s) })
	p.productBytes = num.LiveBytes() - before
	if dense {
		h := make([]float64, q*q)
		p.hessian = fastest(min(repeats, 2), func() error { return o.Hessian(h, x, y, s) })
		p.hessianBytes = num.LiveBytes() - before
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
	time := newChart("hessian-time", "Second derivatives: time", "q, length of y", "milliseconds, 64 examples",
		report.Log, report.Log)
	memory := newChart("hessian-memory", "Second derivatives: memory", "q, length of y", "MB that stay live",
		report.Log, report.Log)
	for _, c := range secondOrder() {
		list := pick(l, c.sizes, c.quick)
		if len(list) == 0 {
			continue
		}
		rows := table{{c.name + ", q", "gradient, ms", "HVP, ms", "Hessian, ms", "HVP, MB", "Hessian, MB"}}
		var prices, dense []price
		for _, size := range list {
			m, e := c.model(size)
			_, q := m.Dims()
			p := priceOf(m, e, pick(l, 10, 2), q <= c.dense)
			prices = append(prices, p)
			cells := []any{p.q, 1e3 * p.gradient, 1e3 * p.product, "–", p.productBytes / 1e6, "–"}
			if p.hessian > 0 {
				dense = append(dense, p)
				cells[3], cells[5] = 1e3*p.hessian, p.hessianBytes/1e6
			}
			rows.add(cells...)
		}
		l.table(rows)
		sizes := func(p price) float64 { return float64(p.q) }
		product, bytes := func(p price) float64 { return 1e3 * p.product },
			func(p price) float64 { return p.productBytes / 1e6 }
		whole, wholeBytes := func(p price) float64 { return 1e3 * p.hessian },
			func(p price) float64 { return p.hessianBytes / 1e6 }
		exponent := func(ps []price, of func(price) float64) float64 {
			last := ps[max(0, len(ps)-3):]
			return slope(column(last, sizes), column(last, of))
		}
		l.printf("%s, exponents in q: HVP %.2f in time and %.2f in memory, whole Hessian %.2f and %.2f\n\n",
			c.name, exponent(prices, product), exponent(prices, bytes), exponent(dense, whole),
			exponent(dense, wholeBytes))
		for _, f := range []struct {
			*chart
			product, whole func(price) float64
		}{{time, product, whole}, {memory, bytes, wholeBytes}} {
			f.line(c.name+": one Hessian-vector product", column(prices, sizes), column(prices, f.product))
			f.line(c.name+": the whole Hessian", column(dense, sizes), column(dense, f.whole))
		}
	}
	l.save(time, memory)
}
