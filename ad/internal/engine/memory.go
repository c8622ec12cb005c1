package engine

import (
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"dsbo/internal/kernel"
)

// A Workspace is memory that programs share which are used one at a time: which numbers x, y and v
// have, and scratch memory for values that no program keeps.
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
	w.f32.pool, w.f32.commons = p, &p.f32
	w.f64.pool, w.f64.commons = p, &p.f64
	if m, ok := any(&w.f32).(*memory[T]); ok {
		return m
	}
	return any(&w.f64).(*memory[T])
}

// A Pool is memory for the programs of several goroutines: scratch memory, and the numbers of x, y
// and v with the kept values that depend on these alone. At most runtime.GOMAXPROCS programs have
// some scratch memory at one time; others wait. Programs of both types use the same. Numbers are
// there once for all programs at one point.
type Pool struct {
	mu       sync.Mutex
	free     sync.Cond // some of the scratch memory
	busy     int       // programs that have some
	list     [][]float64
	versions uint64 // of points so far
	f32      commons[float32]
	f64      commons[float64]
}

// memory is what machines of one workspace share.
type memory[T Float] struct {
	points  map[commonKind]*sharedVector[T]
	pool    *Pool
	commons *commons[T] // of the pool
}

// acquire removes scratch memory for at least n numbers from the pool, or makes it, once a
// processor is free. The numbers are left over from earlier runs, perhaps of the other type.
func (m *memory[T]) acquire(n int) []T {
	p := m.pool
	p.mu.Lock()
	p.free.L = &p.mu
	for p.busy >= runtime.GOMAXPROCS(0) {
		p.free.Wait()
	}
	p.busy++
	p.mu.Unlock()
	return m.takeTile(n)
}

// takeMemory removes memory for at least n numbers from the list, or makes it.
func (p *Pool) takeMemory(n int) []float64 {
	if len(p.list) == 0 {
		return kernel.MakePages[float64](n)
	}
	best := 0 // the shortest that is long enough, else the longest, which a longer one replaces
	for i, s := range p.list {
		if b := len(p.list[best]); b < n && len(s) > b || n <= len(s) && len(s) < b {
			best = i
		}
	}
	found := p.list[best]
	p.list = slices.Delete(p.list, best, best+1)
	if len(found) < n {
		found = nil // free before the longer one is made
		found = kernel.MakePages[float64](n)
	}
	return found
}

// takeTile removes memory for n numbers, in whole float64s, from the pool, or makes it.
func (m *memory[T]) takeTile(n int) []T {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	return kernel.ViewAs[T](m.pool.takeMemory((n*int(unsafe.Sizeof(*new(T))) + 7) / 8))
}

// returnTile returns what takeTile returned to the pool.
func (m *memory[T]) returnTile(tile []T) {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	m.pool.list = append(m.pool.list, kernel.ViewAs[float64](tile))
}

// release returns what acquire returned to the pool.
func (m *memory[T]) release(s []T) {
	m.returnTile(s)
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	m.pool.busy--
	m.pool.free.Signal()
}

// A sharedVector is the numbers of x, y or v, which other workspaces of the pool may have too. Its
// version is another one when they have changed, so that each program notices; 0: there are none.
type sharedVector[T Float] struct {
	kind    commonKind
	common  *common[T]
	version uint64
}

// set makes a common the numbers of the vector.
func (s *sharedVector[T]) set(c *common[T]) { s.common, s.version = c, c.version }

// point returns the vector of a name and a length, made at the first call.
func (m *memory[T]) point(name string, length int) *sharedVector[T] {
	kind := commonKind{point: name, number: length}
	if m.points == nil {
		m.points = map[commonKind]*sharedVector[T]{}
	}
	if m.points[kind] == nil {
		m.points[kind] = &sharedVector[T]{kind: kind}
	}
	return m.points[kind]
}
