package mpi

import (
	"context"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/network"
)

// An agent is the end of one that lives on this rank.
type agent struct {
	x        *Exchange         // the exchange
	id       int               // number of the agent
	row      []network.Weight  // of W
	combiner *network.Combiner // makes the mix
	terms    [][2]*frame       // what the sum of an even and of an odd exchange reads, in the order of row
	vectors  [][]float64       // the numbers in that
	round    int               // number of its next Mix

	// Exchange r uses slot r%2. Two are enough: this agent fills the slot again in exchange r+2,
	// after all agents of the rank have entered r+1 and so are done with r.
	slot  [2]frame
	ready chan struct{} // holds one wake-up
}

func newAgent(x *Exchange, id int, m *network.Matrix) *agent {
	row := m.Row(id)
	a := &agent{
		x:        x,
		id:       id,
		row:      row,
		combiner: m.Combiner(id),
		terms:    make([][2]*frame, len(row)),
		vectors:  make([][]float64, len(row)),
		ready:    make(chan struct{}, 1),
	}
	a.slot[0].lib, a.slot[1].lib = x.world.lib, x.world.lib
	return a
}

// findTerms looks up where the terms of the sum will be.
func (a *agent) findTerms() {
	for k, w := range a.row {
		if b := a.x.agents[w.Agent]; b != nil {
			a.terms[k] = [2]*frame{&b.slot[0], &b.slot[1]}
			continue
		}
		from := slices.IndexFunc(a.x.mixing.receives(), func(m message) bool { return m.agent == w.Agent })
		f := &a.x.mixing.incoming[from]
		a.terms[k] = [2]*frame{f, f}
	}
}

// CombineBy implements dsbo.CombiningMixer.
func (a *agent) CombineBy(by func(dst []float64, in [][]float64)) error {
	return a.combiner.CombineBy(by)
}

// Mix implements dsbo.Mixer.
func (a *agent) Mix(ctx context.Context, dst, src []float64) error {
	if err := a.mix(ctx, dst, src); err != nil {
		err = fmt.Errorf("agent %d, exchange %d: %w", a.id, a.round, err)
		a.x.Fail(err)
		return err
	}
	a.round++
	return nil
}

func (a *agent) mix(ctx context.Context, dst, src []float64) error {
	if len(dst) != len(src) {
		return dsbo.ShapeErrorf("dst and src must have one length; they have %d and %d", len(dst), len(src))
	}
	if len(src) > maxFloats {
		return dsbo.ShapeErrorf("a vector must have at most %d numbers; it has %d", maxFloats, len(src))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.x.holdFrames(); err != nil {
		return err
	}
	defer a.x.frameUsers.Done()
	parity := a.round % 2
	f := &a.slot[parity]
	f.resize(len(src))
	copy(f.floats(), src)
	a.x.arrive()
	if err := a.x.await(ctx, a.ready); err != nil {
		return err
	}
	for k, t := range a.terms {
		a.vectors[k] = t[parity].floats()
	}
	a.combiner.Combine(dst, a.vectors)
	return nil
}
