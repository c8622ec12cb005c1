package grpc

import (
	"errors"
	"io"
	"testing"
	"time"

	"dsbo/internal/testkit"
)

// deadStream is a stream whose other end was lost: sending tells only that it has ended, as gRPC's
// SendMsg does, and receiving how, later.
type deadStream struct {
	sent chan struct{} // gets an element for each attempt to send
	how  chan error
}

func (s deadStream) SendMsg(any) error { s.sent <- struct{}{}; return io.EOF }
func (s deadStream) RecvMsg(any) error { return <-s.how }

// TestLostWhileSending: a neighbour that waits for the end of all is lost as this agent sends to
// it. It may come back, and has not left, unless the receiving direction says so.
func TestLostWhileSending(t *testing.T) {
	for _, tt := range []struct {
		how    error
		radius int // the neighbour's, afterwards
	}{{errors.New("connection reset"), 1}, {io.EOF, 4}} {
		m, _ := pathAgent(nil)
		m.finish.drains = true
		dead := deadStream{make(chan struct{}), make(chan error)}
		s := newSession(m.neighbours.edge(0), dead, time.Time{})
		testkit.OK(s.open(goodHello(0)))
		deliver(s, alive(1))
		ended := make(chan error)
		go func() {
			_, err := s.run()
			ended <- err
		}()
		<-dead.sent
		dead.how <- tt.how
		if err := <-ended; err != tt.how || m.neighbours.edge(0).radius != tt.radius {
			t.Errorf("the session ended with %v and the neighbour at radius %d, want %v and %d", err,
				m.neighbours.edge(0).radius, tt.how, tt.radius)
		}
	}
}
