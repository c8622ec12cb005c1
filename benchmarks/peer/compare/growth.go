package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"time"

	"dsbo/ad"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs/report"
)

// measureGrowth measures the time of an iteration of MA-DSBO, and the memory of an agent, over
// sizes, and prints the exponents of the power laws that fit best. 1 is linear growth.
func measureGrowth(ctx context.Context, out io.Writer) {
	printGrowth(ctx, out, "ms an iteration, by agents n (synthetic, p=100, 100 examples)",
		[]int{8, 16, 32, 64}, overAgents)
	printGrowth(ctx, out, "ms an iteration, by p (synthetic, 16 examples)",
		[]int{100, 300, 1000, 3000, 10000, 30000, 100000}, overFeatures)
	printGrowth(ctx, out, "ms an iteration, by batch (MNIST, f32)", []int{125, 250, 500, 1000, 2000}, overBatch)
	printGrowth(ctx, out, "KiB an agent without its data, by q (softmax of 10 classes)",
		[]int{1000, 10000, 100000, 1000000}, memoryOver)
	overIterations(ctx, out)
}

// printGrowth prints a line of values with their exponent.
func printGrowth(ctx context.Context, out io.Writer, title string, sizes []int,
	value func(context.Context, int) float64) {
	var x, y []float64
	var row strings.Builder
	for _, size := range sizes {
		v := value(ctx, size)
		x, y = append(x, float64(size)), append(y, v)
		fmt.Fprintf(&row, "  %d: %.3g", size, v)
	}
	line := testkit.Get(report.FitLine(x, y, true, true))
	fmt.Fprintf(out, "%s\n %s\n  exponent %.2f\n", title, row.String(), line.Slope)
}

func overAgents(ctx context.Context, n int) float64 {
	return synthetic(ctx, data.Synthetic{Agents: n, Features: 100, Train: 100, Val: 100, Test: 1, Seed: seed},
		time.Second)
}

func overFeatures(ctx context.Context, p int) float64 {
	return synthetic(ctx, data.Synthetic{Agents: agents, Features: p, Train: 16, Val: 16, Test: 1, Seed: seed},
		time.Second)
}

// synthetic times MA-DSBO for so long, with steps that are stable at every size here.
func synthetic(ctx context.Context, s data.Synthetic, long time.Duration) float64 {
	t := tasks()[2]
	t.method = &algo.MADSBO{Alpha: "0.1", Beta: "1e-8", Gamma: "1e-8", T: loops, N: loops}
	return newTeam(models.Logistic{Features: s.Features}, testkit.Get(s.Task()), t).fastest(ctx, long)
}

func overBatch(ctx context.Context, batch int) float64 {
	t := tasks()[0]
	t.batch = batch
	m, d := t.problem(agents)
	return newTeam(m, d, t).fastest(ctx, time.Second)
}

// fastest is the least time of an iteration in ms, over at least 5 iterations and so long: on a
// shared machine the others say more about the neighbours.
func (c *team) fastest(ctx context.Context, long time.Duration) float64 {
	least := math.Inf(1)
	start := time.Now()
	for k := 0; k < 5 || time.Since(start) < long; k++ {
		least = min(least, ms(c.iterate(ctx, k)))
	}
	return least
}

// memoryOver is the memory of an agent, its end of the exchange included, with y of length q.
func memoryOver(ctx context.Context, q int) float64 {
	const classes, examples = 10, 20
	m := models.Softmax{Features: q / classes, Classes: classes}
	d := data.Task{Features: m.Features, Classes: classes}
	for range agents {
		e := data.Examples{
			X:      testkit.Get(ad.ByteTable(examples, m.Features, make([]byte, examples*m.Features), 1)),
			Target: testkit.Get(ad.LabelTable(make([]byte, examples), classes)),
		}
		d.Shards = append(d.Shards, data.Shard{Train: e, Val: e})
	}
	before := num.LiveBytes()
	c := newTeam(m, d, tasks()[0])
	for k := range 2 {
		c.iterate(ctx, k)
	}
	after := num.LiveBytes()
	runtime.KeepAlive(c)
	return (after - before) / 1024 / agents
}

// overIterations shows that nothing grows with K.
func overIterations(ctx context.Context, out io.Writer) {
	t := tasks()[3]
	m, d := t.problem(agents)
	c := newTeam(m, d, t)
	var row strings.Builder
	k := 0
	for _, until := range []int{10, 100, 1000} {
		var took time.Duration
		first := k
		for ; k < until; k++ {
			took += c.iterate(ctx, k)
		}
		fmt.Fprintf(&row, "  up to %d: %.3g ms, %d KiB", until, ms(took)/float64(until-first),
			int64(num.LiveBytes())/1024)
	}
	fmt.Fprintf(out, "ms an iteration and memory of all, by iteration (synthetic, p=100)\n %s\n", row.String())
	runtime.KeepAlive(c)
}
