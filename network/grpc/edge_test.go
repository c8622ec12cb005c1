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

// attached opens a stream to a neighbour that has sent and received as many vectors as the hello says.
func attached(t *testing.T, m *Mixer, neighbour, vectors, next int) *session {
	t.Helper()
	s := newSession(m.edge(neighbour), nil)
	h := goodHello(neighbour)
	h.sent, h.next = vectors, next
	if err := s.open(h); err != nil {
		t.Fatal(err)
	}
	return s
}

// deliver hands the edge a frame.
func deliver(t *testing.T, s *session, frame []byte) {
	t.Helper()
	if err := s.e.handle(decoded(t, frame)); err != nil {
		t.Fatal(err)
	}
}

func alive(radius int) []byte { return encode(header{kindAlive, 0, radius}, nil) }

// wantSent checks what the edge sends now, as kinds with their numbers.
func wantSent(t *testing.T, s *session, want string) {
	t.Helper()
	var all []string
	for {
		b, _ := s.e.nextFrame(s)
		if b == nil {
			break
		}
		f := decoded(t, b)
		name := [kindEnd]string{kindVector: "vector", kindAlive: "alive", kindResend: "resend", kindFail: "fail"}[f.kind]
		all = append(all, fmt.Sprintf("%s %d/%d", name, f.exchange, f.detail))
	}
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("agent %d is sent %q; it must be %q", s.e.id, got, want)
	}
}

func publish(t *testing.T, m *Mixer, v ...float64) {
	t.Helper()
	if err := m.publish(encodeVector(m.round, mixing, v), mixing, len(v)); err != nil {
		t.Fatal(err)
	}
}

// TestNewStreamGoesOn: what was lost with a stream is sent on the next one, and nothing else.
func TestNewStreamGoesOn(t *testing.T) {
	m, _ := pathAgent(t, nil)
	s := attached(t, m, 0, 0, 0)
	publish(t, m, 1)
	wantSent(t, s, "vector 0/0")
	m.edge(0).detach(s, errors.New("cut"))
	wantSent(t, s, "")
	s = attached(t, m, 0, 0, 0)
	wantSent(t, s, "vector 0/0")
	s = attached(t, m, 0, 1, 1) // the neighbour opens another one
	wantSent(t, s, "")
	if n := m.Status().Neighbours[0]; n.Resent != 1 || n.Round != 1 || n.Connects != 3 {
		t.Errorf("%+v: 1 vector was sent again on 3 streams, and 1 is known of the neighbour", n)
	}
}

// TestNeighbourBehind: one that comes back gets what it has missed at its own pace.
func TestNeighbourBehind(t *testing.T) {
	m, _ := pathAgent(t, nil)
	for k := range 4 {
		m.round = k
		publish(t, m, float64(k))
	}
	m.edge(0).received = 3
	s := attached(t, m, 0, 1, 1) // it has sent and received the vector of exchange 0
	wantSent(t, s, "vector 1/0")
	deliver(t, s, encodeVector(1, mixing, []float64{5}))
	wantSent(t, s, "vector 2/0")
	deliver(t, s, encodeVector(2, mixing, []float64{5}))
	wantSent(t, s, "vector 3/0")
}

// TestVectorsOutOfOrder end the stream, but for those that were on their way when this agent went back.
func TestVectorsOutOfOrder(t *testing.T) {
	m, _ := pathAgent(t, nil)
	s := attached(t, m, 0, 0, 0)
	for k := range 3 {
		m.round = k
		publish(t, m, 1)
		deliver(t, s, encodeVector(k, mixing, []float64{5}))
	}
	for _, exchange := range []int{4, 1 << 61} {
		if err := s.e.handle(decoded(t, encodeVector(exchange, mixing, nil))); err == nil || !strings.Contains(err.Error(), "must be that of exchange 3") {
			t.Errorf("the vector of exchange %d where 3 is next: error %v", exchange, err)
		}
	}
	if err := m.Rewind(1); err != nil {
		t.Fatal(err)
	}
	deliver(t, s, encodeVector(3, mixing, []float64{5}))
	wantSent(t, s, "resend 1/1, vector 0/0") // the neighbour has not had that one yet
	if m.edge(0).received != 1 {
		t.Errorf("%d vectors have come; there must be 1 after the rewind", m.edge(0).received)
	}
	deliver(t, s, encodeVector(1, mixing, []float64{5}))
	s = attached(t, m, 0, 4, 1)
	if err := s.e.handle(decoded(t, encodeVector(3, mixing, nil))); err == nil {
		t.Error("a vector out of order was accepted on a new stream")
	}
}

// TestOtherNumbersAreAnError, for all agents.
func TestOtherNumbersAreAnError(t *testing.T) {
	m, _ := pathAgent(t, nil)
	s, other := attached(t, m, 0, 0, 0), attached(t, m, 2, 0, 0)
	deliver(t, s, encodeVector(0, mixing, []float64{5}))
	s = attached(t, m, 0, 0, 0) // it came back and repeats itself
	deliver(t, s, encodeVector(0, mixing, []float64{5}))
	if m.err != nil || m.Status().Neighbours[0].Duplicates != 1 {
		t.Fatalf("error %v after the same numbers", m.err)
	}
	deliver(t, s, encodeVector(0, mixing, []float64{6}))
	if !errors.Is(m.err, ErrConflict) || !strings.Contains(m.err.Error(), "agent 0, exchange 0") {
		t.Errorf("error %v; it must be a conflict that names agent 0 and exchange 0", m.err)
	}
	b, _ := other.e.nextFrame(other)
	if f := decoded(t, b); f.kind != kindFail || f.exchange != self || string(f.text) != m.err.Error() {
		t.Errorf("the other neighbour is sent %+v, %q; it must be the failure of agent 1, %q", f.header, f.text, m.err)
	}
}

// TestFailureKeepsItsKind on its way through agents that have nothing to do with it.
func TestFailureKeepsItsKind(t *testing.T) {
	diverged := &dsbo.DivergedError{Agent: 1, Quantity: "y", Value: 1e300}
	for _, c := range []struct{ err, kind error }{
		{diverged, dsbo.ErrDiverged},
		{fmt.Errorf("agent 1: %w", context.Canceled), context.Canceled},
		{&network.SilentError{Last: context.DeadlineExceeded}, network.ErrSilent},
		{errors.New("disk\nfull"), nil},
	} {
		m, _ := pathAgent(t, nil)
		s := attached(t, m, 2, 0, 0)
		m.Fail(c.err)
		news, _ := s.e.nextFrame(s)
		for range 2 { // the second hears it from the first
			far, _ := pathAgent(t, nil)
			from, to := attached(t, far, 0, 0, 0), attached(t, far, 2, 0, 0)
			deliver(t, from, news)
			e, ok := errors.AsType[*network.EndedError](far.err)
			if !ok || e.Number != self || e.Reason != oneLine([]byte(c.err.Error())) || !errors.Is(e, network.ErrEnded) || e.Unwrap() != c.kind {
				t.Errorf("%v arrives as %v of kind %v, but it is of agent %d and of kind %v", c.err, far.err, errors.Unwrap(far.err), self, c.kind)
			}
			news, _ = to.e.nextFrame(to)
		}
	}
	m, _ := pathAgent(t, nil)
	s := attached(t, m, 0, 0, 0)
	deliver(t, s, encode(header{kindFail, 0, maxNumber}, []byte("disk full")))
	if e, ok := errors.AsType[*network.EndedError](m.err); !ok || e.Unwrap() != nil {
		t.Errorf("error %v; it must be the end of agent 0 for a reason of no kind", m.err)
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
	for k := range 19 {
		if named := m.edge(0).silenceLogged; named != (k >= 5) {
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
		m.heartbeat()
		deliver(t, other, alive(0))
	}
	log.want(t, "level=WARN", "a neighbour is silent", "neighbour=0", "silent=5s", "connected=true")
	if m.err != nil {
		t.Fatalf("error %v after 19 s", m.err)
	}
	m.edge(0).detach(s, s.reason)
	m.heartbeat()
	e, ok := errors.AsType[*network.SilentError](m.err)
	if !ok || e.Processes[0] != "agent 0" || e.Silent != 20*time.Second || !errors.Is(m.err, network.ErrSilent) ||
		!strings.Contains(m.err.Error(), "agent 0 has been silent for 20s: nothing heard for 5s") {
		t.Errorf("error %v after 20 s; it must say that agent 0 was silent", m.err)
	}
}

func TestBackFromSilence(t *testing.T) {
	m, log := pathAgent(t, func(c *Config) { c.Heartbeat, c.SilentAfter = time.Second, 2*time.Second })
	for range 3 {
		m.heartbeat()
	}
	log.want(t, "a neighbour is silent", "neighbour=2", "connected=false")
	attached(t, m, 2, 0, 0)
	log.want(t, "level=INFO", "a neighbour is back", "neighbour=2", "silent=3s")
}

// TestRollback: a neighbour that needs what is no longer kept has this agent go back, once for all of them.
func TestRollback(t *testing.T) {
	m, log := pathAgent(t, func(c *Config) { c.KeepFrames = 2 })
	for k := range 10 {
		m.round = k
		publish(t, m, float64(k))
	}
	s := attached(t, m, 0, 9, 9)
	wantSent(t, s, "vector 9/0")
	attached(t, m, 2, 5, 5)
	deliver(t, s, encode(header{kindResend, 3, 3}, nil)) // it went back too
	log.want(t, "level=WARN", "no longer kept", "neighbour=0", "from=3")
	err := m.Mix(t.Context(), []float64{9}, []float64{9})
	r, ok := errors.AsType[*network.RollbackError](err)
	if !ok || r.Round != 3 || r.Neighbour != 0 {
		t.Fatalf("error %v; it must be a rollback to exchange 3", err)
	}
	for _, round := range []int{4, 10, -1} {
		if err := m.Rewind(round); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("rewind to %d: error %v must match dsbo.ErrConfig", round, err)
		}
	}
	if err := m.Rewind(2); err != nil {
		t.Fatal(err)
	}
	wantSent(t, s, "resend 2/2")
	publish(t, m, 2)
	wantSent(t, s, "vector 2/0")
	if st := m.Status(); st.Round != 2 || st.Rewinds != 1 {
		t.Errorf("%+v; it must be at exchange 2 after 1 rewind", st)
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
			t.Fatalf("error %v must be context.Canceled", err)
		}
	}
	deliver(t, a, encodeVector(0, mixing, []float64{1}))
	deliver(t, b, encodeVector(0, mixing, []float64{4}))
	if err := m.Mix(t.Context(), x, x); err != nil || x[0] != 2 {
		t.Errorf("x = %v, error %v; it must be the mean 2", x, err)
	}
	if got := m.Status(); got.Vectors != 2 || got.VectorBytes != 16 {
		t.Errorf("%+v: the 2 vectors must be counted once", got)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := m.Mix(ctx, x, x); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v must be context.Canceled", err)
	}
	if err := m.Mix(t.Context(), x, []float64{3}); !errors.Is(err, ErrConflict) {
		t.Errorf("error %v with other numbers must be a conflict", err)
	}
}

// TestEndOfStream: a neighbour that ends its stream has left for good if it had finished, else not.
func TestEndOfStream(t *testing.T) {
	m, log := pathAgent(t, nil)
	s := attached(t, m, 0, 0, 0)
	m.edge(0).detach(s, io.EOF)
	log.want(t, "level=WARN", "lost the connection", "neighbour=0")
	if m.edge(0).radius != 0 {
		t.Errorf("radius %d of one that had not finished", m.edge(0).radius)
	}
	s = attached(t, m, 0, 0, 0)
	deliver(t, s, alive(1))
	m.edge(0).detach(s, io.EOF)
	if m.edge(0).radius != m.lastRadius() {
		t.Errorf("radius %d of one that has left; it must be %d", m.edge(0).radius, m.lastRadius())
	}
	for range 10_000 { // nobody waits for it
		if err := m.edge(0).heartbeat(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSilenceAfterTheEnd: a neighbour that has finished, and has not left, is waited for as long as any other, and then is
// no loss if all have finished.
func TestSilenceAfterTheEnd(t *testing.T) {
	for _, tt := range []struct {
		radius, other int
		lost          bool
	}{{1, 1, true}, {2, 1, true}, {2, 3, false}} {
		m, _ := pathAgent(t, func(c *Config) {
			c.Heartbeat, c.SilentAfter, c.PeerTimeout = time.Second, 5*time.Second, 20*time.Second
		})
		s, other := attached(t, m, 0, 0, 0), attached(t, m, 2, 0, 0)
		deliver(t, s, alive(tt.radius))
		m.beginDrain()
		for k := range 20 {
			if m.err != nil || m.drained() {
				t.Fatalf("radii %d and %d: error %v, drained %v after %d s", tt.radius, tt.other, m.err, m.drained(), k)
			}
			deliver(t, other, alive(tt.other))
			m.heartbeat()
		}
		err := m.Drain(t.Context())
		if e, ok := errors.AsType[*network.SilentError](err); ok != tt.lost || ok && e.Processes[0] != "agent 0" || !ok && err != nil {
			t.Errorf("radii %d and %d: error %v after 20 s, but agent 0 is lost: %v", tt.radius, tt.other, err, tt.lost)
		}
	}
}

func TestWindow(t *testing.T) {
	frame := func(n int) []byte { return bytes.Repeat([]byte{1}, n) }
	w := window{start: 5, maxFrames: 4, maxBytes: 100}
	want := func(start, end int, size int64) {
		t.Helper()
		if w.start != start || w.end() != end || w.bytes != size {
			t.Errorf("window %d to %d with %d bytes; it must be %d to %d with %d", w.start, w.end(), w.bytes, start, end, size)
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
