package testkit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

const delay = 100 * time.Millisecond

// connected returns both ends of a connection from host a to host b, and the hosts.
func connected(n *Network) (own, other net.Conn, a, b *Host) {
	a, b = n.Host("a"), n.Host("b")
	l := Get(b.Listen("7000"))
	own = Get(a.Dial(context.Background(), "b:7000"))
	other = Get(l.Accept())
	OK(l.Close())
	return own, other, a, b
}

// reads returns what one Read gives and how long it took.
func reads(c net.Conn) (string, time.Duration, error) {
	p, start := make([]byte, 100), time.Now()
	n, err := c.Read(p)
	return string(p[:n]), time.Since(start), err
}

// TestRead: what a Read returns, and when, after something has happened to the connection.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(n *Network, own, other net.Conn, a, b *Host)
		text string
		took time.Duration
		err  error
	}{
		{name: "bytes take their time", text: "abc", took: delay, do: func(_ *Network, own, _ net.Conn, _, _ *Host) {
			Get(own.Write([]byte("abc")))
		}},
		{name: "an end follows the bytes", text: "", took: delay, err: io.EOF,
			do: func(_ *Network, own, other net.Conn, _, _ *Host) {
				OK(own.Close())
			}},
		{name: "a deadline", took: time.Second, err: os.ErrDeadlineExceeded,
			do: func(_ *Network, _, other net.Conn, _, _ *Host) {
				OK(other.SetReadDeadline(time.Now().Add(time.Second)))
			}},
		{name: "a link that is cut holds what is on its way", text: "abc", took: time.Minute,
			do: func(n *Network, own, _ net.Conn, _, _ *Host) {
				Get(own.Write([]byte("abc")))
				n.Cut(func(from, _ string) bool { return from == "a" })
				time.AfterFunc(time.Minute, func() { n.Cut(nil) })
			}},
		{name: "a host that stands still sends nothing", text: "abc", took: time.Minute,
			do: func(n *Network, own, _ net.Conn, _, _ *Host) {
				n.Freeze("a", true)
				Get(own.Write([]byte("abc")))
				time.AfterFunc(time.Minute, func() { n.Freeze("a", false) })
			}},
		{name: "a reset", err: syscall.ECONNRESET, do: func(n *Network, own, _ net.Conn, _, _ *Host) {
			Get(own.Write([]byte("abc")))
			n.Reset("b", "a")
		}},
		{name: "a process that is killed", took: delay, err: syscall.ECONNRESET,
			do: func(_ *Network, _, _ net.Conn, a, _ *Host) { a.Kill() }},
		{name: "a machine without power says nothing, and then does not know the connection", took: time.Hour + 2*delay,
			err: syscall.ECONNRESET,
			do: func(n *Network, _, other net.Conn, a, _ *Host) {
				a.PowerOff()
				Get(other.Write([]byte("to nobody")))
				time.AfterFunc(time.Hour, func() {
					n.Host("a")
					Get(other.Write([]byte("to another")))
				})
			}},
		{name: "an own process that is killed", err: net.ErrClosed,
			do: func(_ *Network, _, _ net.Conn, _, b *Host) { b.Kill() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := NewNetwork(FixedDelay(delay))
				own, other, a, b := connected(n)
				tt.do(n, own, other, a, b)
				text, took, err := reads(other)
				if text != tt.text || took != tt.took || !errors.Is(err, tt.err) {
					t.Errorf("read %q, %v after %v; it must be %q, %v after %v", text, err, took, tt.text,
						tt.err, tt.took)
				}
				_, _ = own.Close(), other.Close()
				if n := n.Open(); n != 0 {
					t.Errorf("%d ends are open; there must be none", n)
				}
			})
		})
	}
}

// TestOrder: a text arrives whole and in order whatever the delays of its parts are.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, other, _, _ := connected(NewNetwork(shrinking{}))
		var want []byte
		for k := range 200 {
			part := bytes.Repeat([]byte{byte(k)}, k)
			want = append(want, part...)
			Get(own.Write(part))
			time.Sleep(time.Millisecond)
		}
		OK(own.Close())
		if got := Get(io.ReadAll(other)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes came, others than the %d that were sent", len(got), len(want))
		}
	})
}

// shrinking has delays that fall faster than time goes on.
type shrinking struct{}

func (shrinking) Delay(_, _ string, bytes int, _ time.Time) time.Duration {
	return time.Duration(200-bytes) * 5 * time.Millisecond
}

// TestDial: what becomes of a connection that is asked for, and when.
func TestDial(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(n *Network, a, b *Host)
		took time.Duration
		err  error
	}{
		{name: "to a listener", took: 2 * delay, do: func(_ *Network, _, b *Host) { Get(b.Listen("7000")) }},
		{name: "to nobody", took: 2 * delay, err: syscall.ECONNREFUSED, do: func(*Network, *Host, *Host) {}},
		{name: "to a machine without power", took: time.Minute, err: context.DeadlineExceeded,
			do: func(_ *Network, _, b *Host) {
				Get(b.Listen("7000"))
				b.PowerOff()
			}},
		{name: "over a link that is cut for a time", took: 30*time.Second + 2*delay, do: func(n *Network, _, b *Host) {
			Get(b.Listen("7000"))
			n.Cut(func(_, to string) bool { return to == "b" })
			time.AfterFunc(30*time.Second, func() { n.Cut(nil) })
		}},
		{name: "from a process that was killed", took: 2 * delay, err: net.ErrClosed, do: func(_ *Network, a, b *Host) {
			Get(b.Listen("7000"))
			a.Kill()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := NewNetwork(FixedDelay(delay))
				a, b := n.Host("a"), n.Host("b")
				tt.do(n, a, b)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				start := time.Now()
				c, err := a.Dial(ctx, "b:7000")
				if took := time.Since(start); took != tt.took || !errors.Is(err, tt.err) || (c == nil) != (err != nil) {
					t.Errorf("%v after %v; it must be %v after %v", err, took, tt.err, tt.took)
				}
			})
		})
	}
}

// TestListen: a port has one listener at a time, and one that is closed resets who has not
// been accepted.
func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNetwork(FixedDelay(delay))
		a, b := n.Host("a"), n.Host("b")
		l := Get(b.Listen("7000"))
		if _, err := b.Listen("7000"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a second listener: %v", err)
		}
		c := Get(a.Dial(t.Context(), "b:7000"))
		OK(l.Close())
		if _, _, err := reads(c); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a connection that was not accepted: %v", err)
		}
		Get(b.Listen("7000"))
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accepted by a closed listener: %v", err)
		}
	})
}

// TestFull: who reads nothing does not take all memory.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, _, _, _ := connected(NewNetwork(FixedDelay(delay)))
		half := make([]byte, maxInFlight/2+1)
		Get(own.Write(half))
		if _, err := own.Write(half); !errors.Is(err, errFull) {
			t.Errorf("%v; it must be %v", err, errFull)
		}
	})
}
