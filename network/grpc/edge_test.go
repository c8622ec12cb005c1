package grpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/network"
)

// pathAgent returns agent 1 of the path 0-1-2, connected to nothing, and its log.
func pathAgent(t *testing.T, change func(*Config)) (*Mixer, lines) {
	t.Helper()
	g, err := network.New("path", 3, network.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log, lines := newLog()
	c := Config{Agent: self, Matrix: g.W, Run: "run", Hash: "hash", Log: log}
	if change != nil {
		change(&c)
	}
	return newMixer(c.withDefaults()), lines
}

// attached opens a stream to a neighbour that has sent and received as many exchanges as the hello says.
func attached(t *testing.T, m *Mixer, neighbour, round, next int) *session {
	t.Helper()
	s := newSession(m.edge(neighbour), nil)
	h := goodHello(neighbour)
	h.round, h.next = round, next
	if err := s.open(h); err != nil {
		t.Fatal(err)
	}
	return s
}

// says hands the edge a frame.
func says(t *testing.T, s *session, frame []byte) {
	t.Helper()
	if err := s.e.handle(decoded(frame)); err != nil {
		t.Fatal(err)
	}
}

// vector is the frame of an exchange that the neighbour sends.
func vector(s *session, round int, v ...float64) []byte {
	return encodeData(s.e.m.run, s.e.id, round, mixing, v)
}

// sent returns what the edge sends now, as kinds with their numbers.
func sent(s *session) string {
	var all []string
	for {
		b, _ := s.e.take(s)
		if b == nil {
			return strings.Join(all, ", ")
		}
		f := decoded(b)
		all = append(all, fmt.Sprintf("%v %d/%d", f.kind, f.round, f.next))
	}
}

func wantSent(t *testing.T, s *session, want string) {
	t.Helper()
	if got := sent(s); got != want {
		t.Errorf("agent %d is sent %q, want %q", s.e.id, got, want)
	}
}

func publish(t *testing.T, m *Mixer, v ...float64) {
	t.Helper()
	if err := m.publish(encodeData(m.run, m.config.Agent, m.round, mixing, v), mixing, len(v)); err != nil {
		t.Fatal(err)
	}
}

// TestLostVectorIsAskedFor: a heartbeat shows that a vector was lost, and the answer is the vector.
func TestLostVectorIsAskedFor(t *testing.T) {
	m, _ := pathAgent(t, nil)
	s := attached(t, m, 0, 0, 0)
	says(t, s, encode(header{kind: kindPing, run: m.run, round: 1, seq: 1}, nil))
	wantSent(t, s, "ask 0/0")
	says(t, s, vector(s, 0, 5))
	wantSent(t, s, "")
	publish(t, m, 1)
	wantSent(t, s, "data 0/0")
	says(t, s, encode(header{kind: kindAsk, run: m.run, round: 1, next: 0, seq: 2}, nil))
	wantSent(t, s, "data 0/0")
	// One that was overtaken says nothing any more.
	says(t, s, encode(header{kind: kindAsk, run: m.run, round: 1, next: 0, seq: 1}, nil))
	wantSent(t, s, "")
	if n := m.Status().Neighbours[0]; n.Resent != 1 || n.Round != 1 {
		t.Errorf("%+v, want 1 vector resent and 1 exchange known", n)
	}
}

// TestDamagedFrameIsAskedFor also when it was a vector that nothing else would miss for a while.
func TestDamagedFrameIsAskedFor(t *testing.T) {
	m, _ := pathAgent(t, nil)
	s := attached(t, m, 2, 0, 0)
	says(t, s, flip(vector(s, 0, 5)))
	wantSent(t, s, "ask 0/0")
	if n := m.Status().Neighbours[1]; n.Damaged != 1 || n.FramesReceived != 1 || n.BytesReceived != headerSize+8 {
		t.Errorf("%+v, want 1 damaged frame of %d bytes", n, headerSize+8)
	}
}

// TestNeighbourBehind: one that comes back gets what it has missed at its own pace.
func TestNeighbourBehind(t *testing.T) {
	m, _ := pathAgent(t, nil)
	for k := range 4 {
		m.round = k
		publish(t, m, float64(k))
	}
	s := attached(t, m, 0, 1, 1) // it has sent and received exchange 0
	wantSent(t, s, "data 1/0")
	says(t, s, vector(s, 1, 5))
	wantSent(t, s, "ask 2/0, data 2/0") // exchange 0 of it was lost here
	says(t, s, vector(s, 2, 5))
	wantSent(t, s, "data 3/0")
}

// TestOtherBytesAreAnError, for all agents.
func TestOtherBytesAreAnError(t *testing.T) {
	m, _ := pathAgent(t, nil)
	s, other := attached(t, m, 0, 0, 0), attached(t, m, 2, 0, 0)
	says(t, s, vector(s, 0, 5))
	says(t, s, vector(s, 0, 5))
	if m.err != nil || m.Status().Neighbours[0].Duplicates != 1 {
		t.Fatalf("error %v after the same bytes, want none", m.err)
	}
	says(t, s, vector(s, 0, 6))
	if !errors.Is(m.err, ErrConflict) || !strings.Contains(m.err.Error(), "agent 0, exchange 0") {
		t.Errorf("error %v, want a conflict that names agent 0 and exchange 0", m.err)
	}
	b, _ := other.e.take(other)
	if f := decoded(b); f.kind != kindFail || f.round != self || string(f.text) != m.err.Error() {
		t.Errorf("the other neighbour is told %v of agent %d, %q; want the failure of agent 1, %q", f.kind, f.round, f.text, m.err)
	}
}

// TestFailureIsPassedOn with the name of the agent that failed.
func TestFailureIsPassedOn(t *testing.T) {
	m, _ := pathAgent(t, nil)
	s, other := attached(t, m, 0, 0, 0), attached(t, m, 2, 0, 0)
	says(t, s, encode(header{kind: kindFail, run: m.run, round: 7}, []byte("disk\nfull")))
	err := m.Mix(t.Context(), nil, nil)
	if e, ok := errors.AsType[*EndedError](err); !ok || e.Agent != 7 || e.Reason != "disk full" || !errors.Is(err, network.ErrEnded) {
		t.Errorf("error %v, want that agent 7 has ended the run", err)
	}
	b, _ := other.e.take(other)
	if f := decoded(b); f.kind != kindFail || f.round != 7 || string(f.text) != "disk full" {
		t.Errorf("the other neighbour is told %v of agent %d, %q; want the failure of agent 7", f.kind, f.round, f.text)
	}
}

// TestFailureKeepsItsKind on its way through agents that have nothing to do with it.
func TestFailureKeepsItsKind(t *testing.T) {
	diverged := &dsbo.DivergedError{Agent: 1, Quantity: "y", Value: 1e300}
	for _, c := range []struct{ err, kind error }{
		{diverged, dsbo.ErrDiverged},
		{fmt.Errorf("agent 1: %w", context.Canceled), context.Canceled},
		{&SilentError{Agent: 0, Last: context.DeadlineExceeded}, network.ErrSilent},
		{errors.New("disk full"), nil},
	} {
		m, _ := pathAgent(t, nil)
		s := attached(t, m, 2, 0, 0)
		m.Fail(c.err)
		told, _ := s.e.take(s)
		for range 2 { // the second hears it from the first
			far, _ := pathAgent(t, nil)
			from, to := attached(t, far, 0, 0, 0), attached(t, far, 2, 0, 0)
			f := decoded(told)
			f.from = 0
			if err := from.e.handle(f); err != nil {
				t.Fatal(err)
			}
			e, ok := errors.AsType[*EndedError](far.err)
			if !ok || e.Agent != self || e.Reason != c.err.Error() || !errors.Is(e, network.ErrEnded) || e.Unwrap() != c.kind {
				t.Errorf("%v arrives as %v of kind %v, want it of agent %d and of kind %v", c.err, far.err, errors.Unwrap(far.err), self, c.kind)
			}
			told, _ = to.e.take(to)
		}
	}
	m, _ := pathAgent(t, nil)
	s := attached(t, m, 0, 0, 0)
	says(t, s, encode(header{kind: kindFail, run: m.run, next: maxRound}, []byte("disk full")))
	if e, ok := errors.AsType[*EndedError](m.err); !ok || e.Unwrap() != nil {
		t.Errorf("error %v, want the end of agent 0 for a reason of no kind", m.err)
	}
}

// TestSilence: a neighbour is named after SilentAfter, its stream given up, and the run ends after
// PeerTimeout.
func TestSilence(t *testing.T) {
	m, log := pathAgent(t, func(c *Config) {
		c.Heartbeat, c.SilentAfter, c.PeerTimeout = time.Second, 5*time.Second, 20*time.Second
	})
	s := attached(t, m, 0, 0, 0)
	other := attached(t, m, 2, 0, 0)
	alive := func(seq uint32) {
		says(t, other, encode(header{kind: kindPing, run: m.run, from: 2, seq: seq}, nil))
	}
	for k := range 19 {
		if named := m.edge(0).named; named != (k >= 5) {
			t.Fatalf("after %d s the neighbour is named: %v", k, named)
		}
		select {
		case <-s.dropped:
			if k < 5 {
				t.Fatalf("the stream was given up after %d s", k)
			}
		default:
			if k >= 5 {
				t.Fatalf("the stream was not given up after %d s", k)
			}
		}
		m.beat()
		alive(uint32(k + 1))
	}
	log.want(t, "level=WARN", "a neighbour is silent", "neighbour=0", "silent=5s", "connected=true")
	if m.err != nil {
		t.Fatalf("error %v after 19 s, want none", m.err)
	}
	m.edge(0).detach(s, s.reason)
	m.beat()
	e, ok := errors.AsType[*SilentError](m.err)
	if !ok || e.Agent != 0 || e.Silent != 20*time.Second || !errors.Is(m.err, network.ErrSilent) ||
		!strings.Contains(m.err.Error(), "agent 0 has been silent for 20s: nothing heard for 5s") {
		t.Errorf("error %v after 20 s, want that agent 0 was silent", m.err)
	}
}

func TestBackFromSilence(t *testing.T) {
	m, log := pathAgent(t, func(c *Config) { c.Heartbeat, c.SilentAfter = time.Second, 2*time.Second })
	for range 3 {
		m.beat()
	}
	log.want(t, "a neighbour is silent", "neighbour=2", "connected=false")
	attached(t, m, 2, 0, 0)
	log.want(t, "level=INFO", "a neighbour is back", "neighbour=2", "silent=3s")
}

// TestRollback: who asks for what is no longer held has this agent go back, once for all of them.
func TestRollback(t *testing.T) {
	m, log := pathAgent(t, func(c *Config) { c.KeepFrames = 2 })
	for k := range 10 {
		m.round = k
		publish(t, m, float64(k))
	}
	s := attached(t, m, 0, 9, 9)
	sent(s)
	attached(t, m, 2, 5, 5)
	says(t, s, encode(header{kind: kindAsk, run: m.run, round: 9, next: 3, seq: 1}, nil))
	log.want(t, "level=WARN", "no longer held", "neighbour=0", "from=3")
	err := m.Mix(t.Context(), []float64{9}, []float64{9})
	r, ok := errors.AsType[*network.RollbackError](err)
	if !ok || r.Round != 3 || r.Neighbour != 0 || !errors.Is(err, network.ErrRollback) {
		t.Fatalf("error %v, want a rollback to exchange 3", err)
	}
	for _, round := range []int{4, 10, -1} {
		if err := m.Rewind(round); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("rewind to %d: %v, want dsbo.ErrConfig", round, err)
		}
	}
	if err := m.Rewind(2); err != nil {
		t.Fatal(err)
	}
	wantSent(t, s, "ask 2/2")
	publish(t, m, 2)
	wantSent(t, s, "data 2/0")
	if st := m.Status(); st.Round != 2 || st.Rewinds != 1 {
		t.Errorf("%+v, want exchange 2 after 1 rewind", st)
	}
}

// TestMixAgain: after the end of a context the same exchange can be mixed again with the same numbers only.
func TestMixAgain(t *testing.T) {
	m, _ := pathAgent(t, nil)
	a, b := attached(t, m, 0, 0, 0), attached(t, m, 2, 0, 0)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	x := []float64{1}
	for range 2 { // while it waits, and before it begins
		if err := m.Mix(ctx, x, x); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want context.Canceled", err)
		}
	}
	says(t, a, vector(a, 0, 1))
	says(t, b, vector(b, 0, 4))
	if err := m.Mix(t.Context(), x, x); err != nil || x[0] != 2 {
		t.Errorf("x = %v, error %v, want the mean 2", x, err)
	}
	if got := m.Stats(); got != (network.Stats{Messages: 2, Floats: 2, Bytes: 16}) {
		t.Errorf("%+v, want the 2 vectors counted once", got)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := m.Mix(ctx, x, x); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if err := m.Mix(t.Context(), x, []float64{3}); !errors.Is(err, ErrConflict) {
		t.Errorf("error %v with other numbers, want a conflict", err)
	}
}

// TestEndOfStream: a neighbour that ends its stream has left for good if it had finished, else not.
func TestEndOfStream(t *testing.T) {
	m, log := pathAgent(t, nil)
	s := attached(t, m, 0, 0, 0)
	m.edge(0).detach(s, io.EOF)
	log.want(t, "level=WARN", "lost the connection", "neighbour=0")
	if m.edge(0).level != 0 {
		t.Errorf("level %d, want 0", m.edge(0).level)
	}
	s = attached(t, m, 0, 0, 0)
	says(t, s, encode(header{kind: kindDone, run: m.run, next: 1, seq: 1}, nil))
	m.edge(0).detach(s, io.EOF)
	if m.edge(0).level != m.top() {
		t.Errorf("level %d, want %d", m.edge(0).level, m.top())
	}
	for range 10_000 { // nobody waits for it
		if err := m.edge(0).beat(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSilenceAfterTheEnd: a neighbour that has finished, and has not left, is waited for as long as any other, and then is
// no loss if all have finished.
func TestSilenceAfterTheEnd(t *testing.T) {
	for _, tt := range []struct {
		level, other int
		lost         bool
	}{{1, 1, true}, {2, 1, true}, {2, 3, false}} {
		m, _ := pathAgent(t, func(c *Config) {
			c.Heartbeat, c.SilentAfter, c.PeerTimeout = time.Second, 5*time.Second, 20*time.Second
		})
		s, other := attached(t, m, 0, 0, 0), attached(t, m, 2, 0, 0)
		says(t, s, encode(header{kind: kindDone, run: m.run, next: tt.level, seq: 1}, nil))
		m.beginDrain()
		for k := range 20 {
			if m.err != nil || m.drained() {
				t.Fatalf("levels %d and %d: error %v, drained %v after %d s", tt.level, tt.other, m.err, m.drained(), k)
			}
			says(t, other, encode(header{kind: kindDone, run: m.run, from: 2, next: tt.other, seq: uint32(k + 1)}, nil))
			m.beat()
		}
		err := m.Drain(t.Context())
		if e, ok := errors.AsType[*SilentError](err); ok != tt.lost || ok && e.Agent != 0 || !ok && err != nil {
			t.Errorf("levels %d and %d: error %v after 20 s, want that agent 0 is lost: %v", tt.level, tt.other, err, tt.lost)
		}
	}
}

func TestWindow(t *testing.T) {
	frame := func(n int) []byte { return bytes.Repeat([]byte{1}, n) }
	w := window{start: 5, maxFrames: 4, maxBytes: 100}
	want := func(start, end int, size int64) {
		t.Helper()
		if w.start != start || w.end() != end || w.bytes != size {
			t.Errorf("window %d to %d with %d bytes, want %d to %d with %d", w.start, w.end(), w.bytes, start, end, size)
		}
	}
	for range 4 {
		w.add(frame(10))
	}
	want(5, 9, 40)
	w.add(frame(11))
	want(6, 10, 41)
	w.add(frame(79)) // 10 too many, then 100 in all
	want(8, 11, 100)
	w.add(frame(200)) // more than all: the last two stay
	want(10, 12, 279)
	w.rewind(11)
	want(10, 11, 79)
	w.rewind(11)
	want(10, 11, 79)
	w.rewind(3)
	want(3, 3, 0)
	w.add(frame(1))
	want(3, 4, 1)
}
