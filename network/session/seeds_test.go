package session

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/register"
)

var (
	seeds     = flag.Int("seeds", 8, "runs of TestSeeds")
	firstSeed = flag.Int("first-seed", 0, "of them")
	showRuns  = flag.Bool("show-runs", false, "log what agents log")
)

// A toyNetwork is a toy run on virtual time: machines whose processes are killed and started again.
type toyNetwork struct {
	toy
	tb     testing.TB
	wires  *testkit.Network
	quorum int
	disks  []*toyDisk
	now    []*toyProcess // by agent; of those that are down the last one
	starts uint64
	cuts   map[[2]string]int             // how many faults cut each edge
	moved  map[string]string             // hosts that have another name now
	pauses func(agent int) time.Duration // after each iteration; nil: none
	slow   time.Duration                 // Config.StragglerDeadline
	data   map[int][]byte                // Config.Data, by agent
	out    map[int][]string              // Config.Removals, by agent

	mu       sync.Mutex
	ids      map[[32]byte]string // what sessions of an id were
	sessions map[uint64][32]byte
	iterated int // iterations of all agents
	last     time.Time
}

// A toyProcess is one process of an agent.
type toyProcess struct {
	stop context.CancelFunc
	host *testkit.Host
	dead *bool
	done chan struct{}
	err  error
}

const townBeat = time.Second

// newToys returns the network of a ring of five, with k iterations of two seconds, until the test
// ends; startToys starts it.
func newToys(t *testing.T, k, quorum int) *toyNetwork {
	w := &toyNetwork{toy: toy{matrix: ring(5), k: k, every: 5, compute: 2 * time.Second}, tb: t, quorum: quorum,
		wires: testkit.NewNetwork(testkit.FixedDelay(20 * time.Millisecond)), now: make([]*toyProcess, 5),
		cuts: map[[2]string]int{}, moved: map[string]string{}, ids: map[[32]byte]string{},
		sessions: map[uint64][32]byte{}}
	for range w.now {
		w.disks = append(w.disks, new(toyDisk))
	}
	t.Cleanup(w.close)
	return w
}

func startToys(t *testing.T, k, quorum int) *toyNetwork { return newToys(t, k, quorum).startAll() }

func (w *toyNetwork) startAll() *toyNetwork {
	for i := range w.now {
		w.start(i)
	}
	return w
}

// config returns the settings of an agent's process.
func (w *toyNetwork) config(agent int, p *toyProcess) Config {
	addresses := make([]string, w.matrix.N())
	for i := range addresses {
		addresses[i] = machine(i) + ":7000"
	}
	var log *slog.Logger
	if *showRuns {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("agent", agent)
	}
	c := Config{Agent: agent, Matrix: w.matrix, Run: "run", Hash: "hash", Addresses: addresses,
		Identity: certificate(agent), Instance: w.starts, Listener: testkit.Get(p.host.Listen("7000")),
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			host, port, _ := net.SplitHostPort(address)
			return p.host.Dial(ctx, net.JoinHostPort(w.hostOf(host), port))
		},
		Heartbeat: townBeat, SilentAfter: 10 * townBeat, Grace: 10 * townBeat, PeerTimeout: 10 * time.Hour,
		ComputeTimeout: 20 * time.Hour, Store: toyStore{w.disks[agent], p.dead}, Data: w.data[agent],
		Removals: w.out[agent], Log: log}
	if w.quorum > 0 {
		c.Quorum, c.AbsentAfter, c.StragglerDeadline = w.quorum, 60*townBeat, w.slow
	}
	return c
}

// start starts a process of an agent.
func (w *toyNetwork) start(agent int) {
	w.starts++
	p := &toyProcess{host: w.wires.Host(w.hostOf(machine(agent))), dead: new(bool), done: make(chan struct{})}
	w.now[agent] = p
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	c := w.config(agent, p)
	r := toyRun{toy: w.toy, store: toyStore{w.disks[agent], p.dead}, onSession: w.note, onIterate: func(int) {
		if w.pauses != nil {
			time.Sleep(w.pauses(agent))
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.iterated, w.last = w.iterated+1, time.Now()
	}}
	go func() {
		defer close(p.done)
		a, err := Open(c)
		if err == nil {
			err = r.run(ctx, a)
			err = errors.Join(err, a.Close())
		}
		p.err = err
	}()
}

// hostOf returns the name that a host has now.
func (w *toyNetwork) hostOf(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.moved[name], name)
}

// note checks that no id, and no number, is of two sessions.
func (w *toyNetwork) note(s *Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprint(s.Epoch.Members, s.Entering, s.Begin, s.Log)
	if before, known := w.ids[s.ID]; known && before != text {
		w.tb.Errorf("one id, two sessions: %s and %s", before, text)
	}
	if before, known := w.sessions[s.Number]; known && before != s.ID {
		w.tb.Errorf("session %d has two ids", s.Number)
	}
	w.ids[s.ID], w.sessions[s.Number] = text, s.ID
}

// kill kills an agent's process: what is left of it writes and sends nothing more.
func (w *toyNetwork) kill(agent int) {
	p := w.now[agent]
	w.disks[agent].mu.Lock()
	*p.dead = true
	w.disks[agent].mu.Unlock()
	p.host.Kill()
	p.stop()
	<-p.done
}

// wipe takes the disk of an agent that is down.
func (w *toyNetwork) wipe(agent int) {
	d := w.disks[agent]
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state, d.states, d.result = register.State{}, nil, nil
}

// cut cuts the edge between two agents, or ends that.
func (w *toyNetwork) cut(i, j int, begins bool) {
	key := [2]string{machine(min(i, j)), machine(max(i, j))}
	if w.cuts[key]--; begins {
		w.cuts[key] += 2
	}
	now := map[[2]string]bool{}
	for k, faults := range w.cuts {
		now[k] = faults > 0
	}
	w.wires.Cut(func(from, to string) bool { return now[[2]string{min(from, to), max(from, to)}] })
}

func (p *toyProcess) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// await waits until all agents have ended, for a time at most.
func (w *toyNetwork) await(most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(10 * time.Second) {
		if !slices.ContainsFunc(w.now, func(p *toyProcess) bool { return !p.ended() }) {
			return
		}
	}
}

// close ends all that goes on.
func (w *toyNetwork) close() {
	w.wires.Cut(nil)
	for i := range w.now {
		w.kill(i)
	}
}

// wantEnd checks that agents have finished, all but some that may be too late, with the result of
// the replay of their log.
func (w *toyNetwork) wantEnd(name string, late int) {
	w.tb.Helper()
	finished := 0
	for i, p := range w.now {
		if !p.ended() {
			continue
		}
		if p.err != nil {
			w.tb.Errorf("%s: agent %d: %v", name, i, p.err)
			continue
		}
		finished++
	}
	if n := len(w.now); finished < n-late {
		w.tb.Errorf("%s: %d of %d agents have finished", name, finished, n)
	}
	w.wantResult(w.tb, w.disks)
}

// ring is the graph of five.
func ring(n int) *network.Matrix { return newGraph("ring", n) }

// TestSeeds: whatever happens to agents of which a quorum goes on, all that finish have the bits of
// the replay of their log.
func TestSeeds(t *testing.T) {
	iterated, sessions, lines := 0, 0, 0
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
		synctest.Test(t, func(t *testing.T) {
			w := startToys(t, 40, 3)
			w.harm(seed)
			iterated, sessions = iterated+w.iterated, sessions+len(w.sessions)
			for _, d := range w.disks {
				lines = max(lines, len(d.state.Log))
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d seeds: %d sessions, %d lines at most, %d iterations for %d", *seeds, sessions, lines, iterated,
		*seeds*200)
}

// harm runs the run of a seed: faults early in it, at any time, or near its end.
func (w *toyNetwork) harm(seed int) {
	draw := rand.New(rand.NewPCG(uint64(seed), 1))
	mean, lost := 30*time.Second, 0
	switch seed % 4 {
	case 1:
		time.Sleep(time.Duration(1500+draw.IntN(4000)) * time.Millisecond)
		mean = 300 * time.Millisecond
	case 2:
		time.Sleep(time.Duration(82500+draw.IntN(12000)) * time.Millisecond)
		mean = 100 * time.Millisecond
	}
	for range 1 + draw.IntN(6) {
		time.Sleep(time.Duration(draw.ExpFloat64() * float64(mean)))
		i := draw.IntN(len(w.now))
		if w.now[i].ended() {
			continue
		}
		switch draw.IntN(6) {
		case 0, 1: // it is killed, and back soon
			w.kill(i)
			time.Sleep(time.Duration(draw.IntN(20)) * time.Second)
			w.start(i)
		case 2: // away for long
			w.kill(i)
			time.Sleep(time.Duration(60+draw.IntN(120)) * time.Second)
			w.start(i)
		case 3: // an edge is cut for a time
			j := (i + 1) % len(w.now)
			w.cut(i, j, true)
			time.Sleep(time.Duration(draw.IntN(150)) * time.Second)
			w.cut(i, j, false)
		case 4: // its disk is lost
			w.kill(i)
			time.Sleep(time.Duration(draw.IntN(90)) * time.Second)
			w.wipe(i)
			w.start(i)
			lost++
		case 5: // its machine stands still
			w.wires.Freeze(machine(i), true)
			time.Sleep(time.Duration(draw.IntN(90)) * time.Second)
			w.wires.Freeze(machine(i), false)
		}
	}
	w.await(2 * time.Hour)
	w.wantEnd(fmt.Sprintf("seed %d", seed), 2+lost)
}
