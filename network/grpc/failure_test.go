package grpc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// TestFailureKeepsItsKind on its way through agents that have nothing to do with it.
func TestFailureKeepsItsKind(t *testing.T) {
	diverged := &dsbo.DivergedError{Agent: 1, Quantity: "y", Value: 1e300}
	for _, c := range []struct{ err, kind error }{
		{diverged, dsbo.ErrDiverged},
		{fmt.Errorf("agent 1: %w", context.Canceled), context.Canceled},
		{&network.SilentError{Last: context.DeadlineExceeded}, network.ErrSilent},
		{errors.New("disk\nfull"), nil},
	} {
		m, _ := pathAgent(nil)
		m.Fail(c.err)
		s := attached(m, 2, 0, 0)
		news, _ := s.e.nextFrame(s)
		for _, hop := range []struct {
			agent, from int
			says        string
		}{{2, 1, "agent 1 ended the run: "}, {0, 2, "agent 2 says that agent 1 ended the run: "}} {
			far, _ := pathAgent(func(config *Config) {
				config.Agent, config.Matrix = hop.agent, newGraph("complete", 3)
			})
			reason := strings.Join(strings.Fields(c.err.Error()), " ")
			deliver(attached(far, hop.from, 0, 0), news)
			e, ok := errors.AsType[*network.EndedError](far.err)
			if !ok || e.Number != self || e.Error() != hop.says+reason || !errors.Is(e, network.ErrEnded) ||
				e.Unwrap() != c.kind {
				t.Errorf("%v arrives as %v of kind %v, but it is of agent %d and of kind %v", c.err, far.err,
					errors.Unwrap(far.err), self, c.kind)
			}
			to := attached(far, self, 0, 0)
			news, _ = to.e.nextFrame(to)
		}
	}
	m, _ := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	deliver(s, encode(header{kindFail, 0, maxNumber}, []byte("disk full")))
	if e, ok := errors.AsType[*network.EndedError](m.err); !ok || e.Unwrap() != nil {
		t.Errorf("error %v; it must be the end of agent 0 for a reason of no kind", m.err)
	}
}

// confidential is an error that others may see only a part of.
type confidential struct{}

func (confidential) Error() string { return "line 7: Kowalski is no number" }

func (confidential) Shared() string { return "line 7" }

// TestFailureKeepsValues: what is confidential of an error does not travel.
func TestFailureKeepsValues(t *testing.T) {
	m, _ := pathAgent(nil)
	s := attached(m, 2, 0, 0)
	m.Fail(fmt.Errorf("site 1: %w", confidential{}))
	news, _ := s.e.nextFrame(s)
	if f := decoded(news); string(f.text) != "site 1: line 7" {
		t.Errorf("the neighbour is sent %q; it must be the place alone", f.text)
	}
}

// TestGarbageIsTheSenders: numbers that a neighbour must not have sent are its fault, whatever they
// make of this agent's. The numbers of a run that diverges are not: their sender says so.
func TestGarbageIsTheSenders(t *testing.T) {
	marked := func(v ...float64) []byte { return encodeVector(0, mixing|notFinite, v) }
	for _, c := range []struct {
		name  string
		own   float64
		frame []byte
		want  string // "" if the run goes on
	}{
		{"NaN", 1, vectorOfOne(0, math.NaN()), "numbers that are not finite"},
		{"infinite", 1, vectorOfOne(0, math.Inf(-1)), "numbers that are not finite"},
		{"too short", 1, encodeVector(0, mixing, nil), "agent 1 sends 8 bytes and agent 0 sends 0"},
		{"too long", 1, encodeVector(0, mixing, make([]float64, 2)), "agent 1 sends 8 bytes and agent 0 sends 16"},
		{"something else", 1, encodeVector(0, gathering(1), []float64{1}),
			"agent 1 mixes and agent 0 gathers rows of 1 numbers"},
		{"NaN beside own NaN", math.NaN(), vectorOfOne(0, math.NaN()), "numbers that are not finite"},
		{"own NaN", math.NaN(), vectorOfOne(0, 1), ""},
		{"NaN of one that diverges", 1, marked(math.NaN()), ""},
		{"NaN of two that diverge", math.NaN(), marked(math.NaN()), ""},
		{"finite, and said not to be", 1, marked(1), ""},
	} {
		m, _ := pathAgent(nil)
		deliver(attached(m, 2, 0, 0), vectorOfOne(0, 1))
		deliver(attached(m, 0, 0, 0), c.frame)
		x := []float64{c.own}
		err := m.Mix(t.Context(), x, x)
		switch e, blamed := errors.AsType[*network.PeerError](err); {
		case c.want == "" && err != nil:
			t.Errorf("%s: error %v; the run must go on", c.name, err)
		case c.want != "" && (!blamed || e.Process != "agent 0" || !errors.Is(err, dsbo.ErrPeer) ||
			errors.Is(err, dsbo.ErrDiverged) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v; it must blame agent 0 for %q", c.name, err, c.want)
		}
	}
}

// TestBarsGrow: a neighbour is refused for longer after each offence, up to a bound, until an
// exchange with it has ended.
func TestBarsGrow(t *testing.T) {
	m, _ := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	for k := range 10 {
		s.e.conduct.punish(&offence{errors.New("a flood")})
		if want := min(firstBar<<k, lastBar); s.e.conduct.barBeats != want {
			t.Errorf("after %d offences a neighbour is refused for %d heartbeats; it must be %d", k+1,
				s.e.conduct.barBeats, want)
		}
	}
	if s.e.conduct.barred() == nil {
		t.Error("it is not refused")
	}
	if deliver(s, vectorOfOne(0, math.NaN())); s.e.conduct.barBeats != lastBar {
		t.Errorf("after a vector that may be no good the last offence counts for %d heartbeats; it must be %d",
			s.e.conduct.barBeats, lastBar)
	}
	if m.flow.advance(); s.e.conduct.barBeats != 0 {
		t.Errorf("after an exchange the last offence counts for %d heartbeats", s.e.conduct.barBeats)
	}
}

// TestOffendersStayOut: where there is a council, a neighbour that offends again and again is
// absent for it, whatever it asks for, until another process of it comes. One offence, or several
// with exchanges between them, are not enough.
func TestOffendersStayOut(t *testing.T) {
	m, _ := pathAgent(nil)
	a, _ := withCouncil(m, 2)
	absent := func() bool { return slices.Equal(m.chamber.observe().Down, []int{0}) }
	offend := func(times int) {
		for range times {
			a.e.conduct.punish(&offence{errors.New("numbers that are not finite")})
		}
	}
	for range 3 {
		offend(2)
		m.flow.advance()
	}
	if absent() {
		t.Error("it is absent though exchanges with it have ended")
	}
	offend(3)
	testkit.Get(opened(m, 0, 0))
	if !absent() {
		t.Errorf("%v are absent; agent 0 must be, also when it connects again", m.chamber.observe().Down)
	}
	testkit.Get(opened(m, 0, 1))
	if absent() {
		t.Error("it is absent as another process")
	}
}

// TestGarbageIsRefused: where there is a council, a neighbour whose vectors cannot be is as if it
// were absent, and the run goes on with the one that it sends in their place.
func TestGarbageIsRefused(t *testing.T) {
	for name, garbage := range map[string][]byte{
		"NaN": vectorOfOne(0, math.NaN()), "short": encodeVector(0, mixing, nil),
		"other work": encodeVector(0, gathering(1), []float64{1}),
	} {
		m, _ := pathAgent(nil)
		s, other := withCouncil(m, 2)
		deliver(s, garbage)
		deliver(other, vectorOfOne(0, 4))
		ended, x := make(chan error), []float64{1}
		go func() { ended <- m.Mix(t.Context(), x, x) }()
		<-s.dropped
		if _, offends := errors.AsType[*offence](s.reason); !offends {
			t.Errorf("%s: the stream ended with %v; it must be an offence", name, s.reason)
		}
		m.mu.Lock()
		m.neighbours.edge(0).detach(s, s.reason)
		m.mu.Unlock()
		if st := m.Status(); st.Neighbours[0].Offences != 1 || m.neighbours.edge(0).conduct.barred() == nil ||
			m.err != nil {
			t.Errorf("%s: %d offences, refused with %v, error %v; it must be refused after 1", name,
				st.Neighbours[0].Offences, m.neighbours.edge(0).conduct.barred(), m.err)
		}
		again := testkit.Get(opened(m, 0, 0))
		m.mu.Lock()
		again.announced = 0
		deliver(again, vectorOfOne(0, 1))
		m.mu.Unlock()
		if err := <-ended; err != nil || x[0] != 2 {
			t.Errorf("%s: the sum is %v, error %v; it must be 2, of the vector that came then", name, x, err)
		}
	}
}

// withCouncil gives agent 1 of a path a council and its two neighbours.
func withCouncil(m *Mixer, quorum int) (a, b *session) {
	m.config.Membership = &Membership{Quorum: quorum, AbsentAfter: time.Minute}
	m.chamber = &chamber{m: m}
	a, b = attached(m, 0, 0, 0), attached(m, 2, 0, 0)
	a.announced, b.announced = 0, 0 // both know that they are in epoch 0
	return a, b
}

// TestFailureIsAbsence: where there is a council, a neighbour that fails is left out, until it
// comes back as another process; the run ends where those that are left are no quorum. Nobody fails
// by the word of another one.
func TestFailureIsAbsence(t *testing.T) {
	fail := func(s *session, agent int) error {
		return s.e.handle(decoded(encode(header{kindFail, agent, network.Kind(dsbo.ErrConfig)}, []byte("no room"))))
	}
	m, _ := pathAgent(nil)
	a, b := withCouncil(m, 2)
	if err := fail(a, 2); err == nil || m.neighbours.edge(2).failure != nil {
		t.Errorf("agent 0 says that agent 2 failed: error %v; it must be one", err)
	}
	testkit.OK(fail(a, 0))
	if down := m.chamber.observe().Down; m.err != nil || !slices.Equal(down, []int{0}) {
		t.Errorf("error %v, and %v are absent; there must be none, and agent 0", m.err, down)
	}
	testkit.Get(opened(m, 0, 1))
	if down := m.chamber.observe().Down; len(down) > 0 {
		t.Errorf("%v are absent; agent 0 is back", down)
	}
	a.e.session.announced = 0
	testkit.OK(fail(a.e.session, 0))
	testkit.OK(fail(b, 2))
	if e := (*network.EndedError)(nil); !errors.As(m.err, &e) || e.Number != 2 || !errors.Is(m.err, dsbo.ErrPeer) ||
		m.ended.Number != 1 {
		t.Errorf(
			"error %v, and agent %d is said to have failed; the run must end by agent 2, and agent 1 must say "+
				"that of itself", m.err, m.ended.Number)
	}
}

// TestDivergenceEndsTheWait: where there is a council and no quorum without a member that has
// failed, the others wait for it to come back; not for longer than PeerTimeout if the run has
// diverged for it, as nobody starts it again. The agent here waits for a vector of agent 0, and
// hears agent 2.
func TestDivergenceEndsTheWait(t *testing.T) {
	for _, c := range []struct {
		name string
		kind error
		back bool // another process of agent 0 comes
		ends bool
	}{
		{name: "diverged", kind: dsbo.ErrDiverged, ends: true},
		{name: "diverged, and is back", kind: dsbo.ErrDiverged, back: true},
		{name: "disk full"},
		{name: "other flags", kind: dsbo.ErrConfig},
	} {
		m, _ := pathAgent(inSeconds)
		a, b := withCouncil(m, 2)
		publish(m, 0)
		deliver(b, vectorOfOne(0, 1))
		testkit.OK(a.e.handle(decoded(encode(header{kindFail, 0, network.Kind(c.kind)}, []byte("no more")))))
		if c.back {
			testkit.Get(opened(m, 0, 1))
		}
		for k := range 40 {
			m.neighbours.edge(2).silentBeats = 0
			if m.heartbeat(); (m.err != nil) != (c.ends && k >= 19) {
				t.Errorf("%s: after %d heartbeats the error is %v", c.name, k+1, m.err)
				break
			}
		}
		if c.ends && (!errors.Is(m.err, dsbo.ErrDiverged) || m.ended == nil || m.ended.Number != self ||
			!errors.Is(m.ended, dsbo.ErrDiverged)) {
			t.Errorf("%s: the error is %v, and neighbours are told %v; both must be that the run diverged",
				c.name, m.err, m.ended)
		}
	}
}
