package mpi

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dsbo"
	"dsbo/network"
)

// Options are the settings of an [Exchange].
type Options struct {
	// Timeout is how long a rank waits in an exchange for another one that says nothing. 0 or less
	// means 10 minutes.
	Timeout time.Duration
}

// An Exchange connects agents that are goroutines of several ranks. Agents are dealt to ranks in
// order: of n agents on P ranks, rank r has those from r·n/P on. Agents of one rank read each
// other's vectors in place; each other rank where a neighbour is gets a vector once.
//
// An exchange of a rank begins when all its agents have called Mix. Its memory is two vectors for
// each local agent and one for each remote neighbour; a steady run allocates nothing.
type Exchange struct {
	world  *World                 // the ranks
	number int                    // of the exchange, which the world has counted
	blocks blocks                 // which agents are where
	agents []*agent               // agents of other ranks are nil
	local  []*agent               // agents of this rank
	ids    []int                  // of local
	mixing *flow                  // messages of Mix
	joint  network.LocalReduction // reductions within the rank
	sum    sum                    // reductions and gatherings between the ranks
	begin  func()                 // x.beginMix, made once

	mu         sync.Mutex     // guards what follows
	arrived    int            // agents in Mix
	round      int            // mixings completed
	cause      error          // why the exchange ended
	stopped    chan struct{}  // closed when cause is set
	frameUsers sync.WaitGroup // goroutines that may touch frames
	closing    sync.Once      // once
	departures []notice       // of the ranks that have left
}

var _ network.Team = (*Exchange)(nil)

// Exchange opens an exchange over the edges of m with its weights. All ranks open the same ones in
// the same order; it waits until they have, and fails if a rank's matrix is another. Each rank must
// have an agent.
func (w *World) Exchange(ctx context.Context, m *network.Matrix, o Options) (*Exchange, error) {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Minute
	}
	if m.N() < w.size {
		return nil, dsbo.ConfigErrorf("each of the %d processes must have an agent; there are %d agents", w.size, m.N())
	}
	x := &Exchange{
		world:   w,
		blocks:  blocks{m.N(), w.size},
		agents:  make([]*agent, m.N()),
		stopped: make(chan struct{}),
	}
	x.begin = x.beginMix
	x.connect(m, o.Timeout)
	if err := w.register(x); err != nil {
		return nil, err
	}
	if err := x.compare(ctx, fingerprint(m, w.size)); err != nil {
		x.Fail(err)
		x.Close()
		return nil, fmt.Errorf("opening an exchange: %w", err)
	}
	return x, nil
}

// compare opens the ranks' way to combine words, and returns an error unless all have one key.
func (x *Exchange) compare(ctx context.Context, key uint64) error {
	if x.blocks.ranks == 1 {
		return ctx.Err()
	}
	if !x.world.callAndWait(func() { x.world.lib.openSum(&x.sum.transfer) }) {
		return network.ErrClosed
	}
	words := []uint64{key, ^key}
	if err := x.reduceRanks(ctx, network.Max, 64, words); err != nil {
		return fmt.Errorf("rank %d: %w", x.world.rank, err)
	}
	if words[0] != key || words[1] != ^key {
		return dsbo.ConfigErrorf(
			"all ranks must mix over one graph with the same weights and in the same way; another rank than %d "+
				"does not", x.world.rank)
	}
	return nil
}

// connect makes the local agents and their ways to the others.
func (x *Exchange) connect(m *network.Matrix, timeout time.Duration) {
	rank := x.world.rank
	receive, send := x.blocks.routes(m, rank)
	x.mixing = newFlow(x, timeout, receive, send)
	x.mixing.done = x.completeMix
	x.sum.init(x, timeout)
	lo, hi := x.blocks.agentsOf(rank)
	for i := lo; i < hi; i++ {
		x.agents[i] = newAgent(x, i, m)
		x.local = append(x.local, x.agents[i])
		x.ids = append(x.ids, i)
	}
	x.joint.Agents, x.joint.Stopped, x.joint.Cause = len(x.local), x.stopped, x.stopError
	for _, a := range x.local {
		a.findTerms()
	}
}

// Local implements [network.Team]: it returns the agents of this rank.
func (x *Exchange) Local() []int { return x.ids }

// Mixer returns the end of agent i, 0 ≤ i < n, or nil if that agent belongs to another rank. It
// belongs to one goroutine at a time.
//
// When Mix returns, src is the caller's again. After any error, the end of its context too, the
// agent has left the exchange, and Mix of all the others returns an error: on this rank one that
// wraps the first one, on others an [*network.EndedError].
func (x *Exchange) Mixer(i int) network.Reducer {
	if x.agents[i] == nil {
		return nil
	}
	return x.agents[i]
}

// arrive notes that an agent is in Mix. The last one of the rank sets the exchange going.
func (x *Exchange) arrive() {
	x.mu.Lock()
	x.arrived++
	all := x.arrived == len(x.local)
	x.mu.Unlock()
	x.endIfAbandoned()
	switch {
	case !all:
	case len(x.mixing.messages) == 0: // all neighbours are here
		x.beginMix()
	default:
		x.world.call(x.begin)
	}
}

// beginMix begins the exchange for which all agents of the rank have come.
func (x *Exchange) beginMix() {
	if x.hasEnded() {
		return
	}
	f, slot := x.mixing, x.round%2
	n := x.local[0].slot[slot].n
	for _, a := range x.local[1:] {
		if m := a.slot[slot].n; m != n {
			x.Fail(dsbo.ShapeErrorf(
				"neighbours must send equally many numbers; agent %d sends %d and agent %d sends %d",
				x.local[0].id, n, a.id, m))
			return
		}
	}
	if len(f.messages) == 0 {
		x.completeMix()
		return
	}
	for i := range f.incoming {
		f.expect(i, n)
	}
	sends := f.sends()
	for i := range sends {
		sends[i].words = x.agents[sends[i].agent].slot[slot].message()
	}
	x.world.begin(&f.transfer)
}

// completeMix releases the agents: what they wait for is here.
func (x *Exchange) completeMix() {
	x.mu.Lock() // until all have their wake-up, so that none ends the exchange before
	defer x.mu.Unlock()
	x.arrived = 0
	x.round++
	for _, a := range x.local {
		a.ready <- struct{}{}
	}
}

// await waits until ready holds a wake-up.
func (x *Exchange) await(ctx context.Context, ready <-chan struct{}) error {
	return network.Await(ctx, ready, x.stopped, x.stopError)
}
