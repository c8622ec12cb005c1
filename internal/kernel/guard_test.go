package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// An arena hands out slices whose surroundings are known, so that a test sees every write outside.
type arena[T Float] struct {
	rng   *rand.Rand
	areas []area[T]
}

// An area is a slice of length n that begins at off in a buffer, and the buffer as it was.
type area[T Float] struct {
	buf, before []T
	off, n      int
}

// guard is the number of entries around a slice: more than a vector register on either side.
const guard = 40

// slice returns n entries filled by fill, at an offset that is a multiple of no register width.
func (a *arena[T]) slice(n int, fill func() T) []T {
	off := guard + a.rng.IntN(17)
	buf := make([]T, off+n+guard)
	for i := range buf {
		buf[i] = T(1e6 + float64(i))
	}
	s := buf[off : off+n : off+n]
	for i := range s {
		s[i] = fill()
	}
	a.areas = append(a.areas, area[T]{buf, slices.Clone(buf), off, n})
	return s
}

// check fails if anything around the slices was changed.
func (a *arena[T]) check(t *testing.T, what string) {
	t.Helper()
	for k, s := range a.areas {
		for i, v := range s.buf {
			if inside := i >= s.off && i < s.off+s.n; !inside && v != s.before[i] {
				t.Fatalf("%s: slice %d of length %d: wrote at %d", what, k, s.n, i-s.off)
			}
		}
	}
}
