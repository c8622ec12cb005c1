package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"dsbo/ad"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
)

// deepTable is the comparison of an agent's questions about networks, on one thread: the gradient,
// and Hessian-vector products, the first one at a new point (cold) and one more there (warm). The
// texts beside a network are the most that ours/peer of these times may be.
func deepTable() table {
	t := table{oneThread: true, columns: deepColumns()}
	for _, d := range []struct{ network, gradient, product string }{
		{"784-256-128-10", "0.7", "0.6"}, {"784-1024-1024-10", "0.7", "0.6"}, {"lenet", "0.8", "0.7"},
	} {
		for _, batch := range []int{64, 256} {
			for _, kind := range []dtype{f32, f64} {
				t.rows = append(t.rows, row{part: "deep-" + d.network,
					most:  map[string]string{"Gradient": d.gradient, "Cold": d.product},
					title: fmt.Sprintf("%s, batch %d, %s", d.network, batch, kind), program: torchProducts,
					args: []string{"--network", d.network, "--batch", fmt.Sprint(batch), "--dtype", string(kind)},
					ours: func(context.Context) result { return measureDeep(d.network, batch, kind, 1) }})
			}
		}
	}
	return t
}

// deepColumns are what is measured of a network.
func deepColumns() []column {
	columns := []column{{name: "Gradient", header: "gradient, ms", most: true},
		{name: "Cold", header: "HVP, ms", most: true}, {name: "Warm", header: "warm, ms"}}
	for i := range columns {
		columns[i].format, columns[i].ratio = "%.2f", "%.3f"
	}
	return columns
}

// measureDeep measures the lower loss of a network as measureLoss does.
func measureDeep(network string, batch int, kind dtype, seconds float64) result {
	m := networkOf(network)
	p, q := m.Dims()
	y := make([]float64, q)
	m.(models.Starter).Start(y)
	return measureLoss(ad.Loss{P: p, Q: q, Rows: batch, Float32: kind == f32,
		Build: func(x, y *ad.Node, in []*ad.Node) *ad.Node {
			return m.Lower(x, y, models.Batch{Rows: batch, X: in[0], T: in[1]})
		}}, y, seconds)
}

// measureLoss measures a loss of random pictures of 784 numbers and their ten classes from y on,
// each question for a number of seconds, by vectors of the loss's type, as the peer's are.
func measureLoss(loss ad.Loss, y []float64, seconds float64) result {
	r := rand.New(rand.NewPCG(1, uint64(loss.Rows)))
	pixels, labels := make([]uint8, loss.Rows*784), make([]uint8, loss.Rows)
	for i := range pixels {
		pixels[i] = uint8(r.IntN(256))
	}
	for i := range labels {
		labels[i] = uint8(r.IntN(10))
	}
	loss.Inputs = []ad.Input{{Name: "X", Shape: []int{784}, Batch: true}, {Name: "T", Shape: []int{10}, Batch: true}}
	d := testkit.Get(ad.Differentiate(loss))
	testkit.OK(d.Bind("X", testkit.Get(ad.ByteTable(loss.Rows, 784, pixels, 1./255)), nil))
	testkit.OK(d.Bind("T", testkit.Get(ad.LabelTable(labels, 10)), nil))
	if !loss.Float32 {
		return timesIn(&d.DerivsIn, make([]float64, loss.P), y, seconds)
	}
	single := make([]float32, loss.Q)
	linalg.Convert(single, y)
	return timesIn(d.Float32(), make([]float32, loss.P), single, seconds)
}

// timesIn returns the medians of the times of derivatives in ms, each for a number of seconds. Cold
// is a product at a new point, Warm one more at the same point.
func timesIn[T ad.Float](d *ad.DerivsIn[T], x, y []T, seconds float64) result {
	dst, v, last := make([]T, len(y)), make([]T, len(y)), math.NaN()
	linalg.Fill(v, 1)
	product := func() { testkit.OK(d.HVP(dst, x, y, v)) }
	elsewhere := func() {
		testkit.WantNew(&last, dst)
		for i := range y {
			y[i] += 1e-4
		}
	}
	return result{
		"Gradient": medianTime(seconds, elsewhere, func() { testkit.OK(d.Grad(nil, dst, x, y)) }),
		"Cold":     medianTime(seconds, elsewhere, product),
		"Warm":     medianTime(seconds, func() { v[0] += 1e-3 }, product)}
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
		times = append(times, 1e3*(testkit.ProcessorTime()-start).Seconds())
	}
	return runs.Number(num.Median(times))
}
