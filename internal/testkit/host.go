package testkit

import (
	"context"
	"net"
	"syscall"
)

// A Host is a process on a machine of a network, from its start to its end. A machine may have one
// at a time, or several.
type Host struct {
	network *Network
	name    string
	dead    bool // guarded by the network's lock
}

// Host returns a new process on the machine of that name, which has power from then on.
func (n *Network) Host(name string) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.unpowered, name)
	n.change()
	return &Host{network: n, name: name}
}

// Kill ends all connections and listeners of the process. Its remaining goroutines can neither
// listen nor connect. Its machine notifies the peers, by links that may be slow or cut.
func (h *Host) Kill() { h.end(false) }

// PowerOff is Kill of a machine that notifies nobody. As over TCP, a peer learns of it when it
// sends something after the machine's power is back, that is after the next [Network.Host].
func (h *Host) PowerOff() { h.end(true) }

// end ends all connections and listeners of the process. With silent its machine is off, and peers
// are not notified.
func (h *Host) end(silent bool) {
	n := h.network
	n.mu.Lock()
	defer n.mu.Unlock()
	h.dead = true
	if silent {
		n.unpowered[h.name] = true
	}
	for _, l := range n.listeners {
		if l.host == h {
			l.close()
		}
	}
	for c := range n.conns {
		if c.host == h {
			if !silent {
				c.send(nil, syscall.ECONNRESET)
			}
			c.fail(net.ErrClosed)
		}
	}
}

// Dial connects to an address. It takes a delay for the way there and one for the way back. Where
// nobody listens the connection is refused; for a machine that cannot be reached it waits until
// ctx ends.
func (h *Host) Dial(ctx context.Context, address string) (net.Conn, error) {
	c, err := h.dial(ctx, addr(address))
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "memory", Source: addr(h.name), Addr: addr(address), Err: err}
	}
	return c, nil
}

// dial connects to an address after the delay of a round trip.
func (h *Host) dial(ctx context.Context, to addr) (*conn, error) {
	n := h.network
	if err := n.await(ctx, h.name, to.host()); err != nil {
		return nil, err
	}
	own, err := h.connect(to)
	if e := n.await(ctx, to.host(), h.name); e != nil {
		err = e
	}
	if err != nil && own != nil {
		own.Close()
	}
	return own, err
}

// connect makes a connection that waits to be accepted.
func (h *Host) connect(to addr) (*conn, error) {
	n := h.network
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.listeners[string(to)]
	switch {
	case h.dead:
		return nil, net.ErrClosed
	case l == nil:
		return nil, syscall.ECONNREFUSED
	}
	own := newConn(h, addr(h.name))
	own.peer = newConn(l.host, to)
	own.peer.peer = own
	n.conns[own], n.conns[own.peer] = struct{}{}, struct{}{}
	l.queue = append(l.queue, own.peer)
	l.wake()
	return own, nil
}

// Listen returns a listener at a port of the host's machine, which must be free.
func (h *Host) Listen(port string) (net.Listener, error) {
	n, at := h.network, addr(net.JoinHostPort(h.name, port))
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case h.dead:
		return nil, at.failure("listen", net.ErrClosed)
	case n.listeners[string(at)] != nil:
		return nil, at.failure("listen", syscall.EADDRINUSE)
	}
	l := &listener{host: h, address: at, bell: newBell(), closed: make(chan struct{})}
	n.listeners[string(at)] = l
	return l, nil
}

// A listener accepts the connections of one address.
type listener struct {
	host    *Host
	address addr
	queue   []*conn // connections that nobody has accepted yet; guarded by the network's lock, as is ended
	ended   bool    //
	bell            // of Accept
	closed  chan struct{}
}

// Accept implements [net.Listener]. One goroutine may call it at a time.
func (l *listener) Accept() (net.Conn, error) {
	for {
		if c := l.next(); c != nil {
			return c, nil
		}
		select {
		case <-l.bell:
		case <-l.closed:
			return nil, l.address.failure("accept", net.ErrClosed)
		}
	}
}

// next returns a connection that was not accepted yet, nil if there is none.
func (l *listener) next() *conn {
	l.host.network.mu.Lock()
	defer l.host.network.mu.Unlock()
	if len(l.queue) == 0 {
		return nil
	}
	c := l.queue[0]
	l.queue = l.queue[1:]
	return c
}

// Close implements [net.Listener]. Connections that were not accepted are reset.
func (l *listener) Close() error {
	l.host.network.mu.Lock()
	defer l.host.network.mu.Unlock()
	if l.ended {
		return l.address.failure("close", net.ErrClosed)
	}
	l.close()
	return nil
}

// close ends the listener. The network's lock is held.
func (l *listener) close() {
	if l.ended {
		return
	}
	l.ended = true
	close(l.closed)
	delete(l.host.network.listeners, string(l.address))
	for _, c := range l.queue {
		c.send(nil, syscall.ECONNRESET)
		c.fail(syscall.ECONNRESET)
	}
	l.queue = nil
}

// Addr implements [net.Listener].
func (l *listener) Addr() net.Addr { return l.address }
