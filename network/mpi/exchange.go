package mpi

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"time"

	"dsbo"
	"dsbo/network"
)

// silentAfter is how long a rank waits in an exchange for another one that says nothing.
const silentAfter = 10 * time.Minute

// An Exchange connects agents that are goroutines of several ranks. Agents are dealt to ranks in
// order: of n agents on P ranks, rank r has those from r·n/P on. Agents of one rank read each
// other's vectors in place; each other rank where a neighbour is gets a vector once.
//
// An exchange of a rank begins when all its agents have called Mix. Its memory is two vectors for
// each local agent, and one for each that is sent or received; a steady run allocates nothing.
type Exchange struct {
	world    *World                 // the ranks
	blocks   blocks                 // which agents are where
	agents   []*agent               // agents of other ranks are nil
	local    []*agent               // agents of this rank
	ids      []int                  // of local
	receive  []parcel               // in a swap, by rank
	send     []parcel               // likewise
	incoming []float64              // what came in the last one
	mixing   network.LocalReduction // of lengths of vectors, which are swapped between the ranks then
	joint    network.LocalReduction // reductions within the rank
	halves   []uint64               // of a whole number's words, scratch of joint
	timeout  time.Duration          // see silentAfter
	channel  channel                // between the ranks; nil where there is one

	next   operation     // which start begins
	start  func()        // begins next, made once
	ready  chan struct{} // holds a wake-up once it is done
	waited bool          // for that, of serve alone
	began  time.Time     // when that wait did

	mu      sync.Mutex     // guards what follows
	mixed   int            // mixings completed
	users   sync.WaitGroup // goroutines that may touch memory of the channel
	closing sync.Once      // once

	ended context.Context         // done, with its cause, when the exchange has ended
	end   context.CancelCauseFunc // of ended; the lock is held
}

var _ network.TogetherReducer = (*Exchange)(nil)

// Exchange opens an exchange over the edges of m with its weights. All ranks open the same ones in
// the same order; it waits until they have, and fails if a rank's matrix is another. Each rank must
// have an agent.
func (w *World) Exchange(ctx context.Context, m *network.Matrix) (*Exchange, error) {
	return w.exchange(ctx, m, silentAfter)
}

// exchange makes the exchange of this rank: its agents, their routes to other ranks, and a
// communicator of its own.
func (w *World) exchange(ctx context.Context, m *network.Matrix, timeout time.Duration) (*Exchange, error) {
	if m.N() < w.size {
		return nil, dsbo.ConfigErrorf("each of the %d processes must have an agent; there are %d agents", w.size, m.N())
	}
	x := &Exchange{world: w, blocks: blocks{m.N(), w.size}, agents: make([]*agent, m.N()), timeout: timeout,
		ready: make(chan struct{}, 1)}
	x.ended, x.end = context.WithCancelCause(context.Background())
	x.start = x.begin
	x.receive, x.send = x.blocks.routes(m, w.rank)
	// By rank, as MPI sends them, and of a rank still by agent, as it counts what it receives.
	slices.SortStableFunc(x.send, func(a, b parcel) int { return cmp.Compare(a.peer, b.peer) })
	lo, hi := x.blocks.agentsOf(w.rank)
	for i := lo; i < hi; i++ {
		x.agents[i] = newAgent(x, i, m)
		x.local, x.ids = append(x.local, x.agents[i]), append(x.ids, i)
	}
	for _, r := range []*network.LocalReduction{&x.mixing, &x.joint} {
		r.Agents, r.Ended = len(x.local), x.ended
	}
	x.mixing.AcrossProcesses = x.swap
	if !w.callAndWait(x.open) { // on the thread that calls MPI
		return nil, network.ErrClosed
	}
	if err := x.compare(ctx, fingerprint(m, w.size)); err != nil {
		x.Fail(err)
		x.Close()
		return nil, fmt.Errorf("opening an exchange: %w", err)
	}
	return x, nil
}

// open makes the channel between the ranks, unless there is one rank. serve calls it.
func (x *Exchange) open() {
	x.world.open = append(x.world.open, x)
	if x.blocks.ranks == 1 {
		return
	}
	vectors := make([]int32, 2*x.blocks.ranks)
	for _, p := range x.send {
		vectors[p.peer]++
	}
	for _, p := range x.receive {
		vectors[x.blocks.ranks+p.peer]++
	}
	x.channel = x.world.lib.open(vectors)
	x.joint.AcrossProcesses = x.reduceRanks
}

// compare returns an error, at all ranks, unless all have one key, such as the fingerprint of a
// matrix.
func (x *Exchange) compare(ctx context.Context, key uint64) error {
	words := []uint64{key, ^key} // whose largest are the largest key and the complement of the least
	if err := x.joint.ReduceTogether(ctx, []network.Reduction{{Op: network.Max, Bits: 64, Words: words}}); err != nil {
		return fmt.Errorf("rank %d: %w", x.world.rank, err)
	}
	if words[0] != key || words[1] != ^key {
		return dsbo.ConfigErrorf(
			"all ranks must mix over one graph with the same weights and in the same way; another rank than %d "+
				"does not", x.world.rank)
	}
	return nil
}

// fingerprint stands for a matrix with its mixing, and the distribution of its agents.
func fingerprint(w *network.Matrix, ranks int) uint64 {
	h := fnv.New64a()
	put := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	put(uint64(ranks))
	for i := range w.N() {
		put(uint64(len(w.Row(i))))
		for _, e := range w.Row(i) {
			put(uint64(e.Agent))
			put(math.Float64bits(e.Weight))
		}
	}
	h.Write([]byte(w.Mixing().String()))
	return h.Sum64()
}

// Local implements [network.Team]: it returns the agents of this rank.
func (x *Exchange) Local() []int { return x.ids }

// Mixer returns the end of agent i, 0 ≤ i < n, or nil if that agent belongs to another rank. It
// belongs to one goroutine at a time.
//
// When Mix returns, src is the caller's again. After any error, the end of its context too, the
// agent has left the exchange, and Mix of all other agents returns an error: on this rank one that
// wraps the first error, on other ranks an [*network.EndedError].
func (x *Exchange) Mixer(i int) network.Reducer {
	if x.agents[i] == nil {
		return nil
	}
	return x.agents[i]
}

// Fail ends the exchange: every Mix, waiting or later, returns an error that wraps err, on other
// ranks as soon as they have completed what this one has begun. Only the first call counts.
func (x *Exchange) Fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended.Err() != nil {
		return
	}
	x.end(err)
	n := notice{rank: int64(x.world.rank), mixed: int64(x.mixed), kind: int64(network.Kind(err))}
	n.setReason(err.Error())
	x.world.call(func() {
		x.waited = false
		if x.channel != nil {
			*x.channel.notice() = n
			x.channel.tellLeft()
		}
	})
}

// Close ends the exchange with [network.ErrClosed] unless it has failed before, and waits until no
// Mix uses it. It may be called twice.
func (x *Exchange) Close() {
	x.Fail(network.ErrClosed)
	x.closing.Do(func() {
		x.users.Wait() // they copy to and from the channel's memory
		x.world.callAndWait(func() {
			x.world.open = slices.DeleteFunc(x.world.open, func(o *Exchange) bool { return o == x })
			if x.channel != nil {
				x.channel.release()
			}
		})
	})
}

// holdMemory keeps the memory of the channel in place until x.users.Done.
func (x *Exchange) holdMemory() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	err := network.EndError(x.ended)
	if err == nil {
		x.users.Add(1)
	}
	return err
}

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
		return network.FailBy(a.x, err, "agent %d, exchange %d", a.id, a.round)
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
	return network.FailBy(a.x, a.x.joint.Reduce(ctx, all), "agent %d, reduction", a.id)
}
