package mpi

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// pollTime is how long one call into the library lasts at most.
	pollTime = 100 * time.Millisecond
	// idleTime is the period at which an idle rank lets MPI make progress.
	idleTime = 10 * time.Millisecond
)

// A World is this process's place among the ranks of an MPI job. Any goroutine may call its
// methods: what they ask of MPI is done by one goroutine, which has the thread that called
// MPI_Init_thread to itself.
type World struct {
	lib        library       // the MPI library
	rank, size int           // of this process; their number
	wake       chan struct{} // one pending wake-up of serve
	ended      chan struct{} // closed when serve returns

	mu     sync.Mutex // guards what follows
	queue  []func()   // for serve to call
	closed bool       // whether Close was called

	// Of serve alone.
	open      []*Exchange // that are not closed
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
	w := &World{wake: make(chan struct{}, 1), ended: make(chan struct{}), idleTimer: time.NewTimer(idleTime)}
	opened := make(chan error)
	go func() {
		defer close(w.ended)
		defer runtime.UnlockOSThread()
		var err error
		if w.lib, err = open(); err == nil {
			w.rank, w.size = w.lib.position()
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
	// After the queue: serve calls quiet, which ends the interruption, and then takes the queue,
	// so that none is lost whose call is not taken.
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

// serve makes all calls of the library, until MPI has ended: it calls what is queued, polls, and
// hands on what has come. Where nothing is pending it waits for the next call.
func (w *World) serve() {
	var queue []func()
	for {
		w.lib.quiet()
		w.mu.Lock()
		queue, w.queue = w.queue, queue[:0]
		w.mu.Unlock()
		for _, f := range queue {
			f()
		}
		clear(queue) // so that what the calls refer to can be freed
		if w.finished {
			return
		}
		busy := w.lib.poll(w.pollLimit(time.Now()))
		now := time.Now()
		for _, x := range w.open {
			x.lookAtResult(now)
		}
		if !busy {
			w.idle()
		}
	}
}

// pollLimit returns how long one call into the library may last: until the first exchange that
// waits gives up, and pollTime at most.
func (w *World) pollLimit(now time.Time) time.Duration {
	d := pollTime
	for _, x := range w.open {
		if x.waited {
			d = min(d, x.timeout-now.Sub(x.began))
		}
	}
	return d
}

// idle waits for a call. MPI may have to send on what this rank has completed.
func (w *World) idle() {
	if len(w.open) == 0 {
		<-w.wake
		return
	}
	w.idleTimer.Reset(idleTime)
	select {
	case <-w.wake:
		w.idleTimer.Stop()
	case <-w.idleTimer.C:
	}
}

// Close closes all exchanges, waits until the other ranks call it too and ends MPI. If ctx ends
// before, the error is the error of ctx and MPI has not ended: the other ranks may be stuck, and
// [World.Abort] is left. A second Close does nothing.
func (w *World) Close(ctx context.Context) error {
	var open []*Exchange
	w.callAndWait(func() { open = slices.Clone(w.open) })
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

// Abort ends all ranks of the job at once, with this exit status if the launcher passes it on. It
// is for a rank that cannot continue and must not leave the other ranks waiting. It returns only if
// MPI has ended.
func (w *World) Abort(status int) { w.callAndWait(func() { w.lib.abort(status) }) }

// begun reports whether this process has called Init.
var begun atomic.Bool

// How long Abandon waits for the others to start, and then to fail as this process did, which is
// the rule.
const (
	abandonTime = 30 * time.Second
	failTime    = 2 * time.Second
)

// Abandon ends, with this exit status, the job of a process that fails before it has called [Init]:
// the others wait for it there. Where the launcher sees to that, as Open MPI's does, it returns at
// once. MPICH's waits for ever: therefore the process becomes a rank, to abort the job, whose
// status is then this one or, by chance, the status of a process which the launcher kills for it.
// Abandon returns when all have failed, when nobody comes, and where Init has been called.
func Abandon(status int) {
	if launcherEndsJobs || begun.Load() {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w, err := Init()
		if err != nil { // no notice can be sent
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), failTime)
		defer cancel()
		if w.Close(ctx) != nil {
			w.Abort(status)
		}
	}()
	select {
	case <-ended:
	case <-time.After(abandonTime):
	}
}
