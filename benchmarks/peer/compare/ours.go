package main

import (
	"context"

	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// ours runs a task in this process: the time of an outer iteration of all agents, the peak memory,
// the numbers that an agent sends in an iteration to all its neighbours, and the loss on the test
// set at the mean of y after the last iteration.
func ours(ctx context.Context, t task) result {
	m, d := t.problem(agents)
	p := testkit.Get(train.NewProblem(d, m, models.Config{Seed: seed, Batch: t.batch, Float32: t.ours == f32}))
	score := p.Score
	p.Score, p.Each = nil, nil // the run itself is measured
	r := testkit.Get(train.Run(ctx, train.Config{Problem: p, W: testkit.Get(network.Ring(agents, weight)).W,
		Method: t.method, K: t.k, EvalEvery: t.k, Evaluate: train.EvaluateOff}))
	memory := train.PeakRSS()
	p.Score = score
	scores := testkit.Get(p.Scores(ctx, train.Fit{X: r.X, Y: r.Y}))
	return result{"ms": r.MsPerIteration, "MiB": memory, "loss": runs.Number(scores.Test.Loss()),
		"floats": runs.Number(float64(r.Usage[0].Traffic.Floats) / float64(t.k))}
}
