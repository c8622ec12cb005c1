package grpc

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// An edge is one neighbour as this agent sees it: a state machine without input and output, guarded
// by the mixer's lock. Sessions bring it what was received and ask it what to send.
type edge struct {
	m  *Mixer
	id int

	// Receiving. The vectors of exchanges r and r+1 have room in slot r%2 and the other one, which
	// is all that a neighbour can be ahead.
	next    int // the first exchange that has not come
	slot    [2][]float64
	purpose [2]int // of the exchanges in the slots
	sums    sums
	asked   bool // the frames from next on have been asked for

	// Sending.
	cursor int  // the exchange to be put on the stream next
	high   int  // those before have been put on some stream
	room   int  // how many exchanges the neighbour has sent: it has room for that of this number
	tell   kind // ping or ask, to be sent next; 0 for nothing

	level int // the neighbour's, see Mixer.level; 0 until it has finished

	session *session // nil while there is no stream
	silent  int      // heartbeats since something was heard
	named   bool     // the log has been told of the silence
	last    error    // what ended the last connection or attempt
	stats   Neighbour
}

// attach makes s the stream to the neighbour, whose hello this is.
func (e *edge) attach(s *session, h hello) {
	if e.session != nil {
		e.session.drop(errReplaced)
	}
	e.session = s
	e.room = h.round
	e.asked, e.level = false, 0
	e.request(h.next)
	if e.m.finished && e.tell == 0 {
		e.tell = kindPing
	}
	e.stats.Connects++
	e.heard()
	e.m.config.Log.Info("connected to a neighbour", "neighbour", e.id, "its exchange", h.round, "wants", h.next)
}

// detach ends s, unless another stream has taken its place.
func (e *edge) detach(s *session, err error) {
	if e.session != s {
		return
	}
	e.session = nil
	e.last = err
	if err == io.EOF && e.level > 0 { // else it would have stayed
		e.rise(e.m.top())
	} else if !e.m.closed {
		e.m.config.Log.Warn("lost the connection to a neighbour", "neighbour", e.id, "reason", err)
	}
}

// heard notes a sign of life.
func (e *edge) heard() {
	if e.named {
		e.m.config.Log.Info("a neighbour is back", "neighbour", e.id, "silent", e.silence())
	}
	e.silent, e.named = 0, false
}

func (e *edge) silence() time.Duration {
	return time.Duration(e.silent) * e.m.config.Heartbeat
}

// wanted reports whether an exchange waits for this neighbour.
func (e *edge) wanted() bool { return e.m.missing > 0 && e.next <= e.m.round }

// hello returns what opens a stream to the neighbour.
func (e *edge) hello() []byte {
	c := &e.m.config
	return hello{header: e.header(0), to: e.id, run: c.Run, config: c.Hash}.encode()
}

func (e *edge) header(k kind) header {
	return header{kind: k, run: e.m.run, from: e.m.config.Agent, round: e.m.window.end(), next: e.next}
}

// request puts the frames from next on onto the stream, again if they were there before.
func (e *edge) request(next int) {
	e.cursor = min(next, e.m.window.end())
	e.checkHeld()
}

// checkHeld asks for a rollback if the next frame for the neighbour is no longer held.
func (e *edge) checkHeld() {
	if e.session != nil && e.cursor < e.m.window.start {
		e.m.rollBack(e.id, e.cursor)
	}
}

// vectorReady reports whether a vector can be sent. The neighbour has to have room for it, which one that
// came back and is behind may not have.
func (e *edge) vectorReady() bool {
	w := &e.m.window
	return w.start <= e.cursor && e.cursor < w.end() && e.cursor <= e.room
}

// take returns what is to be sent next, nil if there is nothing now. last says that there
// will be nothing more on this stream.
func (e *edge) take(s *session) (frame []byte, last bool) {
	m := e.m
	switch {
	case e.session != s:
		return nil, true
	case m.ended != nil && !s.toldEnd:
		s.toldEnd = true
		h := e.header(kindFail)
		h.round, h.next = m.ended.Agent, m.ended.kind
		return encode(h, []byte(m.ended.Reason)), false
	case e.tell != 0:
		h := e.progress()
		s.said++
		h.seq = s.said
		e.tell = 0
		return encode(h, nil), false
	case e.vectorReady():
		frame = m.window.get(e.cursor)
		if e.cursor < e.high {
			e.stats.Resent++
		}
		e.cursor++
		e.high = max(e.high, e.cursor)
		return frame, false
	}
	return nil, m.closed
}

// progress returns the header of a frame that says how far this agent is.
func (e *edge) progress() header {
	h := e.header(e.tell)
	h.round = e.cursor                   // what is not on this stream yet is not lost
	if level := e.m.level(); level > 0 { // one that has finished has nothing to ask for
		h.kind, h.next = kindDone, level
	}
	return h
}

// handle takes in a frame that came on the edge's stream. An error ends the stream.
func (e *edge) handle(f *frame) error {
	e.stats.FramesReceived++
	e.stats.BytesReceived += int64(f.size)
	if err := e.readable(f); err != nil {
		return err
	}
	if f.err != nil {
		e.stats.Damaged++
		e.ask()
		e.session.poke()
		return nil
	}
	e.heard()
	switch f.kind {
	case kindData:
		e.receive(f)
	case kindPing, kindAsk, kindDone:
		e.follow(f)
	case kindFail:
		e.m.endFor(&EndedError{Agent: f.round, Reason: oneLine(f.text), kind: f.next})
	case kindHello:
		return errors.New("a second hello on one stream")
	}
	if e.tell != 0 || e.vectorReady() {
		e.session.poke()
	}
	return nil
}

// follow takes in how far the neighbour is.
func (e *edge) follow(f *frame) {
	if f.seq <= e.session.heard {
		return
	}
	e.session.heard = f.seq
	e.room = f.round
	if e.next < f.round {
		e.ask()
	}
	switch f.kind {
	case kindAsk:
		e.request(f.next)
		e.rise(0)
	case kindPing:
		e.rise(0)
	case kindDone:
		e.rise(min(f.next, e.m.top()))
	}
}

// rise sets the neighbour's level and passes on what that does to this agent's.
func (e *edge) rise(level int) {
	before := e.m.reached()
	e.level = level
	if e.m.reached() == before {
		return
	}
	e.m.changed()
	e.m.tellAll()
}

// readable returns an error if the frame is not of this stream or of an unknown form, although it
// came as it was sent.
func (e *edge) readable(f *frame) error {
	switch {
	case f.err != nil && !errors.Is(f.err, errDamaged):
		return f.err
	case f.err == nil && f.run != e.m.run:
		return errors.New("a frame of another run")
	case f.err == nil && f.from != e.id:
		return fmt.Errorf("a frame of agent %d on the stream of agent %d", f.from, e.id)
	}
	return nil
}

// ask has the neighbour send again what is missing.
func (e *edge) ask() {
	e.asked = true
	e.tell = kindAsk
}

// receive takes in the vector of one exchange.
func (e *edge) receive(f *frame) {
	m := e.m
	e.room = max(e.room, f.round+1)
	if f.round < e.next {
		e.stats.Duplicates++
	}
	switch {
	case e.sums.differs(f.round, f.sum):
		m.fail(fmt.Errorf("%w: agent %d, exchange %d", ErrConflict, e.id, f.round))
	case f.round < e.next:
	case f.round > m.window.end(): // it cannot have been sent in good faith, unless this agent went back
		e.stats.Refused++
		if s := e.session; !s.toldRefused {
			s.toldRefused = true
			m.config.Log.Warn("refused a frame", "neighbour", e.id,
				"reason", fmt.Sprintf("it is of exchange %d, want at most %d", f.round, m.window.end()))
		}
	case f.round > e.next:
		if !e.asked {
			e.ask()
		}
	default:
		e.sums.put(f.round, f.sum)
		slot := &e.slot[f.round%2]
		*slot, f.data = f.data, *slot
		e.purpose[f.round%2] = f.next
		e.asked = false
		if e.wanted() {
			e.stats.Waited += time.Since(m.waitStart)
			m.missing--
			if m.missing == 0 {
				m.changed()
			}
		}
		e.next++
	}
}

// beat is one heartbeat. It returns an error if the neighbour was silent for too long.
func (e *edge) beat() error {
	c := &e.m.config
	e.silent++
	if s := e.session; s != nil {
		if e.tell == 0 {
			e.tell = kindPing
		}
		s.poke()
		if e.silence() >= c.SilentAfter {
			s.drop(fmt.Errorf("nothing heard for %v", e.silence()))
		}
	}
	if e.level == e.m.top() && !e.wanted() { // it has left for good
		return nil
	}
	if e.silence() >= c.SilentAfter && !e.named {
		e.named = true
		c.Log.Warn("a neighbour is silent", "neighbour", e.id, "silent", e.silence(), "connected", e.session != nil, "reason", e.last)
	}
	switch {
	case e.silence() < c.PeerTimeout:
		return nil
	case e.m.allFinished(): // what was lost is the news that it leaves
		e.rise(e.m.top())
		return nil
	}
	return &SilentError{Agent: e.id, Silent: e.silence(), Last: e.last}
}

// rewind makes round the exchange that is received and sent next.
func (e *edge) rewind(round int) {
	e.next = round
	e.cursor = min(e.cursor, round)
	e.ask()
	e.poke()
}

// poke has the stream, if there is one, look for what to send.
func (e *edge) poke() {
	if e.session != nil {
		e.session.poke()
	}
}
