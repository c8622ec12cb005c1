package grpc

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// TestFailReachesAll: an agent that fails and leaves at once has told its neighbours, and
// they theirs. Who passes on another one's word says whose it is: before, of three hops the third
// did not know the first, so that a liar in its place was not named.
func TestFailReachesAll(t *testing.T) {
	for _, failing := range []int{0, 2, 4} { // who connects, both, who listens
		t.Run(fmt.Sprint(failing), func(t *testing.T) {
			ctx, broken := networktest.Context(t), errors.New("disk full")
			for i, err := range together(openAgents(t, newGraph("path", 5), nil), func(i int, m *Mixer) error {
				if i != failing {
					return networktest.MixZeros(ctx, m, 1<<30, 1)
				}
				err := networktest.MixZeros(ctx, m, 3, 1)
				m.Fail(broken)
				m.Fail(errors.New("a later one does not count"))
				return errors.Join(err, networktest.MixZeros(ctx, m, 1, 1), m.Close())
			}) {
				e, ok := errors.AsType[*network.EndedError](err)
				switch {
				case i == failing && !errors.Is(err, broken):
					t.Errorf("agent %d ends with %v; it must be its own error", i, err)
				case i != failing && (!ok || e.Number != failing || e.Reason != hops(i, failing)+"disk full"):
					t.Errorf("agent %d ends with %v; it must say that agent %d ended the run", i, err, failing)
				}
			}
		})
	}
}

// hops returns by whom an agent of a path has the news of another one, but for its neighbour.
func hops(agent, failing int) (text string) {
	step := 1
	if failing < agent {
		step = -1
	}
	for via := agent + 2*step; (failing-via)*step > 0; via += step {
		text += fmt.Sprintf("as agent %d says, ", via)
	}
	return text
}

// TestDrain: an agent leaves when all have finished, not its neighbours alone, and when it and its
// neighbours have recorded that. Drain can be repeated after an error of AllFinished.
func TestDrain(t *testing.T) {
	const n = 4
	var finished atomic.Int32
	var recorded [n]atomic.Bool
	tries, once := 0, errors.New("once")
	ms := openAgents(t, newGraph("path", n), func(c *Config) {
		c.AllFinished = func(told bool) error {
			if told && finished.Load() < n {
				t.Errorf("agent %d has told its neighbours, when %d agents had finished", c.Agent, finished.Load())
			}
			if c.Agent == 2 && !told {
				if tries++; tries == 1 {
					return once
				}
			}
			recorded[c.Agent].Store(true)
			return nil
		}
	})
	ctx := networktest.Context(t)
	succeed(ms, func(i int, m *Mixer) error {
		if err := networktest.MixZeros(ctx, m, 5, 1); err != nil {
			return err
		}
		finished.Add(1)
		err := m.Drain(ctx)
		if i == 2 {
			if !errors.Is(err, once) {
				t.Errorf("agent 2: %v; it must be the error of AllFinished", err)
			}
			err = m.Drain(ctx)
		}
		if got := finished.Load(); got != n {
			t.Errorf("agent %d left when %d agents had finished; all %d must have", i, got, n)
		}
		for j := max(0, i-1); j < min(n, i+2); j++ {
			if !recorded[j].Load() {
				t.Errorf("agent %d left before agent %d had recorded it", i, j)
			}
		}
		return err
	})
}

// TestDrainTellsAgain: an agent that was lost as it knew that all had finished lets a neighbour
// know that does not, however often it comes back.
func TestDrainTellsAgain(t *testing.T) {
	ctx := networktest.Context(t)
	told := make(chan bool, 2)
	ms := openAgents(t, newGraph("path", 2), func(c *Config) {
		c.Finished = c.Agent == 0
		c.AllFinished = func(is bool) error {
			if c.Agent == 0 {
				told <- is
			}
			return nil
		}
	})
	succeed(ms, func(_ int, m *Mixer) error { return m.Drain(ctx) })
	if known, after := <-told, <-told; known || !after {
		t.Errorf("agent 0 keeps that it has told its neighbours: %v, then %v; it must be false, then true", known,
			after)
	}
}

func TestDrainDeadline(t *testing.T) {
	ms := openAgents(t, newGraph("path", 2), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	testkit.WantError(t, "at the deadline", ms[0].Drain(ctx), context.DeadlineExceeded,
		"agent 0, after exchange 0, waiting for the others' end")
}

// TestStatus: what went over the wire is counted, by neighbour.
func TestStatus(t *testing.T) {
	ms, ctx := openAgents(t, newGraph("path", 3), nil), networktest.Context(t)
	const rounds, length = 7, 5
	succeed(ms, func(_ int, m *Mixer) error {
		return errors.Join(networktest.MixZeros(ctx, m, rounds, length), m.Drain(ctx))
	})
	s := ms[1].Status()
	if s.Round != rounds || ms[1].Round() != rounds || s.Rewinds != 0 || s.Refused != 0 || len(s.Neighbours) != 2 {
		t.Fatalf("%+v; there must be %d exchanges with 2 neighbours", s, rounds)
	}
	for k, n := range s.Neighbours {
		const frame = headerSize + 8*length
		if n.Agent != 2*k || n.Connects != 1 || n.Round != rounds || n.FramesSent <= rounds ||
			n.BytesSent <= rounds*frame ||
			n.FramesReceived <= rounds || n.BytesReceived <= rounds*frame || n.Waited < 0 ||
			n.Resent+n.Duplicates != 0 {
			t.Errorf("%+v; there must be %d vectors and a few frames more each way, and none again", n, rounds)
		}
	}
	if s.Vectors != 2*rounds || s.VectorBytes != 16*rounds*length {
		t.Errorf("%+v; there must be %d vectors with %d bytes", s, 2*rounds, 16*rounds*length)
	}
}
