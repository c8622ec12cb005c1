package network

import (
	"cmp"
	"container/heap"
	"context"
	"sync"
)

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
