package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// pathAgent returns agent 1 of the path 0-1-2, connected to nothing, and its log.
func pathAgent(change func(*Config)) (*Mixer, lines) {
	log, lines := newLog()
	c := Config{Agent: self, Matrix: newGraph("path", 3), Run: "run", Hash: "hash", Log: log}
	if change != nil {
		change(&c)
	}
	return testkit.Get(newMixer(c.withDefaults())), lines
}

// attached opens a stream to a neighbour that has sent and received as many vectors as the
// hello says.
func attached(m *Mixer, neighbour, vectors, next int) *session {
	s := newSession(m.neighbours.edge(neighbour), nil, time.Time{})
	h := goodHello(neighbour)
	h.sent, h.next = vectors, next
	testkit.OK(s.open(h))
	return s
}

// opened opens a stream to a neighbour's process of an instance, which has sent and received no
// vectors.
func opened(m *Mixer, neighbour int, instance uint64) (*session, error) {
	s := newSession(m.neighbours.edge(neighbour), nil, time.Time{})
	h := goodHello(neighbour)
	h.instance = instance
	return s, s.open(h)
}

// deliver hands the edge a frame.
func deliver(s *session, frame []byte) { testkit.OK(s.e.handle(decoded(frame))) }

// vectorOfOne is the frame of a vector of one number.
func vectorOfOne(exchange int, v float64) []byte { return encodeVector(exchange, mixing, []float64{v}) }

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
		f := decoded(b)
		name := [kindEnd]string{kindVector: "vector", kindAlive: "alive", kindResend: "resend", kindFail: "fail",
			kindKey: "key"}[f.kind]
		all = append(all, fmt.Sprintf("%s %d/%d", name, f.exchange, f.detail))
	}
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("agent %d is sent %q; it must be %q", s.e.id, got, want)
	}
}

// publish sends the vector of an exchange.
func publish(m *Mixer, exchange int) {
	m.flow.round = exchange
	testkit.OK(m.flow.publish(context.Background(), entry{frame: vectorOfOne(exchange, float64(exchange))}))
}

// TestNewStreamGoesOn: what was lost with a stream is sent on the next one, and nothing else.
func TestNewStreamGoesOn(t *testing.T) {
	m, _ := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	publish(m, 0)
	wantSent(t, s, "vector 0/0")
	m.neighbours.edge(0).detach(s, errors.New("cut"))
	wantSent(t, s, "")
	s = attached(m, 0, 0, 0)
	wantSent(t, s, "vector 0/0")
	s = attached(m, 0, 1, 1) // the neighbour opens another one
	wantSent(t, s, "")
	if n := m.Status().Neighbours[0]; n.Resent != 1 || n.Round != 1 || n.Connects != 3 {
		t.Errorf("%+v: 1 vector was sent again on 3 streams, and 1 is known of the neighbour", n)
	}
}

// TestNeighbourBehind: one that comes back gets what it has missed at its own pace.
func TestNeighbourBehind(t *testing.T) {
	m, _ := pathAgent(nil)
	for k := range 4 {
		publish(m, k)
	}
	m.neighbours.edge(0).received = 3
	s := attached(m, 0, 1, 1) // it has sent and received the vector of exchange 0
	wantSent(t, s, "vector 1/0")
	deliver(s, vectorOfOne(1, 5))
	wantSent(t, s, "vector 2/0")
	deliver(s, vectorOfOne(2, 5))
	wantSent(t, s, "vector 3/0")
}

// TestVectorsOutOfOrder end the stream, but for those that were on their way when this agent
// went back.
func TestVectorsOutOfOrder(t *testing.T) {
	m, _ := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	for k := range 3 {
		publish(m, k)
		deliver(s, vectorOfOne(k, 5))
	}
	for _, exchange := range []int{4, 1 << 61} {
		testkit.WantError(t, fmt.Sprintf("the vector of exchange %d where 3 is next", exchange),
			s.e.handle(decoded(encodeVector(exchange, mixing, nil))), nil, "must be that of exchange 3")
	}
	testkit.OK(m.Rewind(1))
	deliver(s, vectorOfOne(3, 5))
	wantSent(t, s, "resend 1/1, vector 0/0") // the neighbour has not had that one yet
	if m.neighbours.edge(0).received != 1 {
		t.Errorf("%d vectors have come; there must be 1 after the rewind", m.neighbours.edge(0).received)
	}
	deliver(s, vectorOfOne(1, 5))
	s = attached(m, 0, 4, 1)
	if err := s.e.handle(decoded(encodeVector(3, mixing, nil))); err == nil {
		t.Error("a vector out of order was accepted on a new stream")
	}
}

// TestVectorsThatDoNotCount: one that came before, and one of an exchange that this agent has not
// come to. A hello asks for the next one.
func TestVectorsThatDoNotCount(t *testing.T) {
	m, _ := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	deliver(s, vectorOfOne(0, 5))
	if s.e.handle(decoded(vectorOfOne(1, 5))) == nil || s.e.received != 1 {
		t.Errorf("%d vectors have come before the first was sent; there must be 1", s.e.received)
	}
	publish(m, 0)
	if deliver(s, vectorOfOne(0, 5)); s.e.received != 1 {
		t.Errorf("%d vectors have come, one of them twice; there must be 1", s.e.received)
	}
	if h := testkit.Get(readHello(decoded(s.e.hello()))); h.sent != 1 || h.next != 1 {
		t.Errorf("a hello says that %d vectors were sent and needs that of exchange %d; both must be 1", h.sent, h.next)
	}
}

// inSeconds has a heartbeat each second, and neighbours silent after 5 and lost after 20.
func inSeconds(c *Config) {
	c.Heartbeat, c.SilentAfter, c.PeerTimeout = time.Second, 5*time.Second, 20*time.Second
}

// TestSilence: a neighbour is named after SilentAfter, its stream given up, and the run ends after
// PeerTimeout.
func TestSilence(t *testing.T) {
	m, log := pathAgent(inSeconds)
	s := attached(m, 0, 0, 0)
	other := attached(m, 2, 0, 0)
	for k := range 19 {
		dropped := false
		select {
		case <-s.dropped:
			dropped = true
		default:
		}
		if named := m.neighbours.edge(0).silenceLogged; named != (k >= 5) || dropped != (k >= 5) {
			t.Fatalf("after %d s the neighbour is named: %v, its stream given up: %v", k, named, dropped)
		}
		m.heartbeat()
		deliver(other, alive(0))
	}
	log.waitFor(t, "level=WARN", "a neighbour is silent", "neighbour=0", "silent=5s", "connected=true")
	if m.err != nil {
		t.Fatalf("error %v after 19 s", m.err)
	}
	m.neighbours.edge(0).detach(s, s.reason)
	m.heartbeat()
	testkit.WantError(t, "after 20 s", m.err, network.ErrSilent,
		"agent 0 has been silent for 20s: nothing heard for 5s")
	if e, ok := errors.AsType[*network.SilentError](m.err); !ok || e.Processes[0] != "agent 0" ||
		e.Silent != 20*time.Second {
		t.Errorf("%+v after 20 s; it must say that agent 0 was silent", e)
	}
}

func TestBackFromSilence(t *testing.T) {
	m, log := pathAgent(inSeconds)
	for range 6 {
		m.heartbeat()
	}
	log.waitFor(t, "a neighbour is silent", "neighbour=2", "connected=false")
	attached(m, 2, 0, 0)
	log.waitFor(t, "level=INFO", "a neighbour is back", "neighbour=2", "silent=6s")
}

// TestRollback: a neighbour that needs what is no longer kept has this agent go back, once for all
// of them.
func TestRollback(t *testing.T) {
	m, log := pathAgent(func(c *Config) { c.KeepFrames = 2 })
	for k := range 10 {
		publish(m, k)
	}
	s := attached(m, 0, 9, 9)
	wantSent(t, s, "vector 9/0")
	attached(m, 2, 5, 5)
	deliver(s, encode(header{kindResend, 3, 3}, nil)) // it went back too
	log.waitFor(t, "level=WARN", "no longer kept", "neighbour=0", "from=3")
	err := m.Mix(t.Context(), []float64{9}, []float64{9})
	r, ok := errors.AsType[*network.RollbackError](err)
	if !ok || r.Round != 3 || r.Neighbour != 0 {
		t.Fatalf("error %v; it must be a rollback to exchange 3", err)
	}
	for _, round := range []int{11, -1} {
		if err := m.Rewind(round); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("rewind to %d: error %v must match dsbo.ErrConfig", round, err)
		}
	}
	if r, ok := errors.AsType[*network.RollbackError](m.Rewind(4)); !ok || r.Round != 3 {
		t.Error("rewind to 4 while a neighbour needs 3: it must be told so again")
	}
	testkit.OK(m.Rewind(2))
	wantSent(t, s, "resend 2/2")
	publish(m, 2)
	wantSent(t, s, "vector 2/0")
	if st := m.Status(); st.Round != 2 || st.Rewinds != 1 {
		t.Errorf("%+v; it must be at exchange 2 after 1 rewind", st)
	}
}

// TestMixAgain: after the end of a context the same exchange can be mixed again with the same
// numbers only.
func TestMixAgain(t *testing.T) {
	m, _ := pathAgent(nil)
	a, b := attached(m, 0, 0, 0), attached(m, 2, 0, 0)
	x := []float64{1}
	wantCanceled := func(ctx context.Context) {
		t.Helper()
		if err := m.Mix(ctx, x, x); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v must be context.Canceled", err)
		}
	}
	soonCanceled := func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		return ctx
	}
	ctx := soonCanceled()
	wantCanceled(ctx) // while it waits
	wantCanceled(ctx) // before it begins
	deliver(a, vectorOfOne(0, 1))
	deliver(b, vectorOfOne(0, 4))
	if err := m.Mix(t.Context(), x, x); err != nil || x[0] != 2 {
		t.Errorf("x = %v, error %v; it must be the mean 2", x, err)
	}
	if got := m.Status(); got.Vectors != 2 || got.VectorBytes != 16 {
		t.Errorf("%+v: the 2 vectors must be counted once", got)
	}
	wantCanceled(soonCanceled())
	if err := m.Mix(t.Context(), x, []float64{3}); !errors.Is(err, ErrConflict) {
		t.Errorf("error %v with other numbers must be a conflict", err)
	}
}

// TestEndOfStream: a neighbour that ends its stream has left for good if it had finished, else not.
func TestEndOfStream(t *testing.T) {
	m, log := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	m.neighbours.edge(0).detach(s, io.EOF)
	log.waitFor(t, "level=WARN", "lost the connection", "neighbour=0")
	if m.neighbours.edge(0).radius != 0 {
		t.Errorf("radius %d of one that had not finished", m.neighbours.edge(0).radius)
	}
	s = attached(m, 0, 0, 0)
	deliver(s, alive(1))
	if deliver(s, encode(header{kindResend, 0, 0}, nil)); m.neighbours.edge(0).radius != 0 {
		t.Errorf("radius %d of one that had finished and has gone back", m.neighbours.edge(0).radius)
	}
	deliver(s, alive(1))
	m.neighbours.edge(0).detach(s, io.EOF)
	if m.neighbours.edge(0).radius != m.finish.lastRadius() {
		t.Errorf("radius %d of one that has left; it must be %d", m.neighbours.edge(0).radius, m.finish.lastRadius())
	}
	for range 10_000 { // nobody waits for it
		testkit.OK(m.neighbours.edge(0).heartbeat())
	}
}

// TestSilenceAfterTheEnd: a neighbour that has finished, and has not left, is waited for as long as
// any other, and then is no loss if all have finished.
func TestSilenceAfterTheEnd(t *testing.T) {
	for _, tt := range []struct {
		radius, other int
		lost          bool
	}{{1, 1, true}, {2, 1, true}, {2, 3, false}} {
		m, _ := pathAgent(inSeconds)
		s, other := attached(m, 0, 0, 0), attached(m, 2, 0, 0)
		deliver(s, alive(tt.radius))
		m.finish.beginDrain()
		for k := range 20 {
			if m.err != nil || m.finish.drained() {
				t.Fatalf("radii %d and %d: error %v, drained %v after %d s", tt.radius, tt.other, m.err,
					m.finish.drained(), k)
			}
			deliver(other, alive(tt.other))
			m.heartbeat()
		}
		err := m.Drain(t.Context())
		if e, ok := errors.AsType[*network.SilentError](err); ok != tt.lost || ok && e.Processes[0] != "agent 0" ||
			!ok && err != nil {
			t.Errorf("radii %d and %d: error %v after 20 s, but agent 0 is lost: %v", tt.radius, tt.other, err, tt.lost)
		}
	}
}

func TestWindow(t *testing.T) {
	w := window{start: 5, maxFrames: 4, maxBytes: 100}
	add := func(sizes ...int) func() {
		return func() {
			for _, n := range sizes {
				w.add(entry{frame: make([]byte, n)})
			}
		}
	}
	rewind := func(exchange int) func() { return func() { w.rewind(exchange) } }
	for k, c := range []struct {
		event      func()
		start, end int
		bytes      int64
	}{
		{add(10, 10, 10, 10), 5, 9, 40},
		{add(11), 6, 10, 41},
		{add(79), 8, 11, 100},   // 10 too many, then 100 in all
		{add(200), 10, 12, 279}, // more than all: the last two stay
		{rewind(11), 10, 11, 79},
		{rewind(11), 10, 11, 79},
		{rewind(3), 3, 3, 0},
		{add(1), 3, 4, 1},
		{add(1), 3, 5, 2},
		{func() { w.complete(make([]byte, 50)) }, 3, 5, 52}, // of a reduction
		{add(60), 4, 6, 111},                                // the last two stay
		{rewind(4), 4, 4, 0},
	} {
		c.event()
		if w.start != c.start || w.end() != c.end || w.bytes != c.bytes {
			t.Errorf("event %d: window %d to %d with %d bytes; it must be %d to %d with %d", k, w.start, w.end(),
				w.bytes, c.start, c.end, c.bytes)
		}
	}
}
