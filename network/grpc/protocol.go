package grpc

import (
	"bytes"
	"errors"
	"fmt"

	"dsbo/network"
	"dsbo/network/grpc/holdup"
)

// The package documentation has all messages in one table, by the kinds that nextFrame sends and
// handle takes in.

// nextFrame returns what is to be sent next, nil if there is nothing now. last says that there
// will be nothing more on this stream.
func (e *edge) nextFrame(s *session) (frame []byte, last bool) {
	m := e.m
	known := m.keys.Published()
	for s.keysSent < len(known) && known[s.keysSent].Text == nil {
		s.keysSent++
	}
	switch {
	case e.session != s:
		return nil, true
	case s.announceDue:
		return s.epochFrame(), false
	case m.ended != nil && !s.failSent && e.carriesVectors():
		s.failSent = true
		return encode(header{kindFail, m.ended.Number, m.ended.Kind}, []byte(m.ended.Reason)), false
	case e.pending == kindResend && e.carriesVectors():
		e.pending = 0
		return encode(header{kindResend, m.flow.window.end(), e.received}, nil), false
	case e.pending == kindAlive:
		e.pending = 0
		r := m.watch.Report(m.flow.round, m.holdup())
		return encode(header{kindAlive, r.Round, m.finish.announcedRadius()}, r.Encode()), false
	case s.keysSent < len(known):
		k := known[s.keysSent]
		s.keysSent++
		return encode(header{kindKey, k.Agent, 0}, k.Text), false
	case len(s.councilFrames) > 0:
		frame, s.councilFrames = s.councilFrames[0], s.councilFrames[1:]
		return frame, false
	case e.hasVector():
		frame = m.flow.window.at(e.next).frameFor(e.position)
		if e.next < e.sent {
			e.stats.Resent++
		}
		e.next++
		e.sent = max(e.sent, e.next)
		return frame, false
	}
	return nil, m.closed
}

// handle takes in a frame that came on the edge's stream. An error ends the stream.
func (e *edge) handle(f *frame) error {
	if err := e.conduct.countFrame(f); err != nil {
		return err
	}
	e.stats.FramesReceived++
	e.stats.BytesReceived += int64(f.size)
	e.signOfLife()
	if f.kind == kindEpoch || f.kind == kindResend {
		e.session.remoteSent, e.session.remoteNext = f.exchange, f.detail
	}
	if !e.carriesVectors() && (f.kind == kindVector || f.kind == kindResend || f.kind == kindFail) {
		return nil // of an epoch before, or of an agent that is no member and ends alone
	}
	var err error
	switch f.kind {
	case kindEpoch:
		err = e.handleEpoch(f)
	case kindFail:
		err = e.handleFail(f)
	case kindResend:
		e.handleResend(f)
	case kindAlive:
		e.handleAlive(f)
	case kindKey:
		err = e.handleKey(f)
	case kindControl:
		err = e.handleControl(f)
	case kindAsk:
		err = e.handleAsk(f)
	case kindPiece:
		err = e.handlePiece(f)
	case kindVector:
		err = e.handleVector(f)
	case kindHello:
		err = errors.New("a second hello on one stream")
	}
	if err == nil && (e.pending != 0 || e.hasVector()) {
		e.wake()
	}
	return err
}

// handleResend has the neighbour, which went back, get again what it needs. It has not finished
// any more.
func (e *edge) handleResend(f *frame) {
	e.credit = f.exchange
	e.sendFrom(f.detail)
	e.setRadius(0)
}

// handleAlive takes in what the neighbour says of itself.
func (e *edge) handleAlive(f *frame) {
	e.report, e.reported = holdup.ReadReport(f.exchange, f.text)
	e.reported = e.reported && max(e.report.Holder, e.report.Beyond-1) < e.m.config.agents()
	e.setRadius(min(f.detail, e.m.finish.lastRadius()))
}

// handleControl hands a message to the council.
func (e *edge) handleControl(f *frame) error {
	if e.m.chamber == nil {
		return errors.New("there is no council")
	}
	e.m.chamber.deliver(letter{neighbour: e.id, data: bytes.Clone(f.text)})
	return nil
}

// handleVector takes in the vector of one exchange, by Order and Repetition.
func (e *edge) handleVector(f *frame) error {
	m := e.m
	vector, slot := digest{f.detail, f.digest}, f.exchange%2
	before, known := e.digests[f.exchange]
	if m.flow.round <= f.exchange && f.exchange < e.received {
		before, known = e.came[slot], true
	}
	switch {
	case known && before != vector:
		err := &network.PeerError{Process: fmt.Sprintf("agent %d", e.id), Exchange: f.exchange, Reason: ErrConflict}
		if m.chamber != nil {
			return err
		}
		m.failLocked(err)
		return nil
	case f.exchange > min(e.received, m.flow.window.end()):
		if e.expectsStale {
			return nil
		}
		return fmt.Errorf("the next vector must be that of exchange %d; it is that of exchange %d",
			e.received, f.exchange)
	}
	e.credit = f.exchange + 1
	if f.exchange < e.received {
		e.stats.Duplicates++
		e.conduct.spend(wasteRepeat, "it has repeated a vector")
		return nil
	}
	e.slot[slot], f.data = f.data, e.slot[slot]
	e.came[slot] = vector
	if e.isAwaited() {
		e.stats.Waited += m.watch.Waiting()
	}
	if e.isMissing() {
		m.flow.missing--
	}
	e.received++
	if m.flow.missing == 0 || m.flow.staged {
		m.flow.notifyWaiter()
	}
	return nil
}
