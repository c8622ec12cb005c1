package grpc

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/networktest"
)

// kill ends the mixer as the end of its process would: nothing more is said to anybody.
func (m *Mixer) kill() {
	killed := errors.New("killed")
	m.mu.Lock()
	m.closed = true
	if m.err == nil {
		m.err = killed
	}
	m.flow.notifyWaiter()
	for _, e := range m.neighbours.edges {
		if e.session != nil {
			e.session.drop(killed)
		}
		e.session = nil
	}
	m.mu.Unlock()
	m.links.stopDial()
	m.links.stopAll()
	m.links.server.Stop()
	m.links.work.Wait()
}

// iterate does one iteration of these tests' agents: it mixes, now and then gathers and adds a part
// of each agent's vector, or sums bits of all and adds something of the sum, and makes a step that
// no other agent makes.
func iterate(ctx context.Context, m *Mixer, k int, x []float64) error {
	if err := m.Mix(ctx, x, x); err != nil {
		return err
	}
	own := m.Local()[0]
	if gathers(k) {
		rows := make([][]float64, m.view.matrix.N())
		for j := range rows {
			rows[j] = make([]float64, len(x))
		}
		copy(rows[own], x)
		if err := m.Gather(ctx, rows); err != nil {
			return err
		}
		addAll(x, rows)
	}
	if sums(k) {
		words := bitsOf(x)
		if err := m.Reduce(ctx, network.Sum, 64, words); err != nil {
			return err
		}
		addParts(x, words)
	}
	localStep(x, m.config.Agent, k)
	return nil
}

// gathers reports whether iteration k has a gathering.
func gathers(k int) bool { return k%7 == 3 }

// sums reports whether iteration k has a sum.
func sums(k int) bool { return k%5 == 2 }

func bitsOf(x []float64) []uint64 { return slices.Clone(floatBits(x)) }

// addParts adds a part of each word, below 1, to x.
func addParts(x []float64, words []uint64) {
	for e := range x {
		x[e] += float64(words[e]%1024) / 1024
	}
}

// addAll adds a part of each row, of another size for each, to x.
func addAll(x []float64, rows [][]float64) {
	for j, row := range rows {
		for e := range x {
			x[e] += float64(row[e] / float64(10+j))
		}
	}
}

func localStep(x []float64, agent, k int) {
	for e := range x {
		x[e] += math.Sin(float64(agent + 3*k + 7*e))
	}
}

func startVector(agent, length int) []float64 {
	x := make([]float64, length)
	for e := range x {
		x[e] = float64(agent*length+e) / 3
	}
	return x
}

// unfaulted returns the agents' ends after a number of iterations as plain sums give them.
func unfaulted(w *network.Matrix, iterations, length int) [][]float64 {
	xs := make([][]float64, w.N())
	for i := range xs {
		xs[i] = startVector(i, length)
	}
	for k := range iterations {
		xs = plainIteration(w, membership.First(w.N()).Members, xs, k)
	}
	return xs
}

// plainIteration is iterate by all agents, as plain sums give it.
func plainIteration(w *network.Matrix, agents []int, xs [][]float64, k int) [][]float64 {
	xs = networktest.Product(w, xs)
	rows, words := make([][]float64, len(xs)), make([]uint64, len(xs[0]))
	for i, x := range xs {
		rows[i] = slices.Clone(x)
	}
	for _, x := range xs {
		if gathers(k) {
			addAll(x, rows)
		}
		network.Sum.Combine(64, words, bitsOf(x))
	}
	for i, x := range xs {
		if sums(k) {
			addParts(x, words)
		}
		localStep(x, agents[i], k)
	}
	return xs
}

func wantSameBits(t *testing.T, got, want [][]float64) {
	t.Helper()
	for i := range want {
		for e := range want[i] {
			if math.Float64bits(got[i][e]) != math.Float64bits(want[i][e]) {
				t.Errorf("agent %d ends with entry %d = %v; it must be %v as in one process", i, e,
					got[i][e], want[i][e])
				break
			}
		}
	}
}

// vectorLength is the length of the vectors that are mixed in towns and sieges.
const vectorLength = 30

// fast has faults found soon. No neighbour is given up.
func fast(c *Config) {
	c.Heartbeat = 3 * time.Millisecond
	c.SilentAfter = time.Hour
	c.PeerTimeout = 2 * time.Hour
}

// A cutter is a listener whose connections break, each after a number of bytes that is drawn.
type cutter struct {
	net.Listener
	rand *rand.Rand // of Accept alone
	cuts atomic.Int64
}

// cutConnections makes an agent break off the connections that it accepts, and find that soon.
func cutConnections(c *Config) *cutter {
	fast(c)
	l := &cutter{Listener: c.Listener, rand: rand.New(rand.NewPCG(uint64(c.Agent), 0))}
	c.Listener = l
	return l
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
func wantCuts(t *testing.T, cutters []*cutter, ms []*Mixer) {
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
		t.Errorf("%d connections broke, %d were made, %d vectors were sent again; there must be some of each", cuts,
			connects, resent)
	}
}

// TestCutConnections: connections of a ring break again and again, amid frames and handshakes, and
// the numbers are the numbers of an exchange whose connections hold. TestSameBitsAsLocal does the
// same where all are neighbours.
func TestCutConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("TestSameBitsAsLocal cuts connections too")
	}
	const n, iterations, length = 6, 40, 50
	w, ctx := newGraph("ring", n), networktest.Context(t)
	var cutters []*cutter
	ms := openAgents(t, w, func(c *Config) { cutters = append(cutters, cutConnections(c)) })
	xs := make([][]float64, n)
	succeed(ms, func(i int, m *Mixer) error {
		xs[i] = startVector(i, length)
		for k := range iterations {
			if err := iterate(ctx, m, k, xs[i]); err != nil {
				return err
			}
		}
		return m.Drain(ctx)
	})
	wantSameBits(t, xs, unfaulted(w, iterations, length))
	wantCuts(t, cutters, ms)
}
