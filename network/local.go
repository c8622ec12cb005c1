package network

import (
	"cmp"
	"container/heap"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"dsbo"
)

// Local is an exchange between agents that are goroutines of one process.
//
// Each agent publishes a copy of its vector in one of two slots, in turn, and sums once all its
// neighbours have published. An exchange thus costs a copy and one pass over the neighbours' slots;
// a steady run allocates nothing. The memory is two vectors an agent.
type Local struct {
	agents    []*localAgent
	ids       []int // the numbers of all agents
	reduction LocalReduction
	turns     turns
	ended     context.Context         // done, with its cause, when the exchange has ended
	end       context.CancelCauseFunc // of ended
}

var _ TogetherReducer = (*Local)(nil)

// NewLocal returns an exchange over the edges of w with its weights. W need not be valid in
// the sense of [Matrix.Validate]: any square matrix mixes.
func NewLocal(w *Matrix) *Local {
	l := &Local{agents: make([]*localAgent, w.N())}
	l.turns.free = runtime.GOMAXPROCS(0)
	l.ended, l.end = context.WithCancelCause(context.Background())
	l.reduction = LocalReduction{Agents: w.N(), Ended: l.ended}
	for i := range l.agents {
		l.agents[i] = &localAgent{
			local:    l,
			id:       i,
			Combiner: w.Combiner(i),
			terms:    make([][]float64, len(w.Row(i))),
			ready:    make(chan struct{}, 1),
		}
		l.ids = append(l.ids, i)
	}
	for i, a := range l.agents {
		for _, j := range w.Neighbours(i) {
			a.neighbours = append(a.neighbours, l.agents[j])
		}
		for parity := range a.missing {
			a.missing[parity].Store(int32(len(a.row))) // the row has the agent itself too
		}
	}
	return l
}

// Mixer returns the end of agent i, 0 ≤ i < n. It belongs to one goroutine at a time.
//
// When Mix returns, src is the caller's again and may be changed at once. After any error, the end
// of its context too, the agent has left the exchange, and Mix of all the others returns an error
// that wraps the first one. An i out of range panics, as an index does.
func (l *Local) Mixer(i int) Reducer { return l.agents[i] }

// Local implements [Team]: it returns all agents.
func (l *Local) Local() []int { return l.ids }

// Gather implements [Team]. All rows are here already, so it checks their shape, and that neither
// ctx nor the exchange has ended. Any error ends the exchange.
func (l *Local) Gather(ctx context.Context, rows [][]float64) error {
	err := CheckRows(rows, len(l.agents))
	return FailBy(l, cmp.Or(err, ctx.Err(), EndError(l.ended)), "gathering")
}

// Fail ends the exchange: every Mix, waiting or later, returns an error that wraps err. Only the
// first call counts. An agent that stops before the others calls it so that they do not wait.
func (l *Local) Fail(err error) { l.end(err) }

// Close ends the exchange with [ErrClosed] unless it has failed before.
func (l *Local) Close() { l.Fail(ErrClosed) }

// A localAgent is one agent's end of a Local exchange.
type localAgent struct {
	local      *Local        // the exchange
	id         int           // number of the agent
	*Combiner                // makes the mix
	neighbours []*localAgent // in ascending order
	round      int           // number of the next exchange
	terms      [][]float64   // the copies that a sum reads, in the order of row
	turn       int           // number of its last turn

	// Round r uses slot r%2 and missing[r%2], the number of agents of row, this one included, that
	// have not published in round r; at 0 this agent waits for its turn. Two suffice: a neighbour
	// enters round r+2 only after round r+1, for which this agent publishes when it is done with
	// round r.
	slot    [2][]float64    // copies
	missing [2]atomic.Int32 // vectors that are not here yet, of even and of odd exchanges
	ready   chan struct{}   // at most one pending wake-up, as an agent counts itself
}

// Mix implements Reducer.
func (a *localAgent) Mix(ctx context.Context, dst, src []float64) error {
	if err := a.swap(ctx, dst, src); err != nil {
		return FailBy(a.local, err, "agent %d, exchange %d", a.id, a.round)
	}
	a.Combine(dst, a.terms)
	a.round++
	return nil
}

// Reduce implements [Reducer]. The agent gives its turn away while it waits, and computes again
// when it has the next one. An error ends the exchange.
func (a *localAgent) Reduce(ctx context.Context, all ...Reduction) error {
	a.local.turns.end()
	err := a.local.reduction.Reduce(ctx, all)
	if err == nil {
		a.local.turns.begin(a)
		err = a.await(ctx)
	}
	return FailBy(a.local, err, "agent %d, reduction", a.id)
}

// ReduceTogether implements [TogetherReducer].
func (l *Local) ReduceTogether(ctx context.Context, all ...Reduction) error {
	return FailBy(l, l.reduction.ReduceTogether(ctx, all), "reduction")
}

// swap shows the agent's vector to the neighbours and waits for copies of theirs, which it notes.
func (a *localAgent) swap(ctx context.Context, dst, src []float64) error {
	if len(dst) != len(src) {
		return dsbo.ShapeErrorf("dst and src must have one length; they have %d and %d", len(dst), len(src))
	}
	if err := cmp.Or(ctx.Err(), EndError(a.local.ended)); err != nil {
		return err
	}
	parity := a.round % 2
	a.slot[parity] = append(a.slot[parity][:0], src...)
	for _, b := range a.neighbours {
		b.noteVector(parity)
	}
	a.noteVector(parity)
	a.local.turns.end()
	if err := a.await(ctx); err != nil {
		return err
	}
	a.missing[parity].Store(int32(len(a.row))) // for round+2, which no neighbour has entered yet
	for k, w := range a.row {
		b := a.local.agents[w.Agent]
		a.terms[k] = b.slot[parity] // which b fills again after this agent has entered round+1
		if len(a.terms[k]) != len(src) {
			return dsbo.ShapeErrorf(
				"neighbours must send equally many numbers; agent %d sends %d and agent %d sends %d",
				a.id, len(src), b.id, len(a.terms[k]))
		}
	}
	return nil
}

// noteVector counts a vector's arrival; with the last one this agent waits for its turn.
func (a *localAgent) noteVector(parity int) {
	if a.missing[parity].Add(-1) == 0 {
		a.local.turns.begin(a)
	}
}

func (a *localAgent) await(ctx context.Context) error {
	return Await(ctx, a.ready, a.local.ended)
}

// A TurnTeam is a [Team] whose agents compute in turns, one agent a processor at a time, in an
// order that keeps their data in the caches: 1,024 agents of MA-DSBO on a ring take half of the
// time. A goroutine calls BeginTurns before it computes for an agent and mixes, and EndTurns after
// it. A turn is the work between two exchanges. Agents without BeginTurns take no turns, and wait
// for none.
type TurnTeam interface {
	Team
	// BeginTurns waits for the first turn of local agent i. Where ctx ends before, so does
	// the exchange.
	BeginTurns(ctx context.Context, i int)
	// EndTurns ends an agent's last turn.
	EndTurns()
}

// turnDepth is the number of exchanges that an agent may be ahead of another one that is ready. On
// a graph with few edges, such as a ring, agents near one another take this number of turns before
// others do, with their data in the caches. With a larger number more agents take turns in between,
// on a ring about as many, and their data no longer fit.
const turnDepth = 20

// turns are the turns of the agents of a process. Of the agents whose neighbours' vectors are here
// the next is the one with the fewest exchanges, in steps of turnDepth, and of several the one that
// computed last, whose data are most likely in the caches.
type turns struct {
	mu      sync.Mutex
	free    int // processors
	count   int // of turns so far
	waiting turnQueue
}

// begin queues agent a, which is woken at its turn.
func (t *turns) begin(a *localAgent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	heap.Push(&t.waiting, a)
	t.serve()
}

func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	t.serve()
}

// serve gives free processors to agents.
func (t *turns) serve() {
	for t.free > 0 && len(t.waiting) > 0 {
		t.free--
		t.count++
		a := heap.Pop(&t.waiting).(*localAgent)
		a.turn = t.count
		a.ready <- struct{}{}
	}
}

// A turnQueue is the agents that are ready, as a heap.
type turnQueue []*localAgent

func (q turnQueue) Len() int      { return len(q) }
func (q turnQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *turnQueue) Push(a any)   { *q = append(*q, a.(*localAgent)) }

func (q *turnQueue) Pop() any {
	last := len(*q) - 1
	a := (*q)[last]
	*q = (*q)[:last]
	return a
}

// Less reports whether the turn of agent i of the queue comes before agent j: see turns. Agents
// that have had none go by their numbers.
func (q turnQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(a.round/turnDepth-b.round/turnDepth, b.turn-a.turn, a.id-b.id) < 0
}

// BeginTurns implements [TurnTeam].
func (l *Local) BeginTurns(ctx context.Context, i int) {
	l.turns.begin(l.agents[i])
	if err := l.agents[i].await(ctx); err != nil {
		l.Fail(err)
	}
}

// EndTurns implements [TurnTeam].
func (l *Local) EndTurns() { l.turns.end() }
