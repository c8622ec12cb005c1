package engine

import (
	"runtime"
	"slices"
	"sync"

	"dsbo/internal/kernel"
)

// A Workspace is memory that programs share which are used one at a time: the numbers of x, y and
// v, and scratch memory for values that no program keeps.
type Workspace struct {
	Pool *Pool // where scratch memory comes from; nil: the workspace has its own
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

// A Pool is scratch memory for the programs of several goroutines. At most runtime.GOMAXPROCS
// programs have some of it at one time; others wait.
type Pool struct {
	mu   sync.Mutex
	free sync.Cond // some of the scratch memory
	busy int       // programs that have some
	f32  [][]float32
	f64  [][]float64
}

// memory is what machines of one workspace share.
type memory[T Float] struct {
	points map[pointKey]*sharedVector[T]
	pool   *Pool
	free   *[][]T // of the pool
}

// acquire removes at least n numbers of scratch memory from the pool, or makes them, once a
// processor is free. The numbers are left over from earlier runs.
func (m *memory[T]) acquire(n int) []T {
	p, list := m.pool, m.free
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
	best := 0 // the shortest that is long enough, else the longest, which a longer one replaces
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

// release returns scratch memory to the pool.
func (m *memory[T]) release(s []T) {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	*m.free = append(*m.free, s)
	m.pool.busy--
	m.pool.free.Signal()
}

type pointKey struct {
	name   string
	length int
}

// A sharedVector is the numbers of x, y or v. Its version grows when they change, so that each
// program notices.
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
