package mpi

import (
	"context"
	"fmt"
	"time"

	"dsbo"
	"dsbo/network"
)

// A gather is what [Exchange.Gather] runs on: each rank sends one message to each other one.
type gather struct {
	collective
	flow     *flow
	outgoing frame // what this rank sends
}

func (g *gather) init(x *Exchange, timeout time.Duration) {
	var receive, send []parcel
	own, _ := x.blocks.agentsOf(x.world.rank)
	for r := range x.blocks.ranks {
		if r != x.world.rank {
			first, _ := x.blocks.agentsOf(r)
			receive = append(receive, parcel{first, r})
			send = append(send, parcel{own, r})
		}
	}
	g.flow = newFlow(x, timeout, receive, send)
	g.flow.done = x.completeGather
	g.collective = x.newCollective(&g.flow.transfer)
	g.outgoing.lib = x.world.lib
}

// Gather implements [network.Team]. All ranks call it, those without agents too; here agents may
// mix meanwhile. An error ends the exchange.
//
// It is for now and then: every rank sends its rows to every other one.
func (x *Exchange) Gather(ctx context.Context, rows [][]float64) error {
	if err := x.gatherAll(ctx, rows); err != nil {
		err = fmt.Errorf("rank %d, gathering %d: %w", x.world.rank, x.gather.round, err)
		x.Fail(err)
		return err
	}
	return nil
}

func (x *Exchange) gatherAll(ctx context.Context, rows [][]float64) error {
	if err := network.CheckRows(rows, len(x.agents)); err != nil {
		return err
	}
	length := len(rows[0])
	if most := (x.blocks.agents + x.blocks.ranks - 1) / x.blocks.ranks; length > maxFloats/most {
		return dsbo.ShapeErrorf("rows must have at most %d numbers; they have %d", maxFloats/most, length)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := x.holdFrames(); err != nil {
		return err
	}
	defer x.frameUsers.Done()
	x.pack(rows, length)
	if err := x.gather.run(ctx); err != nil {
		return err
	}
	x.unpack(rows, length)
	return nil
}

// pack writes the local rows, one after another, where they are sent from, and makes room for
// the others'.
func (x *Exchange) pack(rows [][]float64, length int) {
	g := &x.gather
	lo, hi := x.blocks.agentsOf(x.world.rank)
	g.outgoing.resize((hi - lo) * length)
	g.outgoing.label(x.key, lo, g.round)
	out := g.outgoing.floats()
	for i := lo; i < hi; i++ {
		copy(out[(i-lo)*length:], rows[i])
	}
	for i, m := range g.flow.receives() {
		lo, hi := x.blocks.agentsOf(m.peer)
		g.flow.expect(i, (hi-lo)*length)
	}
	sends := g.flow.sends()
	for i := range sends {
		sends[i].words = g.outgoing.message()
	}
}

func (x *Exchange) unpack(rows [][]float64, length int) {
	for i, m := range x.gather.flow.receives() {
		in := x.gather.flow.incoming[i].floats()
		lo, hi := x.blocks.agentsOf(m.peer)
		for j := lo; j < hi; j++ {
			copy(rows[j], in[(j-lo)*length:])
		}
	}
}

// completeGather is called by serve when the rows are here.
func (x *Exchange) completeGather() {
	if err := x.gather.flow.check(x.gather.round); err != nil {
		x.Fail(err)
		return
	}
	x.gather.complete()
}
