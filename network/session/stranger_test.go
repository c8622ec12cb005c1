package session

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dsbo/internal/testkit"
)

// TestStrangers: whoever does not show who it is costs an agent a bounded number of connections for
// ten seconds, and keeps no neighbour away.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cs, wires := virtual(newGraph("path", 2))
		openHost(t, cs[1])
		stranger := wires.Host("stranger")
		call := func() net.Conn { return testkit.Get(stranger.Dial(t.Context(), cs[0].Addresses[1])) }
		began := time.Now()
		garbage := call()
		testkit.Get(garbage.Write(make([]byte, 100<<10)))
		testkit.Get(io.ReadAll(garbage))
		if took := time.Since(began); took > time.Second {
			t.Errorf("garbage is refused after %v", took)
		}
		silent := []net.Conn{call(), tls.Client(call(), certificate(0).Client(1))}
		testkit.OK(silent[1].(*tls.Conn).Handshake()) // a member that has no hello
		began = time.Now()
		for _, c := range silent {
			_, _ = io.Copy(io.Discard, c)
		}
		if took := time.Since(began); took > handshakeTimeout+time.Second || took < handshakeTimeout-time.Second {
			t.Errorf("those who are silent are cut off after %v; it must be %v", took, handshakeTimeout)
		}
		for range 2 * strangerLimits.Strangers {
			defer call().Close()
		}
		began = time.Now()
		openHost(t, cs[0]).conn(t, 1)
		if took := time.Since(began); took > time.Second {
			t.Errorf("a neighbour is connected after %v in spite of a crowd", took)
		}
	})
}

// TestBadFrames: a neighbour that sends what it must not send loses its connection, both sides
// learn why, and it may come back.
func TestBadFrames(t *testing.T) {
	a, _ := openSelf(t, "127.0.0.1:1")
	a.bad = "bad"
	for _, c := range []struct {
		name  string
		frame []byte
		want  string
	}{
		{"a second hello", goodHello(0).encode(), "a second hello on one stream"},
		{"an unknown kind", framed(kindEnd, nil), "frames that begin with 05000000 are not known"},
		{"a long heartbeat", framed(kindAlive, []byte{0}), "at most 24 bytes; it has 25"},
		{"a long vector", framed(kindVector, make([]byte, 8*leastWords+1)), "at most 65560 bytes; it has 65561"},
		{"a long flood", framed(kindFlood, make([]byte, maxFlood+1)), "larger than max"},
		{"what the host refuses", framed(kindFlood, []byte("bad")), "bad must not be sent"},
	} {
		s, err := visit(t, a.config.Listener.Addr().String(), client(0), goodHello(0).encode())
		testkit.OK(err)
		a.conn(t, 0)
		_ = s.SendMsg(c.frame)
		a.await(t, "detach 0: *session.badFrame: ", c.want)
		var f received
		err = s.RecvMsg(&f)
		if len(c.frame) > maxFlood && status.Code(err) == codes.Unavailable {
			continue // the rest of so long a frame may reset the connection before the answer is read
		}
		testkit.WantError(t, c.name, err, nil, c.want)
	}
}

// TestNobodyReads: frames for a neighbour that reads nothing wait up to a number, and keep nobody
// from ending the connection.
func TestNobodyReads(t *testing.T) {
	a, _ := openSelf(t, "127.0.0.1:1")
	testkit.Get(visit(t, a.config.Listener.Addr().String(), client(0), goodHello(0).encode()))
	c, frame := a.conn(t, 0), framed(kindFlood, make([]byte, maxFlood))
	taken := 0
	for c.dropped.Err() == nil {
		c.send(frame)
		taken++
	}
	if taken <= maxQueued || taken > maxQueued+10 {
		t.Errorf("%d frames are taken; %d may wait", taken, maxQueued)
	}
	a.await(t, "detach 0", "does not read")
	a.links.close()
}
