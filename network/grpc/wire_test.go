package grpc

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"strings"
	"sync"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/grpc/holdup"
	"dsbo/network/networktest"
)

// A tap keeps all bytes that go through the connections of a listener.
type tap struct {
	net.Listener
	mu    sync.Mutex
	bytes []byte
}

func (t *tap) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	return tapped{c, t}, err
}

func (t *tap) record(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, b...)
}

type tapped struct {
	net.Conn
	tap *tap
}

func (c tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.tap.record(b[:n])
	return n, err
}

func (c tapped) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.tap.record(b[:n])
	return n, err
}

// A recorder keeps the vectors that an agent gives to Mix.
type recorder struct {
	dsbo.Mixer
	given map[string]bool
}

// Mix implements dsbo.Mixer.
func (r recorder) Mix(ctx context.Context, dst, src []float64) error {
	r.given[string(encodeVector(0, mixing, src)[headerSize:])] = true
	return r.Mixer.Mix(ctx, dst, src)
}

// A frameLog keeps the frames that an agent sends to one neighbour.
type frameLog struct {
	Sender
	mu     *sync.Mutex
	frames *[][]byte
}

func (l frameLog) Send(frame []byte) error {
	l.mu.Lock()
	*l.frames = append(*l.frames, frame)
	l.mu.Unlock()
	return l.Sender.Send(frame)
}

// TestDataStays runs MA-DSBO between three agents without encryption and looks at what is sent.
// Each frame is a vector that the method exchanges, of a length that only the model gives, or a few
// bytes of bookkeeping; nothing of an agent's examples is among the bytes on the connections.
func TestDataStays(t *testing.T) {
	const n, iterations = 3, 4
	synthetic := data.Synthetic{Agents: n, Features: 6, Train: 40, Val: 40, Test: 1, Seed: 3}
	cs := configs(newGraph("ring", n), nil)
	taps := make([]*tap, n)
	given := make([]map[string]bool, n)
	frames := make([][][]byte, n)
	var mu sync.Mutex
	for i := range cs {
		taps[i] = &tap{Listener: cs[i].Listener}
		cs[i].Listener = taps[i]
		cs[i].Insecure = true // a tap has no TCP address of its own to check
		given[i] = map[string]bool{}
		cs[i].Wrap = func(_ int, s Sender) Sender { return frameLog{s, &mu, &frames[i]} }
	}
	ms, closeAll := open(cs)
	succeed(ms, func(i int, m *Mixer) error {
		if _, err := runMADSBO(t.Context(), synthetic, i, recorder{m, given[i]}, iterations); err != nil {
			return err
		}
		return m.Drain(t.Context())
	})
	var total int64
	for i, m := range ms {
		total += m.Status().VectorBytes
		for _, n := range m.Status().Neighbours {
			if n.FramesSent == 0 || n.Resent != 0 {
				t.Errorf("agent %d: %+v; there must be frames, and none sent again", i, n)
			}
		}
	}
	closeAll()

	count := 0
	for i := range frames {
		count += len(frames[i])
		for _, f := range frames[i] {
			// what the agent does, and for whom it waits
			report := kind(f[5]) == kindAlive && len(f) == headerSize+len(holdup.Report{}.Encode())
			if payload := f[headerSize:]; len(payload) > 0 && !report && !given[i][string(payload)] {
				t.Errorf("agent %d sent %d bytes that its method did not give to Mix", i, len(payload))
			}
		}
	}
	seen := 0
	for _, tap := range taps {
		seen += len(tap.bytes)
		for i := range n {
			wantAbsent(t, synthetic, i, tap.bytes)
		}
	}
	// Beyond the numbers: a header and what gRPC adds for each frame, and the opening of
	// each stream.
	const perFrame, perStream = headerSize + 100, 4096
	if limit := total + int64(perFrame*count+perStream*n); int64(seen) < total || int64(seen) > limit {
		t.Errorf("%d bytes went over the connections; they must be the %d of the vectors to %d", seen, total, limit)
	}
}

// runMADSBO runs one agent of the paper's method on the paper's synthetic task.
func runMADSBO(ctx context.Context, s data.Synthetic, agent int, m dsbo.Mixer, iterations int) (dsbo.Algorithm, error) {
	model := testkit.Get(models.ByName("logistic", models.Size{Features: s.Features}))
	oracle := testkit.Get(models.NewOracle(model, testkit.Get(s.Shard(agent)),
		models.Config{Agent: agent, Seed: 1, Batch: 8}))
	p, q := oracle.Dims()
	a := &algo.MADSBO{T: 2, N: 2, Beta: "1e-3", Gamma: "1e-3"}
	testkit.OK(a.Init(p, q, iterations))
	for k := range iterations {
		if err := a.Step(ctx, k, oracle, m); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// TestSameBitsAsLocal: the method ends in the same state, whichever way its vectors take, also if
// the connections break. The vectors are long enough that the exchange calls kernels.
func TestSameBitsAsLocal(t *testing.T) {
	const n, iterations = 4, 8
	synthetic := data.Synthetic{Agents: n, Features: 100, Train: 40, Val: 40, Test: 1, Seed: 3}
	w := newGraph("complete", n)
	var cutters []*cutter
	ms := openAgents(t, w, func(c *Config) { cutters = append(cutters, cutConnections(c)) })
	ctx, cancel := context.WithCancel(networktest.Context(t))
	defer cancel()
	run := func(mixer func(i int) dsbo.Mixer) [][]float64 {
		states := make([][]float64, n)
		testkit.OK(errors.Join(networktest.RunAll(n, func(i int) error {
			a, err := runMADSBO(ctx, synthetic, i, mixer(i), iterations)
			if err != nil {
				cancel()
				return err
			}
			for _, part := range a.State() {
				states[i] = append(states[i], part.Value...)
			}
			return nil
		})...))
		return states
	}
	want := run(network.NewLocal(w).Mixer)
	got := run(func(i int) dsbo.Mixer { return ms[i] })
	wantSameBits(t, got, want)
	wantCuts(t, cutters, ms)
}

// wantAbsent checks that no number of an agent's examples is in the bytes, at any offset.
func wantAbsent(t *testing.T, s data.Synthetic, agent int, sent []byte) {
	t.Helper()
	shard, own := testkit.Get(s.Shard(agent)), map[uint64]bool{}
	for _, e := range []data.Examples{shard.Train, shard.Val} {
		for i := range e.X.Rows() {
			for j := range e.X.Cols() {
				own[math.Float64bits(e.X.At(i, j))] = true
			}
		}
	}
	for at := 0; at+8 <= len(sent); at++ {
		if bits := binary.LittleEndian.Uint64(sent[at:]); own[bits] {
			t.Errorf("a feature of an example of agent %d, %v, is at byte %d of what was sent", agent,
				math.Float64frombits(bits), at)
			return
		}
	}
}

// TestOthersText: whatever text a neighbour sends, what this agent shows of it is printable: the
// error with which it ends, its status, and the reason for which a neighbour is not connected.
func TestOthersText(t *testing.T) {
	const sent = "disk\x1b[2J\u202e\nagent 2 says"
	m, _ := pathAgent(nil)
	e := m.neighbours.edge(0)
	e.noteRefusal(errors.New(sent))
	testkit.OK(e.handleFail(decoded(fails(0, 0, sent))))
	e.failure = errors.New(sent)
	for what, text := range map[string]string{
		"the end": m.err.Error(), "the fault": e.snapshot().Fault, "the refusal": e.lastErr.Error(),
	} {
		if !wording.Printable(text) || !strings.Contains(text, `disk\x1b[2J\u202e\nagent 2 says`) {
			t.Errorf("%s is %q; it must be printable", what, text)
		}
	}
}
