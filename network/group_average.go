package network

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/linalg"
)

// FineWire returns the wire of vectors that have to be right to seven digits at least, such as a
// gradient: the configured one if it is as good.
func (g *Group) FineWire() Wire { return min(g.config.Average.Wire, Float32) }

// Mean sets dst to the average over all agents of what those that are here fill in, in parallel: a
// named vector on the given wire.
func (g *Group) Mean(ctx context.Context, name string, wire Wire, dst []float64,
	fill func(i int, part []float64) error) error {
	return g.Means(ctx, func(i int, parts [][]float64) error { return fill(i, parts[0]) },
		Vector{Name: name, Wire: wire, Dst: dst})
}

// Means is Mean of several vectors, which travel together. After an error the vectors are
// undefined.
func (g *Group) Means(ctx context.Context, fill func(i int, parts [][]float64) error,
	vectors ...Vector) error {
	if g.config.N == 1 {
		return g.fillAlone(ctx, fill, vectors)
	}
	if err := g.open(); err != nil {
		return err
	}
	err := g.together.AverageOn(g.context(ctx), func(k int, parts [][]float64) error {
		return cmp.Or(ctx.Err(), fill(g.local[k], parts))
	}, vectors...)
	if err == nil {
		g.countSent(func(i int) dsbo.Traffic { return g.averages.traffic(i, g.ends[0].Trip()) })
	}
	return err
}

// fillAlone is Means of one agent: its parts are the averages. fill writes to other memory, so that
// an error leaves the vectors as they are.
func (g *Group) fillAlone(ctx context.Context, fill func(i int, parts [][]float64) error, vectors []Vector) error {
	rows := rowsMemory.Get()
	defer rowsMemory.Add(rows)
	*rows = (*rows)[:0]
	var parts [][]float64
	for _, v := range vectors {
		*rows, parts = append(*rows, v.Dst...), append(parts, v.Dst)
	}
	cutRow(parts, *rows)
	if err := cmp.Or(ctx.Err(), fill(g.local[0], parts)); err != nil {
		return err
	}
	for i, v := range vectors {
		copy(v.Dst, parts[i])
	}
	return nil
}

// MeanNumbers is Mean for a few numbers, which travel in float64.
func (g *Group) MeanNumbers(ctx context.Context, name string, dst []float64,
	fill func(i int, part []float64) error) error {
	return g.Mean(ctx, name, Float64, dst, fill)
}

// MeanAndSpread sets mean to the average of a vector of each agent and returns (1/n) Σ_i ‖v_i −
// mean‖². If all agents are known to have the vector with the same bits, same is true and nothing
// is exchanged.
func (g *Group) MeanAndSpread(ctx context.Context, name string, mean []float64, of func(i int) []float64,
	same bool) (float64, error) {
	if same {
		copy(mean, of(g.local[0]))
		return 0, nil
	}
	err := g.Mean(ctx, name, g.FineWire(), mean, func(i int, part []float64) error { copy(part, of(i)); return nil })
	if err != nil {
		return 0, err
	}
	spread := []float64{0}
	err = g.MeanNumbers(ctx, "distances from the average", spread, func(i int, part []float64) error {
		part[0] = linalg.Dist2(of(i), mean)
		return nil
	})
	return spread[0], err
}
