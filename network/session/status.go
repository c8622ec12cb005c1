package session

import (
	"fmt"
	"slices"
	"time"

	"dsbo/internal/wording"
)

// A Status is what an agent's part in the run looks like at one moment.
type Status struct {
	Session   uint64        // under way, or last; 0: there was none
	Meets     bool          // no session is under way
	Exchange  int           // of the session
	Waiting   string        // why no session can begin; "": one can, or is under way
	Since     time.Duration // for how long the agents have met, or this agent has waited in its exchange
	Holdups   []int         // agents for which the meeting or the exchange waits
	Computing bool          // these tell that they compute
	Members   []int         // of the session, or of the last one
	Epoch     int           // of these
	Slow      []int         // agents that are left out at present as they were slow
	Quorum    int           // 0: all members stay
	Final     bool          // a quorum has the result
	Refused   int64         // connections that were refused
	// Vectors counts the vectors of Mix and the words of Reduce in the session, once for each
	// neighbour they go to, and VectorBytes their bytes.
	Vectors, VectorBytes int64
	Neighbours           []Neighbour // in ascending order
}

// A Neighbour is what an agent knows of one.
type Neighbour struct {
	Agent     int           // its number
	Connected bool          // a stream is up
	Silent    time.Duration // for how long nothing was heard
	Fault     string        // why it is not connected; "": it is, or nothing is known
	Waited    time.Duration // in the session
	// Connects counts the connections, Frames* and Bytes* what has gone over them.
	Connects, FramesSent, FramesReceived, BytesSent, BytesReceived int64
}

// Status returns the present state.
func (a *Agent) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.state.Log.Last(a.config.Matrix.N())
	s := Status{Session: a.state.Last, Meets: a.current == nil && !a.state.Final, Waiting: a.wait,
		Members: last.Members, Epoch: last.Number, Slow: a.state.Log.LeftAsSlow(), Quorum: a.config.Quorum,
		Final: a.state.Final, Refused: a.links.refusals()}
	now := time.Now()
	if text := a.links.waiting(); text != "" {
		s.Waiting = text
	}
	waited := map[int]time.Duration{}
	if s.Meets {
		s.Since, s.Holdups = now.Sub(a.since), slices.Clone(a.away)
	} else if c := a.current; c != nil {
		s.Session, s.Members, s.Epoch = c.Number, c.Epoch.Members, c.Epoch.Number
		for _, d := range c.x.delays() {
			s.Holdups, s.Since = append(s.Holdups, d.agent), now.Sub(d.since)
			s.Computing = a.lines[d.agent] != nil && a.lines[d.agent].computes()
		}
		c.x.mu.Lock()
		s.Exchange, s.Vectors, s.VectorBytes = c.x.round, c.x.vectors, c.x.bytes
		for _, p := range c.x.ties {
			waited[p.agent] = p.waited
		}
		c.x.mu.Unlock()
	}
	for j, l := range a.lines {
		n := l.stats
		n.Agent, n.Connected, n.Silent, n.Waited = j, l.conn != nil, now.Sub(l.heard), waited[j]
		if l.conn == nil && l.lastErr != nil {
			n.Fault = wording.Plain(l.lastErr.Error())
		}
		s.Neighbours = append(s.Neighbours, n)
	}
	slices.SortFunc(s.Neighbours, func(a, b Neighbour) int { return a.Agent - b.Agent })
	return s
}

// Holdup tells in one line for what this agent waits; "" if it does not, or has just begun to.
func (s Status) Holdup() string {
	switch {
	case s.Waiting != "":
		return fmt.Sprintf("%s, since %v", s.Waiting, s.Since.Round(time.Second))
	case len(s.Holdups) == 0 || s.Since < time.Second:
		return ""
	case s.Computing:
		return fmt.Sprintf("waits for agent %s, which computes, since %v", wording.List(s.Holdups),
			s.Since.Round(time.Second))
	}
	return fmt.Sprintf("waits for agent %s since %v", wording.List(s.Holdups), s.Since.Round(time.Second))
}
