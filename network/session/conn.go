package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"dsbo"
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

// A fencedError is the error of an agent's process when a later process of the same agent exists,
// by [Config.Instance]. The run continues with the later one. It matches [dsbo.ErrConfig]: a
// supervisor that restarted this process would have the two end each other in turn.
type fencedError struct {
	Agent     int
	Neighbour int // whose word it is
}

func (e *fencedError) Error() string {
	return fmt.Sprintf(
		"agent %d runs in another process too, which began later and is connected to agent %d: this one ends; an "+
			"agent must have one supervisor", e.Agent, e.Neighbour)
}

// Is reports whether target is dsbo.ErrConfig.
func (e *fencedError) Is(target error) bool { return target == dsbo.ErrConfig }

// errFenced is the error by which a host refuses, and ends, the connections of an earlier process
// of a neighbour: that process then gets a [fencedError].
var errFenced = errors.New("a later process of the neighbour is connected")

// Codes of the status by which a process learns why it is not connected.
const (
	fencedCode  = codes.FailedPrecondition // a later process of its agent is
	strangeCode = codes.InvalidArgument    // its settings or its program differ
	refusedCode = codes.PermissionDenied   // for another reason
)

// statusOf returns the status by which a neighbour learns why its stream ends: it was accepted or,
// by refusedCode, was not.
func statusOf(err error, otherwise codes.Code) error {
	code := otherwise
	if _, strange := errors.AsType[*settingsError](err); strange {
		code = strangeCode
	}
	if errors.Is(err, errFenced) {
		code = fencedCode
	}
	return status.Error(code, err.Error())
}

// readRefusal returns why the connection to a neighbour ended, as the neighbour has it.
func (l *links) readRefusal(neighbour int, err error) error {
	s, ok := status.FromError(err)
	if !ok || s == nil {
		return err
	}
	switch s.Code() {
	case fencedCode:
		return &fencedError{Agent: l.config.Agent, Neighbour: neighbour}
	case strangeCode:
		return &settingsError{errors.New(s.Message())}
	case refusedCode:
		return errors.New(s.Message())
	case codes.Unimplemented:
		return &settingsError{fmt.Errorf("agent %d exchanges by another protocol than agent %d: all agents must have "+
			"the same program", neighbour, l.config.Agent)}
	}
	return err
}

// A batchingTLS makes connections on which each Write above TLS is one below it. TLS alone makes a
// system call of each record of 16 KiB, which on one machine wakes the receiver as often, and costs
// more than the copy here.
type batchingTLS struct {
	credentials.TransportCredentials
	onRefusal func(from net.Addr, reason error) // is called by a server for a connection that it refuses
}

// ClientHandshake implements credentials.TransportCredentials.
func (b batchingTLS) ClientHandshake(ctx context.Context, authority string,
	c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	below := &recordConn{Conn: c}
	conn, info, err := b.TransportCredentials.ClientHandshake(ctx, authority, below)
	return &batchConn{Conn: conn, below: below}, info, err
}

// ServerHandshake implements credentials.TransportCredentials.
func (b batchingTLS) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	below := &recordConn{Conn: c}
	conn, info, err := b.TransportCredentials.ServerHandshake(below)
	if err != nil {
		b.onRefusal(c.RemoteAddr(), err)
	}
	return &batchConn{Conn: conn, below: below}, info, err
}

// Clone implements credentials.TransportCredentials.
func (b batchingTLS) Clone() credentials.TransportCredentials {
	return batchingTLS{b.TransportCredentials.Clone(), b.onRefusal}
}

// A batchConn is a connection above TLS.
type batchConn struct {
	net.Conn
	below *recordConn
	mu    sync.Mutex // owned by one Write
}

// Write implements net.Conn. Once it has failed, it fails.
func (c *batchConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.below.cork()
	n, err := c.Conn.Write(p)
	if e := c.below.flush(); e != nil { // TLS took all of p, but nobody knows how much has arrived
		return 0, e
	}
	return n, err
}

// Close implements net.Conn. It ends a Write that is stuck, and so takes no leave above TLS: gRPC
// has done that.
func (c *batchConn) Close() error { return c.below.Close() }

// A recordConn is a connection below TLS.
type recordConn struct {
	net.Conn

	mu      sync.Mutex
	holding bool
	held    []byte
	err     error // of a flush: its bytes are lost
}

// Write implements net.Conn. Between cork and flush it keeps p.
func (r *recordConn) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holding {
		return r.Conn.Write(p)
	}
	r.held = append(r.held, p...)
	return len(p), nil
}

func (r *recordConn) cork() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding = true
}

// flush writes the collected bytes in one call, and ends collecting.
func (r *recordConn) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.held) > 0 && r.err == nil {
		_, r.err = r.Conn.Write(r.held)
	}
	r.holding, r.held = false, r.held[:0]
	return r.err
}
