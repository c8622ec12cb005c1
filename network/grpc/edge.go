package grpc

import (
	"fmt"
	"io"
	"time"

	"dsbo/network"
)

// attach makes s the stream to the neighbour, whose hello this is.
func (e *edge) attach(s *session, h hello) {
	if h.instance != e.instance {
		e.failure, e.conduct.exceeded = nil, nil
	} else {
		e.conduct.spend(wasteConnect, "it has connected again")
	}
	// A process that has begun since the run failed begins the run anew. It is not told of the
	// failure: old news would go round for as long as one agent that has it computes.
	s.failSent = e.m.ended != nil && e.instance != 0 && h.instance != e.instance
	e.replace(h.instance)
	e.session = s
	s.handleHello(h)
	e.expectsStale = e.pending == kindResend // this agent has gone back since its own hello
	e.reported = false
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

// hello returns what opens a stream to the neighbour.
func (e *edge) hello() []byte {
	c := &e.m.config
	first := min(len(e.m.settings), maxName)
	return hello{from: c.Agent, to: e.id, epoch: e.m.view.epoch.Number, sent: e.m.flow.window.end(), next: e.received,
		instance: c.Instance, offers: ownCapabilities, needs: c.needs(), run: c.Run, config: c.Hash, form: c.form(),
		program: c.Program, admission: c.Admission, key: string(e.m.keys.Own()),
		settings: [2]string{e.m.settings[:first], e.m.settings[first:]}}.encode()
}

// hasVector reports whether a vector can be sent.
func (e *edge) hasVector() bool {
	w := &e.m.flow.window
	return e.carriesVectors() && w.start <= e.next && e.next < w.end() && e.next <= e.credit &&
		w.at(e.next).frameFor(e.position) != nil
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
	silent := e.silence() >= c.PeerTimeout
	if (silent || e.conduct.outstays()) && e.m.finish.allFinished() && !e.m.finish.isCutOff() {
		e.setRadius(e.m.finish.lastRadius()) // what was lost is the news that it leaves
		return nil
	}
	if !silent || e.m.chamber != nil { // the council leaves it out
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
