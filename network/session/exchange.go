package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"dsbo/network/register"
)

// An activity is an agent's present work, which its neighbours learn with each heartbeat.
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

	mu *sync.Mutex // the agent's lock, which guards the fields below; methods whose
	// comment names it take it
	edges    []*edge             // neighbours among the members, by position
	round    int                 // the exchange under way, or the next one
	over     *register.Over      // the reason of the session's end; nil: it is running
	activity activity            // of this agent
	since    time.Time           // when it began
	vectors  int64               // payloads sent, once for each neighbour
	bytes    int64               // of these
	count    func(to, bytes int) // [Config.Sent]
}

// An edge is a neighbour in a session, with the vectors to and from it.
type edge struct {
	agent    int
	position int
	line     *line // to it
	slot     [2]vector
	received int     // the exchange whose vector comes next
	sent     [2]sent // the last two
	waited   time.Duration
}

// A vector is a neighbour's frame in one exchange.
type vector struct {
	purpose uint64
	payload []byte
}

// A sent vector is a frame of an exchange; the zero value is none.
type sent struct {
	exchange int
	frame    []byte
}

func newExchange(id uint64, edges []*edge, mu *sync.Mutex) *exchange {
	return &exchange{id: id, wake: make(chan struct{}, 1), mu: mu, edges: edges, activity: joining, since: time.Now()}
}

// edgeOf returns the edge to an agent; nil if there is none.
func (x *exchange) edgeOf(agent int) *edge {
	for _, p := range x.edges {
		if p.agent == agent {
			return p
		}
	}
	return nil
}

// repeat sends a reconnected neighbour the vectors that it lacks, from exchange due on: of the last
// two at most, as it is one exchange behind at most. The one of x.round may not be sent yet.
func (x *exchange) repeat(agent, due int) {
	p := x.edgeOf(agent)
	for _, number := range []int{x.round - 1, x.round} {
		if s := p.sent[number&1]; number >= max(due, 0) && s.frame != nil && s.exchange == number {
			p.line.send(s.frame)
		}
	}
}

// due returns the exchange whose vector comes next from an agent.
func (x *exchange) due(agent int) int {
	if p := x.edgeOf(agent); p != nil {
		return p.received
	}
	return 0
}

// ended returns the reason of the session's end at this agent; nil: it is running. It takes the
// lock.
func (x *exchange) ended() *register.Over {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.over
}

// accept stores a vector of a neighbour, which may be one exchange ahead of this agent. The error
// is the reason why it is impossible.
func (x *exchange) accept(agent int, f frame) error {
	p := x.edgeOf(agent)
	switch {
	case x.over != nil || p != nil && f.exchange < p.received: // sent again
		return nil
	case p == nil:
		return badFramef("agent %d is no neighbour in session %x", agent, x.id)
	case f.exchange > p.received || f.exchange > x.round+1:
		return badFramef("the next vector must be of exchange %d; it is of exchange %d", p.received, f.exchange)
	}
	p.slot[f.exchange&1] = vector{f.purpose, f.payload}
	if x.activity == waiting && f.exchange == x.round { // else it came before it was waited for
		p.waited += time.Since(x.since)
	}
	p.received++
	wake(x.wake)
	return nil
}

// end ends the session at this agent; false if it has ended before.
func (x *exchange) end(o *register.Over) bool {
	if x.over != nil {
		return false
	}
	x.over = o
	wake(x.wake)
	return true
}

// about sets the agent's activity. It takes the lock.
func (x *exchange) about(a activity) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.activity, x.since = a, time.Now()
}

// post sends the frame of this exchange to some neighbours, and begins to wait. The error is why
// the session has ended. It takes the lock.
func (x *exchange) post(frame []byte, to func(p *edge) bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over != nil {
		return x.over
	}
	for _, p := range x.edges {
		if !to(p) {
			continue
		}
		p.sent[x.round&1] = sent{x.round, frame}
		p.line.send(frame)
		if payload := len(frame) - headerSize; payload > 0 { // an empty frame is no vector
			x.vectors++
			x.bytes += int64(payload)
			if x.count != nil {
				x.count(p.agent, payload)
			}
		}
	}
	if x.activity != waiting { // a reduction waits from before its first frame on
		x.activity, x.since = waiting, time.Now()
	}
	return nil
}

func everyone(*edge) bool { return true }

// await waits until the vectors of this exchange from some neighbours are here. If they all are,
// they count, whatever has ended meanwhile. It takes the lock.
func (x *exchange) await(ctx context.Context, from func(p *edge) bool) error {
	for {
		x.mu.Lock()
		missing := slices.ContainsFunc(x.edges, func(p *edge) bool { return p.received <= x.round && from(p) })
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

// came returns the frame that a neighbour has sent in this exchange.
func (x *exchange) came(p *edge) vector { return p.slot[x.round&1] }

// advance makes the next exchange the present one. It takes the lock.
func (x *exchange) advance() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.edges {
		p.slot[x.round&1] = vector{}
	}
	x.round++
	x.activity, x.since = computing, time.Now()
}

// late returns the neighbours for whose vectors the exchange waits, since x.since.
func (x *exchange) late() (all []*edge) {
	if x.activity == waiting {
		for _, p := range x.edges {
			if p.received <= x.round {
				all = append(all, p)
			}
		}
	}
	return all
}
