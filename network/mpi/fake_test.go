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
	sent    map[route][][]uint64
	told    map[int][]notice
	left    int
	aborted int // status + 1
	lastTag int
	sums    []*[]*fakeRound // of the exchanges, in the order in which each rank opens them
}

type route struct{ from, to, tag int }

// A fakeLibrary is one rank of a job.
type fakeLibrary struct {
	*job
	rank, size int
	mute       bool // what it sends is lost
	wake       chan struct{}
	loud       bool
	heard      notice
	leaving    bool
	opened     int // sums
	closedSums []*fakeSum
}

// A fakeHandle says which messages of a transfer are done.
type fakeHandle struct {
	posted bool
	done   []bool
}

func newJob(size int) []*fakeLibrary {
	j := &job{ranks: make([]*fakeLibrary, size), sent: map[route][][]uint64{}, told: map[int][]notice{}, lastTag: 32767}
	for r := range j.ranks {
		j.ranks[r] = &fakeLibrary{job: j, rank: r, size: size, wake: make(chan struct{}, 1)}
	}
	return j.ranks
}

func (l *fakeLibrary) position() (rank, size, lastTag int) { return l.rank, l.size, l.lastTag }
func (l *fakeLibrary) alloc(words int) []uint64            { return make([]uint64, words) }
func (l *fakeLibrary) free(words []uint64)                 { clear(words) } // so that a use after it shows

// signal has the poll of a rank, or its next one, look again.
func (l *fakeLibrary) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// signalAll is signal of all ranks.
func (j *job) signalAll() {
	for _, l := range j.ranks {
		l.signal()
	}
}

func (l *fakeLibrary) poll(t *transfer, d time.Duration) (state, error) {
	end := time.NewTimer(d)
	defer end.Stop()
	for {
		l.mu.Lock()
		s, err := l.progress(t)
		loud := l.loud
		l.mu.Unlock()
		if s != pending || err != nil || loud {
			return s, err
		}
		select {
		case <-l.wake:
		case <-end.C:
			return pending, nil
		}
	}
}

// progress does what can be done now.
func (l *fakeLibrary) progress(t *transfer) (state, error) {
	if n := l.told[l.rank]; len(n) > 0 {
		l.heard, l.told[l.rank] = n[0], n[1:]
		return noticed, nil
	}
	l.reap()
	switch {
	case t == nil:
		return pending, nil
	case t.sum != nil:
		return l.lookAtSum(t)
	}
	h, _ := t.handle.(*fakeHandle)
	if h == nil || !h.posted {
		h = &fakeHandle{posted: true, done: make([]bool, len(t.messages))}
		t.handle = h
		l.post(t, h)
	}
	for i, m := range t.messages {
		if h.done[i] {
			continue
		}
		from := route{m.peer, l.rank, t.tag}
		if box := l.sent[from]; len(box) > 0 {
			h.done[i], l.sent[from] = true, box[1:]
			if len(m.words) != len(box[0]) {
				return pending, &lengthError{i, len(box[0])}
			}
			copy(m.words, box[0])
		}
	}
	if slices.Contains(h.done, false) {
		return pending, nil
	}
	h.posted = false
	return done, nil
}

func (l *fakeLibrary) post(t *transfer, h *fakeHandle) {
	for i, m := range t.messages {
		if m.send {
			h.done[i] = true
			if to := (route{l.rank, m.peer, t.tag}); !l.mute {
				l.sent[to] = append(l.sent[to], slices.Clone(m.words))
				l.ranks[m.peer].signal()
			}
		}
	}
}

func (l *fakeLibrary) pending(t *transfer) []int {
	if t.sum != nil {
		return nil
	}
	var all []int
	for i, is := range t.handle.(*fakeHandle).done {
		if !is {
			all = append(all, i)
		}
	}
	return all
}

func (l *fakeLibrary) drop(t *transfer, _ time.Duration) bool {
	t.handle = nil
	return true
}

func (l *fakeLibrary) notice() notice { return l.heard }

func (l *fakeLibrary) sendNotice(rank int, n notice) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.mute {
		l.told[rank] = append(l.told[rank], n)
		l.ranks[rank].signal()
	}
	return nil
}

func (l *fakeLibrary) interrupt() {
	l.mu.Lock()
	l.loud = true
	l.mu.Unlock()
	l.signal()
}

func (l *fakeLibrary) quiet() {
	l.mu.Lock()
	l.loud = false
	l.mu.Unlock()
}

func (l *fakeLibrary) finalize(time.Duration) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
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
