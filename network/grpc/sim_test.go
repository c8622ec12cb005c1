package grpc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// A sim runs the agents' state machines in one goroutine over links that break and come back, while
// agents are lost and restored. Each choice is drawn, so that a seed is a run.
type sim struct {
	t      *testing.T
	rand   *rand.Rand
	w      *network.Matrix
	keep   int
	rounds int
	agents []*simAgent
	links  map[[2]int]*simLink // by sender and receiver
	keys   [][2]int            // of links
	unsafe bool                // agents and links are lost
	steps  int

	// gentle spares agents and links from the moment that one has finished. Without it, one that
	// is cut off when all others have left, each rightly, is left to the deadline of its Drain.
	gentle bool
}

type simAgent struct {
	m         *Mixer
	x         []float64
	saved     checkpoints
	published bool
	draining  bool
	over      bool
}

type simLink struct {
	session *session // the sender's end; nil while the link is down
	frames  [][]byte
}

const (
	simLength    = 3
	simSaveEvery = 5
)

func newSim(t *testing.T, seed uint64, w *network.Matrix, keep, rounds int) *sim {
	s := &sim{t: t, rand: rand.New(rand.NewPCG(seed, 0)), w: w, keep: keep, rounds: rounds,
		links: map[[2]int]*simLink{}, gentle: seed%2 == 0}
	for i := range w.N() {
		a := &simAgent{}
		s.agents = append(s.agents, a)
		a.m = s.mixer(i, s.restore(a, i, math.MaxInt))
		for _, j := range w.Neighbours(i) {
			s.keys = append(s.keys, [2]int{i, j})
			s.links[[2]int{i, j}] = &simLink{}
		}
	}
	return s
}

func (s *sim) mixer(i, round int) *Mixer {
	return testkit.Get(newMixer(
		Config{Agent: i, Matrix: s.w, Run: "sim", Round: round, KeepFrames: s.keep, Unmasked: true,
			Addresses: make([]string, s.w.N())}.withDefaults()))
}

// restore puts the newest checkpoint of at most this round into the agent's vector and returns
// its round.
func (s *sim) restore(a *simAgent, i, round int) int {
	newest := a.saved.rewind(round, i, simLength)
	a.x, a.published, a.draining, a.over = newest.x, false, false, false
	return newest.round
}

// advance has an agent do what it can without waiting.
func (s *sim) advance(i int) {
	a := s.agents[i]
	m := a.m
	if a.over {
		return
	}
	err := m.flow.checkRunning(s.t.Context())
	if rollback, ok := errors.AsType[*network.RollbackError](err); ok {
		testkit.OK(m.Rewind(s.restore(a, i, rollback.Round)))
		return
	}
	if err != nil {
		s.t.Fatalf("agent %d: %v", i, err)
	}
	switch {
	case m.flow.round == s.rounds:
		if !a.draining {
			a.draining = true
			a.saved = checkpoints{{m.flow.round, m.flow.round, slices.Clone(a.x)}} // the result, which is safe
			m.finish.beginDrain()
		}
		if m.finish.drained() {
			s.endStreams(i)
		}
	case !a.published:
		if m.flow.round%simSaveEvery == 0 {
			a.saved.add(m.flow.round, m.flow.round, a.x)
		}
		err := m.flow.publish(context.Background(), entry{frame: encodeVector(m.flow.round, mixing, a.x),
			to: simReceivers(s.w, i, m.flow.round)})
		if _, rollback := errors.AsType[*network.RollbackError](err); err != nil && !rollback {
			s.t.Fatalf("agent %d: %v", i, err)
		}
		a.published = err == nil
	case m.flow.missing == 0:
		if simReceivers(s.w, i, m.flow.round) == nil {
			testkit.Get(m.findTerms(m.flow.window.at(m.flow.round).frame[headerSize:], simLength))
			network.Combine(a.x, m.view.matrix.Row(m.view.position), m.terms)
		} else {
			for _, e := range m.neighbours.edges {
				addShorter(a.x, vectorOf(e.slot[m.flow.round%2]))
			}
		}
		localStep(a.x, i, m.flow.round)
		m.flow.round++
		a.published = false
	}
}

// simReceivers returns who gets an agent's vector: all for nil, as in Mix, or in some exchanges one
// neighbour, each in turn.
func simReceivers(w *network.Matrix, agent, round int) []int {
	near := w.Neighbours(agent)
	if round%3 != 2 || len(near) == 0 {
		return nil
	}
	return near[round%len(near):][:1]
}

// addShorter adds src, which may be empty, to dst.
func addShorter(dst, src []float64) {
	for e, v := range src {
		dst[e] += v
	}
}

// simulated returns the agents' ends after a number of exchanges without faults.
func simulated(w *network.Matrix, rounds int) [][]float64 {
	xs := make([][]float64, w.N())
	for i := range xs {
		xs[i] = startVector(i, simLength)
	}
	for round := range rounds {
		next := networktest.Product(w, xs)
		for i := range xs {
			if simReceivers(w, i, round) != nil {
				next[i] = slices.Clone(xs[i])
				for _, j := range w.Neighbours(i) {
					if simReceivers(w, j, round)[0] == i {
						addShorter(next[i], xs[j])
					}
				}
			}
			localStep(next[i], i, round)
		}
		xs = next
	}
	return xs
}

// step does one thing.
func (s *sim) step() {
	s.steps++
	i := s.rand.IntN(len(s.agents))
	if len(s.keys) == 0 {
		s.advance(i)
		return
	}
	ends := s.keys[s.rand.IntN(len(s.keys))]
	l := s.links[ends]
	u := s.rand.Float64()
	switch {
	case s.unsafe && u < 0.0005:
		s.crash(i)
	case s.unsafe && u < 0.002:
		s.disconnect(ends[0], ends[1])
	case u < 0.02:
		if l.session == nil && len(l.frames) == 0 {
			s.connect(ends[0], ends[1])
		}
	case u < 0.03:
		s.agents[i].m.heartbeat()
	case u < 0.3:
		s.advance(i)
	case u < 0.65:
		s.transmit(l)
	default:
		s.deliver(ends, l)
	}
}

// run goes on until all agents have left, with faults up to a number of steps, after which the
// agents get the time that a run without faults would need with a lot to spare.
func (s *sim) run(faultySteps int) {
	limit := faultySteps + 1000*s.rounds*(len(s.keys)+1)
	for !s.allOver() {
		s.unsafe = s.steps < faultySteps &&
			!(s.gentle && slices.ContainsFunc(s.agents, func(a *simAgent) bool { return a.draining }))
		s.step()
		if s.steps > limit {
			s.t.Fatalf("no end after %d steps: %s", s.steps, s.state())
		}
	}
}

func (s *sim) allOver() bool {
	over, draining := 0, 0
	for _, a := range s.agents {
		if a.over {
			over++
		} else if a.draining {
			draining++
		}
	}
	return over == len(s.agents) || !s.gentle && over > 0 && over+draining == len(s.agents)
}

func (s *sim) state() string {
	text := ""
	for i, a := range s.agents {
		text += fmt.Sprintf("\nagent %d: published %v, over %v, missing %d, %+v", i, a.published, a.over,
			a.m.flow.missing, a.m.Status())
	}
	return text
}

// TestSimulated: whatever happens to links and agents, the run ends, and with the bits of
// one without faults.
func TestSimulated(t *testing.T) {
	seeds := 120
	if testing.Short() {
		seeds = 12
	}
	for _, c := range []struct {
		graph string
		n     int
		keep  int
	}{
		{"ring", 4, 2}, {"ring", 5, 1000}, {"path", 2, 3}, {"star", 4, 7}, {"complete", 4, 3}, {"ring", 1, 2},
	} {
		t.Run(fmt.Sprintf("%s%d/keep=%d", c.graph, c.n, c.keep), func(t *testing.T) {
			t.Parallel()
			const rounds = 23
			w := newGraph(c.graph, c.n)
			want := simulated(w, rounds)
			for seed := range seeds {
				s := newSim(t, uint64(seed), w, c.keep, rounds)
				s.run(20000)
				for i, a := range s.agents {
					if !slices.Equal(a.x, want[i]) {
						t.Fatalf("seed %d: agent %d ends with %v; it must be %v", seed, i, a.x, want[i])
					}
				}
			}
		})
	}
}
