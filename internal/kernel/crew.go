package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A large product is shared with goroutines of its own while there are processors for which nobody
// has begun to compute: in parts of C, whose entries are the same sums wherever C is cut, so that
// bits do not depend on how many help. Callers share work on long vectors in the same way.

// crewWork is how many multiplications a product has at least that is shared: it takes about 0.2
// ms, of which waking a processor costs a tenth.
const crewWork = 1 << 23

// EntryWork is how many multiplications of a product take as long as an entry of long vectors,
// which memory holds up.
const EntryWork = 32

// crewGrain is what parts are a multiple of, in columns or rows: whole panels of any path and type.
const crewGrain = 64

// busy is how many goroutines compute.
var busy atomic.Int64

// Begin says that the calling goroutine computes from now on, until [End]: large products are
// shared with processors that are left over. A goroutine that does not say so has the same results,
// and takes a processor that was counted as free.
func Begin() { busy.Add(1) }

// End says that what began with [Begin] is over.
func End() { busy.Add(-1) }

// Hire counts helpers for work of some multiplications among those that compute, each until its
// [End]: as many as there are processors for which nobody computes, at most n.
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
	next    atomic.Int64   // the first one that nobody has taken
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
	const turns = 2 // so that a slow one does not keep the others waiting for half of the work
	c.n, c.part = n, part
	c.step = ceil(ceil(n, turns*(c.helpers+1)), crewGrain) * crewGrain
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
	c.part = nil // which a helper that comes late does not ask for, and whose memory it must not keep
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
