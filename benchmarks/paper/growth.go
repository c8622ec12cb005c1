package main

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// loads are what an iteration of all agents costs, in one process. Floors are the time of reading
// the examples from memory as often, and the memory of the examples alone, for products and for
// evaluation.
var loads = []string{"ms an iteration", "floor: examples read", "MiB", "floor: examples", "MB sent", "messages"}

// loadOf measures a method on the synthetic task, p = q = 50, with 500 examples of each kind an
// agent. All numbers of agents have the same curvatures.
func loadOf(ctx context.Context, method string, n, K int, bandwidth float64) []float64 {
	const p, examples = 50, 500
	before, memory := num.LiveBytes(), 0.0
	t := testkit.Get(data.Synthetic{Agents: n, Features: p, Train: examples, Val: examples, Test: examples,
		Rate: 1 / float64(n)}.Task())
	problem := testkit.Get(train.NewProblem(t, models.Logistic{Features: p, Mean: true}, models.Config{Float32: true}))
	res := testkit.Get(train.Run(ctx, train.Config{Problem: problem, W: ring(n), K: K, EvalEvery: K,
		Method: entrant{method: method}.template(), Evaluate: train.EvaluateOff,
		OnRecord: func(runs.Record) { memory = (num.LiveBytes() - before) / (1 << 20) }}))
	var sent dsbo.Traffic
	for _, u := range res.Usage {
		sent.Add(u.Traffic)
	}
	c := res.Usage[0].Calls
	// ∇f is at one point, J reads no examples here, and a value is of both losses, in float64
	calls := 1 + float64(c.LowerGrad+c.HVP+c.Diagonal+4*c.Value)/float64(K)
	return []float64{float64(res.MsPerIteration), 1e3 * calls * float64(n*examples*p*4) / bandwidth,
		memory, float64(n*examples*(p+1)) * (3*8 + 2*4) / (1 << 20),
		float64(sent.Bytes) / 1e6 / float64(K), float64(sent.Messages) / float64(K)}
}

// bandwidth returns how many bytes of n numbers a second the processors read from memory.
func bandwidth(n int) float64 {
	v := make([]float64, n)
	var parts errgroup.Group
	workers := runtime.GOMAXPROCS(0)
	seconds := fastest(3, func() error {
		for k := range workers {
			part := v[k*len(v)/workers : (k+1)*len(v)/workers]
			parts.Go(func() error { linalg.Dot(part, part); return nil })
		}
		return parts.Wait()
	})
	return float64(8*len(v)) / seconds
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

// growth measures what an iteration costs with more agents, each with as many examples.
func growth(ctx context.Context, l *lab) {
	sizes, K := pick(l, []int{8, 64, 192, 1024}, []int{4, 8}), pick(l, 10, 2)
	rate := bandwidth(pick(l, 1<<25, 1<<16))
	time := newChart("growth-time", "Time of an iteration, 500 examples an agent", "agents", "milliseconds")
	l.printf("memory is read at %.1f GB/s\n\n", rate/1e9)
	n := column(sizes, func(n int) float64 { return float64(n) })
	for _, method := range []string{"madsbo", "sparkle", "dsoba", "newtoncg"} {
		all := column(sizes, func(n int) []float64 { return loadOf(ctx, method, n, K, rate) })
		rows := table{}
		rows.add(method+", agents:", n, "exponent")
		for k, name := range loads {
			v := column(all, func(load []float64) float64 { return load[k] })
			rows.add(name, v, slope(n, v))
			if k == 0 {
				time.line(method, n, v)
			}
		}
		l.table(rows)
	}
	l.save(time)
}
