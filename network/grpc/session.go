package grpc

import (
	"errors"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Why an agent itself ends a stream that is as it should be.
var (
	errReplaced = errors.New("the neighbour opened another stream")
	errRenewed  = errors.New("this agent has another certificate now")
	errExpired  = errors.New("a certificate of the connection has expired")
	errWithheld = errors.New("what is due has not come over it")
)

// newSession returns a session over a stream whose certificates are valid until a time.
func newSession(e *edge, s stream, until time.Time) *session {
	n := &session{e: e, stream: s, expires: until, wakeUp: make(chan struct{}, 1), dropped: make(chan struct{})}
	n.sender = e.m.config.Wrap(e.id, n)
	return n
}

// Send implements [Sender].
func (s *session) Send(frame []byte) error {
	m := s.e.m
	m.mu.Lock()
	s.e.stats.FramesSent++
	s.e.stats.BytesSent += int64(len(frame))
	m.mu.Unlock()
	return s.stream.SendMsg(frame)
}

// open makes the session the edge's stream. It fails if the mixer is closed, or a later process of
// the neighbour has one.
func (s *session) open(h hello) error {
	m := s.e.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return m.err
	}
	if s.e.isFenced(h.instance) {
		return errFenced
	}
	s.e.attach(s, h)
	return nil
}

// run moves frames until the stream ends and returns why: nil if this side is closed and has
// nothing more to say, io.EOF if the other side is. in gets what ends the receiving direction, if
// that has not ended.
func (s *session) run() (in chan error, err error) {
	m := s.e.m
	in = make(chan error, 1)
	out := make(chan error, 1)
	m.links.work.Go(func() { in <- s.receive() })
	m.links.work.Go(func() { out <- s.transmit() })
	select {
	case err = <-in:
	case err = <-out:
		if err == io.EOF { // what gRPC says of any stream that has ended: only the receiving direction knows how
			select {
			case err = <-in:
			case <-s.dropped:
				err = s.reason
			}
		}
	case <-s.dropped:
		err = s.reason
	}
	m.mu.Lock()
	s.e.detach(s, err)
	m.mu.Unlock()
	s.drop(err)
	return in, err
}

// transmit sends what the edge has to say until there will be nothing more.
func (s *session) transmit() error {
	m := s.e.m
	for {
		m.mu.Lock()
		frame, last := s.e.nextFrame(s)
		m.mu.Unlock()
		switch {
		case frame != nil:
			if err := s.sender.Send(frame); err != nil {
				return err
			}
		case last:
			return nil
		default:
			select {
			case <-s.wakeUp:
			case <-s.dropped:
				return s.reason
			}
		}
	}
}

// receive hands what comes to the edge. An end in good order is io.EOF.
func (s *session) receive() error {
	m := s.e.m
	var f frame
	for {
		if err := s.stream.RecvMsg(&f); err != nil {
			// what gRPC says of a frame that is too long
			if f.fault != nil || status.Code(err) == codes.ResourceExhausted {
				return &offence{err}
			}
			return err
		}
		m.mu.Lock()
		var err error
		if s.e.session == s { // else only the end of the stream is of interest
			if err = s.e.handle(&f); err != nil {
				err = &offence{err}
			}
		}
		m.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// endedInOrder reports whether a stream that run left with err ended in good order.
func endedInOrder(err error) bool { return err == nil || err == io.EOF }
