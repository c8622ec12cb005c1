package session

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"dsbo/internal/wording"
)

// A line is the way to a neighbour.
type line struct {
	agent    int       // the neighbour
	conn     *conn     // nil: there is none at present
	since    time.Time // when conn was made, or the last one ended
	instance uint64    // of the neighbour's process that was connected last
	heard    time.Time // when its last frame came
	activity activity  // the neighbour's own report
	silent   bool      // the log has it
	lastErr  error     // of the last connection, or attempt
	strange  bool      // its settings or its program differ
	stats    Neighbour // counts
}

// attach makes c the connection to the neighbour's process. anew reports whether another process
// was connected before.
func (l *line) attach(c *conn, instance uint64, now time.Time) (anew bool) {
	anew = l.instance != 0 && l.instance != instance
	l.conn, l.since, l.instance, l.heard = c, now, instance, now
	l.silent, l.lastErr, l.strange, l.activity = false, nil, false, meeting
	l.stats.Connects++
	return anew
}

func (l *line) detach(why error, now time.Time) { l.conn, l.since, l.lastErr = nil, now, why }

// send sends a frame over the connection that there is.
func (l *line) send(frame []byte) {
	if l.conn == nil {
		return
	}
	l.stats.FramesSent++
	l.stats.BytesSent += int64(len(frame))
	l.conn.send(frame)
}

func (l *line) computes() bool {
	return l.conn != nil && (l.activity == computing || l.activity == saving || l.activity == joining)
}

// A neighbourhood is the lines of an agent, over which messages go to all agents.
type neighbourhood struct {
	route
	lines map[int]*line // by neighbour
	log   *slog.Logger
}

func newNeighbourhood(c *Config) neighbourhood {
	return neighbourhood{route: route{agent: c.Agent, instance: c.Instance, seed: maphash.MakeSeed()},
		lines: map[int]*line{}, log: c.Log}
}

// lineOf returns the line to the sender of a hello, unless it may not be connected: a later process
// of it is, and was heard within silentAfter (errFenced), or it is no neighbour.
func (n *neighbourhood) lineOf(h hello, r *warrants, silentAfter time.Duration) (*line, error) {
	l := n.lines[h.From]
	switch {
	case r.isRemoved(h.From):
		return nil, &removedError{h.From}
	case l == nil:
		return nil, fmt.Errorf("agent %d is no neighbour of agent %d", h.From, n.agent)
	case l.conn != nil && h.Instance < l.instance && time.Since(l.heard) < silentAfter:
		return nil, errFenced
	}
	return l, nil
}

// flood sends a message of this agent to all.
func (n *neighbourhood) flood(m message) { n.pass(n.stamp(m), -1) }

// pass sends a message to all neighbours but one.
func (n *neighbourhood) pass(m message, but int) {
	frame := m.frame()
	for _, l := range n.lines {
		if l.agent != but {
			l.send(frame)
		}
	}
}

// beat sends all neighbours a heartbeat, and gives up connections over which nothing comes.
func (n *neighbourhood) beat(alive []byte, now time.Time, silentAfter time.Duration) {
	n.route.beat()
	for _, l := range n.lines {
		l.send(alive)
		silence := now.Sub(l.heard)
		if silence < silentAfter {
			continue
		}
		if !l.silent {
			l.silent = true
			n.log.Warn("a neighbour is silent", "neighbour", l.agent, "silent", silence, "connected", l.conn != nil,
				"reason", l.lastErr)
		}
		if l.conn != nil {
			l.conn.drop(fmt.Errorf("nothing heard for %v", silence))
		}
	}
}

// receive counts a frame that has come from the neighbour at the other end of c, and returns the
// line to it; nil if c is not the connection to it any more.
func (n *neighbourhood) receive(c *conn, size int, now time.Time) *line {
	l := n.lines[c.to]
	if l == nil || l.conn != c {
		return nil
	}
	l.heard = now
	if l.silent {
		n.log.Info("a neighbour is back", "neighbour", l.agent)
		l.silent = false
	}
	l.stats.FramesReceived++
	l.stats.BytesReceived += int64(size)
	return l
}

// lineTo returns the line to a member; one without a connection, if nobody has heard of it here.
func (n *neighbourhood) lineTo(agent int) *line {
	if n.lines[agent] == nil {
		n.lines[agent] = &line{agent: agent}
	}
	return n.lines[agent]
}

// linked returns the neighbours that a session can have edges to, ascending: the ones connected now
// or within absentAfter; all, if that is 0.
func (n *neighbourhood) linked(now time.Time, absentAfter time.Duration) []int {
	return n.where(func(l *line) bool { return l.conn != nil || absentAfter == 0 || now.Sub(l.since) < absentAfter })
}

// connected returns the neighbours that are connected, ascending.
func (n *neighbourhood) connected() []int {
	return n.where(func(l *line) bool { return l.conn != nil })
}

// where returns the neighbours with lines that are so, ascending.
func (n *neighbourhood) where(is func(l *line) bool) (all []int) {
	for _, j := range slices.Sorted(maps.Keys(n.lines)) {
		if is(n.lines[j]) {
			all = append(all, j)
		}
	}
	return all
}

// isStrange reports whether all neighbours have refused this agent because of its settings, and
// none was connected since its start: one side is wrong, and no wait helps.
func (n *neighbourhood) isStrange() bool {
	strange := n.where(func(l *line) bool { return l.strange && l.stats.Connects == 0 })
	return len(strange) > 0 && len(strange) == len(n.lines)
}

// reached reports whether no neighbour lacks a message of since a time: each was connected
// throughout, or has closed its connection in good order.
func (n *neighbourhood) reached(since time.Time) bool {
	return n.where(func(l *line) bool {
		if l.conn == nil {
			return l.lastErr != io.EOF
		}
		return l.since.After(since)
	}) == nil
}

func (n *neighbourhood) goesOn() bool {
	return n.where(func(l *line) bool { return l.conn != nil && l.activity != meeting }) != nil
}

// report returns the status of each neighbour, ascending, but for the time that a session has
// waited.
func (n *neighbourhood) report(now time.Time) (all []Neighbour) {
	for _, j := range slices.Sorted(maps.Keys(n.lines)) {
		l := n.lines[j]
		r := l.stats
		r.Agent, r.Connected, r.Silent = j, l.conn != nil, now.Sub(l.heard)
		if l.conn == nil && l.lastErr != nil {
			r.Fault = wording.Plain(l.lastErr.Error())
		}
		all = append(all, r)
	}
	return all
}

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
