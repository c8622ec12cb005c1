package network

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"dsbo"
	"dsbo/internal/linalg"
)

// FineWire returns the wire of vectors that have to be right to seven digits at least, such as a
// gradient: the configured one if it is as good.
func (g *Group) FineWire() Wire { return min(g.config.Average.Wire, Float32) }

// Mean sets dst to the average over all agents of what those that are here fill in, in parallel: a
// vector on the given wire.
func (g *Group) Mean(ctx context.Context, wire Wire, dst []float64,
	fill func(i int, part []float64) error) error {
	return g.Means(ctx, func(i int, parts [][]float64) error { return fill(i, parts[0]) },
		Vector{Wire: wire, Dst: dst})
}

// Means is Mean of several vectors, which travel together.
func (g *Group) Means(ctx context.Context, fill func(i int, parts [][]float64) error,
	vectors ...Vector) error {
	if g.config.N > 1 {
		if err := g.open(); err != nil {
			return err
		}
	}
	var err error
	if g.together != nil {
		err = g.together.AverageOn(g.context(ctx), func(k int, parts [][]float64) error {
			return cmp.Or(ctx.Err(), fill(g.local[k], parts))
		}, vectors...)
	} else {
		err = g.ForEach(ctx, func(k, i int) error { return fill(i, g.partsOf(k, vectors)) })
		if err == nil {
			err = g.average(g.context(ctx), vectors)
		}
	}
	if err == nil && g.config.N > 1 {
		g.Count(func(i int) dsbo.Traffic { return g.averages.Traffic(i, g.ends[0].Trip()) })
	}
	return err
}

// MeanNumbers is Mean for a few numbers, which travel in float64.
func (g *Group) MeanNumbers(ctx context.Context, dst []float64, fill func(i int, part []float64) error) error {
	return g.Mean(ctx, Float64, dst, fill)
}

// MeanAndSpread sets mean to the average of a vector of each agent and returns (1/n) Σ_i ‖v_i −
// mean‖². same says that all agents have the vector with the same bits: nothing is exchanged then.
func (g *Group) MeanAndSpread(ctx context.Context, mean []float64, of func(i int) []float64,
	same bool) (float64, error) {
	if same {
		copy(mean, of(g.local[0]))
		return 0, nil
	}
	err := g.Mean(ctx, g.FineWire(), mean, func(i int, part []float64) error { copy(part, of(i)); return nil })
	if err != nil {
		return 0, err
	}
	spread := []float64{0}
	err = g.MeanNumbers(ctx, spread, func(i int, part []float64) error {
		part[0] = linalg.Dist2(of(i), mean)
		return nil
	})
	return spread[0], err
}

// partsOf returns vectors of the k-th local agent, of the lengths of some others. They stay
// the group's.
func (g *Group) partsOf(k int, vectors []Vector) (parts [][]float64) {
	total := 0
	for _, v := range vectors {
		total += len(v.Dst)
	}
	if cap(g.parts[k]) < total {
		g.parts[k] = make([]float64, total)
	}
	rest := g.parts[k][:total]
	for _, v := range vectors {
		parts, rest = append(parts, rest[:len(v.Dst)]), rest[len(v.Dst):]
	}
	return parts
}

// average sets vectors to the averages over all agents of the parts of this process's agents and
// those elsewhere.
func (g *Group) average(ctx context.Context, vectors []Vector) error {
	if g.config.N > 1 {
		err := g.exchange(func(k int) error {
			own := slices.Clone(vectors)
			for i, part := range g.partsOf(k, vectors) {
				if own[i].Dst = part; own[i].Lost != nil {
					own[i].Lost = own[i].Lost[k:]
				}
			}
			return g.ends[k].AverageOn(ctx, own...)
		})
		if err != nil {
			return err
		}
	}
	for i, part := range g.partsOf(0, vectors) {
		copy(vectors[i].Dst, part)
	}
	return nil
}

// exchange calls f for all local agents at the same time: each waits for the others.
func (g *Group) exchange(f func(k int) error) error {
	errs := make([]error, len(g.local))
	var calls sync.WaitGroup
	for k := range g.local {
		calls.Go(func() { errs[k] = f(k) })
	}
	calls.Wait()
	return errors.Join(errs...)
}
