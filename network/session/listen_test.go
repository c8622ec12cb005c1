package session

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dsbo/internal/testkit"
)

// TestPortTaken: an agent whose port is taken starts, tells what it waits for, and is connected
// once the port is free.
func TestPortTaken(t *testing.T) {
	cs := configs(newGraph("path", 2), identities(2))
	taken := cs[1].Listener
	log, lines := newLog()
	cs[1].Listener, cs[1].Log = nil, log
	b := openHost(t, cs[1])
	lines.waitFor(t, "level=WARN", "cannot listen yet, and tries again", cs[1].Addresses[1], "address already in use")
	if text := b.links.waiting(); !strings.Contains(text, "address already in use") {
		t.Errorf("it waits for %q; it must be the port", text)
	}
	testkit.OK(taken.Close())
	lines.waitFor(t, "level=INFO", "listening")
	a := openHost(t, cs[0])
	a.conn(t, 1)
	if text := b.links.waiting(); text != "" {
		t.Errorf("it listens, and waits for %q", text)
	}
}

// TestOwnNameUnknown: an agent whose own name is in no DNS starts, and can be closed.
func TestOwnNameUnknown(t *testing.T) {
	cs := configs(newGraph("path", 2), identities(2))
	testkit.OK(cs[1].Listener.Close())
	cs[1].Listener, cs[1].Addresses[1] = nil, "no.such.name.invalid:7000"
	log, lines := newLog()
	cs[1].Log = log
	b := openHost(t, cs[1])
	lines.waitFor(t, "cannot listen yet, and tries again", "no.such.name.invalid")
	if b.links.waiting() == "" {
		t.Error("it waits for its name")
	}
	b.links.close()
}

// TestNameUnknown: an agent connects to a neighbour whose name was not known at first. The log has
// that once, as what may pass by itself.
func TestNameUnknown(t *testing.T) {
	cs := configs(newGraph("path", 2), identities(2))
	var tries atomic.Int32
	var dialer net.Dialer
	cs[0].Dial = func(ctx context.Context, address string) (net.Conn, error) {
		if tries.Add(1) <= 4 {
			return nil, &net.DNSError{Err: "no such host", Name: "agent-1", IsNotFound: true}
		}
		return dialer.DialContext(ctx, "tcp", address)
	}
	log, lines := newLog()
	cs[0].Log = log
	a := openHost(t, cs[0])
	openHost(t, cs[1])
	a.conn(t, 1)
	for range 4 {
		a.await(t, "refused 1: settings false", "lookup agent-1: no such host")
	}
	lines.waitFor(t, "level=INFO", "cannot connect to a neighbour", "no such host")
	for len(lines.c) > 0 {
		if line := <-lines.c; strings.Contains(line, "no such host") {
			t.Errorf("logged again: %s", line)
		}
	}
}

// TestBackoff: attempts come less and less often, up to one each two heartbeats; a stream that is
// cut as soon as it is there is no success.
func TestBackoff(t *testing.T) {
	const most = 2 * 50 * time.Millisecond
	cs := configs(newGraph("path", 2), nil)
	cs[0].Heartbeat, cs[1].Heartbeat = most/2, most/2
	a, b := openHost(t, cs[0]), openHost(t, cs[1])
	began := time.Now()
	for range 10 {
		a.conn(t, 1).drop(context.Canceled)
		b.await(t, "attach 0")
	}
	// 20, 40, 80, 100, 100, ... ms, of which half may be drawn off, nine of them
	if took := time.Since(began); took < (20+40+80+6*100)*time.Millisecond/2 {
		t.Errorf("ten streams in %v", took)
	}
}
