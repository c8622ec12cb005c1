package session

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"dsbo/internal/wording"
)

// A Status is an agent's part in the run at one moment.
type Status struct {
	Session  uint64        // under way, or last; 0: there was none
	Meets    bool          // no session is under way
	Exchange int           // of the session
	Waiting  string        // why no session can begin; "": one can, or is under way
	Since    time.Duration // the time that the agents have met, or that this agent has waited in
	// its exchange
	Holdups   []int // agents for which the meeting or the exchange waits
	Computing bool  // the exchange waits, and all of these report that they compute
	Members   []int // of the session, or of the last one
	Epoch     int   // of these
	Slow      []int // agents that are left out at present as they were slow
	Quorum    int   // 0: all members stay
	Final     bool  // a quorum has the result
	Refused   int64 // connections that were refused
	// Vectors counts the vectors of Mix and the words of Reduce in the session, once for each
	// neighbour they go to, and VectorBytes their bytes.
	Vectors, VectorBytes int64
	Neighbours           []Neighbour // in ascending order
}

// A Neighbour is a neighbour's status.
type Neighbour struct {
	Agent     int           // its number
	Connected bool          // at present
	Silent    time.Duration // time since it was last heard
	Fault     string        // why it is not connected; "": it is, or nothing is known
	Waited    time.Duration // in the session
	Connects  int64         // connections so far
	// Frames* and Bytes* count its connections' traffic.
	FramesSent, FramesReceived, BytesSent, BytesReceived int64
}

// Status returns the present state. Counts of vectors are of the session under way, and 0 between
// sessions.
func (a *Agent) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	state, now := a.ledger.read(), time.Now()
	last := state.Log.Last(a.config.Matrix.N())
	s := Status{Session: state.Last, Meets: a.chain.current == nil && !state.Final,
		Waiting: cmp.Or(a.links.waiting(), a.council.waitsFor()), Members: last.Members, Epoch: last.Number,
		Slow: state.Log.LeftAsSlow(), Quorum: a.config.Quorum, Final: state.Final, Refused: a.links.refused.Load()}
	s.Neighbours = a.neighbours.report(now)
	if s.Meets {
		s.Since, s.Holdups = now.Sub(a.council.since), slices.Clone(a.council.away)
	} else if c := a.chain.current; c != nil {
		s.Session, s.Members, s.Epoch = c.Number, c.Epoch.Members, c.Epoch.Number
		s.Exchange, s.Vectors, s.VectorBytes = c.x.round, c.x.vectors, c.x.bytes
		late := c.x.late()
		for _, p := range late {
			s.Holdups, s.Since = append(s.Holdups, p.agent), now.Sub(c.x.since)
		}
		s.Computing = late != nil && !slices.ContainsFunc(late, func(p *edge) bool { return !p.line.computes() })
		for _, p := range c.x.edges {
			k := slices.IndexFunc(s.Neighbours, func(n Neighbour) bool { return n.Agent == p.agent })
			s.Neighbours[k].Waited = p.waited
		}
	}
	return s
}

// Holdup returns one line on the agent that this agent waits for; "" if it does not wait, or has
// just begun to.
func (s Status) Holdup() string {
	switch {
	case s.Waiting != "":
		return fmt.Sprintf("%s, since %v", s.Waiting, s.Since.Round(time.Second))
	case len(s.Holdups) == 0 || s.Since < time.Second:
		return ""
	}
	computes := ""
	if s.Computing {
		computes = ", which computes,"
	}
	return fmt.Sprintf("waits for agent %s%s since %v", wording.List(s.Holdups), computes, s.Since.Round(time.Second))
}
