package mpi

import (
	"context"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/network"
)

// An agent is the exchange's end of an agent on this rank.
type agent struct {
	*network.Combiner // makes the mix

	x       *Exchange        // the exchange
	id      int              // number of the agent
	row     []network.Weight // of W
	from    []int            // where the terms of a sum come in a swap, in the order of row; -1: from this rank
	vectors [][]float64      // these terms
	round   int              // number of its next Mix
	lengths [2]uint64        // of its vector, and its complement: both maxima over the agents
	// show whether all lengths are equal

	// Exchange r uses slot r%2. Two are enough: this agent fills the slot again in exchange r+2,
	// after all agents of the rank have entered r+1 and so are done with r.
	slot [2][]float64
}

func newAgent(x *Exchange, id int, m *network.Matrix) *agent {
	row := m.Row(id)
	a := &agent{x: x, id: id, row: row, Combiner: m.Combiner(id), vectors: make([][]float64, len(row))}
	for _, w := range row {
		a.from = append(a.from, slices.IndexFunc(x.receive, func(p parcel) bool { return p.agent == w.Agent }))
	}
	return a
}

// Mix implements network.Reducer.
func (a *agent) Mix(ctx context.Context, dst, src []float64) error {
	if err := a.mix(ctx, dst, src); err != nil {
		err = fmt.Errorf("agent %d, exchange %d: %w", a.id, a.round, err)
		a.x.Fail(err)
		return err
	}
	a.round++
	return nil
}

// mix publishes src for this rank's exchange, waits until all vectors are here, and combines them
// into dst.
func (a *agent) mix(ctx context.Context, dst, src []float64) error {
	if len(dst) != len(src) {
		return dsbo.ShapeErrorf("dst and src must have one length; they have %d and %d", len(dst), len(src))
	}
	if err := checkLength(len(src)); err != nil {
		return err
	}
	if err := a.x.holdMemory(); err != nil {
		return err
	}
	defer a.x.users.Done()
	parity := a.round % 2
	a.slot[parity] = append(a.slot[parity][:0], src...)
	a.lengths = [2]uint64{uint64(len(src)), ^uint64(len(src))}
	lengths := []network.Reduction{{Op: network.Max, Bits: 64, Words: a.lengths[:]}}
	if err := a.x.mixing.Reduce(ctx, lengths); err != nil { // which swaps, once all agents here have come
		return err
	}
	for k, w := range a.row {
		if at := a.from[k]; at < 0 {
			a.vectors[k] = a.x.agents[w.Agent].slot[parity]
		} else {
			a.vectors[k] = a.x.incoming[at*len(src):][:len(src)]
		}
	}
	a.Combine(dst, a.vectors)
	return nil
}

// Reduce implements [network.Reducer].
func (a *agent) Reduce(ctx context.Context, all ...network.Reduction) error {
	err := a.x.joint.Reduce(ctx, all)
	if err != nil {
		err = fmt.Errorf("agent %d, reduction: %w", a.id, err)
		a.x.Fail(err)
	}
	return err
}
