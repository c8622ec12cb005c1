package ad

// A Workspace is memory that programs share which are used one at a time, such as those of one agent: the numbers of x, y
// and v, and scratch memory for values that no program keeps. It grows to what the largest of them needs. Programs with
// one workspace belong to one goroutine at a time together. The zero Workspace is ready to use.
type Workspace struct {
	f32 memory[float32]
	f64 memory[float64]
}

type memory[T Float] struct {
	scratch []T
	points  map[pointKey]*sharedVector[T]
}

type pointKey struct {
	name   string
	length int
}

// A sharedVector is the numbers of x, y or v. Its version grows when they change, so that each program sees that they have.
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
		m.points[key] = &sharedVector[T]{v: make([]T, length)}
	}
	return m.points[key]
}

// atLeast returns scratch memory of a length. Its numbers are left over from earlier runs.
func (m *memory[T]) atLeast(n int) []T {
	if len(m.scratch) < n {
		m.scratch = nil // free before the larger one is made
		m.scratch = make([]T, n)
	}
	return m.scratch[:n]
}
