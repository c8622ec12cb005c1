package session

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/network/register"
)

// A garbler passes frames on, and another one in place of a vector as soon as it is armed.
type garbler struct {
	Sender
	armed *atomic.Bool
	frame []byte
}

func (g garbler) Send(frame []byte) error {
	if frame[0] == byte(kindVector) && g.armed.CompareAndSwap(true, false) {
		frame = g.frame
	}
	return g.Sender.Send(frame)
}

// TestUnreadableFrameEndsTheSession: a frame that cannot be ends the session for all, with its
// sender as the reason; if the stream alone ended, the neighbours would send and refuse the same
// for ever.
func TestUnreadableFrameEndsTheSession(t *testing.T) {
	for reason, frame := range map[string][]byte{
		"are not known":                framed(kindEnd, nil),
		"must have an activity":        newFrame(frame{kind: kindAlive, purpose: uint64(joining) + 1}, 0),
		"a message must be JSON":       framed(kindFlood, []byte("{")),
		"must name an agent":           message{Subject: ends}.frame(),
		"a second hello on one stream": goodHello(0).encode(),
	} {
		t.Run(reason, func(t *testing.T) { wantSessionEnds(t, frame, reason) })
	}
}

// wantSessionEnds has agent 0 send agent 1 a frame amid a session.
func wantSessionEnds(t *testing.T, frame []byte, reason string) {
	cs := configs(ring(3), nil)
	var armed atomic.Bool
	cs[0].Wrap = func(to int, s Sender) Sender {
		if to != 1 {
			return s
		}
		return garbler{s, &armed, frame}
	}
	teams, closeAll := openTeams(cs)
	defer closeAll()
	armed.Store(true)
	for i, err := range networktest.RunAll(3, func(i int) error {
		for {
			if err := teams[i].Mixer(i).Mix(t.Context(), make([]float64, 4), make([]float64, 4)); err != nil {
				return err
			}
		}
	}) {
		over, is := errors.AsType[*register.Over](err)
		if !is || over.Agent != 0 || i == 1 && !errors.As(err, new(*network.PeerError)) ||
			!strings.Contains(over.Why, reason) {
			t.Errorf("agent %d: error %v must tell that the session is over because of agent 0", i, err)
		}
	}
}

// sentBy returns the exchanges of the frames that a connection is to send.
func sentBy(c *conn) (exchanges []int) {
	for len(c.queue) > 0 {
		exchanges = append(exchanges, decoded(<-c.queue).exchange)
	}
	return exchanges
}

// TestVectors: of a neighbour's vectors the next one is taken in, one that came before is passed
// over, and what is further ahead than a neighbour can be is refused. A connection that is made
// again brings the last two vectors again, as far as the neighbour has not got them.
func TestVectors(t *testing.T) {
	x := newExchange(7, []*edge{{agent: 3, position: 1, line: &line{agent: 3}}}, new(sync.Mutex))
	p := x.edges[0]
	for _, c := range []struct {
		round, exchange int // this agent's, the vector's
		want            string
		received        int
	}{
		{0, 1, "the next vector must be of exchange 0", 0},
		{0, 0, "", 1},
		{0, 0, "", 1},
		{0, 2, "the next vector must be of exchange 1", 1},
		{0, 1, "", 2},
		{0, 2, "it is of exchange 2", 2}, // of a neighbour that cannot have this agent's vector of exchange 1
		{1, 2, "", 3},
		{1, 0, "", 3},
	} {
		x.round = c.round
		err := x.accept(3, frame{exchange: c.exchange, purpose: uint64(c.exchange)})
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) ||
			p.received != c.received {
			t.Errorf("in exchange %d the vector of exchange %d: %v, and %d are taken; it must be %q, and %d", c.round,
				c.exchange, err, p.received, c.want, c.received)
		}
	}
	if got := x.came(p).purpose; got != 1 {
		t.Errorf("in exchange 1 there is the vector of exchange %d", got)
	}
	if err := x.accept(4, frame{}); err == nil {
		t.Error("the vector of an agent that is no neighbour must be refused")
	}
	x.round = 0
	for range 3 {
		if err := x.post(newFrame(frame{kind: kindVector, exchange: x.round}, 0), everyone); err != nil {
			t.Fatal(err)
		}
		x.advance()
	}
	x.round = 2 // amid exchange 2
	for due, want := range [][]int{{1, 2}, {1, 2}, {2}, nil} {
		c := &conn{to: 3, queue: make(chan []byte, maxQueued)}
		p.line.conn = c
		x.repeat(3, due)
		if got := sentBy(c); !slices.Equal(got, want) {
			t.Errorf("to a neighbour that needs exchange %d vectors %v are sent again; they must be %v", due, got, want)
		}
	}
	x.end(&register.Over{Why: "over"})
	if err := x.accept(3, frame{exchange: 99}); err != nil {
		t.Errorf("after the session's end a vector is refused: %v", err)
	}
}
