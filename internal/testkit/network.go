package testkit

import (
	"context"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

// maxInFlight is how many bytes may be on their way in one direction of a connection.
const maxInFlight = 64 << 20

// A linkModel decides the delays of links. Its answers must be functions of its arguments alone.
type linkModel interface {
	// Delay returns the time that n bytes sent at a moment need from one host to another.
	Delay(from, to string, bytes int, at time.Time) time.Duration
}

// A FixedDelay is links on which each text takes that long.
type FixedDelay time.Duration

// Delay implements [linkModel].
func (s FixedDelay) Delay(string, string, int, time.Time) time.Duration { return time.Duration(s) }

// A Network is hosts and the links between them. Its methods may be called by any goroutine.
type Network struct {
	links linkModel

	mu        sync.Mutex
	changed   chan struct{} // closed when a link may have become whole, or a host thawed
	cut       func(from, to string) bool
	unpowered map[string]bool      // hosts without power
	frozen    map[string]bool      // hosts that stand still
	listeners map[string]*listener // by address
	conns     map[*conn]struct{}   // both ends of open connections
}

// NewNetwork returns a network without hosts, with all links whole.
func NewNetwork(w linkModel) *Network {
	return &Network{
		links: w, changed: make(chan struct{}), cut: uncut, unpowered: map[string]bool{}, frozen: map[string]bool{},
		listeners: map[string]*listener{}, conns: map[*conn]struct{}{},
	}
}

func uncut(string, string) bool { return false }

// Cut cuts the directions of links for which cut is true, and mends all other ones; nil mends all.
// Bytes on a cut link, or sent over it, arrive when it is whole again, as with TCP's
// retransmissions; nobody connects over it meanwhile. cut must be a function of its arguments
// alone.
func (n *Network) Cut(cut func(from, to string) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut = cut; cut == nil {
		n.cut = uncut
	}
	n.change()
}

// Freeze has a host's links stand still, as they do while its processes are not run, until it is
// called with false.
func (n *Network) Freeze(host string, frozen bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen[host] = frozen
	n.change()
}

// Reset breaks all connections between two hosts: both ends find that at once.
func (n *Network) Reset(a, b string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		if at, to := c.local.host(), c.peer.local.host(); at == a && to == b || at == b && to == a {
			c.fail(syscall.ECONNRESET)
		}
	}
}

// Open returns how many ends of connections are open.
func (n *Network) Open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

// change wakes all goroutines that wait for a change of state. The caller has the lock.
func (n *Network) change() {
	close(n.changed)
	n.changed = make(chan struct{})
	for c := range n.conns {
		c.wake()
	}
}

// isReachable reports whether bytes sent by one host arrive at another one now. The caller has the
// lock.
func (n *Network) isReachable(from, to string) bool {
	return !n.cut(from, to) && !n.unpowered[to] && !n.frozen[from] && !n.frozen[to]
}

// await waits for the time that a message from one host needs to another. If the link was cut
// meanwhile, it waits for a change and starts again.
func (n *Network) await(ctx context.Context, from, to string) error {
	t := time.NewTimer(n.links.Delay(from, to, 0, time.Now()))
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		n.mu.Lock()
		ok, changed := n.isReachable(from, to), n.changed
		n.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
		t.Reset(n.links.Delay(from, to, 0, time.Now()))
	}
}

// addr is an address in a network, name:port, or the name alone of a host that dials.
type addr string

// Network implements [net.Addr].
func (addr) Network() string { return "memory" }

func (a addr) String() string { return string(a) }

// host returns the name of the address's host.
func (a addr) host() string {
	name, _, _ := strings.Cut(string(a), ":")
	return name
}

// failure returns err as the error of an operation at an address.
func (a addr) failure(op string, err error) error {
	return &net.OpError{Op: op, Net: "memory", Addr: a, Err: err}
}

var _ net.Addr = addr("")
