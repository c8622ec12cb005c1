package session

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"dsbo/network/pki"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// Why an agent itself ends a stream that is as it should be.
var (
	errReplaced = errors.New("the neighbour opened another stream")
	errRenewed  = errors.New("this agent has another certificate now")
	errExpired  = errors.New("a certificate of the connection has expired")
)

// maxQueued is the number of frames that may wait for a neighbour to read.
const maxQueued = 256

// A stream moves frames, as a stream of gRPC does on either side.
type stream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// A streamSender sends frames on a stream, one by one.
type streamSender struct{ stream stream }

// Send implements [Sender].
func (s streamSender) Send(frame []byte) error { return s.stream.SendMsg(frame) }

// A conn is one stream to a neighbour, after the hellos.
type conn struct {
	to      int           // the neighbour
	expires time.Time     // when a certificate of either side does; zero: never
	by      *pki.Identity // of this side; nil: there are no certificates
	key     string        // SHA-256 of the neighbour's public key, in hexadecimal; "": it has none
	stream  stream        // after the hellos
	sender  Sender        // of the stream, through Config.Wrap
	began   time.Time     // when the hellos were there
	useful  atomic.Bool   // it has brought more than heartbeats

	queue   chan []byte             // frames that are to be sent
	dropped context.Context         // done, with the reason, when the connection is to end
	drop    context.CancelCauseFunc // ends dropped; the first reason counts
}

// newConn returns a connection to a neighbour over a stream that was opened with this agent's
// certificate of then and, as auth has it, the neighbour's.
func (l *links) newConn(to int, s stream, by *pki.Identity, auth credentials.AuthInfo) *conn {
	c := &conn{to: to, expires: connectionExpiry(by, auth), by: by, key: keyOf(auth), stream: s,
		sender: l.config.Wrap(to, streamSender{s}), began: time.Now(), queue: make(chan []byte, maxQueued)}
	c.dropped, c.drop = context.WithCancelCause(context.Background())
	return c
}

// send queues a frame, which does not change after; it never blocks. Where the neighbour reads so
// little that maxQueued frames wait, it drops the connection.
func (c *conn) send(frame []byte) {
	select {
	case c.queue <- frame:
	default:
		c.drop(errStuck)
	}
}

// run moves frames until the stream ends and returns the reason: nil if this side is closed and has
// sent everything, io.EOF if the other side is. in receives the end of the receiving direction, if
// that is still open: a caller that has closed the other direction waits for it.
func (l *links) run(c *conn) (in chan error, err error) {
	l.track(c)
	defer l.untrack(c)
	in = make(chan error, 1)
	out := make(chan error, 1)
	l.work.Go(func() { in <- l.receive(c) })
	l.work.Go(func() { out <- l.transmit(c) })
	var expired <-chan time.Time
	if !c.expires.IsZero() {
		t := time.NewTimer(time.Until(c.expires))
		defer t.Stop()
		expired = t.C
	}
	select {
	case err = <-in:
	case err = <-out:
		if err == io.EOF { // gRPC's error for any stream that has ended: only receiving has the reason
			select {
			case err = <-in:
			case <-c.dropped.Done():
				err = context.Cause(c.dropped)
			}
		}
	case <-expired:
		err = errExpired
	case <-c.dropped.Done():
		err = context.Cause(c.dropped)
	}
	c.drop(err)
	l.host.detach(c, err)
	return in, err
}

// transmit sends the queue until the links are closed and the queue is empty.
func (l *links) transmit(c *conn) error {
	for {
		select {
		case frame := <-c.queue:
			if err := c.sender.Send(frame); err != nil {
				return err
			}
			continue
		case <-c.dropped.Done():
			return context.Cause(c.dropped)
		case <-l.closing.Done():
		}
		for len(c.queue) > 0 { // nobody else takes from it
			if err := c.sender.Send(<-c.queue); err != nil {
				return err
			}
		}
		return nil
	}
}

// receive passes received frames to the host until the stream ends. An orderly end is io.EOF.
func (l *links) receive(c *conn) error {
	for {
		var f received
		if err := c.stream.RecvMsg(&f); err != nil {
			if f.fault != nil {
				return f.fault
			}
			if status.Code(err) == codes.ResourceExhausted { // gRPC's error for a frame that is too long
				return &badFrame{err}
			}
			return l.readRefusal(c.to, err)
		}
		if c.dropped.Err() != nil { // only the end of the stream is of interest
			continue
		}
		if f.kind == kindHello {
			return badFramef("a second hello on one stream")
		}
		if err := l.host.handle(c, f.frame); err != nil {
			return err
		}
		if f.kind != kindAlive {
			c.useful.Store(true)
		}
	}
}
