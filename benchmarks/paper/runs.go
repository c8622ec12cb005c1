package main

import (
	"context"
	"encoding/json"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"dsbo/algo"
	"dsbo/runs"
	"dsbo/train"
)

// A problemOf gives the problem whose minibatches are drawn by a seed. Each call makes new oracles.
type problemOf func(draws uint64) (train.Problem, error)

// withTolerances makes evaluation exact to what the figures show.
func withTolerances(c train.Config) train.Config {
	c.Tol, c.AdjointTol = 1e-10, 1e-10
	return c
}

// run runs a configuration on a problem.
func run(ctx context.Context, of problemOf, draws uint64, c train.Config) (*train.Result, error) {
	p, err := of(draws)
	if err != nil {
		return nil, err
	}
	c.Problem = p
	return train.Run(ctx, withTolerances(c))
}

// withParameters returns a clone of a method with, of these parameters, those that it has.
func withParameters(m algo.Method, values map[string]any) algo.Method {
	m = algo.Clone(m)
	known := algo.Parameters(m)
	maps.DeleteFunc(values, func(name string, _ any) bool { return !slices.Contains(known, name) })
	text, err := json.Marshal(values)
	if err == nil {
		err = algo.Decode(m, text)
	}
	if err != nil {
		panic(err) // the values are written down in this program
	}
	return m
}

// initialized returns a clone of a method after Init, which can say its Cost.
func initialized(m algo.Method, p, q, K int) (algo.Method, error) {
	m = algo.Clone(m)
	return m, m.Init(p, q, K)
}

// average runs a configuration for several seeds of the draws, as many at once as there are processors, and
// returns the mean of each measure at each evaluation, beside the iterations.
func average(ctx context.Context, of problemOf, seeds int, c train.Config, measures ...func(runs.Record) float64) (k []float64, means [][]float64, err error) {
	results := make([]*train.Result, seeds)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for s := range seeds {
		g.Go(func() (err error) {
			results[s], err = run(ctx, of, uint64(s+1), c)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	means = make([][]float64, len(measures))
	for i, r := range results[0].Records {
		k = append(k, float64(r.Iteration))
		for m, of := range measures {
			sum := 0.0
			for _, res := range results {
				sum += of(res.Records[i])
			}
			means[m] = append(means[m], sum/float64(seeds))
		}
	}
	return k, means, nil
}

func gradient2(r runs.Record) float64  { return float64(r.GradNorm) * float64(r.GradNorm) }
func consensusX(r runs.Record) float64 { return float64(r.ConsensusX) }
