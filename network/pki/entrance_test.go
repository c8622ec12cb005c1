package pki

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/testkit"
)

// A pipeListener is a listener of connections in memory.
type pipeListener struct{ c chan net.Conn }

func (h pipeListener) Accept() (net.Conn, error) {
	c, ok := <-h.c
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (h pipeListener) Close() error   { close(h.c); return nil }
func (h pipeListener) Addr() net.Addr { return memoryAddr("here:0") }

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }

type from struct {
	net.Conn
	memoryAddr
}

func (f from) RemoteAddr() net.Addr { return f.memoryAddr }

// visit connects from an address, and returns both ends.
func visit(h pipeListener, l net.Listener, address string) (there net.Conn, here *Conn) {
	there, other := net.Pipe()
	go func() { h.c <- from{other, memoryAddr(address)} }()
	return there, testkit.Get(l.Accept()).(*Conn)
}

// open reports whether the other end of a connection is open.
func open(c net.Conn) bool {
	if c.SetReadDeadline(time.Now().Add(time.Second)) != nil {
		return false
	}
	_, err := c.Read(make([]byte, 1))
	return !errors.Is(err, io.EOF)
}

// TestCrowd: where there are too many strangers, the host that has the most loses its oldest, and
// one that comes alone gets in.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := pipeListener{make(chan net.Conn)}
		l := LimitStrangers(h, Limits{Strangers: 3})
		known, k := visit(h, l, "a:1")
		k.Admit()
		var crowd []net.Conn
		var ends []*Conn
		for _, address := range []string{"a:2", "b:1", "a:3", "a:4", "c:1", "d:1"} {
			there, here := visit(h, l, address)
			crowd, ends = append(crowd, there), append(ends, here)
		}
		for i, want := range []bool{false, false, false, true, true, true} { // b:1 is the oldest when no host has two
			if got := open(crowd[i]); got != want {
				t.Errorf("stranger %d is there: %v, want %v", i, got, want)
			}
		}
		if !open(known) {
			t.Error("one that was admitted had to make room")
		}
		for _, c := range append(ends, k) {
			c.Close()
		}
		testkit.OK(h.Close())
	})
}

// TestStranger has a number of bytes and a time; one that was admitted has all.
func TestStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := pipeListener{make(chan net.Conn)}
		l := LimitStrangers(h, Limits{Strangers: 9, Bytes: 10, Time: time.Minute})
		read := func(c *Conn) (n int, err error) {
			for b := make([]byte, 7); err == nil && n < 21; {
				var more int
				more, err = c.Read(b)
				n += more
			}
			return n, err
		}
		for _, admitted := range []bool{false, true} {
			there, here := visit(h, l, "a:1")
			if ConnOf(here.RemoteAddr()) != here {
				t.Error("a connection is not found by its address")
			}
			if admitted {
				here.Admit()
			}
			go func() { _, _ = there.Write(make([]byte, 21)) }()
			n, err := read(here)
			if admitted && (n != 21 || err != nil) || !admitted && (n != 10 || !errors.Is(err, errStranger)) {
				t.Errorf("admitted %v: %d bytes were read, error %v", admitted, n, err)
			}
			here.Close()
		}
		_, slow := visit(h, l, "a:1")
		stays, known := visit(h, l, "a:1")
		known.Admit()
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, err := slow.Read(make([]byte, 1)); err == nil || !open(stays) {
			t.Errorf("after its time a stranger gets %v, and one that was admitted is there: %v", err, open(stays))
		}
		known.Dismiss()
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, err := known.Read(make([]byte, 1)); err == nil {
			t.Error("one that was dismissed is there after its time")
		}
		testkit.OK(h.Close())
	})
}
