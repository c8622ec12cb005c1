package relay

import (
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/testkit"
)

// TestNewestFour: of connections that wait under one name the oldest ends, four stay, and the
// newest is taken.
func TestNewestFour(t *testing.T) {
	var p places
	var all []*waiter
	at := place{"r", 5}
	for range 5 {
		conn, _ := net.Pipe()
		defer conn.Close()
		all = append(all, &waiter{conn: conn})
		p.add(at, all[len(all)-1])
	}
	if !slices.Equal(p.waiting[at], all[1:]) || p.takeNewest(at) != all[4] {
		t.Errorf("%d of 5 wait; 4 must, of which the last is taken", len(p.waiting[at]))
	}
	if _, err := all[0].conn.Write(nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v; the oldest must be closed", err)
	}
}

// A half is a connection of which one direction can end.
type half struct{ net.Conn }

func (half) CloseWrite() error { return nil }

// TestHalfOpen: when one direction of a pair has ended, the other one continues for a minute.
func TestHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, ended := net.Pipe()
		b, silent := net.Pipe()
		defer silent.Close()
		testkit.OK(ended.Close())
		began := time.Now()
		join(half{a}, half{b})
		if d := time.Since(began); d != time.Minute {
			t.Errorf("it went on for %v", d)
		}
	})
}
