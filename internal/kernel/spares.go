package kernel

import "sync"

// Spares are values that somebody made and nobody uses: scratch memory for as many as compute at
// one time. The zero value has none. It is safe for concurrent use. Unlike a sync.Pool it loses
// none, to a garbage collection or under the race detector, so that later calls allocate nothing.
type Spares[T any] struct {
	mu   sync.Mutex
	list []*T
}

// Get removes the value that was given last and returns it as it is; a zero value if there is
// none.
func (s *Spares[T]) Get() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.list) - 1
	if last < 0 {
		return new(T)
	}
	v := s.list[last]
	s.list = s.list[:last]
	return v
}

// Add adds a value, which the caller no longer uses.
func (s *Spares[T]) Add(v *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, v)
}
