package grpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
	"dsbo/network/networktest"
)

// A stage is a state of a citizen at the beginning of an iteration.
type stage struct {
	epoch, k, round int
	x               []float64
}

// A citizen is an agent of a run whose members change. What it saves is its disk.
type citizen struct {
	*town
	config Config
	agent  int
	host   *testkit.Host // of the present process
	lives  int           // how many processes it has had

	mu     sync.Mutex
	log    membership.Log
	vote   paxos.Vote
	stages []stage // the newest last
	end    []float64
}

// A town is all citizens of a run, and what is to happen in it.
type town struct {
	w        *network.Matrix
	citizens []*citizen
	// act is called by each citizen before each iteration, and says whether it is to wait for a
	// change of the members first. It may kill the mixer.
	act func(c *citizen, m *Mixer, epoch membership.Epoch, k int) (wait bool)

	iterations int
	network    *testkit.Network
	mu         sync.Mutex
	leaving    int           // how many agents are to leave
	left       chan struct{} // closed when they have
	leave      sync.Once
}

const townIterations = 32

// townGraph is a ring in which each agent has the next two on either side: two may leave wherever
// they are.
func townGraph(n int) *network.Matrix {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		for _, d := range []int{1, 2, n - 2, n - 1} {
			rows[i][(i+d)%n] = 1 / float64(8)
		}
		rows[i][i] = .5
	}
	return testkit.Get(network.NewMatrix(rows))
}

// newTown returns agents on a network of virtual time: it belongs into a bubble
// of testing/synctest.
func newTown(t *testing.T, n, quorum int, act func(c *citizen, m *Mixer, epoch membership.Epoch, k int) bool) *town {
	v := &town{w: townGraph(n), act: act, iterations: townIterations, left: make(chan struct{}),
		network: testkit.NewNetwork(testkit.FixedDelay(time.Millisecond))}
	addresses := make([]string, n)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("%s:7000", machine(i))
	}
	for i, id := range identities(n) {
		z := &citizen{town: v, agent: i}
		z.config = Config{
			Agent: i, Matrix: v.w, Run: "test", Hash: "0", Addresses: addresses, Identity: id,
			Membership: &Membership{Quorum: quorum, AbsentAfter: time.Minute, Records: z, Give: z.numbersAt},
			Log:        slog.New(slog.NewTextHandler(t.Output(), nil)).With("agent", i),
		}
		v.citizens = append(v.citizens, z)
	}
	return v
}

// powerOffUntil ends a citizen's process and its machine, until something else has happened.
func (z *citizen) powerOffUntil(m *Mixer, until <-chan struct{}) {
	m.kill()
	z.host.PowerOff()
	<-until
}

// part cuts the network between the agents below one and the others.
func (v *town) part(below int) {
	side := map[string]bool{}
	for i := range below {
		side[machine(i)] = true
	}
	v.network.Cut(func(from, to string) bool { return side[from] != side[to] })
}

func (z *citizen) Points() (points []paxos.Point, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	e := z.log.Last(z.w.N())
	for _, s := range slices.Backward(z.stages) {
		if s.epoch == e.Number || s.k == e.Iteration {
			points = append(points, paxos.Point{Iteration: s.k, Round: s.round})
		}
	}
	return points, nil
}

func (z *citizen) SaveVote(v paxos.Vote) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.vote = v
	return nil
}

func (z *citizen) SaveChange(c membership.Change) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.log = append(z.log[:len(z.log):len(z.log)], c)
	if len(c.Members) == z.w.N()-z.leaving {
		z.leave.Do(func() { close(z.left) })
	}
	return nil
}

// save keeps a stage, and the last three.
func (z *citizen) save(s stage) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.stages = append(slices.DeleteFunc(z.stages, func(o stage) bool { return o.k >= s.k }), s)
	z.stages = z.stages[max(0, len(z.stages)-3):]
}

// at returns the citizen's stage at an iteration.
func (z *citizen) at(k int) (stage, bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, s := range z.stages {
		if s.k == k {
			return stage{s.epoch, s.k, s.round, slices.Clone(s.x)}, true
		}
	}
	return stage{}, false
}

// numbersAt returns the citizen's numbers at the beginning of an epoch.
func (z *citizen) numbersAt(epoch int) ([]byte, error) {
	s, ok := z.at(testkit.Get(z.changes().At(epoch, z.w.N())).Iteration)
	if !ok {
		return nil, fmt.Errorf("agent %d has no stage of epoch %d", z.agent, epoch)
	}
	return bytesOf(s.x), nil
}

// begin returns where the citizen goes on in an epoch that it has not begun: with its own numbers
// if it stays, and else with those that it takes over.
func (z *citizen) begin(ctx context.Context, m *Mixer, log membership.Log, e membership.Epoch) (s stage, err error) {
	if e.Number == 0 {
		return stage{x: startVector(z.agent, vectorLength)}, nil
	}
	if wasMember(log, e, z.agent, z.w.N()) {
		var ok bool
		if s, ok = z.at(e.Iteration); !ok {
			return s, fmt.Errorf("agent %d has no stage of iteration %d", z.agent, e.Iteration)
		}
	} else {
		data, err := m.TakeOver(ctx, giver(z.w, log, e, z.agent), e.Number)
		if err != nil {
			return s, err
		}
		s.x = vectorOf(append(alignedBytes(len(data))[:0], data...))
	}
	return stage{e.Number, e.Iteration, e.Round, s.x}, nil
}

// wasMember reports whether a member of an epoch was one of that before.
func wasMember(log membership.Log, e membership.Epoch, agent, n int) bool {
	_, was := testkit.Get(log.At(e.Number-1, n)).Position(agent)
	return was
}

// giver returns the lowest neighbour of an agent in an epoch who stays.
func giver(w *network.Matrix, log membership.Log, e membership.Epoch, agent int) int {
	position, _ := e.Position(agent)
	for _, j := range testkit.Get(w.Members(e)).Neighbours(position) {
		if wasMember(log, e, e.Members[j], w.N()) {
			return e.Members[j]
		}
	}
	panic("no neighbour stays")
}

// run runs the citizen to its end, again whenever it was killed.
func (z *citizen) run(ctx context.Context) error {
	for {
		killed, err := z.oneLife(ctx)
		if !killed {
			return err
		}
	}
}

// oneLife runs the citizen until its end or until it is killed.
func (z *citizen) oneLife(ctx context.Context) (killed bool, err error) {
	z.mu.Lock()
	settings := *z.config.Membership
	settings.Log, settings.Vote = z.log, z.vote
	e := z.log.Last(z.w.N())
	var now stage
	if len(z.stages) > 0 && z.stages[len(z.stages)-1].epoch == e.Number {
		now = z.stages[len(z.stages)-1]
		now.x = slices.Clone(now.x)
	}
	z.mu.Unlock()
	_, member := e.Position(z.agent)
	if member && now.x == nil {
		if now, err = z.begin(ctx, nil, settings.Log, e); err != nil { // it was lost as it was about to begin
			return false, err
		}
	}
	c := z.config
	z.host = z.network.Host(machine(z.agent))
	z.lives++
	c.Membership, c.Round, c.Dial = &settings, now.round, z.host.Dial
	if c.Listener, err = z.host.Listen("7000"); err != nil {
		return false, err
	}
	m, err := Open(c)
	if err != nil {
		return false, err
	}
	for {
		if member {
			err = z.work(ctx, m, e, &now)
		} else {
			err = m.AwaitChange(ctx, false)
		}
		switch {
		case errors.Is(err, errKilled):
			return true, nil
		case errors.As(err, new(*network.ChangedError)):
			log := m.Changes()
			e = log.Last(z.w.N())
			err = nil
			if _, member = e.Position(z.agent); member {
				now, err = z.begin(ctx, m, log, e)
			}
			if errors.As(err, new(*network.ChangedError)) {
				continue
			}
			if err == nil {
				err = m.Reform(e, e.Round)
			}
		case errors.As(err, new(*network.RollbackError)):
			if now, err = z.begin(ctx, m, m.Changes(), e); err == nil {
				err = m.Rewind(now.round)
			}
		default:
			z.end = now.x
			return false, errors.Join(err, m.Close())
		}
		if err != nil {
			return false, errors.Join(err, m.Close())
		}
	}
}

var errKilled = errors.New("killed")

// work goes on in an epoch.
func (z *citizen) work(ctx context.Context, m *Mixer, e membership.Epoch, now *stage) error {
	for ; now.k < z.iterations; now.k++ {
		if now.k%5 == 0 || now.k == e.Iteration {
			z.save(stage{e.Number, now.k, m.Round(), slices.Clone(now.x)})
		}
		for z.act(z, m, e, now.k) {
			if err := m.AwaitChange(ctx, false); err != nil {
				return err
			}
		}
		if err := iterate(ctx, m, now.k, now.x); err != nil {
			return cmp.Or(z.killed(m), err)
		}
	}
	return m.Drain(ctx)
}

// killed returns errKilled if the mixer was.
func (z *citizen) killed(m *Mixer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil && m.err.Error() == "killed" {
		return errKilled
	}
	return nil
}

// run runs all citizens, and checks that all have the same log and the numbers that it gives in
// one process.
func (v *town) run(t *testing.T) membership.Log {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
	defer cancel()
	testkit.OK(errors.Join(networktest.RunAll(len(v.citizens), func(i int) error {
		err := v.citizens[i].run(ctx)
		if err != nil {
			cancel()
		}
		return err
	})...))
	log := v.citizens[0].log
	xs := make([][]float64, v.w.N())
	for _, z := range v.citizens {
		if string(z.log.Bytes()) != string(log.Bytes()) {
			t.Errorf("agent %d has the log\n%sand agent %d has\n%s", z.agent, z.log.Bytes(),
				v.citizens[0].agent, log.Bytes())
		}
		xs[z.agent] = z.end
	}
	t.Logf("%s", log.Bytes())
	want := v.replay(log)
	for _, i := range log.Last(v.w.N()).Members {
		wantSameBits(t, xs[i:i+1], want[i:i+1])
	}
	return log
}

// replay returns the ends of all agents as plain sums give them.
func (v *town) replay(log membership.Log) [][]float64 {
	n := v.w.N()
	xs := make([][]float64, n)
	for i := range xs {
		xs[i] = startVector(i, vectorLength)
	}
	for number := range len(log) + 1 {
		e := testkit.Get(log.At(number, n))
		until := v.iterations
		if number < len(log) {
			until = log[number].Iteration
		}
		w := testkit.Get(v.w.Members(e))
		if number > 0 {
			came := map[int][]float64{}
			for _, i := range e.Members {
				if !wasMember(log, e, i, n) {
					came[i] = slices.Clone(xs[giver(v.w, log, e, i)])
				}
			}
			for i, x := range came {
				xs[i] = x
			}
		}
		part := make([][]float64, len(e.Members))
		for position, i := range e.Members {
			part[position] = xs[i]
		}
		for k := e.Iteration; k < until; k++ {
			part = plainIteration(w, e.Members, part, k)
		}
		for position, i := range e.Members {
			xs[i] = part[position]
		}
	}
	return xs
}

// changes returns those that the citizen knows.
func (z *citizen) changes() membership.Log {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.log
}

// without reports whether an epoch began without an agent.
func without(log membership.Log, agent int) bool {
	return slices.ContainsFunc(log, func(c membership.Change) bool { return !slices.Contains(c.Members, agent) })
}
