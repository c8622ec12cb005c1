package grpc

import (
	"errors"
	"fmt"
	"io"
	"time"

	"dsbo/network"
	"dsbo/network/grpc/holdup"
)

// ErrConflict marks an exchange that was sent twice with different numbers: a run whose agents do
// not repeat themselves to the bit cannot be resumed.
var ErrConflict = errors.New("an exchange was repeated with other numbers")

// An edge is one neighbour as this agent sees it: a state machine without input and output, guarded
// by the mixer's lock. Sessions hand it what was received (handle) and ask it what to send
// (nextFrame). The package documentation has its messages, and what holds on it under the names
// Order, Credit, Window and Repetition.
type edge struct {
	m        *Mixer // the agent's mixer
	id       int    // number of the neighbour
	position int    // of the neighbour among the members

	// Receiving. The vectors of exchanges k and k+1, where this agent is at exchange k, have their
	// slots at k%2 and (k+1)%2.
	received     int       // vectors that have come; Order: the next one is of this exchange
	slot         [2][]byte // payloads
	purpose      [2]int    // of the exchanges in the slots
	digests      digests   // of vectors that have come, for repetitions
	expectsStale bool      // this agent went back, and vectors from before may still come on this stream

	// Sending.
	next      int    // the exchange whose vector is put on the stream next
	sent      int    // vectors that have been on some stream
	credit    int    // Credit: the neighbour has room for the vectors of exchanges up to this one
	confirmed []byte // this agent's key of masks, as the neighbour has passed it on last
	pending   kind   // a resend or an alive that is to be sent first; 0 for none

	conduct conduct // how often the neighbour has offended

	radius   int           // the neighbour's; see Mixer.radius
	report   holdup.Report // what it said of itself last on this stream, if reported
	reported bool          // whether report holds

	session       *session  // nil while there is no stream
	instance      uint64    // of the neighbour's process that opened it, or the last one
	silentBeats   int       // heartbeats since the neighbour's last sign of life
	silenceLogged bool      // whether the silence is in the log
	lastErr       error     // what ended the last connection or attempt
	strange       error     // the neighbour has other settings; nil: that is not known
	failure       error     // of its present process, or its offences, where members change; or nil
	stats         Neighbour // for the status
}

// conduct is what a neighbour did that it must not do, and what it does too slowly.
type conduct struct {
	*edge            // whose it is
	computes holding // how long it has held up the exchange under way by what it computes
	blank    blank   // whether it has come back without a state

	controlFrames int // frames since the last heartbeat that bring no vector
	repeats       int // vectors since the last heartbeat that came before
	// heartbeats for which it was refused after the last offence; 0: an exchange with it has
	// ended since
	barBeats    int
	barredUntil time.Time // when it is no longer
	exceeded    error     // the neighbour's process has spent its budget
	asked       [2]int    // the epoch and the beginning of the piece that it has asked for last
}

// attach makes s the stream to the neighbour, whose hello this is.
func (e *edge) attach(s *session, h hello) {
	if h.instance != e.instance {
		e.failure, e.conduct.exceeded = nil, nil
	} else {
		e.conduct.spend(wasteConnect, "it has connected again")
	}
	e.replace(h.instance)
	e.session = s
	s.handleHello(h)
	e.expectsStale, e.reported = e.pending == kindResend, false // it went back after its hello
	e.credit, e.radius = h.sent, 0
	e.sendFrom(h.next)
	if e.m.finish.drains {
		e.announce()
	}
	e.stats.Connects++
	e.signOfLife()
	e.m.config.Log.Info("connected to a neighbour", "neighbour", e.id, "its exchange", h.sent, "needs", h.next)
}

// detach ends s, unless another stream has taken its place.
func (e *edge) detach(s *session, err error) {
	if e.session != s {
		return
	}
	e.session = nil
	e.lastErr = err
	e.conduct.punish(err)
	if err == io.EOF && e.radius > 0 { // else it would have stayed
		e.setRadius(e.m.finish.lastRadius())
	} else if !e.m.closed {
		e.m.config.Log.Warn("lost the connection to a neighbour", "neighbour", e.id, "reason", err)
	}
}

func (e *edge) signOfLife() {
	if e.silenceLogged {
		e.m.config.Log.Info("a neighbour is back", "neighbour", e.id, "silent", e.silence())
	}
	e.silentBeats, e.silenceLogged = 0, false
}

func (e *edge) silence() time.Duration {
	return time.Duration(e.silentBeats) * e.m.config.Heartbeat
}

// isAwaited reports whether an exchange waits for this neighbour.
func (e *edge) isAwaited() bool { return e.m.flow.missing > 0 && e.received <= e.m.flow.round }

// hello returns what opens a stream to the neighbour.
func (e *edge) hello() []byte {
	c := &e.m.config
	first := min(len(e.m.settings), maxName)
	return hello{from: c.Agent, to: e.id, epoch: e.m.view.epoch.Number, sent: e.m.flow.window.end(), next: e.received,
		instance: c.Instance, offers: ownCapabilities, needs: c.needs(), run: c.Run, config: c.Hash, form: c.form(),
		program: c.Program, admission: c.Admission, key: string(e.m.keys.Own()),
		settings: [2]string{e.m.settings[:first], e.m.settings[first:]}}.encode()
}

// sendFrom puts the vectors from this exchange on onto the stream, again if they were there before.
func (e *edge) sendFrom(exchange int) {
	e.next = min(exchange, e.m.flow.window.end())
	e.checkKept()
}

// checkKept asks for a rollback if the next vector for the neighbour is no longer kept.
func (e *edge) checkKept() {
	switch {
	case !e.carriesVectors():
	case e.next >= e.m.flow.window.start:
		e.conduct.blank = blank{}
	case e.m.chamber != nil && e.m.view.epoch.Number == 0 && e.next == 0 && e.m.hasSaved:
		e.conduct.blank.suspected = !e.conduct.blank.known
	default:
		e.m.flow.rollBack(e.id, e.next)
	}
}

// hasVector reports whether a vector can be sent.
func (e *edge) hasVector() bool {
	w := &e.m.flow.window
	return e.carriesVectors() && w.start <= e.next && e.next < w.end() && e.next <= e.credit
}

// announce has the neighbour told how far this agent is in the end of the run.
func (e *edge) announce() {
	if e.pending == 0 {
		e.pending = kindAlive
	}
	e.wake()
}

// setRadius sets the neighbour's radius and passes on what that does to this agent's.
func (e *edge) setRadius(radius int) {
	before := e.m.finish.radius()
	e.radius = radius
	if e.m.finish.radius() == before {
		return
	}
	e.m.flow.notifyWaiter()
	e.m.neighbours.announce()
}

// heartbeat returns an error if the neighbour was silent for too long.
func (e *edge) heartbeat() error {
	c := &e.m.config
	e.silentBeats++
	e.conduct.countComputing()
	e.conduct.countBlank()
	e.conduct.controlFrames, e.conduct.repeats = 0, 0
	if s := e.session; s != nil {
		e.announce()
		if !s.expires.IsZero() && time.Now().After(s.expires) {
			s.drop(errExpired)
		}
		if e.silence() >= c.SilentAfter {
			s.drop(fmt.Errorf("nothing heard for %v", e.silence()))
		}
	}
	if e.radius == e.m.finish.lastRadius() && !e.isAwaited() { // it has left for good
		return nil
	}
	if e.silence() >= c.SilentAfter && !e.silenceLogged {
		e.silenceLogged = true
		facts := []any{"neighbour", e.id, "silent", e.silence(), "connected", e.session != nil}
		if e.lastErr != nil {
			facts = append(facts, "reason", e.lastErr)
		}
		c.Log.Warn("a neighbour is silent", facts...)
	}
	switch {
	case e.silence() < c.PeerTimeout:
		return nil
	case e.m.finish.allFinished() && !e.m.finish.isCutOff(): // what was lost is the news that it leaves
		e.setRadius(e.m.finish.lastRadius())
		return nil
	}
	if e.m.chamber != nil { // the council leaves it out
		return nil
	}
	return &network.SilentError{Processes: []string{fmt.Sprintf("agent %d", e.id)}, Silent: e.silence(),
		Last: e.lastErr}
}

// rewind makes this exchange the one whose vectors are received and sent next.
func (e *edge) rewind(exchange int) {
	e.received, e.expectsStale = exchange, true
	e.next = min(e.next, exchange)
	if e.next == exchange { // all that it needs is made again
		e.conduct.blank = blank{}
	}
	e.pending = kindResend
	e.wake()
}

// wake has the stream, if there is one, look for what to send.
func (e *edge) wake() {
	if e.session != nil {
		e.session.wake()
	}
}
