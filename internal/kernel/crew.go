package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// NewCrew shares a large product with goroutines of its own, on processors where no goroutine
// computes. It cuts C into parts. An entry of C is the same sum in any cut, so bits do not depend
// on the number of helpers. Callers share work on long vectors in the same way.

// crewWork is the least number of multiplications of a shared product: about 0.2 ms, a tenth of
// which is the time to wake a processor.
const crewWork = 1 << 23

// EntryWork is the number of multiplications that take as long as one entry of a long vector, which
// waits for memory.
const EntryWork = 32

// CrewGrain divides the columns or rows of parts of a shared product: whole panels of any path and
// type.
const CrewGrain = 64

// busy is how many goroutines compute.
var busy atomic.Int64

// Begin marks the calling goroutine as computing, until [End]. Large products use the processors
// left over. A goroutine without Begin has the same results, but its processor counts as free.
func Begin() { busy.Add(1) }

// End ends the mark of [Begin].
func End() { busy.Add(-1) }

// Hire counts helpers for the given number of multiplications as computing, each until its [End]:
// one for each processor on which nobody computes, at most n.
func Hire(work, n int) (helpers int) {
	if work < crewWork {
		return 0
	}
	for {
		b := busy.Load()
		helpers = max(0, min(n, runtime.GOMAXPROCS(0)-int(max(b, 1))))
		if busy.CompareAndSwap(b, b+int64(helpers)) {
			return helpers
		}
	}
}

// Crowded reports whether more goroutines compute than there are processors.
func Crowded() bool { return busy.Load() > int64(runtime.GOMAXPROCS(0)) }

// A Crew is the goroutines that share work, the caller's among them.
type Crew struct {
	helpers int
	part    func(from, to int) // computes columns, rows or entries from..to
	n, step int
	next    atomic.Int64   // the first part not taken yet
	open    sync.WaitGroup // of parts that are not done
}

// NewCrew returns a crew for work of n multiplications, or nil if it is for its caller alone.
func NewCrew(work int) *Crew {
	if work < crewWork {
		return nil
	}
	helpers := runtime.GOMAXPROCS(0) - int(max(busy.Load(), 1)) // a caller that has not begun is busy too
	if helpers < 1 {
		return nil
	}
	return &Crew{helpers: helpers}
}

// Share calls part for parts from..to of 0..n until all are done. A crew shares once. Each of the
// crew takes the next part when it is done with one: a helper that finds no processor takes none,
// and nobody waits for it.
func (c *Crew) Share(n int, part func(from, to int)) {
	const turns = 2 // so that a slow helper delays no more than a fraction of the work
	c.n, c.part = n, part
	c.step = ceil(ceil(n, turns*(c.helpers+1)), CrewGrain) * CrewGrain
	parts := ceil(n, c.step)
	c.open.Add(parts)
	for range min(c.helpers, parts-1) {
		busy.Add(1)
		go func() {
			defer busy.Add(-1)
			c.work()
		}()
	}
	c.work()
	c.open.Wait()
	c.part = nil // a late helper finds no part, and must not keep its memory alive
}

// work computes parts until all are taken.
func (c *Crew) work() {
	for {
		to := int(c.next.Add(int64(c.step)))
		if to-c.step >= c.n {
			return
		}
		c.part(to-c.step, min(to, c.n))
		c.open.Done()
	}
}
