package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/network/register"
)

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
