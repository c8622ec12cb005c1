package mpi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/networktest"
)

// A job is an MPI in memory: its ranks are libraries of one process.
type job struct {
	mu      sync.Mutex
	ranks   []*fakeLibrary
	left    int
	aborted int             // status + 1
	rounds  []*[]*fakeRound // of the channels, in the order in which each rank opens them
}

// A fakeLibrary is one rank of a job.
type fakeLibrary struct {
	*job
	rank, size int
	wake       chan struct{}
	loud       bool
	leaving    bool
	channels   []*fakeChannel
}

// A fakeChannel is one rank's end, with the stages of library_mpi.c.
type fakeChannel struct {
	lib                      *fakeLibrary
	rounds                   *[]*fakeRound // of all ranks
	round                    int           // number of the next
	stage                    int
	wanted, leaves, released bool
	state                    state
	said                     notice
	own                      operation // what this rank does
	vectors                  []int32
	out, in                  []byte
}

const (
	fakeIdle = iota
	fakeHead
	fakeWords
	fakeEnded
)

// A fakeRound is what the ranks do in one go.
type fakeRound struct {
	heads, parts int // ranks whose head and whose words are here
	left         *fakeChannel
	unlike       bool
	kind         *operation // what the first rank with words does
	sent         [][]byte   // by rank
}

func newJob(size int) []*fakeLibrary {
	j := &job{ranks: make([]*fakeLibrary, size)}
	for r := range j.ranks {
		j.ranks[r] = &fakeLibrary{job: j, rank: r, size: size, wake: make(chan struct{}, 1)}
	}
	return j.ranks
}

func (l *fakeLibrary) position() (rank, size int) { return l.rank, l.size }

func (l *fakeLibrary) open(vectors []int32) channel {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.rounds) <= len(l.channels) {
		l.rounds = append(l.rounds, new([]*fakeRound))
	}
	c := &fakeChannel{lib: l, rounds: l.rounds[len(l.channels)], vectors: slices.Clone(vectors)}
	l.channels = append(l.channels, c)
	return c
}

// signalAll has the poll of each rank, or its next one, look again.
func (j *job) signalAll() {
	for _, l := range j.ranks {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

func (l *fakeLibrary) poll(d time.Duration) bool {
	end := time.NewTimer(d)
	defer end.Stop()
	for {
		l.mu.Lock()
		busy, news := l.advance()
		loud := l.loud
		l.mu.Unlock()
		if !busy || news || loud {
			return busy
		}
		select {
		case <-l.wake:
		case <-end.C:
			return busy
		}
	}
}

// advance has channels go on as far as they can; the lock is held.
func (l *fakeLibrary) advance() (busy, news bool) {
	for _, c := range l.channels {
		for before := -1; before != c.round*4+c.stage; {
			before = c.round*4 + c.stage
			c.step()
		}
		busy = busy || c.stage != fakeEnded && (c.stage != fakeIdle || c.wanted || c.leaves)
		news = news || c.state != pending
	}
	return busy, news
}

// step goes one step further if the other ranks have; the lock is held.
func (c *fakeChannel) step() {
	for len(*c.rounds) <= c.round {
		*c.rounds = append(*c.rounds, &fakeRound{sent: make([][]byte, c.lib.size)})
	}
	r, size := (*c.rounds)[c.round], c.lib.size
	switch {
	case c.stage == fakeIdle && (c.wanted || c.leaves):
		c.addHead(r)
	case c.stage == fakeHead && r.heads == size && r.left != nil:
		c.stage, c.said = fakeEnded, r.left.said
		c.conclude(left)
	case c.stage == fakeHead && r.heads == size && r.unlike:
		c.stage = fakeIdle
		c.round++
		c.conclude(unlike)
	case c.stage == fakeHead && r.heads == size:
		c.stage, r.sent[c.lib.rank] = fakeWords, slices.Clone(c.out)
		if r.parts++; r.parts == size {
			c.lib.signalAll()
		}
	case c.stage == fakeWords && r.parts == size:
		c.stage = fakeIdle
		c.round++
		c.takeWords(r)
		c.conclude(done)
	}
}

func (c *fakeChannel) conclude(s state) {
	if c.wanted && !c.leaves {
		c.state = s
	}
	c.wanted = false
}

// addHead adds the head of a rank's operation.
func (c *fakeChannel) addHead(r *fakeRound) {
	switch {
	case c.wanted && r.kind == nil:
		kind := c.own
		r.kind = &kind
	case c.wanted:
		r.unlike = r.unlike || r.kind.kind() != c.own.kind() || r.kind.length != c.own.length
	case r.left == nil || c.lib.rank < r.left.lib.rank:
		r.left = c
	}
	c.stage = fakeHead
	if r.heads++; r.heads == c.lib.size {
		c.lib.signalAll()
	}
}

// takeWords takes what all ranks have sent.
func (c *fakeChannel) takeWords(r *fakeRound) {
	if c.own.swap {
		c.in = c.in[:0]
		for from, words := range r.sent {
			at := 0
			for _, n := range c.lib.ranks[from].channels[slices.Index(c.lib.channels, c)].vectors[:c.lib.rank] {
				at += int(n)
			}
			n := int(c.vectors[c.lib.size+from])
			c.in = append(c.in, words[8*c.own.length*at:][:8*c.own.length*n]...)
		}
		return
	}
	all, next := make([]uint64, c.own.length), make([]uint64, c.own.length)
	getWords(all, c.own.width(), r.sent[0])
	for _, words := range r.sent[1:] {
		getWords(next, c.own.width(), words)
		c.own.op.Combine(64, all, next)
	}
	putWords(c.out, c.own.width(), all)
}

func (c *fakeChannel) memory(out, in int) (own, theirs []byte, err error) {
	clear(c.out) // so that a use after it shows
	clear(c.in)
	c.out, c.in = make([]byte, out), make([]byte, in)
	return c.out, c.in, nil
}

func (c *fakeChannel) begin(o operation) {
	c.lib.mu.Lock()
	defer c.lib.mu.Unlock()
	c.own, c.wanted = o, true
}

func (c *fakeChannel) result() (state, error) {
	c.lib.mu.Lock()
	defer c.lib.mu.Unlock()
	s := c.state
	c.state = pending
	return s, nil
}

func (c *fakeChannel) notice() *notice { return &c.said }

func (c *fakeChannel) tellLeft() {
	c.lib.mu.Lock()
	defer c.lib.mu.Unlock()
	c.leaves, c.state = true, pending
	c.wanted = c.wanted && c.stage != fakeIdle
}

func (c *fakeChannel) release() {
	c.lib.mu.Lock()
	defer c.lib.mu.Unlock()
	c.released = true
}

func (l *fakeLibrary) setLoud(loud bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loud = loud
	l.signalAll()
}

func (l *fakeLibrary) interrupt() { l.setLoud(true) }
func (l *fakeLibrary) quiet()     { l.setLoud(false) }

func (l *fakeLibrary) finalize(time.Duration) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance()
	if slices.ContainsFunc(l.channels, func(c *fakeChannel) bool { return c.stage != fakeEnded || !c.released }) {
		return false, nil
	}
	if !l.leaving {
		l.leaving = true
		l.left++
	}
	return l.left == l.size, nil
}

func (l *fakeLibrary) abort(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.aborted = status + 1
}

// newWorlds starts the ranks of a job, which end with the test.
func newWorlds(t *testing.T, ranks []*fakeLibrary) []*World {
	worlds := make([]*World, len(ranks))
	for r, l := range ranks {
		worlds[r] = testkit.Get(start(func() (library, error) { return l, nil }))
	}
	t.Cleanup(func() {
		testkit.OK(errors.Join(networktest.RunAll(len(worlds),
			func(r int) error { return worlds[r].Close(context.Background()) })...))
	})
	return worlds
}
