package grpc_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dsbo/network/grpc"
)

// TestFailReachesAll: an agent that fails and leaves at once has told its neighbours, and they theirs.
func TestFailReachesAll(t *testing.T) {
	for _, failing := range []int{0, 2, 4} { // who connects, both, who listens
		ms, closeAll := open(t, configs(t, newGraph(t, "path", 5), identities(t, 5)))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		broken := errors.New("disk full")
		for i, err := range together(ms, func(i int, m *grpc.Mixer) error {
			x := []float64{1}
			for k := 0; i != failing || k < 3; k++ {
				if err := m.Mix(ctx, x, x); err != nil {
					return err
				}
			}
			m.Fail(broken)
			m.Fail(errors.New("a later one does not count"))
			return errors.Join(m.Mix(ctx, x, x), m.Close())
		}) {
			e, ok := errors.AsType[*grpc.EndedError](err)
			switch {
			case i == failing && !errors.Is(err, broken):
				t.Errorf("agent %d ends with %v; it must be its own error", i, err)
			case i != failing && (!ok || e.Agent != failing || e.Reason != "disk full"):
				t.Errorf("agent %d ends with %v; it must say that agent %d ended the run", i, err, failing)
			}
		}
		cancel()
		closeAll()
	}
}

// TestDrainWaitsForAll, not for the neighbours alone.
func TestDrainWaitsForAll(t *testing.T) {
	ms, closeAll := open(t, configs(t, newGraph(t, "path", 4), identities(t, 4)))
	defer closeAll()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var finished atomic.Int32
	succeed(t, ms, func(i int, m *grpc.Mixer) error {
		x := []float64{1}
		for range 5 {
			if err := m.Mix(ctx, x, x); err != nil {
				return err
			}
		}
		finished.Add(1)
		err := m.Drain(ctx)
		if n := finished.Load(); n != 4 {
			t.Errorf("agent %d left when %d agents had finished; all 4 must have", i, n)
		}
		return err
	})
}

// TestAllFinished: when an agent leaves, it and its neighbours have recorded that all have finished.
func TestAllFinished(t *testing.T) {
	const n = 4
	var recorded [n]atomic.Bool
	cs := configs(t, newGraph(t, "path", n), identities(t, n))
	once := errors.New("once")
	for i := range cs {
		tries := 0
		cs[i].AllFinished = func() error {
			if tries++; i == 2 && tries == 1 {
				return once
			}
			recorded[i].Store(true)
			return nil
		}
	}
	ms, closeAll := open(t, cs)
	defer closeAll()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	succeed(t, ms, func(i int, m *grpc.Mixer) error {
		err := m.Drain(ctx)
		if i == 2 {
			if !errors.Is(err, once) {
				t.Errorf("agent 2: %v; it must be the error of AllFinished", err)
			}
			err = m.Drain(ctx)
		}
		for j := max(0, i-1); j < min(n, i+2); j++ {
			if !recorded[j].Load() {
				t.Errorf("agent %d left before agent %d had recorded it", i, j)
			}
		}
		return err
	})
}

func TestDrainDeadline(t *testing.T) {
	ms, closeAll := open(t, configs(t, newGraph(t, "path", 2), identities(t, 2)))
	defer closeAll()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	err := ms[0].Drain(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "agent 0, after exchange 0, waiting for the others' end") {
		t.Errorf("error %v; it must say that the deadline is over", err)
	}
}

// TestStatus: what went over the wire is counted, by neighbour.
func TestStatus(t *testing.T) {
	ms, closeAll := open(t, configs(t, newGraph(t, "path", 3), identities(t, 3)))
	defer closeAll()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	const rounds, length = 7, 5
	succeed(t, ms, func(_ int, m *grpc.Mixer) error {
		x := make([]float64, length)
		for range rounds {
			if err := m.Mix(ctx, x, x); err != nil {
				return err
			}
		}
		return m.Drain(ctx)
	})
	s := ms[1].Status()
	if s.Round != rounds || ms[1].Round() != rounds || s.Rewinds != 0 || s.Refused != 0 || len(s.Neighbours) != 2 {
		t.Fatalf("%+v; there must be %d exchanges with 2 neighbours", s, rounds)
	}
	for k, n := range s.Neighbours {
		const frame = 24 + 8*length
		if n.Agent != 2*k || n.Connects != 1 || n.Round != rounds || n.FramesSent <= rounds || n.BytesSent <= rounds*frame ||
			n.FramesReceived <= rounds || n.BytesReceived <= rounds*frame || n.Waited < 0 || n.Resent+n.Duplicates != 0 {
			t.Errorf("%+v; there must be %d vectors and a few frames more each way, and none again", n, rounds)
		}
	}
	if s.Vectors != 2*rounds || s.VectorBytes != 16*rounds*length {
		t.Errorf("%+v; there must be %d vectors with %d bytes", s, 2*rounds, 16*rounds*length)
	}
}
