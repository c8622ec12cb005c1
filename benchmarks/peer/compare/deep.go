package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"dsbo/ad"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// timesOf are the columns of an agent's questions about a loss, on one thread.
func timesOf() []column {
	return []column{
		{name: "Gradient", header: "gradient, ms", format: "%.2f", ratio: "%.3f", most: true},
		{name: "Cold", header: "HVP, ms", format: "%.2f", ratio: "%.3f", most: true},
	}
}

// deepTable is the comparison of an agent's questions about networks, on one thread. By count is
// the quotient of the multiplications that an HVP and a gradient take at the least, and behind it
// the measured one over it; share is the part of a product's time that its matrix products would
// take at the machine's best rate.
func deepTable() table {
	t := table{oneThread: true, more: []string{"HVP/gradient", "by count", "÷", "warm/gradient", "share"},
		columns: append(timesOf(), column{name: "Warm", header: "warm, ms", format: "%.2f", ratio: "%.3f"})}
	for _, d := range []struct{ network, gradient, product string }{
		{"784-256-128-10", "0.7", "0.6"}, {"784-1024-1024-10", "0.7", "0.6"}, {"lenet", "0.8", "0.7"},
		{"colours", "0.8", "0.7"}, {"recurrent", "0.8", "0.7"}, {"transformer", "0.8", "0.7"},
	} {
		for _, batch := range []int{64, 256} {
			for _, kind := range []dtype{f32, f64} {
				t.rows = append(t.rows, row{part: "deep-" + d.network,
					most:  map[string]string{"Gradient": d.gradient, "Cold": d.product},
					title: fmt.Sprintf("%s, batch %d, %s", d.network, batch, kind), program: torchProducts,
					args: []string{"--network", d.network, "--batch", fmt.Sprint(batch), "--dtype", string(kind)},
					more: func(mine result, l limit) []string { return moreOfDeep(d.network, batch, kind, mine, l) },
					ours: func(context.Context) result { return measureDeep(d.network, batch, kind, 1) }})
			}
		}
	}
	return t
}

// measureDeep measures ours, each for a number of seconds, by vectors of the row's type, as the
// peer's are.
func measureDeep(network string, batch int, kind dtype, seconds float64) result {
	m := newDeep(network)
	y, v := make([]float64, m.params.Len()), make([]float64, m.params.Len())
	m.params.Init(y, 1)
	m.params.Init(v, 2)
	return m.on(pictures(batch, m.inputs)).measure(kind, y, v, seconds)
}

// moreOfDeep returns the cells of a network that follow from others.
func moreOfDeep(network string, batch int, kind dtype, mine result, l limit) []string {
	gradient, cold := mine["Gradient"], mine["Cold"]
	count, least, off, share := newDeep(network).count, "", "", ""
	if count != (productCount{}) {
		by, best := count.product/count.gradient, l.GFLOPS
		if kind == f64 {
			best = l.GFLOPS64
		}
		least, off = fmt.Sprintf("%.2f", by), fmt.Sprintf("%.2f", float64(cold/gradient)/by)
		share = fmt.Sprintf("%.0f %%", 100*count.product*float64(batch)/1e6/best/float64(cold))
	}
	return []string{fmt.Sprintf("%.2f", cold/gradient), least, off, fmt.Sprintf("%.2f", mine["Warm"]/gradient), share}
}

// measure measures a loss at points that are new, and products along v, by vectors of a type. Cold
// is a product at a new point, Warm one more at the same point.
func (m *lossModel) measure(kind dtype, y, v []float64, seconds float64) result {
	f := m.differentiate(kind == f32)
	if kind == f64 {
		return timesIn(&f.DerivsIn, y, v, seconds)
	}
	single, along := make([]float32, m.q), make([]float32, m.q)
	linalg.Convert(single, y)
	linalg.Convert(along, v)
	return timesIn(f.Float32(), single, along, seconds)
}

// timesIn returns the medians of the times of derivatives in ms, each for a number of seconds.
func timesIn[T ad.Float](f *ad.DerivsIn[T], y, v []T, seconds float64) result {
	dst, last := make([]T, len(y)), math.NaN()
	product := func() { testkit.OK(f.HVP(dst, nil, y, v)) }
	elsewhere, another := func() {
		testkit.WantNew(&last, dst)
		for i := range y {
			y[i] += 1e-4 * v[i]
		}
	}, func() { v[0] += 1e-3 }
	return result{
		"Gradient": medianTime(seconds, elsewhere, func() { testkit.OK(f.Grad(nil, dst, nil, y)) }),
		"Cold":     medianTime(seconds, elsewhere, product), "Warm": medianTime(seconds, another, product)}
}

// medianTime calls both for a number of seconds, and returns the median time in ms of f, of
// processors where the system tells it.
func medianTime(seconds float64, before, f func()) runs.Number {
	var times []float64
	f()
	for begin := time.Now(); time.Since(begin).Seconds() < seconds || len(times) < 3; {
		before()
		start := testkit.ProcessorTime()
		f()
		times = append(times, ms(testkit.ProcessorTime()-start))
	}
	return runs.Number(num.Median(times))
}
