package collective

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// FineWire returns the wire of vectors that have to be right to seven digits at least, such as a
// gradient: the configured one if it is as good.
func (g *Group) FineWire() network.Wire { return min(g.config.Average.Wire, network.Float32) }

// Mean sets dst to the average over all agents of what those that are here fill in, in parallel: a
// vector on the given wire. lost, where it is not nil, has what the wire rounds off by local agent,
// see [network.Averager.AverageOn]; nil: that is not fed back.
func (g *Group) Mean(ctx context.Context, wire network.Wire, dst []float64, lost [][]float64,
	fill func(i int, part []float64) error) error {
	if g.config.N > 1 {
		if err := g.open(); err != nil {
			return err
		}
	}
	var err error
	if g.together != nil {
		err = g.together.AverageOn(g.context(ctx), wire, dst, lost, func(k int, part []float64) error {
			return cmp.Or(ctx.Err(), fill(g.local[k], part))
		})
	} else {
		err = g.ForEach(ctx, func(k, i int) error { return fill(i, g.part(k, len(dst))) })
		if err == nil {
			err = g.average(g.context(ctx), wire, dst, lost)
		}
	}
	if err == nil && g.config.N > 1 {
		g.Count(func(i int) dsbo.Traffic { return g.averages.Cost(i, len(dst), wire, g.ends[0].Passes()) })
	}
	return err
}

// MeanNumbers is Mean for a few numbers, which travel in float64.
func (g *Group) MeanNumbers(ctx context.Context, dst []float64, fill func(i int, part []float64) error) error {
	return g.Mean(ctx, network.Float64, dst, nil, fill)
}

// MeanAndSpread sets mean to the average of a vector of each agent and returns (1/n) Σ_i ‖v_i −
// mean‖². same says that all agents have the vector with the same bits: nothing is exchanged then.
func (g *Group) MeanAndSpread(ctx context.Context, mean []float64, of func(i int) []float64,
	same bool) (float64, error) {
	if same {
		copy(mean, of(g.local[0]))
		return 0, nil
	}
	err := g.Mean(ctx, g.FineWire(), mean, nil, func(i int, part []float64) error { copy(part, of(i)); return nil })
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

// part returns the vector of length numbers that belongs to the k-th local agent. It stays
// the group's.
func (g *Group) part(k, length int) []float64 {
	if cap(g.parts[k]) < length {
		g.parts[k] = make([]float64, length)
	}
	return g.parts[k][:length]
}

// average sets dst to the average over all agents of the parts of this process's agents and
// those elsewhere.
func (g *Group) average(ctx context.Context, wire network.Wire, dst []float64, lost [][]float64) error {
	if g.config.N == 1 {
		copy(dst, g.part(0, len(dst)))
		return nil
	}
	err := g.exchange(func(k int) error {
		part, own := g.part(k, len(dst)), []float64(nil)
		if lost != nil {
			own = lost[k]
		}
		return g.ends[k].AverageOn(ctx, wire, part, part, own)
	})
	if err != nil {
		return err
	}
	copy(dst, g.part(0, len(dst)))
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
