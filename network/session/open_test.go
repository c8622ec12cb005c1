package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/pki"

	"google.golang.org/grpc/credentials"
)

// A watchedConn tells of each Write before it begins.
type watchedConn struct {
	net.Conn
	writes chan int // lengths
	fails  error    // what Write returns, if not nil
}

func (c *watchedConn) Write(p []byte) (int, error) {
	c.writes <- len(p)
	if c.fails != nil {
		return 0, c.fails
	}
	return c.Conn.Write(p)
}

// batchPair returns both ends of a connection after the handshake, and what is below the client's.
func batchPair(t *testing.T) (client, server net.Conn, below *watchedConn) {
	t.Helper()
	ids := identities(2)
	c, s := net.Pipe()
	t.Cleanup(func() { c.Close(); s.Close() })
	below = &watchedConn{Conn: c, writes: make(chan int, 100)}
	done := make(chan error)
	go func() {
		var err error
		server, _, err = batchingTLS{credentials.NewTLS(ids[1].Server()), nil}.ServerHandshake(s)
		done <- err
	}()
	client, info, err := batchingTLS{credentials.NewTLS(ids[0].Client(1)), nil}.ClientHandshake(t.Context(),
		pki.Name(1), below)
	testkit.OK(errors.Join(err, <-done))
	if _, ok := info.(credentials.TLSInfo); !ok {
		t.Fatalf("%T; it must be credentials.TLSInfo, which names the neighbour", info)
	}
	for len(below.writes) > 0 {
		<-below.writes
	}
	return client, server, below
}

// TestBatchedWrite: what is written above TLS at once is so below it, however many records
// it takes.
func TestBatchedWrite(t *testing.T) {
	client, server, below := batchPair(t)
	for _, length := range []int{1, 100 << 10, 3} {
		want := bytes.Repeat([]byte{byte(length), 7}, length)
		done := make(chan error)
		go func() {
			_, err := client.Write(want)
			done <- err
		}()
		got := make([]byte, len(want))
		_, err := io.ReadFull(server, got)
		testkit.OK(errors.Join(err, <-done))
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes did not come as they were sent", len(want))
		}
		if n := len(below.writes); n != 1 {
			t.Errorf("%d writes of %d bytes; there must be 1", n, len(want))
		}
		<-below.writes
	}
}

// TestBatchedClose: Close does not wait for a Write that nobody reads, which fails then.
func TestBatchedClose(t *testing.T) {
	client, _, below := batchPair(t)
	done := make(chan error)
	go func() {
		_, err := client.Write(make([]byte, 100<<10))
		done <- err
	}()
	<-below.writes
	testkit.OK(client.Close())
	if err := <-done; err == nil {
		t.Error("a Write that was stuck has succeeded")
	}
	if len(below.writes) != 0 {
		t.Errorf("%d more writes below; there must be none", len(below.writes))
	}
	if _, err := client.Write([]byte{1}); err == nil {
		t.Error("a Write after Close has succeeded")
	}
}

// TestBatchedFailure: what was lost in a Write is an error of all that follow.
func TestBatchedFailure(t *testing.T) {
	client, _, below := batchPair(t)
	below.fails = context.DeadlineExceeded
	for range 2 {
		if n, err := client.Write([]byte{1}); n != 0 || !errors.Is(err, below.fails) {
			t.Errorf("%d, %v; it must be 0, %v", n, err, below.fails)
		}
	}
	if n := len(below.writes); n != 1 {
		t.Errorf("%d writes below; there must be 1", n)
	}
}

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

// TestRenew: agents whose certificates are renewed, with other keys, connect again with the new
// ones at once; who connects with the old one is told why it cannot.
func TestRenew(t *testing.T) {
	a := newAuthority()
	ids := []*pki.Identity{issue(a, 0, 10*time.Minute), issue(a, 1, 10*time.Minute)}
	hosts := openHosts(t, configs(newGraph("path", 2), ids))
	for i, h := range hosts {
		if got, want := h.conn(t, 1-i).expires.Unix(), ids[0].Expires().Unix(); got != want {
			t.Errorf("the connection is valid until %d; it must be %d", got, want)
		}
	}
	for i, h := range hosts {
		testkit.OK(h.links.renew(issue(a, i, 20*time.Minute)))
		h.await(t, "detach", errRenewed.Error())
		hosts[1-i].await(t, "detach")
		c := h.conn(t, 1-i)
		hosts[1-i].conn(t, i)
		if got, want := c.expires.Unix(), ids[0].Expires().Unix(); (got > want) != (i == 1) {
			t.Errorf("after %d renewals the connection is valid until %d, the first certificates until %d", i+1, got,
				want)
		}
	}
}

// TestRenewRefused: what is no renewal leaves all as it was.
func TestRenewRefused(t *testing.T) {
	own := certificate(self)
	pinned := []string{"", pki.KeyDigest(testkit.Get(pki.LoadCertificate(saved(t, own))))}
	for _, c := range []struct {
		now, next *pki.Identity
		keys      []string
		want      string
	}{
		{own, certificate(0), nil, "the certificate must be that of agent 1; it is that of agent 0"},
		{own, issue(ca(), self, time.Hour), pinned, "the key of agent-1 must be the one that the run has for it"},
		{own, testkit.Get(ca().Issue(self, dawn, dusk, "walk")), nil, `must name run "run"`},
		{nil, own, nil, "agent 1 began without a certificate"},
	} {
		config := Config{Agent: self, Matrix: newGraph("path", 3), Run: "run", Identity: c.now, Keys: c.keys,
			Addresses: []string{"127.0.0.1:1", "", "127.0.0.1:1"}}
		a := openHost(t, config)
		before := a.links.identity()
		testkit.WantError(t, "no renewal", a.links.renew(c.next), dsbo.ErrConfig, c.want)
		if a.links.identity() != before {
			t.Error("the identity is another one")
		}
	}
}

// saved returns the file of an identity's certificate.
func saved(t *testing.T, id *pki.Identity) string {
	folder := t.TempDir()
	testkit.OK(id.Save(folder))
	return folder + "/" + pki.Name(id.Agent) + ".pem"
}

// TestExpiry: a connection ends in the second in which a certificate of it expires, and is made
// again once that is renewed.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cs, _ := virtual(newGraph("path", 2))
		cs[0].Identity = issue(ca(), 0, time.Hour)
		end := cs[0].Identity.Expires()
		hosts := openHosts(t, cs)
		c := hosts[0].conn(t, 1)
		hosts[1].conn(t, 0)
		time.Sleep(time.Until(end) - time.Second)
		select {
		case <-c.dropped.Done():
			t.Fatalf("the connection ended before its time: %v", context.Cause(c.dropped))
		default:
		}
		time.Sleep(2 * time.Second)
		hosts[0].await(t, "detach 1", errExpired.Error())
		hosts[1].await(t, "detach 0", errExpired.Error())
		hosts[0].await(t, "refused 1")
		testkit.OK(hosts[0].links.renew(certificate(0)))
		hosts[0].conn(t, 1)
		hosts[1].conn(t, 0)
	})
}
