package grpc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dsbo/network"
	"dsbo/network/grpc"
	"dsbo/network/networktest"
)

// patience bounds what a test waits for.
const patience = time.Minute

// An iteration of these tests' agents: mix, now and then gather and add a part of each agent's vector, then a
// step that no other agent makes.
func iterate(ctx context.Context, m *grpc.Mixer, agents, k int, x []float64) error {
	if err := m.Mix(ctx, x, x); err != nil {
		return err
	}
	own := m.Local()[0]
	if gathers(k) {
		rows := make([][]float64, agents)
		for j := range rows {
			rows[j] = make([]float64, len(x))
		}
		copy(rows[own], x)
		if err := m.Gather(ctx, rows); err != nil {
			return err
		}
		addAll(x, rows)
	}
	step(x, own, k)
	return nil
}

// gathers reports whether iteration k has a gathering.
func gathers(k int) bool { return k%7 == 3 }

// addAll adds a part of each row, of another size for each, to x.
func addAll(x []float64, rows [][]float64) {
	for j, row := range rows {
		for e := range x {
			x[e] += float64(row[e] / float64(10+j))
		}
	}
}

func step(x []float64, agent, k int) {
	for e := range x {
		x[e] += math.Sin(float64(agent + 3*k + 7*e))
	}
}

func start(agent, length int) []float64 {
	x := make([]float64, length)
	for e := range x {
		x[e] = float64(agent*length+e) / 3
	}
	return x
}

// unfaulted returns the agents' ends as plain sums give them.
func unfaulted(w *network.Matrix, iterations, length int) [][]float64 {
	xs := make([][]float64, w.N())
	for i := range xs {
		xs[i] = start(i, length)
	}
	for k := range iterations {
		xs = networktest.Product(w, xs)
		rows := make([][]float64, len(xs))
		for i, x := range xs {
			rows[i] = slices.Clone(x)
		}
		for i, x := range xs {
			if gathers(k) {
				addAll(x, rows)
			}
			step(x, i, k)
		}
	}
	return xs
}

func wantSameBits(t *testing.T, got, want [][]float64) {
	t.Helper()
	for i := range want {
		for e := range want[i] {
			if math.Float64bits(got[i][e]) != math.Float64bits(want[i][e]) {
				t.Errorf("agent %d ends with entry %d = %v; it must be %v as in one process", i, e, got[i][e], want[i][e])
				break
			}
		}
	}
}

// fast has faults found soon. No neighbour is given up.
func fast(c *grpc.Config) {
	c.Heartbeat = 3 * time.Millisecond
	c.SilentAfter = patience
	c.PeerTimeout = 2 * patience
}

func newGraph(t *testing.T, name string, n int) *network.Matrix {
	t.Helper()
	g, err := network.New(name, n, network.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return g.W
}

// A cutter is a listener whose connections break, each after a number of bytes that is drawn.
type cutter struct {
	net.Listener
	rand *rand.Rand // of Accept alone
	cuts atomic.Int64
}

// cutConnections makes agents break off the connections that they accept.
func cutConnections(cs []grpc.Config) []*cutter {
	all := make([]*cutter, len(cs))
	for i := range cs {
		all[i] = &cutter{Listener: cs[i].Listener, rand: rand.New(rand.NewPCG(uint64(i), 0))}
		cs[i].Listener = all[i]
		cs[i].Insecure = cs[i].Identity == nil // a cutter's address is on this machine, too
	}
	return all
}

func (c *cutter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	return &cutConn{conn, c, 2000 + c.rand.IntN(15000)}, err
}

type cutConn struct {
	net.Conn
	c    *cutter
	left int // bytes until it breaks
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		c.c.cuts.Add(1)
		return n, errors.Join(net.ErrClosed, c.Conn.Close())
	}
	return n, err
}

// wantCuts checks that connections broke, that new ones were made, and vectors sent again on them.
func wantCuts(t *testing.T, cutters []*cutter, ms []*grpc.Mixer) {
	t.Helper()
	var cuts, connects, resent int64
	for i, m := range ms {
		cuts += cutters[i].cuts.Load()
		for _, n := range m.Status().Neighbours {
			connects += n.Connects
			resent += n.Resent
		}
	}
	if cuts == 0 || connects <= cuts || resent == 0 {
		t.Errorf("%d connections broke, %d were made, %d vectors were sent again; there must be some of each", cuts, connects, resent)
	}
}

// TestCutConnections: connections break again and again, amid frames and handshakes, and the numbers are those of an
// exchange whose connections hold.
func TestCutConnections(t *testing.T) {
	for _, c := range []struct {
		graph string
		n     int
	}{{"ring", 8}, {"complete", 4}} {
		t.Run(c.graph, func(t *testing.T) {
			const iterations, length = 200, 50
			w := newGraph(t, c.graph, c.n)
			cs := configs(t, w, identities(t, c.n))
			for i := range cs {
				fast(&cs[i])
			}
			cutters := cutConnections(cs)
			ms, closeAll := open(t, cs)
			defer closeAll()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			xs := make([][]float64, c.n)
			succeed(t, ms, func(i int, m *grpc.Mixer) error {
				xs[i] = start(i, length)
				for k := range iterations {
					if err := iterate(ctx, m, c.n, k, xs[i]); err != nil {
						return err
					}
				}
				return m.Drain(ctx)
			})
			wantSameBits(t, xs, unfaulted(w, iterations, length))
			wantCuts(t, cutters, ms)
		})
	}
}

// A worker is an agent that keeps checkpoints and survives its own end.
type worker struct {
	t          *testing.T
	config     grpc.Config
	iterations int
	kills      []int // the iterations at which it is killed

	k      int // the next iteration
	x      []float64
	saved  []checkpoint // the last three
	rolled int
}

type checkpoint struct {
	k     int // the next iteration
	round int // its first exchange
	x     []float64
}

const savedEvery = 10

// life runs the worker from its newest checkpoint to its end, or until it is killed. again
// says that it has to live once more.
func (w *worker) life(ctx context.Context, l net.Listener) (again bool, err error) {
	c := w.config
	c.Listener = l
	c.Round = w.restore(math.MaxInt)
	m, err := grpc.Open(c)
	if err != nil {
		return false, err
	}
	life, cancel := context.WithCancel(ctx)
	defer cancel()
	killed := make(chan struct{})
	kill := func(last bool) {
		defer close(killed)
		cancel()
		if last { // then it leaves as on an interrupt
			if err := m.Close(); err != nil {
				w.t.Error(err)
			}
			return
		}
		m.Kill()
	}
	for {
		err := w.work(life, m, kill)
		if rollback, ok := errors.AsType[*network.RollbackError](err); ok {
			w.rolled++
			if err := m.Rewind(w.restore(rollback.Round)); err != nil {
				return false, err
			}
			continue
		}
		if life.Err() != nil && ctx.Err() == nil {
			<-killed
			return true, nil
		}
		return false, errors.Join(err, m.Close())
	}
}

// work goes on from iteration k. At the iterations of kills it dies, at a moment of the exchange
// that nobody chose.
func (w *worker) work(ctx context.Context, m *grpc.Mixer, kill func(last bool)) error {
	for ; w.k < w.iterations; w.k++ {
		if w.k%savedEvery == 0 {
			w.saved = append(w.saved, checkpoint{w.k, m.Round(), slices.Clone(w.x)})
			w.saved = w.saved[max(0, len(w.saved)-3):]
		}
		if len(w.kills) > 0 && w.k >= w.kills[0] {
			w.kills = w.kills[1:]
			go kill(len(w.kills) == 0)
		}
		if err := iterate(ctx, m, len(w.config.Addresses), w.k, w.x); err != nil {
			return err
		}
	}
	return m.Drain(ctx)
}

// restore goes back to the newest checkpoint whose first exchange is at most this one, and returns it.
func (w *worker) restore(round int) int {
	for len(w.saved) > 0 {
		last := w.saved[len(w.saved)-1]
		if last.round <= round {
			w.k = last.k
			copy(w.x, last.x)
			return last.round
		}
		w.saved = w.saved[:len(w.saved)-1]
	}
	w.k = 0
	copy(w.x, start(w.config.Agent, len(w.x)))
	return 0
}

// TestKilledAgents kills each agent three times. With much kept the others wait; with little they go back.
func TestKilledAgents(t *testing.T) {
	for _, keep := range []int{1000, 3} {
		t.Run(fmt.Sprintf("keep=%d", keep), func(t *testing.T) {
			const n, iterations, length = 6, 120, 30
			w := newGraph(t, "ring", n)
			ids := identities(t, n)
			cs := configs(t, w, ids)
			r := rand.New(rand.NewPCG(1, uint64(keep)))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			workers := make([]*worker, n)
			xs := make([][]float64, n)
			var wg sync.WaitGroup
			for i := range workers {
				xs[i] = start(i, length)
				l := cs[i].Listener
				c := cs[i]
				fast(&c)
				c.KeepFrames = keep
				c.Log = slog.New(slog.NewTextHandler(t.Output(), nil)).With("agent", i)
				workers[i] = &worker{t: t, config: c, iterations: iterations, x: xs[i], kills: []int{r.IntN(40), 40 + r.IntN(40), 80 + r.IntN(40)}}
				wg.Go(func() {
					for {
						again, err := workers[i].life(ctx, l)
						if err != nil {
							t.Errorf("agent %d: %v", i, err)
							cancel()
						}
						if !again {
							return
						}
						if l, err = net.Listen("tcp", c.Addresses[i]); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			wantSameBits(t, xs, unfaulted(w, iterations, length))
			rolled := 0
			for _, w := range workers {
				rolled += w.rolled
			}
			if keep < savedEvery && rolled == 0 {
				t.Errorf("no agent went back with %d vectors kept", keep)
			}
		})
	}
}
