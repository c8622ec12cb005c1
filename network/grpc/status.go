package grpc

import (
	"cmp"

	"dsbo/internal/wording"
)

// A Status is what an agent's exchange looks like at one moment.
type Status struct {
	Round   int   // the next exchange, or the one under way
	Rewinds int64 // how often the agent went back
	Refused int64 // connections that were refused
	// Vectors counts the vectors of Mix and the words of Reduce, once for each neighbour they go
	// to, and VectorBytes their bytes.
	Vectors, VectorBytes int64
	Holdup               *Holdup     // what an exchange waits for at present; nil if none waits
	Stalled              bool        // it has waited for so long that the log says so
	Neighbours           []Neighbour // in ascending order

	Quorum  int    // of the council; 0: there is none
	Epoch   int    // of the members among whom this agent exchanges, if it is one
	Members []int  // agents that take part, a view
	Slow    []int  // agents that are left out at present as they were slow
	Waiting string // why there is no change of the members although there must be; "" if there need be none
}

// Status returns the present numbers.
func (m *Mixer) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Status{Round: m.flow.round, Rewinds: m.rewinds, Refused: m.links.refused, Vectors: m.vectors,
		VectorBytes: m.vectorBytes,
		Holdup:      m.holdup(), Stalled: m.watch.Logged()}
	s.Epoch, s.Members = m.view.epoch.Number, m.view.epoch.Members
	if m.chamber != nil {
		s.Quorum, s.Waiting = m.config.Membership.Quorum, m.chamber.waiting
		s.Slow = m.chamber.log.LeftAsSlow()
	}
	for _, e := range m.neighbours.edges {
		s.Neighbours = append(s.Neighbours, e.snapshot())
	}
	return s
}

// Round implements [network.Rewinder].
func (m *Mixer) Round() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.flow.round
}

// snapshot returns the edge's numbers.
func (e *edge) snapshot() Neighbour {
	n := e.stats
	n.Agent = e.id
	n.Connected = e.session != nil
	n.Round = e.credit
	n.Silent, n.Slow = e.silence(), e.conduct.isSlow()
	if err := cmp.Or(e.failure, e.conduct.exceeded); err != nil {
		n.Fault = wording.Plain(err.Error())
	}
	if e.isAwaited() {
		n.Waiting = e.m.watch.Waiting()
		n.Waited += n.Waiting
	}
	return n
}

// Waited implements [network.Waiter].
func (m *Mixer) Waited() []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.config.Addresses)
	if len(m.neighbours.edges) > 0 { // the last may be one that was admitted
		n = max(n, m.neighbours.edges[len(m.neighbours.edges)-1].id+1)
	}
	waited := make([]float64, n)
	for _, e := range m.neighbours.edges {
		waited[e.id] = e.stats.Waited.Seconds()
	}
	return waited
}
