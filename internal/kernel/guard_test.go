package kernel

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// An arena hands out slices whose surroundings are known, so that a test sees every write outside.
type arena[T Float] struct {
	rng  *rand.Rand
	bufs [][]T
	want [][]T // copies of the surroundings
	off  []int
	n    []int
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
	a.bufs = append(a.bufs, buf)
	a.want = append(a.want, append([]T(nil), buf...))
	a.off = append(a.off, off)
	a.n = append(a.n, n)
	return s
}

// check fails if anything around the slices was changed.
func (a *arena[T]) check(t *testing.T, what string) {
	t.Helper()
	for k, buf := range a.bufs {
		for i := range buf {
			if inside := i >= a.off[k] && i < a.off[k]+a.n[k]; !inside && buf[i] != a.want[k][i] {
				t.Fatalf("%s: slice %d of length %d: wrote at %d", what, k, a.n[k], i-a.off[k])
			}
		}
	}
}

// sized returns the name of T for test names.
func sized[T Float]() string {
	var v T
	if unsafe.Sizeof(v) == 4 {
		return "float32"
	}
	return "float64"
}
