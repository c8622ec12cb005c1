package main

import (
	"context"
	"fmt"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// A team is all agents of a problem in this process.
type team struct {
	agents  []dsbo.Algorithm
	oracles []dsbo.Oracle
	mixers  []*algotest.Mixer
	sends   int // neighbours to which an agent sends
}

// newTeam puts one agent at each shard of d, on a ring.
func newTeam(m models.Model, d data.Task, t task) *team {
	ring := testkit.Get(network.Ring(len(d.Shards), weight))
	p, q := m.Dims()
	c := &team{mixers: algotest.NewMixers(ring.W.Dense()), sends: ring.W.Sends(0)}
	programs := models.NewPrograms(m)
	for i, s := range d.Shards {
		o := testkit.Get(programs.Oracle(s,
			models.Config{Agent: i, Seed: seed, Batch: t.batch, Float32: t.ours == f32}))
		a := algo.Clone(t.method)
		testkit.OK(a.Init(p, q, t.k))
		if st, ok := m.(models.Starter); ok {
			st.Start(a.Y())
		}
		c.agents, c.oracles = append(c.agents, a), append(c.oracles, o)
	}
	return c
}

// ours runs a task in this process: the time of an outer iteration of all agents, the peak memory,
// the numbers that an agent sends in an iteration to all its neighbours, and the loss on the test
// set at the mean of y after the last iteration.
func ours(ctx context.Context, t task) result {
	m, d := t.problem(agents)
	c := newTeam(m, d, t)
	var times []float64
	for k := range t.k {
		start := time.Now()
		testkit.OK(algotest.Step(ctx, k, c.agents, c.oracles, c.mixers))
		times = append(times, ms(time.Since(start)))
	}
	floats := 0.0
	for _, x := range c.mixers {
		floats += float64(c.sends*x.Floats) / float64(len(c.mixers)*t.k)
	}
	return result{"ms": runs.Number(num.Median(times)), "MiB": train.PeakRSS(), "floats": runs.Number(floats),
		"loss": runs.Number(c.loss(m, d.Test))}
}

// loss is the mean loss on e at the mean of the agents' y.
func (c *team) loss(m models.Model, e data.Examples) float64 {
	var ys [][]float64
	for _, a := range c.agents {
		ys = append(ys, a.Y())
	}
	y := make([]float64, len(ys[0]))
	linalg.Mean(y, ys...)
	if !linalg.AllFinite(y) {
		testkit.OK(fmt.Errorf("the run has diverged: %w", dsbo.ErrDiverged))
	}
	score := testkit.Get(models.NewScore(m, e, false))
	losses, _ := testkit.Get2(score.Sums(c.agents[0].X(), y))
	return losses / float64(score.Len())
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
