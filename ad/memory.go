package ad

import (
	"runtime"
	"slices"
	"sync"

	"dsbo/internal/kernel"
)

// A Workspace is memory that programs share which are used one at a time, such as those of one
// agent: the numbers of x, y and v, and scratch memory for values that no program keeps. Programs
// with one workspace belong to one goroutine at a time together. The zero Workspace is ready
// to use.
type Workspace struct {
	// where scratch memory comes from; nil: the workspace has its own, which grows to what the
	// largest of its programs needs
	Pool *Pool
	own  Pool
	f32  memory[float32]
	f64  memory[float64]
}

// memoryOf returns the memory of type T.
func memoryOf[T Float](w *Workspace) *memory[T] {
	p := w.Pool
	if p == nil {
		p = &w.own
	}
	w.f32.pool, w.f32.free = p, &p.f32
	w.f64.pool, w.f64.free = p, &p.f64
	if m, ok := any(&w.f32).(*memory[T]); ok {
		return m
	}
	return any(&w.f64).(*memory[T])
}

// A Pool is scratch memory for the programs of several goroutines, such as all agents of a process.
// As many programs compute at one time as there are processors (runtime.GOMAXPROCS); others wait
// until one of these is done: there is scratch memory for these alone, and what they compute stays
// in the caches. The zero Pool is ready to use.
type Pool struct {
	mu   sync.Mutex
	free sync.Cond // some of the scratch memory
	busy int       // programs that have some
	f32  [][]float32
	f64  [][]float64
}

// take removes scratch memory of at least n numbers from a list of the pool, or makes it, once a
// processor is free. Its numbers are left over from earlier runs.
func take[T Float](p *Pool, list *[][]T, n int) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free.L = &p.mu
	for p.busy >= runtime.GOMAXPROCS(0) {
		p.free.Wait()
	}
	p.busy++
	if len(*list) == 0 {
		return kernel.MakePages[T](n)
	}
	best := 0 // the shortest that will do, or where none does the longest, in whose place a longer one comes
	for i, s := range *list {
		if b := len((*list)[best]); b < n && len(s) > b || n <= len(s) && len(s) < b {
			best = i
		}
	}
	found := (*list)[best]
	*list = slices.Delete(*list, best, best+1)
	if len(found) < n {
		found = nil // free before the longer one is made
		found = kernel.MakePages[T](n)
	}
	return found
}

// give adds scratch memory to a list of the pool.
func give[T Float](p *Pool, list *[][]T, s []T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, s)
	p.busy--
	p.free.Signal()
}

// memory is what machines of one workspace share.
type memory[T Float] struct {
	points map[pointKey]*sharedVector[T]
	pool   *Pool
	free   *[][]T // of the pool
}

type pointKey struct {
	name   string
	length int
}

// A sharedVector is the numbers of x, y or v. Its version grows when they change, so that each
// program sees that they have.
type sharedVector[T Float] struct {
	v       []T
	version uint64
}

// point returns the vector of a name and a length, made at the first call.
func (m *memory[T]) point(name string, length int) *sharedVector[T] {
	key := pointKey{name, length}
	if m.points == nil {
		m.points = map[pointKey]*sharedVector[T]{}
	}
	if m.points[key] == nil {
		m.points[key] = &sharedVector[T]{v: kernel.MakePages[T](length)}
	}
	return m.points[key]
}
