package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/register"
)

// A toy is a run whose agents move towards their neighbours' average and targets of their own, by
// three exchanges an iteration, and save every few iterations.
type toy struct {
	matrix  *network.Matrix
	k       int // iterations
	every   int // between checkpoints
	length  int
	compute time.Duration // of an iteration
}

// A toyState is what a checkpoint of a toy has.
type toyState struct {
	Point register.Point
	X     []float64
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
		s.states = append(s.states, toyState{c.Point, slices.Clone(c.X)})
		if n := len(s.states); n > 3 {
			s.states = slices.Delete(s.states, 0, n-3)
		}
		return nil
	})
}

func (t toy) target(agent, at int) float64 { return math.Sin(float64(agent*7919 + at)) }

func (t toy) start(agent int) []float64 {
	x := make([]float64, t.length)
	for i := range x {
		x[i] = t.target(agent, i)
	}
	return x
}

// step moves x after a mix, towards the agent's target and the average of all.
func (t toy) step(agent, k int, x []float64, average float64) {
	for i := range x {
		x[i] -= float64(0.01 * (x[i] - t.target(agent+k, i)))
		x[i] += float64(1e-3 * average)
	}
}

// move moves a state as a line of the log begins.
func (t toy) move(x []float64, id string) {
	d := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(id))))
	for i := range x {
		x[i] += float64(0.2 * d.NormFloat64())
	}
}

// words are what an agent adds to the sum of an iteration.
func (t toy) word(x []float64) uint64 { return uint64(int64(math.Round(x[0] * (1 << 20)))) }

func (t toy) average(sum uint64, n int) float64 { return float64(int64(sum)) / (1 << 20) / float64(n) }

// replay computes the result of a log in one process, of the last members.
func (t toy) replay(log membership.Log) []byte {
	x := map[int][]float64{}
	n := t.matrix.N()
	epoch := membership.First(n)
	for i := range n {
		x[i] = t.start(i)
	}
	for k := 0; ; k++ {
		for number := epoch.Number + 1; number <= len(log) && log[number-1].Iteration == k; number++ {
			before := epoch
			epoch, _ = log.At(number, n)
			next := map[int][]float64{}
			for _, i := range epoch.Members {
				from := i
				if !epoch.StateKept(before, i) {
					_, from, _ = t.matrix.Giver(before, epoch, i)
				}
				next[i] = slices.Clone(x[from])
				t.move(next[i], log[number-1].ID)
			}
			x = next
		}
		if k == t.k {
			break
		}
		w, err := t.matrix.Members(epoch)
		if err != nil {
			panic(err)
		}
		t.iterate(w, epoch.Members, x, k)
	}
	return t.digest(epoch.Members, x)
}

// iterate makes an iteration of all members.
func (t toy) iterate(w *network.Matrix, members []int, x map[int][]float64, k int) {
	mixed, sum := map[int][]float64{}, uint64(0)
	for a, i := range members {
		row := w.Row(a)
		var in [][]float64
		for _, e := range row {
			in = append(in, x[members[e.Agent]])
		}
		mixed[i] = make([]float64, t.length)
		network.Combine(mixed[i], row, in)
		sum += t.word(mixed[i])
	}
	for _, i := range members {
		x[i] = mixed[i]
		t.step(i, k, x[i], t.average(sum, len(members)))
	}
}

// digest is the result of a run.
func (t toy) digest(members []int, x map[int][]float64) []byte {
	h := sha256.New()
	for _, i := range members {
		fmt.Fprintln(h, i, x[i])
	}
	return h.Sum(nil)
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
			r.move(entered.X, c.ID)
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
		if err := s.Mix(ctx, x, x); err != nil {
			return err
		}
		words := []uint64{r.word(x)}
		if err := s.Reduce(ctx, network.Reduction{Bits: 64, Words: words}); err != nil {
			return err
		}
		r.step(members[me], k, x, r.average(words[0], len(members)))
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
		rows[i] = make([]float64, r.length)
	}
	copy(rows[me], x)
	if err := s.Gather(ctx, rows); err != nil {
		return err
	}
	all := map[int][]float64{}
	for i, m := range members {
		all[m] = rows[i]
	}
	return s.Save(ctx, func() error {
		return r.store.locked(func() error { r.store.result = r.digest(members, all); return nil })
	})
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
func (r toyRun) restore(s *Session, entered *toyState) (k int, x []float64, err error) {
	if entered != nil {
		return entered.Point.Iteration, entered.X, nil
	}
	if s.Begin.Iteration == register.Start {
		return 0, r.start(s.config.Agent), nil
	}
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	for _, c := range slices.Backward(r.store.states) {
		if c.Point.Iteration == s.Begin.Iteration && r.lineOf(s.Log, c.Point.Epoch) > 0 || c.Point.Epoch == 0 &&
			c.Point.Iteration == s.Begin.Iteration {
			x := slices.Clone(c.X)
			for _, line := range s.Log[r.lineOf(s.Log, c.Point.Epoch):] {
				r.move(x, line.ID)
			}
			return c.Point.Iteration, x, nil
		}
	}
	return 0, nil, fmt.Errorf("no checkpoint %+v", s.Begin)
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
