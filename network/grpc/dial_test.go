package grpc

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
)

// A registry is a context that counts what is to be called at its end.
type registry struct {
	context.Context
	open atomic.Int32
}

func (*registry) Done() <-chan struct{} { return make(chan struct{}) }

// AfterFunc is what package context calls in place of its own.
func (r *registry) AfterFunc(func()) func() bool {
	r.open.Add(1)
	return func() bool {
		r.open.Add(-1)
		return true
	}
}

// TestFailedConnectionsLeaveNothing: an agent that redials a lost neighbour for weeks needs no more
// memory for it.
func TestFailedConnectionsLeaveNothing(t *testing.T) {
	m, _ := pathAgent(func(config *Config) {
		config.Addresses = []string{"nowhere:1", "", ""}
		config.Dial = func(context.Context, string) (net.Conn, error) { return nil, errors.New("nobody listens") }
	})
	life := &registry{Context: t.Context()}
	m.links.dialing = life
	for range 3 {
		var unreachable atomic.Bool
		if opened, err := m.links.connect(m.neighbours.edge(0), &unreachable); opened || err == nil ||
			!unreachable.Load() {
			t.Fatalf("opened %v, error %v; nobody listens", opened, err)
		}
	}
	if n := life.open.Load(); n != 0 {
		t.Errorf("%d calls are left for the end of the mixer; there must be none", n)
	}
}
