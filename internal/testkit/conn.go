package testkit

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"
)

// A conn is one end of a connection. Its fields are guarded by the network's lock.
type conn struct {
	host  *Host // of this end
	local addr  // address of this end
	peer  *conn // the other end

	incoming    []segment   // on its way to this end, in order
	inFlight    int         // bytes of in
	lastArrival time.Time   // later sends of this end arrive no earlier
	err         error       // why nothing can be read or written any more; nil: it can
	resetAsked  bool        // the other end has ended, and has been asked for a reset
	bell                    // of Read
	arrival     *time.Timer // wakes Read up when there may be something to read; stopped: nothing is on its way

	readUntil, writeUntil time.Time // deadlines
}

func newConn(host *Host, at addr) *conn {
	c := &conn{host: host, local: at, bell: newBell(), arrival: time.NewTimer(forever)}
	c.arrival.Stop()
	return c
}

// A segment is some bytes that arrive together, or the end of all.
type segment struct {
	data    []byte
	arrives time.Time
	end     error // io.EOF, or the other end's failure; nil: bytes
}

// errFull is of a connection on which too much is on its way.
var errFull = errors.New("too much is on its way")

// A bell is one pending wake-up of its owner.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) wake() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// fail ends this end. The lock is held.
func (c *conn) fail(err error) {
	if c.err == nil {
		c.err = err
		c.incoming, c.inFlight = nil, 0
		delete(c.host.network.conns, c)
		c.wake()
	}
}

// send puts a segment on its way to the other end. The lock is held.
func (c *conn) send(data []byte, end error) {
	p := c.peer
	if p.err != nil {
		return
	}
	now := time.Now()
	arrives := now.Add(c.host.network.links.Delay(c.local.host(), p.local.host(), len(data), now))
	if arrives.Before(c.lastArrival) {
		arrives = c.lastArrival
	}
	c.lastArrival = arrives
	p.incoming = append(p.incoming, segment{data, arrives, end})
	p.inFlight += len(data)
	if len(p.incoming) == 1 { // Read sleeps until then, and is not woken up before
		p.awaken(arrives.Sub(now))
	}
}

// awaken has Read look again after so long, or earlier where its deadline comes first. The lock
// is held.
func (c *conn) awaken(after time.Duration) {
	if !c.readUntil.IsZero() {
		after = min(after, time.Until(c.readUntil))
	}
	c.arrival.Reset(after)
}

// Read implements [net.Conn]. One goroutine may call it at a time.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.readArrived(p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		select {
		case <-c.bell:
		case <-c.arrival.C:
		}
	}
}

// forever is longer than anything takes: who waits that long waits for a wake-up.
const forever = time.Duration(1<<63 - 1)

// readArrived reads the bytes that have arrived. If there are none, it arranges for Read to be
// woken.
func (c *conn) readArrived(p []byte) (n int, err error) {
	all := c.host.network
	all.mu.Lock()
	defer all.mu.Unlock()
	now := time.Now()
	switch {
	case c.err != nil:
		return 0, c.failure("read", c.err)
	case !c.readUntil.IsZero() && !now.Before(c.readUntil):
		return 0, c.failure("read", os.ErrDeadlineExceeded)
	case len(c.incoming) == 0 || !all.isReachable(c.peer.local.host(), c.local.host()):
		c.awaken(forever)
		return 0, nil
	}
	first := &c.incoming[0]
	if left := first.arrives.Sub(now); left > 0 {
		c.awaken(left)
		return 0, nil
	}
	if first.end != nil && first.end != io.EOF {
		c.fail(first.end)
	}
	if first.end != nil {
		return 0, c.failure("read", first.end)
	}
	n = copy(p, first.data)
	c.inFlight -= n
	if first.data = first.data[n:]; len(first.data) == 0 {
		c.incoming = c.incoming[1:]
	}
	return n, nil
}

// Write implements [net.Conn]. It returns at once. What comes to an end that has ended brings back
// a reset.
func (c *conn) Write(p []byte) (int, error) {
	all := c.host.network
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case c.err != nil:
		return 0, c.failure("write", c.err)
	case !c.writeUntil.IsZero() && !time.Now().Before(c.writeUntil):
		return 0, c.failure("write", os.ErrDeadlineExceeded)
	case c.peer.inFlight+len(p) > maxInFlight:
		c.peer.fail(syscall.ECONNRESET)
		c.fail(errFull)
		return 0, c.failure("write", errFull)
	case len(p) == 0: // nothing is sent
	case c.peer.err != nil:
		c.askForReset(len(p))
	default:
		c.send(slices.Clone(p), nil)
	}
	return len(p), nil
}

// askForReset has the other end's machine answer a text by a reset, if it has power.
func (c *conn) askForReset(bytes int) {
	all := c.host.network
	own, other := c.local.host(), c.peer.local.host()
	if c.resetAsked || all.unpowered[other] {
		return
	}
	c.resetAsked = true
	there := time.Now().Add(all.links.Delay(own, other, bytes, time.Now()))
	back := there.Add(all.links.Delay(other, own, 0, there))
	c.incoming = append(c.incoming, segment{nil, back, syscall.ECONNRESET})
	c.wake()
}

func (c *conn) failure(op string, err error) error {
	if err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: "memory", Source: c.local, Addr: c.peer.local, Err: err}
}

// Close implements [net.Conn]. The other end reads the bytes already sent, and then [io.EOF].
func (c *conn) Close() error {
	c.host.network.mu.Lock()
	defer c.host.network.mu.Unlock()
	if c.err == net.ErrClosed {
		return c.failure("close", net.ErrClosed)
	}
	if c.err == nil {
		c.send(nil, io.EOF)
	}
	c.fail(net.ErrClosed)
	return nil
}

// LocalAddr implements [net.Conn].
func (c *conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements [net.Conn].
func (c *conn) RemoteAddr() net.Addr { return c.peer.local }

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error { return c.setDeadlines(&t, &t) }

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error { return c.setDeadlines(&t, nil) }

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(nil, &t) }

func (c *conn) setDeadlines(read, write *time.Time) error {
	c.host.network.mu.Lock()
	defer c.host.network.mu.Unlock()
	if read != nil {
		c.readUntil = *read
	}
	if write != nil {
		c.writeUntil = *write
	}
	c.wake()
	return nil
}
