package grpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/grpc/holdup"
)

// saying is what an agent says of itself.
func saying(doing holdup.Activity, round, holder int, cause holdup.Cause) holdup.Report {
	return holdup.Report{Doing: doing, Round: round, Holder: holder, Cause: cause}
}

// reporting is a heartbeat of a neighbour that says this of itself.
func reporting(r holdup.Report) []byte { return encode(header{kindAlive, r.Round, 0}, r.Encode()) }

// TestHoldup: of a chain of agents that wait, the one that holds them up is named, and not one that
// waits itself. The agent here is 1 of a path, waits in exchange 5 for agent 0, and gets heartbeats
// of it.
func TestHoldup(t *testing.T) {
	for _, c := range []struct {
		name  string
		says  holdup.Report // of round 0: nothing
		agent int
		want  holdup.Cause
	}{
		{"says nothing of itself", holdup.Report{}, 0, holdup.ByWithholding},
		{"computes", saying(holdup.Computing, 5, 0, holdup.ByComputing), 0, holdup.ByComputing},
		{"computes in an earlier iteration", saying(holdup.Computing, 2, 0, holdup.ByComputing), 0, holdup.ByComputing},
		{"writes", saying(holdup.Saving, 5, 0, holdup.BySaving), 0, holdup.BySaving},
		{"waits for one that computes", saying(holdup.Exchanging, 4, 3, holdup.ByComputing), 3, holdup.ByComputing},
		{"waits for one that is silent", saying(holdup.Exchanging, 3, 3, holdup.BySilence), 3, holdup.BySilence},
		{"waits for one that withholds", saying(holdup.Exchanging, 3, 3, holdup.ByWithholding), 3,
			holdup.ByWithholding},
		{"waits for a key", saying(holdup.AwaitingKeys, 5, 3, holdup.ByNoKey), 3, holdup.ByNoKey},
		{"says that it has sent", saying(holdup.Exchanging, 5, 3, holdup.BySilence), 0, holdup.ByWithholding},
		{"says that it is further", saying(holdup.Computing, 6, 0, holdup.ByComputing), 0, holdup.ByWithholding},
		{"says that it waits for this one, which has sent", saying(holdup.Exchanging, 4, self, holdup.BySilence), 0,
			holdup.ByWithholding},
		{"waits for nobody that there is", saying(holdup.Exchanging, 4, 1<<30, holdup.BySilence), 0,
			holdup.ByWithholding},
		{"waits for itself", saying(holdup.Exchanging, 4, 0, holdup.ByComputing), 0, holdup.ByWithholding},
		{"has finished", saying(holdup.Ending, 4, 0, holdup.ByComputing), 0, holdup.ByWithholding},
	} {
		m, _ := pathAgent(func(c *Config) { c.Round, c.Matrix = 5, newGraph("path", 4) })
		m.neighbours.edge(2).received = 6
		s := attached(m, 0, 5, 5)
		publish(m, 5)
		if c.says.Round > 0 {
			deliver(s, reporting(c.says))
		}
		h := m.holdup()
		if h == nil || h.Agent != c.agent || h.Cause != c.want || h.Exchange != 5 {
			t.Errorf("agent 0 %s: held up by %+v; it must be agent %d, as %v", c.name, h, c.agent, c.want)
		}
		if c.says.Doing == holdup.Computing && c.says.Round > 5 { // as one of an epoch before may be
			s.remote--
			if h := m.holdup(); h.Cause != holdup.ByComputing || h.Source != 0 {
				t.Errorf("agent 0 %s, in an earlier epoch: held up by %+v; it must be what it computes", c.name, h)
			}
			s.remote++
		}
		if own := m.watch.Report(m.flow.round, m.holdup()); own != (holdup.Report{Doing: holdup.Exchanging, Round: 5,
			Holder: c.agent, Cause: c.want, Hops: min(c.agent, 1)}) {
			t.Errorf("agent 0 %s: this agent says %+v of itself; it must pass on agent %d, as %v", c.name, own,
				c.agent, c.want)
		}
	}
}

// TestHeldUp: an agent that is there, or comes back again and again, and does not send, is named
// after SilentAfter and ends the run after PeerTimeout; one that computes does not.
func TestHeldUp(t *testing.T) {
	withheld := saying(holdup.Exchanging, 0, 2, holdup.ByWithholding)
	for _, c := range []struct {
		name string
		says holdup.Report
		ends int // after this number of heartbeats
	}{
		{"withholds", withheld, 20},
		{"computes", saying(holdup.Computing, 0, 0, holdup.ByComputing), 60},
	} {
		m, log := pathAgent(func(c *Config) {
			inSeconds(c)
			c.ComputeTimeout = time.Minute
		})
		m.neighbours.edge(2).received = 1
		publish(m, 0)
		for k := range c.ends {
			if m.err != nil {
				t.Fatalf("%s: error %v after %d s", c.name, m.err, k)
			}
			deliver(attached(m, 2, 1, 1), alive(0))
			s := attached(m, 0, 0, 0) // each hello is a sign of life, and no progress
			deliver(s, reporting(c.says))
			m.heartbeat()
			if st := m.Status(); st.Stalled != (c.says == withheld && k >= 4) || st.Holdup.Agent != 0 ||
				st.Neighbours[0].Waiting == 0 {
				t.Fatalf("%s: status %+v after %d s", c.name, st, k+1)
			}
		}
		e, ok := errors.AsType[*network.HoldupError](m.err)
		if !ok || e.Process != "agent 0" || !errors.Is(m.err, dsbo.ErrPeer) || !errors.Is(m.err, network.ErrSilent) {
			t.Errorf("%s: error %v after %d s; it must name agent 0", c.name, m.err, c.ends)
		}
		if c.says == withheld {
			log.waitFor(t, "level=WARN", "an exchange is held up", "exchange=0", "agent\"=0")
		}
	}
}

// TestGoesBackForEver: a neighbour that has all others go back again and again keeps them from
// going on, whatever it sends meanwhile.
func TestGoesBackForEver(t *testing.T) {
	m, _ := pathAgent(func(c *Config) {
		inSeconds(c)
		c.KeepFrames = 2
	})
	s := attached(m, 0, 0, 0)
	other := attached(m, 2, 0, 0)
	for n := range 200 {
		for k := range 4 {
			publish(m, k)
			for _, from := range []*session{s, other} {
				deliver(from, reporting(saying(holdup.Computing, k, from.e.id, holdup.ByComputing)))
				deliver(from, vectorOfOne(k, 1))
				for sent := []byte{}; sent != nil; {
					sent, _ = from.e.nextFrame(from)
				}
			}
			m.flow.advance()
		}
		m.heartbeat()
		if m.err != nil {
			if e, ok := errors.AsType[*network.HoldupError](m.err); !ok || e.Process != "agent 0" ||
				!strings.Contains(m.err.Error(), "go back again and again") {
				t.Errorf("error %v; it must name agent 0", m.err)
			}
			if n < holdup.MaxSetbacks+19 {
				t.Errorf("the run ended after it had gone back %d times", n)
			}
			return
		}
		deliver(s, encode(header{kindResend, 0, 0}, nil))
		testkit.OK(m.Rewind(0))
	}
	t.Error("the run goes on for ever")
}

// TestDiskDoesNotAnswer: an agent whose file is being written for ever ends the run for all others,
// and tells its process.
func TestDiskDoesNotAnswer(t *testing.T) {
	hung := make(chan error, 1)
	m, _ := pathAgent(func(c *Config) {
		c.Heartbeat, c.SilentAfter, c.PeerTimeout, c.OnDiskHang = 1, 3, 3, func(err error) { hung <- err }
	})
	s := attached(m, 0, 0, 0)
	done := m.Saving()
	if r := m.watch.Report(m.flow.round, m.holdup()); r != saying(holdup.Saving, 0, self, holdup.BySaving) {
		t.Errorf("the neighbours are told %+v; it must be that this agent writes", r)
	}
	for m.err == nil {
		testkit.OK(m.neighbours.edge(0).handle(decoded(alive(0))))
		testkit.OK(m.neighbours.edge(2).handle(decoded(alive(0))))
		m.heartbeat()
	}
	if err := <-hung; !strings.Contains(err.Error(), "the disk does not answer") || errors.Is(err, dsbo.ErrPeer) {
		t.Errorf("error %v; it must be the disk's", err)
	}
	if news, _ := s.e.nextFrame(s); decoded(news).kind != kindFail {
		t.Errorf("the neighbour is sent %+v; it must be the end of the run", decoded(news))
	}
	done()
	if m.watch.Doing() != holdup.Computing {
		t.Errorf("after the file is written, the agent does %d", m.watch.Doing())
	}
}

// TestChain: agents wait for one that does not come, some for others that wait themselves, and all
// name that one: as they mix, and as they reduce, where the root of the path is agent 1.
func TestChain(t *testing.T) {
	const n = 4
	mix := func(ctx context.Context, m *Mixer) error {
		x := []float64{1}
		return m.Mix(ctx, x, x)
	}
	reduce := func(ctx context.Context, m *Mixer) error { return m.Reduce(ctx, network.Sum, 8, []uint64{1}) }
	for _, c := range []struct {
		name, graph string
		step        func(context.Context, *Mixer) error
		absent      int
	}{
		{"mixing", "path", mix, 3}, {"reducing", "path", reduce, 3}, {"reducing without the root", "path", reduce, 1},
		{"reducing over a ring", "ring", reduce, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cs, _ := virtual(newGraph(c.graph, n))
				for i := range cs {
					inSeconds(&cs[i])
					cs[i].ComputeTimeout, cs[i].Unmasked = cs[i].PeerTimeout, true
				}
				ms, closeAll := open(cs)
				defer closeAll()
				errs := together(slices.Delete(slices.Clone(ms), c.absent, c.absent+1), func(_ int, m *Mixer) error {
					for {
						if err := c.step(t.Context(), m); err != nil {
							return err
						}
					}
				})
				for i, err := range errs {
					testkit.WantError(t, fmt.Sprintf("the agent in place %d", i), err, dsbo.ErrPeer,
						fmt.Sprintf("agent %d holds up the run", c.absent))
				}
			})
		})
	}
}
