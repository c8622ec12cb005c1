// A listener bounds the resources that strangers use: a peer is a stranger until the server has
// identified it.
//
// It accepts all connections. A connection that is not admitted within a number of bytes and a time
// is closed. The number of strangers is bounded: a new one beyond it evicts the oldest of the host
// with the most (of several such hosts, the oldest of all). So no host can keep other hosts out by
// opening many.

package pki

import (
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound the strangers of a server.
type Limits struct {
	Strangers int           // connections at once
	Bytes     int64         // that each may send; 0: there is no bound
	Time      time.Duration // within which each must be admitted; 0: there is no bound
}

// errStranger ends connections that must have been admitted before they send more.
var errStranger = errors.New("too much was sent before it was known who it is")

// A listener is a net.Listener whose connections are *[Conn].
type listener struct {
	net.Listener
	limits Limits

	mu        sync.Mutex
	strangers []*Conn // the oldest first
}

// LimitStrangers returns a listener that bounds the strangers of l. Use l through it alone from
// then on.
func LimitStrangers(l net.Listener, limits Limits) *listener {
	return &listener{Listener: l, limits: limits}
}

// Accept implements net.Listener: the connection is a stranger's, and may be the one for which
// another one is closed, or itself closed at once.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: conn, listener: l, host: hostOf(conn.RemoteAddr())}
	c.address = address{conn.RemoteAddr(), c}
	c.allowance.Store(l.limits.Bytes)
	if crowded := l.admit(c); crowded != nil {
		crowded.Close()
	}
	return c, nil
}

// admit counts a stranger. It returns the stranger to evict, nil if there is room: the caller
// closes it, without the lock, which Close takes.
func (l *listener) admit(c *Conn) (crowded *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed || c.stranger { // it was dismissed after its end, or twice
		return nil
	}
	c.stranger = true
	l.strangers = append(l.strangers, c)
	if l.limits.Time > 0 {
		c.timer = time.AfterFunc(l.limits.Time, func() { c.Close() })
	}
	if len(l.strangers) <= l.limits.Strangers {
		return nil
	}
	of, most := map[string]int{}, 0 // by host
	for _, s := range l.strangers {
		of[s.host]++
		most = max(most, of[s.host])
	}
	return l.strangers[slices.IndexFunc(l.strangers, func(s *Conn) bool { return of[s.host] == most })]
}

// discharge counts a stranger no longer, as it is known or closed; of others it does nothing. The
// caller has the lock.
func (l *listener) discharge(c *Conn) {
	if !c.stranger {
		return
	}
	c.stranger = false
	if c.timer != nil {
		c.timer.Stop()
	}
	l.strangers = slices.DeleteFunc(l.strangers, func(s *Conn) bool { return s == c })
}

// A Conn is a connection that was accepted. It is a stranger's until Admit.
type Conn struct {
	net.Conn
	listener  *listener    // that accepted it
	host      string       // of the other end
	address   address      // its host counts its strangers
	known     atomic.Bool  // whether the other end has shown who it is
	allowance atomic.Int64 // bytes that a stranger may still send

	// Guarded by the listener's lock.
	stranger, closed bool
	timer            *time.Timer // closes the connection if it is still a stranger's then
}

// Admit lifts all bounds.
func (c *Conn) Admit() {
	c.known.Store(true)
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.discharge(c)
}

// Dismiss makes the connection a stranger's again.
func (c *Conn) Dismiss() {
	c.allowance.Store(c.listener.limits.Bytes)
	c.known.Store(false)
	if crowded := c.listener.admit(c); crowded != nil {
		crowded.Close()
	}
}

// Read implements net.Conn. A stranger that has sent all that it may is cut off.
func (c *Conn) Read(b []byte) (int, error) {
	if c.known.Load() || c.listener.limits.Bytes == 0 {
		return c.Conn.Read(b)
	}
	left := c.allowance.Load()
	if left <= 0 {
		return 0, errors.Join(errStranger, c.Close())
	}
	n, err := c.Conn.Read(b[:min(int64(len(b)), left)])
	c.allowance.Add(-int64(n)) // one goroutine reads
	return n, err
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.listener.mu.Lock()
	c.closed = true
	c.listener.discharge(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// RemoteAddr implements net.Conn. [ConnOf] finds the connection by it, through all that is put on
// top of the connection.
func (c *Conn) RemoteAddr() net.Addr { return c.address }

type address struct {
	net.Addr
	conn *Conn
}

// ConnOf returns the connection with this remote address; nil if no [listener] accepted it.
func ConnOf(remote net.Addr) *Conn {
	if a, ok := remote.(address); ok {
		return a.conn
	}
	return nil
}

// hostOf returns the key by which strangers are counted: an address's host.
func hostOf(a net.Addr) string {
	if host, _, err := net.SplitHostPort(a.String()); err == nil {
		return host
	}
	return a.String()
}
