package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dsbo/internal/testkit"
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

// A spy has the words that travel to an agent, and the sums that it finds.
type spy struct {
	mu   sync.Mutex
	seen [][]uint64
}

func (s *spy) note(words []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, words)
}

// A spiedSender passes frames on to the agent that has the spy.
type spiedSender struct {
	Sender
	spy *spy
}

// Send implements [Sender].
func (s spiedSender) Send(frame []byte) error {
	if len(frame) > headerSize+8 && frame[0] == byte(kindVector) {
		words := make([]uint64, (len(frame)-headerSize)/8)
		_, _ = binary.Decode(frame[headerSize:], binary.LittleEndian, words)
		s.spy.note(words)
	}
	return s.Sender.Send(frame)
}

// TestMaliciousMember: the members stay, and one of them, to which all others send their words by
// themselves, ends session after session, and has the same sum made again with other terms of its
// own, or bound to something else. Nothing that it sees, alone or with all else, is another
// member's term, or two members' sum or difference. Without masks each is.
func TestMaliciousMember(t *testing.T) {
	const sessions, length = 4, 40
	terms := make([][]uint64, 4)
	for i := range terms {
		for k := range length {
			terms[i] = append(terms[i], uint64(1000*i+k*k+1))
		}
	}
	for name, unmasked := range map[string]bool{"masked": false, "plain": true} {
		t.Run(name, func(t *testing.T) {
			seen, own := sumsWithALiar(t, terms, sessions, unmasked)
			found := rebuilt(seen, append(own, make([]uint64, length)), terms[1:])
			if t.Logf("%d vectors seen tell %v", len(seen), found); (len(found) > 0) != unmasked {
				t.Error("masks must hide all terms, and without masks they must be found")
			}
		})
	}
}

// sumsWithALiar has agents sum their terms in session after session, and returns what agent 0 sees,
// and what its own terms were.
func sumsWithALiar(t *testing.T, terms [][]uint64, sessions int, unmasked bool) (seen, own [][]uint64) {
	n := len(terms)
	cs := configs(testkit.Get(network.New("star", n, network.Options{})).W, identities(n))
	var s spy
	ctx, cancel := context.WithCancel(networktest.Context(t))
	defer cancel()
	errs := networktest.RunAll(n, func(i int) error {
		c := cs[i]
		c.Store, c.Heartbeat, c.SilentAfter = toyStore{new(toyDisk), new(bool)}, 10*time.Millisecond, time.Minute
		c.Unmasked = unmasked
		c.Wrap = func(to int, sender Sender) Sender {
			if to == 0 {
				return spiedSender{sender, &s}
			}
			return sender
		}
		a := testkit.Get(Open(c))
		defer a.Close()
		for ctx.Err() == nil {
			next, err := a.Next(ctx)
			if err == nil {
				err = next.Join(ctx, nil)
			}
			words := slices.Clone(terms[i])
			if err == nil && i == 0 {
				words[0] += uint64(len(own))
				own = append(own, slices.Clone(words))
				next.Bind([32]byte{byte(len(own) % 3)})
			}
			if err == nil {
				err = next.Reduce(ctx, network.Reduction{Bits: 64, Words: words})
			}
			if err == nil && i == 0 {
				s.note(words)
			}
			if i == 0 && len(own) == sessions {
				cancel() // the others go on until then
			}
			if err != nil && !errors.As(err, new(*register.Over)) && ctx.Err() == nil {
				return err
			}
		}
		return nil
	})
	testkit.OK(errors.Join(errs...))
	return s.seen, own
}

// rebuilt returns which terms are found in what is seen, alone, or in sums and differences of two
// with what is known.
func rebuilt(seen, known, terms [][]uint64) (found []string) {
	plus := func(a, b []uint64, sign uint64) []uint64 {
		c := slices.Clone(a)
		for k := range c {
			c[k] += sign * b[k]
		}
		return c
	}
	const minus = ^uint64(0)
	name := func(words []uint64) string { return fmt.Sprint(words[1:]) } // the liar's first word changes
	secret := map[string]string{}
	for i, x := range terms {
		secret[name(x)] = fmt.Sprint(i + 1)
		for j, y := range terms[:i] {
			secret[name(plus(x, y, 1))] = fmt.Sprint(i+1, "+", j+1)
			secret[name(plus(x, y, minus))] = fmt.Sprint(i+1, "-", j+1)
		}
	}
	for a, x := range seen {
		all := [][]uint64{x}
		for _, y := range seen[:a] {
			all = append(all, plus(x, y, 1), plus(x, y, minus))
		}
		for _, words := range all {
			for _, own := range known {
				for _, sign := range []uint64{1, minus} {
					if what := secret[name(plus(words, own, sign))]; what != "" && !slices.Contains(found, what) {
						found = append(found, what)
					}
				}
			}
		}
	}
	return found
}
