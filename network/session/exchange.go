package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"dsbo/network/register"
)

// An activity is what an agent is about, as its neighbours hear each heartbeat.
type activity uint64

const (
	meeting activity = iota
	computing
	waiting
	saving
	joining
)

// String names an activity, as in "agent 3 computes".
func (a activity) String() string {
	names := []string{"is in no session", "computes", "waits", "saves", "begins the session"}
	return names[min(int(a), len(names)-1)]
}

// An exchange is the vectors of one session at one agent: in each exchange one to every neighbour
// and one from it.
type exchange struct {
	id   uint64        // of the session
	wake chan struct{} // has a wake-up of who waits

	mu       sync.Mutex     // guards what is below
	ties     []*tie         // neighbours among the members, by position
	round    int            // the exchange under way, or the next one
	over     *register.Over // why the session has ended; nil: it goes on
	activity activity       // of this agent
	since    time.Time      // when it began
	vectors  int64          // payloads sent, once for each neighbour
	bytes    int64          // of these
}

// A tie is a neighbour in a session, with what goes to it and comes from it.
type tie struct {
	agent    int
	position int
	conn     *conn // nil: there is none at present
	slot     [2]vector
	received int     // the exchange whose vector comes next
	sent     [2]sent // the last two
	waited   time.Duration
}

// send sends a frame, if there is a connection.
func (p *tie) send(frame []byte) {
	if p.conn != nil {
		p.conn.send(frame)
	}
}

// A vector is what came in one exchange.
type vector struct {
	purpose uint64
	payload []byte
}

// A sent vector is a frame of an exchange; the zero value is none.
type sent struct {
	exchange int
	frame    []byte
}

func newExchange(id uint64, ties []*tie) *exchange {
	return &exchange{id: id, wake: make(chan struct{}, 1), ties: ties, activity: joining, since: time.Now()}
}

// tieOf returns the tie that an agent is; nil if it is none. The lock is held.
func (x *exchange) tieOf(agent int) *tie {
	for _, p := range x.ties {
		if p.agent == agent {
			return p
		}
	}
	return nil
}

// attach makes c the connection to a tie and sends again what that one needs from exchange due on.
func (x *exchange) attach(agent int, c *conn, due int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.tieOf(agent)
	if p == nil {
		return
	}
	p.conn = c
	for _, number := range []int{x.round - 1, x.round} {
		if s := p.sent[number&1]; number >= max(due, 0) && s.frame != nil && s.exchange == number {
			p.send(s.frame)
		}
	}
}

// detach notes that a connection has ended.
func (x *exchange) detach(c *conn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.tieOf(c.to); p != nil && p.conn == c {
		p.conn = nil
	}
}

// due returns the exchange whose vector comes next from an agent.
func (x *exchange) due(agent int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.tieOf(agent); p != nil {
		return p.received
	}
	return 0
}

// alive returns the heartbeat of an agent in a session.
func (x *exchange) alive() frame {
	x.mu.Lock()
	defer x.mu.Unlock()
	return frame{kind: kindAlive, purpose: uint64(x.activity)}
}

// isOver reports whether the session has ended at this agent.
func (x *exchange) isOver() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.over != nil
}

// accept takes in a vector of a neighbour. The error says why it cannot be.
func (x *exchange) accept(agent int, f frame) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.tieOf(agent)
	switch {
	case x.over != nil || p != nil && f.exchange < p.received: // sent again
		return nil
	case p == nil:
		return badFramef("agent %d is no neighbour in session %x", agent, x.id)
	case f.exchange > p.received || f.exchange > x.round+1:
		return badFramef("the next vector must be of exchange %d; it is of exchange %d", p.received, f.exchange)
	}
	p.slot[f.exchange&1] = vector{f.purpose, f.payload}
	if x.activity == waiting && f.exchange == x.round {
		p.waited += time.Since(x.since)
	}
	p.received++
	wake(x.wake)
	return nil
}

// end ends the session at this agent; false if it has ended before.
func (x *exchange) end(o *register.Over) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over != nil {
		return false
	}
	x.over = o
	wake(x.wake)
	return true
}

// about notes what the agent is about from now on.
func (x *exchange) about(a activity) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.activity, x.since = a, time.Now()
}

// post sends the frame of this exchange to some neighbours, and begins to wait. The error is why
// the session has ended.
func (x *exchange) post(frame []byte, to func(p *tie) bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over != nil {
		return x.over
	}
	for _, p := range x.ties {
		if !to(p) {
			continue
		}
		p.sent[x.round&1] = sent{x.round, frame}
		p.send(frame)
		if payload := len(frame) - headerSize; payload > 0 {
			x.vectors++
			x.bytes += int64(payload)
		}
	}
	if x.activity != waiting {
		x.activity, x.since = waiting, time.Now()
	}
	return nil
}

// everyone is all neighbours.
func everyone(*tie) bool { return true }

// await waits until the vectors of this exchange from some neighbours are here.
func (x *exchange) await(ctx context.Context, from func(p *tie) bool) error {
	for {
		x.mu.Lock()
		missing := slices.ContainsFunc(x.ties, func(p *tie) bool { return p.received <= x.round && from(p) })
		over := x.over
		x.mu.Unlock()
		switch {
		case !missing:
			return nil
		case over != nil:
			return over
		case ctx.Err() != nil:
			return ctx.Err()
		}
		select {
		case <-x.wake:
		case <-ctx.Done():
		}
	}
}

// came returns what a neighbour has sent in this exchange.
func (x *exchange) came(p *tie) vector { return p.slot[x.round&1] }

// advance makes the next exchange the present one.
func (x *exchange) advance() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.ties {
		p.slot[x.round&1] = vector{}
	}
	x.round++
	x.activity, x.since = computing, time.Now()
}

// A delay is a neighbour for whose vector the exchange waits.
type delay struct {
	agent int
	since time.Time
}

// delays returns for whom the exchange waits.
func (x *exchange) delays() (all []delay) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.activity != waiting {
		return nil
	}
	for _, p := range x.ties {
		if p.received <= x.round {
			all = append(all, delay{p.agent, x.since})
		}
	}
	return all
}

// number returns the exchange under way.
func (x *exchange) number() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.round
}

// counts returns the exchange under way, and how many vectors and bytes have gone to neighbours;
// waited gets for how long the agent has waited for each.
func (x *exchange) counts(waited map[int]time.Duration) (round int, vectors, bytes int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.ties {
		waited[p.agent] = p.waited
	}
	return x.round, x.vectors, x.bytes
}
