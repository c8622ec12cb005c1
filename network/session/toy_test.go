package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"dsbo/internal/num"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/register"
)

// A toy is a run whose agents have a number each as their state: an iteration adds to it the sum of
// a word of each member's. They mix vectors too, of which each knows what it must get, and save
// every few iterations.
type toy struct {
	matrix  *network.Matrix
	k       int           // iterations
	every   int           // between checkpoints
	compute time.Duration // of an iteration
}

// A toyState is what a checkpoint of a toy has.
type toyState struct {
	Point register.Point
	X     uint64
}

// A toyDisk is the folder of one agent; a process that was killed writes to it no more.
type toyDisk struct {
	mu     sync.Mutex
	state  register.State
	states []toyState
	result []byte
}

// A toyStore is a disk as one process has it.
type toyStore struct {
	*toyDisk
	dead *bool // guarded by the disk's mutex
}

var errKilled = errors.New("killed")

func (s toyStore) locked(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *s.dead {
		return errKilled
	}
	return f()
}

func (s toyStore) Register() (state register.State, err error) {
	err = s.locked(func() error { state = s.state; return nil })
	return state, err
}

func (s toyStore) SaveRegister(state register.State) error {
	// what is kept shares nothing with what the agent goes on with
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return s.locked(func() error { s.state = register.State{}; return json.Unmarshal(text, &s.state) })
}

func (s toyStore) Points() (points []register.Point, err error) {
	err = s.locked(func() error {
		for _, c := range s.states {
			points = append(points, c.Point)
		}
		if s.result != nil {
			epoch := uint64(0)
			if n := len(s.state.Log); n > 0 {
				epoch = s.state.Log[n-1].Session
			}
			points = append(points, register.Point{Epoch: epoch, Iteration: register.Result})
		}
		return nil
	})
	return points, err
}

func (s toyStore) Kept() (map[string]string, error) { return nil, nil }

func (s toyStore) Handover(p register.Point) (gift []byte, err error) {
	err = s.locked(func() error {
		if p.Iteration == register.Result {
			gift = s.result
			return nil
		}
		for _, c := range s.states {
			if c.Point.Iteration == p.Iteration {
				gift, err = json.Marshal(c)
			}
		}
		if gift == nil {
			return fmt.Errorf("there is no %v to give", p)
		}
		return err
	})
	return gift, err
}

// store keeps a checkpoint, and of the others the newest two.
func (s toyStore) store(c toyState) error {
	return s.locked(func() error {
		s.states = slices.DeleteFunc(s.states, func(o toyState) bool { return o.Point == c.Point })
		s.states = append(s.states, c)
		if n := len(s.states); n > 3 {
			s.states = slices.Delete(s.states, 0, n-3)
		}
		return nil
	})
}

// word is what an agent adds in an iteration.
func word(k int, x uint64) uint64 { return num.SplitMix(x + uint64(k)) }

// vectorAt returns what an agent mixes in an iteration in a session.
func vectorAt(agent, k int, session uint64) []float64 {
	v := make([]float64, 16)
	for i := range v {
		v[i] = math.Sin(float64(word(agent, session+uint64(k*len(v)+i)) >> 11))
	}
	return v
}

// moved returns a state as a line of the log begins.
func moved(x uint64, id string) uint64 {
	d := sha256.Sum256([]byte(id))
	return num.SplitMix(x ^ binary.LittleEndian.Uint64(d[:]))
}

// replay returns the result of a log.
func (t toy) replay(log membership.Log) []byte {
	n, x := t.matrix.N(), map[int]uint64{}
	epoch := membership.First(n)
	for i := range n {
		x[i] = uint64(i)
	}
	for k := 0; ; k++ {
		for number := epoch.Number + 1; number <= len(log) && log[number-1].Iteration == k; number++ {
			before, next := epoch, map[int]uint64{}
			epoch, _ = log.At(number, n)
			for _, i := range epoch.Members {
				from := i
				if !epoch.StateKept(before, i) {
					_, from, _ = t.matrix.Giver(before, epoch, i)
				}
				next[i] = moved(x[from], log[number-1].ID)
			}
			x = next
		}
		if k == t.k {
			return resultOf(epoch.Members, func(i int) uint64 { return x[i] })
		}
		sum := uint64(0)
		for _, i := range epoch.Members {
			sum += word(k, x[i])
		}
		for _, i := range epoch.Members {
			x[i] += sum
		}
	}
}

// resultOf is the result of a run: the members and the upper bits of what they have.
func resultOf(members []int, x func(i int) uint64) (text []byte) {
	for _, i := range members {
		text = fmt.Appendln(text, i, x(i)>>11)
	}
	return text
}

// A toyRun is one process of an agent of a toy.
type toyRun struct {
	toy
	store     toyStore
	onSession func(s *Session)
	onIterate func(k int)
}

// run takes part until the result is final.
func (r toyRun) run(ctx context.Context, a *Agent) error {
	for {
		s, err := a.Next(ctx)
		if errors.Is(err, register.ErrFinal) {
			if err = a.Linger(ctx); errors.As(err, new(*register.Over)) {
				continue
			}
			return err
		}
		if err != nil {
			return err
		}
		if r.onSession != nil {
			r.onSession(s)
		}
		if err = r.session(ctx, s); err == nil {
			err = s.Finish()
		}
		if err != nil && !errors.As(err, new(*register.Over)) {
			return err
		}
	}
}

// session is the agent's part of a session.
func (r toyRun) session(ctx context.Context, s *Session) error {
	var entered *toyState
	err := s.Join(ctx, func(given []byte) error {
		if s.Begin.Iteration == register.Result {
			return r.store.locked(func() error { r.store.result = given; return nil })
		}
		entered = new(toyState)
		if err := json.Unmarshal(given, entered); err != nil {
			return err
		}
		// moved as its source is, as far as the line before this agent's own
		for _, c := range s.Log[r.lineOf(s.Log, entered.Point.Epoch):] {
			entered.X = moved(entered.X, c.ID)
		}
		entered.Point.Epoch = s.epochSession()
		return r.store.store(*entered)
	})
	if err != nil || s.Begin.Iteration == register.Result {
		return err
	}
	k, x, err := r.restore(s, entered)
	if err != nil {
		return err
	}
	point := func() register.Point { return register.Point{Epoch: s.epochSession(), Iteration: k} }
	if err := s.Save(ctx, func() error { return r.store.store(toyState{point(), x}) }); err != nil {
		return err
	}
	members := s.Epoch.Members
	me, _ := s.Epoch.Position(s.config.Agent)
	for k < r.k {
		if err := r.mix(ctx, s, k); err != nil {
			return err
		}
		words := []uint64{word(k, x)}
		if err := s.Reduce(ctx, network.Reduction{Bits: 64, Words: words}); err != nil {
			return err
		}
		x += words[0]
		if k++; r.onIterate != nil {
			r.onIterate(k)
		}
		select {
		case <-time.After(r.compute):
		case <-ctx.Done():
			return ctx.Err()
		}
		if k%r.every == 0 && k < r.k {
			if err := s.Save(ctx, func() error { return r.store.store(toyState{point(), x}) }); err != nil {
				return err
			}
		}
	}
	rows := make([][]float64, len(members))
	for i := range rows {
		rows[i] = []float64{0}
	}
	rows[me][0] = float64(x >> 11) // exact
	if err := s.Gather(ctx, rows); err != nil {
		return err
	}
	result := resultOf(members, func(i int) uint64 {
		k, _ := s.Epoch.Position(i)
		return uint64(rows[k][0]) << 11
	})
	return s.Save(ctx, func() error {
		return r.store.locked(func() error { r.store.result = result; return nil })
	})
}

// mix mixes the agents' vectors of an iteration, and returns an error unless it gets what it must.
func (r toyRun) mix(ctx context.Context, s *Session, k int) error {
	var in [][]float64
	for _, w := range s.matrix.Row(s.position) {
		in = append(in, vectorAt(s.Epoch.Members[w.Agent], k, s.Number))
	}
	got, want := vectorAt(s.config.Agent, k, s.Number), make([]float64, len(in[0]))
	network.Combine(want, s.matrix.Row(s.position), in)
	if err := s.Mix(ctx, got, got); err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("iteration %d mixes to %v; it must be %v", k, got, want)
	}
	return nil
}

// epochSession is the session that began the epoch.
func (s *Session) epochSession() uint64 {
	if n := len(s.Log); n > 0 {
		return s.Log[n-1].Session
	}
	return 0
}

// lineOf returns how many lines of a log come up to the one that a session began.
func (r toyRun) lineOf(log membership.Log, session uint64) int {
	for k, c := range log {
		if c.Session == session {
			return k + 1
		}
	}
	return 0
}

// restore returns where a session begins at this agent.
func (r toyRun) restore(s *Session, entered *toyState) (k int, x uint64, err error) {
	if entered != nil {
		return entered.Point.Iteration, entered.X, nil
	}
	if s.Begin.Iteration == register.Start {
		return 0, uint64(s.config.Agent), nil
	}
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	for _, c := range slices.Backward(r.store.states) {
		if c.Point.Iteration == s.Begin.Iteration && r.lineOf(s.Log, c.Point.Epoch) > 0 || c.Point.Epoch == 0 &&
			c.Point.Iteration == s.Begin.Iteration {
			for _, line := range s.Log[r.lineOf(s.Log, c.Point.Epoch):] {
				c.X = moved(c.X, line.ID)
			}
			return c.Point.Iteration, c.X, nil
		}
	}
	return 0, 0, fmt.Errorf("no checkpoint %+v", s.Begin)
}

// wantResult checks the result of each agent that has one against the replay of its log.
func (t toy) wantResult(tb testing.TB, disks []*toyDisk) {
	tb.Helper()
	for i, d := range disks {
		if d.result != nil && !bytes.Equal(d.result, t.replay(d.state.Log)) {
			tb.Errorf("agent %d has another result than the replay of its log:\n%s", i, d.state.Log.Bytes())
		}
	}
}
