package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/must"
	"dsbo/internal/stat"
	"dsbo/models"
	"dsbo/report"
)

// A price is what second derivatives of one agent's lower loss cost at one q; the last two are 0 where there is no whole Hessian.
type price struct {
	q                     int
	gradient, product     float64 // seconds
	productBytes          float64 // that stay live with the product
	hessian, hessianBytes float64
}

// priceOf measures the logistic loss of 64 examples with q features.
func priceOf(q, repeats int, dense bool) price {
	const rows = 64
	r := rand.New(rand.NewPCG(uint64(q), 5))
	pixels, signs := make([]uint8, rows*q), make([]float64, rows)
	for i := range pixels {
		pixels[i] = uint8(r.IntN(256))
	}
	for i := range signs {
		signs[i] = float64(2*r.IntN(2) - 1)
	}
	x := must.Get(ad.ByteTable(rows, q, pixels, 1./255))
	target := must.Get(ad.FloatTable(rows, 1, signs))
	lambda, y, v, dst := normal(r, q, 0.1), normal(r, q, 0.1), normal(r, q, 1), make([]float64, q)
	p := price{q: q}
	before := stat.LiveBytes()
	e := data.Examples{X: x, Target: target}
	o := must.Get(models.NewOracle(models.Logistic{Features: q}, data.Shard{Train: e, Val: e}, models.Config{}))
	s := dsbo.Sample{Set: dsbo.Whole}
	// Each repeat is at another point: nothing of the last can be used again.
	p.gradient = fastest(repeats, func() error { y[0] += 1e-3; return o.LowerGrad(dst, lambda, y, s) })
	p.product = fastest(repeats, func() error { y[0] += 1e-3; return o.HVP(dst, lambda, y, v, s) })
	p.productBytes = stat.LiveBytes() - before
	if dense {
		h := make([]float64, q*q)
		p.hessian = fastest(min(repeats, 2), func() error { return o.Hessian(h, lambda, y, s) })
		p.hessianBytes = stat.LiveBytes() - before
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
		must.OK(f())
		if t := time.Since(start).Seconds(); i == 1 || t < best {
			best = t
		}
	}
	return best
}

// hessian compares products with whole Hessians.
func hessian(_ context.Context, l *lab) {
	rows := table{{"q", "gradient, ms", "HVP, ms", "Hessian, ms", "HVP, MB", "Hessian, MB"}}
	largest := pick(l, 7840, 200) // of the whole Hessian
	var prices []price
	for _, size := range pick(l, []int{100, 784, 2500, 7840, 100_000, 1_000_000}, []int{50, 200, 1000}) {
		p := priceOf(size, pick(l, 10, 2), size <= largest)
		prices = append(prices, p)
		cells := []any{p.q, 1e3 * p.gradient, 1e3 * p.product, "–", p.productBytes / 1e6, "–"}
		if p.hessian > 0 {
			cells[3], cells[5] = 1e3*p.hessian, p.hessianBytes/1e6
		}
		rows.add(cells...)
	}
	l.table(rows)
	dense := slices.DeleteFunc(slices.Clone(prices), func(p price) bool { return p.hessian == 0 })
	sizes := func(p price) float64 { return float64(p.q) }
	product, bytes := func(p price) float64 { return 1e3 * p.product }, func(p price) float64 { return p.productBytes / 1e6 }
	hessian, hessianBytes := func(p price) float64 { return 1e3 * p.hessian }, func(p price) float64 { return p.hessianBytes / 1e6 }
	exponent := func(ps []price, of func(price) float64) float64 {
		last := ps[max(0, len(ps)-3):]
		return slope(column(last, sizes), column(last, of))
	}
	l.printf("exponents in q: HVP %.2f in time and %.2f in memory, whole Hessian %.2f and %.2f\n\n",
		exponent(prices, product), exponent(prices, bytes), exponent(dense, hessian), exponent(dense, hessianBytes))
	for _, m := range []struct {
		name, label      string
		product, hessian func(price) float64
	}{
		{"time", "milliseconds, logistic loss of 64 examples", product, hessian},
		{"memory", "MB that stay live", bytes, hessianBytes},
	} {
		f := newChart("hessian-"+m.name, "Second derivatives: "+m.name, "q, length of y", m.label, report.Log, report.Log)
		f.line("one Hessian-vector product", column(prices, sizes), column(prices, m.product))
		f.line("the whole Hessian", column(dense, sizes), column(dense, m.hessian))
		l.save(f)
	}
}
