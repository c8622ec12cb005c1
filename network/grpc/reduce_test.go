package grpc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/grpc/holdup"
	"dsbo/network/networktest"
)

// wordsOf returns an agent's words of some bits: the same ones for the same arguments.
func wordsOf(agent, bits, length int) []uint64 {
	r := rand.New(rand.NewPCG(uint64(agent), uint64(bits)))
	words := make([]uint64, length)
	for i := range words {
		words[i] = r.Uint64() >> (64 - bits)
	}
	return words
}

// combined returns the words of all agents combined, as a loop over them gives it.
func combined(op network.Op, n, bits, length int) []uint64 {
	all := wordsOf(0, bits, length)
	for i := 1; i < n; i++ {
		op.Combine(bits, all, wordsOf(i, bits, length))
	}
	for i := range all {
		all[i] &= ^uint64(0) >> (64 - bits)
	}
	return all
}

// reduceWords has an agent reduce its words and checks the result.
func reduceWords(ctx context.Context, m *Mixer, op network.Op, bits, length int) error {
	words := wordsOf(m.config.Agent, bits, length)
	if err := m.Reduce(ctx, op, bits, words); err != nil {
		return err
	}
	if want := combined(op, m.config.Matrix.N(), bits, length); !slices.Equal(words, want) {
		return fmt.Errorf("agent %d has %v of %d words of %d bits; it must be %v", m.config.Agent, words,
			length, bits, want)
	}
	return nil
}

// TestFramesOfReductions: a reduction takes one frame in each direction of an edge, with words
// where that is an edge of the tree, which the log tells.
func TestFramesOfReductions(t *testing.T) {
	const n, reductions = 8, 5
	var frames, payloads atomic.Int64
	log, lines := newLog()
	w := newGraph("ring", n)
	ms := openAgents(t, w, func(c *Config) {
		c.Log = log
		c.Wrap = func(_ int, s Sender) Sender {
			return counted{s, func(f *frame) {
				if f.kind == kindVector {
					frames.Add(1)
					payloads.Add(int64(min(len(f.data), 1)))
				}
			}}
		}
	})
	ctx := networktest.Context(t)
	succeed(ms, func(_ int, m *Mixer) error {
		for range reductions {
			if err := reduceWords(ctx, m, network.Sum, 32, 100); err != nil {
				return err
			}
		}
		return m.Drain(ctx)
	})
	if frames.Load() != reductions*2*n || payloads.Load() != reductions*2*(n-1) {
		t.Errorf("%d frames, %d with words; they must be %d and %d", frames.Load(), payloads.Load(),
			reductions*2*n, reductions*2*(n-1))
	}
	tree := w.Tree()
	lines.waitFor(t, "a tree", fmt.Sprintf("root=%d height=%d", tree.Root, tree.Height))
}

// counted calls a function for each frame before it sends it.
type counted struct {
	Sender
	count func(*frame)
}

func (c counted) Send(frame []byte) error {
	c.count(decoded(frame))
	return c.Sender.Send(frame)
}

// TestStages: an agent of a path waits for the one below it, then, when it has sent to the one
// above, for that one, and sends the result down last; who holds it up is named by that order. The
// agents are 0 to 4, agent 2 is the root, and the one here is agent 1.
func TestStages(t *testing.T) {
	purpose := reducing(network.Sum, 63, 1)
	words := func(v byte) []byte { return encode(header{kindVector, 0, purpose}, []byte{v, 0, 0, 0, 0, 0, 0, 0}) }
	m, _ := pathAgent(func(c *Config) { c.Unmasked, c.Matrix = true, newGraph("path", 5) })
	below, above := attached(m, 0, 0, 0), attached(m, 2, 0, 0)
	wantHoldup := func(when string, agent int, cause holdup.Cause) {
		t.Helper()
		if h := m.holdup(); h == nil && agent >= 0 || h != nil && (h.Agent != agent || h.Cause != cause) {
			t.Errorf("%s: held up by %+v; it must be agent %d, as %v", when, h, agent, cause)
		}
	}
	says := func(holder int, cause holdup.Cause) {
		deliver(above, reporting(saying(holdup.Exchanging, 0, holder, cause)))
	}
	sent := func(s *session) string {
		b, _ := s.e.nextFrame(s)
		if b == nil {
			return "nothing"
		}
		return fmt.Sprint(decoded(b).data)
	}
	ctx := networktest.Context(t)
	testkit.OK(m.flow.beginStaged(ctx, 2))
	says(self, holdup.ByWithholding)
	wantHoldup("nothing has come", 0, holdup.ByWithholding)
	deliver(below, words(5))
	wantHoldup("what is below has come", -1, 0)
	if sent(above) != "nothing" || sent(below) != "nothing" {
		t.Error("something is sent before the words are combined")
	}
	testkit.OK(m.flow.publishUp(ctx, entry{frame: words(7), to: []int{2}, below: []int{0}, sends: 1}))
	if up, down := sent(above), sent(below); up != "[7 0 0 0 0 0 0 0]" || down != "nothing" {
		t.Errorf("%s goes up and %s down; it must be 7 and nothing", up, down)
	}
	wantHoldup("the result is due, the root says that this agent withholds", 2, holdup.ByWithholding)
	says(3, holdup.ByComputing)
	wantHoldup("the root waits for agent 3", 3, holdup.ByComputing)
	says(0, holdup.BySilence)
	wantHoldup("the root waits for one who has sent", 2, holdup.ByWithholding)
	deliver(above, words(9))
	testkit.OK(m.flow.publishDown(ctx, words(9)))
	if up, down := sent(above), sent(below); up != "nothing" || down != "[9 0 0 0 0 0 0 0]" {
		t.Errorf("%s goes up and %s down; it must be nothing and 9", up, down)
	}
	if m.vectors != 2 || m.vectorBytes != 16 {
		t.Errorf("%d vectors with %d bytes are counted; they must be 2 with 16", m.vectors, m.vectorBytes)
	}
	if err := m.flow.publishDown(ctx, words(8)); !errors.Is(err, ErrConflict) {
		t.Errorf("error %v for another result; it must match %q", err, ErrConflict)
	}
}

// TestAverageCounts: what goes over the wire, in Mix and in averages, is what the layer above
// counts, and the result has the bits that agents of one process find.
func TestAverageCounts(t *testing.T) {
	const n, length = 6, 300
	w := newGraph("erdos-renyi", n)
	for _, c := range []struct {
		wire     network.Wire
		unmasked bool
	}{{network.Float64, true}, {network.Float64, false}, {network.Float32, false}, {network.BF16, false},
		{network.Int8, false}} {
		t.Run(fmt.Sprintf("%v/unmasked=%v", c.wire, c.unmasked), func(t *testing.T) {
			if testing.Short() && c.wire != network.BF16 {
				t.Skip("another wire")
			}
			ctx := networktest.Context(t)
			local := network.NewLocal(w)
			defer local.Close()
			inProcess := testkit.Get(network.NewAverages(local, w, network.AverageOptions{Wire: c.wire}))
			ms := openAgents(t, w, func(config *Config) { config.Wire, config.Unmasked = c.wire, c.unmasked })
			turn := func(averages *network.Averages, i int) (dsbo.Traffic, []float64, error) {
				a, v := averages.Agent(i), startVector(i, length)
				err := errors.Join(a.Mix(ctx, v, v), a.Average(ctx, v))
				return a.Sent(), v, err
			}
			want, got := make([][]float64, n), make([][]float64, n)
			testkit.OK(errors.Join(networktest.RunAll(n, func(i int) (err error) {
				_, want[i], err = turn(inProcess, i)
				return err
			})...))
			succeed(ms, func(i int, m *Mixer) error {
				sent, v, err := turn(testkit.Get(network.NewAverages(m, w, network.AverageOptions{Wire: c.wire})), i)
				got[i] = v
				if s := m.Status(); s.Vectors != sent.Messages || s.VectorBytes != sent.Bytes || sent.Bytes == 0 {
					t.Errorf("agent %d: %d payloads with %d bytes went over the wire; %+v were counted", i, s.Vectors,
						s.VectorBytes, sent)
				}
				return err
			})
			wantSameBits(t, got, want)
		})
	}
}

// TestReduceAll: several kinds of words are reduced in one exchange, each as by itself, and no two
// of them are under the same masks: what an agent sends of zeros is all different.
func TestReduceAll(t *testing.T) {
	const n = 4
	kinds := [][2]int{{64, 90}, {32, 57}, {44, 12}, {7, 0}, {11, 30}} // bits and words
	for _, op := range []network.Op{network.Sum, network.Max} {
		ctx := networktest.Context(t)
		ms := openAgents(t, newGraph("ring", n), nil)
		succeed(ms, func(i int, m *Mixer) error {
			var all []network.Reduction
			for _, k := range kinds {
				all = append(all, network.Reduction{Op: op, Bits: k[0], Words: wordsOf(i, k[0], k[1])})
			}
			if err := m.ReduceAll(ctx, all); err != nil {
				return err
			}
			for k, x := range all {
				if want := combined(op, n, x.Bits, len(x.Words)); !slices.Equal(x.Words, want) {
					return fmt.Errorf("kind %d: %v; it must be %v", k, x.Words, want)
				}
			}
			return reduceWords(ctx, m, op, 5, 3)
		})
		if s := ms[0].Status(); s.Round != 2 {
			t.Errorf("%d exchanges; there must be 2", s.Round)
		}
	}
	var mu sync.Mutex
	var frames [][]byte
	ctx := networktest.Context(t)
	ms := openAgents(t, newGraph("path", 3), func(c *Config) {
		if c.Agent == 0 {
			c.Wrap = func(_ int, s Sender) Sender { return frameLog{s, &mu, &frames} }
		}
	})
	succeed(ms, func(_ int, m *Mixer) error {
		zeros := func() network.Reduction { return network.Reduction{Bits: 64, Words: make([]uint64, 100)} }
		return errors.Join(m.ReduceAll(ctx, []network.Reduction{zeros(), zeros()}), m.Drain(ctx))
	})
	mu.Lock()
	defer mu.Unlock()
	for _, frame := range frames {
		if f := decoded(frame); f.kind == kindVector && len(f.data) > 0 {
			words := make([]uint64, 200)
			testkit.OK(network.UnpackWords(words, 64, f.data))
			if slices.Sort(words); len(slices.Compact(words)) != 200 {
				t.Error("two words of one exchange are under the same mask")
			}
			return
		}
	}
	t.Error("agent 0 has sent no words")
}

// TestPayloadOfAnotherLength: a neighbour that sends more words than it has to, or none where they
// are due, or bits that are in no word, ends the run; where there is a council it is refused.
func TestPayloadOfAnotherLength(t *testing.T) {
	for _, tt := range []struct {
		payload []byte
		want    string
	}{
		{nil, "1 words of 63 bits must be 8 bytes; they are 0"},
		{make([]byte, 16), "1 words of 63 bits must be 8 bytes; they are 16"},
		{[]byte{0, 0, 0, 0, 0, 0, 0, 0x80}, "must be filled up with zeros"},
	} {
		purpose := reducing(network.Sum, 63, 1)
		garbage, good := encode(header{kindVector, 0, purpose}, tt.payload),
			encode(header{kindVector, 0, purpose}, make([]byte, 8))
		m, _ := pathAgent(func(c *Config) { c.Unmasked = true })
		deliver(attached(m, 0, 0, 0), garbage)
		deliver(attached(m, 2, 0, 0), good)
		err := m.Reduce(t.Context(), network.Sum, 63, []uint64{1})
		testkit.WantError(t, "a payload", err, dsbo.ErrPeer, "agent 0 is at fault", tt.want)

		m, _ = pathAgent(func(c *Config) { c.Unmasked = true })
		s, other := withCouncil(m, 1)
		deliver(s, garbage)
		deliver(other, good)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- m.Reduce(ctx, network.Sum, 63, []uint64{1}) }()
		<-s.dropped
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || !errors.As(s.reason, new(*offence)) || m.err != nil {
			t.Errorf("the stream ended with %v and the run with %v, %v; only the stream must end, for an offence",
				s.reason, m.err, err)
		}
	}
}
