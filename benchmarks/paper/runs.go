package main

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train"
)

// A problemOf gives the problem whose minibatches are drawn by a seed. Each call makes new oracles.
type problemOf func(draws uint64) train.Problem

// run runs a configuration on a problem. Evaluation is exact to what the figures show.
func run(ctx context.Context, p train.Problem, c train.Config) (*train.Result, error) {
	c.Problem, c.Tol, c.AdjointTol = p, 1e-10, 1e-10
	res, err := train.Run(ctx, c)
	if err != nil {
		err = fmt.Errorf("%s, K = %d: %w", algo.NameOf(c.Method), c.K, err)
	}
	return res, err
}

// average runs a configuration for several seeds of the draws, as many at once as there are
// processors, and returns the means of ‖∇Φ(x̄)‖² and of the consensus error at each evaluation.
func average(ctx context.Context, of problemOf, seeds int, c train.Config) (gradients, consensus []float64) {
	results := make([]*train.Result, seeds)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for s := range seeds {
		p := of(uint64(s + 1))
		g.Go(func() (err error) {
			results[s], err = run(ctx, p, c)
			return err
		})
	}
	testkit.OK(g.Wait())
	for i := range results[0].Records {
		gradient, apart := 0.0, 0.0
		for _, res := range results {
			r := res.Records[i]
			gradient += float64(r.GradNorm * r.GradNorm)
			apart += float64(r.ConsensusX)
		}
		gradients, consensus = append(gradients, gradient/float64(seeds)), append(consensus, apart/float64(seeds))
	}
	return gradients, consensus
}

// onAgents calls work for every agent, at once, with its end of an exchange.
func onAgents(ctx context.Context, oracles []dsbo.Oracle, w *network.Matrix,
	work func(context.Context, int, dsbo.Oracle, dsbo.Mixer) error) {
	l := network.NewLocal(w)
	defer l.Close()
	ends := testkit.Get(network.NewAverages(l, w, network.AverageOptions{}))
	g, ctx := errgroup.WithContext(ctx)
	for i, o := range oracles {
		g.Go(func() error { return work(ctx, i, o, ends.Agent(i)) })
	}
	testkit.OK(g.Wait())
}

// ring is the mixing matrix of n agents in a ring, w = 1/2.
func ring(n int) *network.Matrix { return testkit.Get(network.Ring(n, 0.5)).W }
