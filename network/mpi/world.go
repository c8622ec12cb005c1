package mpi

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"dsbo"
	"dsbo/network"
)

const (
	// pollTime is how long one call into the library lasts at most.
	pollTime = 100 * time.Millisecond
	// turnTime is the turn of each exchange when several are under way.
	turnTime = 100 * time.Microsecond
	// idleTime is how often a rank that waits for nothing looks for news of the others.
	idleTime = 10 * time.Millisecond
	// dropTime is how long a failed exchange waits for what is under way.
	dropTime = 100 * time.Millisecond
)

// A World is this process's place among the ranks of an MPI job. Any goroutine may call its
// methods: what they ask of MPI is done by one goroutine, which has the thread that called
// MPI_Init_thread to itself.
type World struct {
	lib        library       // the MPI library
	rank, size int           // of this process; their number
	lastTag    int           // that was given away
	wake       chan struct{} // holds one wake-up of serve
	ended      chan struct{} // closed when serve returns

	mu           sync.Mutex        // guards what follows
	queue        []func()          // for serve to call
	closed       bool              // whether Close was called
	exchanges    map[int]*Exchange // open ones
	next         int               // number of the next exchange
	earlyNotices map[int][]notice  // of exchanges that this rank has not opened yet

	// Of serve alone.
	active    []*transfer
	idleTimer *time.Timer // wakes the loop that polls
	finished  bool        // MPI has ended
}

// Init starts MPI, which a process does once, and asks for MPI_THREAD_FUNNELED. The program has to
// be built with -tags mpi and started by mpirun, srun or the like; started alone it is rank 0 of 1.
func Init() (*World, error) {
	begun.Store(true)
	return start(newLibrary)
}

// start makes the goroutine that has the library to itself, which open may lock to its thread.
func start(open func() (library, error)) (*World, error) {
	w := &World{
		wake:         make(chan struct{}, 1),
		ended:        make(chan struct{}),
		exchanges:    map[int]*Exchange{},
		earlyNotices: map[int][]notice{},
		idleTimer:    time.NewTimer(idleTime),
	}
	opened := make(chan error)
	go func() {
		defer close(w.ended)
		defer runtime.UnlockOSThread()
		var err error
		if w.lib, err = open(); err == nil {
			w.rank, w.size, w.lastTag = w.lib.position()
		}
		opened <- err
		if err == nil {
			w.serve()
		}
	}()
	if err := <-opened; err != nil {
		return nil, err
	}
	return w, nil
}

// Rank returns the number of this process, 0 ≤ rank < size.
func (w *World) Rank() int { return w.rank }

// Size returns the number of processes.
func (w *World) Size() int { return w.size }

// call has f called by serve, and does not wait. It reports false when the world is closed.
func (w *World) call(f func()) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	w.queue = append(w.queue, f)
	w.mu.Unlock()
	// In this order: serve becomes quiet before it takes the queue.
	w.lib.interrupt()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return true
}

// callAndWait has f called by serve and waits until it has returned. It reports false when the
// world is closed.
func (w *World) callAndWait(f func()) bool {
	finished := make(chan struct{})
	if !w.call(func() { f(); close(finished) }) {
		return false
	}
	select {
	case <-finished:
		return true
	case <-w.ended:
		return false
	}
}

// serve makes all calls of the library.
func (w *World) serve() {
	var queue []func()
	for !w.finished {
		w.lib.quiet()
		w.mu.Lock()
		queue, w.queue = w.queue, queue[:0]
		w.mu.Unlock()
		for _, f := range queue {
			f()
		}
		clear(queue)
		switch {
		case w.finished:
		case len(w.active) == 0:
			w.idle()
		case len(w.active) == 1:
			w.poll(w.active[0], pollTime)
		default:
			for _, t := range slices.Clone(w.active) {
				w.poll(t, turnTime)
			}
		}
	}
}

// idle waits for a call, and hears meanwhile if a rank leaves an exchange.
func (w *World) idle() {
	w.mu.Lock()
	open := len(w.exchanges) > 0
	w.mu.Unlock()
	if !open {
		<-w.wake
		return
	}
	w.idleTimer.Reset(idleTime)
	select {
	case <-w.wake:
		w.idleTimer.Stop()
	case <-w.idleTimer.C:
		w.poll(nil, 0)
	}
}

// poll lets a transfer make progress.
func (w *World) poll(t *transfer, d time.Duration) {
	if t != nil {
		d = min(d, t.timeout-time.Since(t.began))
	}
	s, err := w.lib.poll(t, d)
	if s == noticed {
		w.deliver(w.lib.notice())
	}
	switch {
	case t == nil || !slices.Contains(w.active, t): // the notice was about it
	case err != nil:
		w.remove(t)
		t.failed(err)
	case s == done:
		w.remove(t)
		t.done()
	case time.Since(t.began) >= t.timeout:
		w.remove(t)
		t.failed(t.silence(w.lib.pending(t)))
	}
}

// begin makes t one of the transfers that are polled.
func (w *World) begin(t *transfer) {
	t.began = time.Now()
	w.active = append(w.active, t)
}

// remove ends the polling of t.
func (w *World) remove(t *transfer) {
	w.active = slices.DeleteFunc(w.active, func(a *transfer) bool { return a == t })
}

// deliver gives a notice to its exchange.
func (w *World) deliver(n notice) {
	w.mu.Lock()
	number := int(n.exchange)
	x := w.exchanges[number]
	if x == nil && number >= w.next {
		w.earlyNotices[number] = append(w.earlyNotices[number], n)
	}
	w.mu.Unlock()
	if x != nil {
		x.noteDeparture(n)
	}
}

// register gives an exchange its number and tags, and tells it what other ranks have said about
// it already.
func (w *World) register(x *Exchange) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return network.ErrClosed
	}
	x.number = w.next
	x.mixing.tag = x.number + 1 // notices have 0
	if x.mixing.tag > w.lastTag {
		w.mu.Unlock()
		return dsbo.ConfigErrorf("this MPI has tags for %d exchanges, which were all opened before", x.number)
	}
	w.next++
	w.exchanges[x.number] = x
	early := w.earlyNotices[x.number]
	delete(w.earlyNotices, x.number)
	w.mu.Unlock()
	for _, n := range early {
		x.noteDeparture(n)
	}
	return nil
}

func (w *World) unregister(x *Exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.exchanges, x.number)
}

// Close closes all exchanges, waits until the other ranks call it too and ends MPI. If ctx ends
// before, the error is the error of ctx and MPI has not ended: the other ranks may be stuck, and
// [World.Abort] is left. A second Close does nothing.
func (w *World) Close(ctx context.Context) error {
	w.mu.Lock()
	open := make([]*Exchange, 0, len(w.exchanges))
	for _, x := range w.exchanges {
		open = append(open, x)
	}
	w.mu.Unlock()
	for _, x := range open {
		x.Close()
	}
	for {
		var left bool
		var err error
		if !w.callAndWait(func() { left, err = w.finalize() }) || left {
			<-w.ended
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("rank %d, waiting for the other ranks' end: %w", w.rank, err)
		}
	}
}

// finalize makes serve end if MPI does.
func (w *World) finalize() (bool, error) {
	var err error
	if w.finished, err = w.lib.finalize(pollTime); w.finished {
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
	}
	return w.finished, err
}

// Abort ends all ranks of the job at once, with this exit status where the launcher passes one on.
// It is for a rank that cannot go on and must not leave the others waiting, and returns only if MPI
// has ended.
func (w *World) Abort(status int) { w.callAndWait(func() { w.lib.abort(status) }) }
