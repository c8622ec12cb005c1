package kernel

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

// processors sets GOMAXPROCS for the test, and makes busy be what it was before: helpers of earlier
// products may not have ended.
func processors(t *testing.T, n int) {
	for busy.Load() > 0 {
		runtime.Gosched()
	}
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestSharedProducts: products that are shared have the bits of those that are not, however they
// are cut.
func TestSharedProducts(t *testing.T) {
	eachPathAndType(t, testSharedProducts[float32], testSharedProducts[float64])
}

func testSharedProducts[T Float](t *testing.T) {
	if active == Generic {
		t.Skip("products of plain Go are not shared")
	}
	processors(t, 1)
	for i, s := range [][3]int{
		{130, 701, 131}, // GemmNT is one sum an entry
		{64, 523, 519},  // columns; GemmNT is of dot products
		{1501, 90, 70},  // rows
	} {
		if testing.Short() && i > 0 {
			break
		}
		m, n, k := s[0], s[1], s[2]
		if m*n*k < crewWork {
			t.Fatalf("%v is too small to be shared", s)
		}
		a, b, start := random[T](m*k), random[T](n*k), random[T](m*n)
		for _, acc := range []bool{false, true} {
			for name, product := range map[string]func(c []T){
				"GemmNT": func(c []T) { GemmNT(m, n, k, c, n, a, k, b, k, acc) },
				"GemmTN": func(c []T) { GemmTN(m, n, k, c, n, a, m, b, n, acc) },
				"GemmNN": func(c []T) { GemmNN(m, n, k, c, n, a, k, b, n, acc) },
			} {
				atEach(t, fmt.Sprintf("%s %v", name, s), start, product)
			}
		}
	}
}

// atEach runs work on a copy of start with one processor, and compares what it makes with several.
func atEach[T Float](t *testing.T, what string, start []T, work func(dst []T)) {
	t.Helper()
	run := func(n int) []T {
		runtime.GOMAXPROCS(n)
		dst := append([]T(nil), start...)
		work(dst)
		return dst
	}
	want := run(1)
	for _, n := range []int{2, 5} {
		sameBits(t, fmt.Sprintf("%s with %d processors", what, n), run(n), want)
	}
}

// TestCrew: all parts are computed once, and by several goroutines: a part waits for another one
// that has begun.
func TestCrew(t *testing.T) {
	processors(t, 2)
	for _, n := range []int{1, CrewGrain, CrewGrain + 1, 1000} {
		var done [1000]atomic.Int32
		var begun atomic.Int32
		both := make(chan struct{})
		team := NewCrew(crewWork)
		team.Share(n, func(from, to int) {
			if begun.Add(1) == 2 {
				close(both)
			}
			if n > CrewGrain {
				<-both
			}
			for i := from; i < to; i++ {
				done[i].Add(1)
			}
		})
		for i := range n {
			if got := done[i].Load(); got != 1 {
				t.Fatalf("n=%d: entry %d was computed %d times, want once", n, i, got)
			}
		}
	}
}

// TestNoCrew: small work, and work where all processors are busy, is for its caller alone.
func TestNoCrew(t *testing.T) {
	processors(t, 3)
	helpers := func(work int) int {
		if team := NewCrew(work); team != nil {
			return team.helpers
		}
		return 0
	}
	for begun, want := range []int{2, 2, 1, 0, 0} { // one that computes without having said so counts as one
		if got := helpers(crewWork); got != want {
			t.Errorf("%d helpers where %d have begun, want %d", got, begun, want)
		}
		Begin()
		defer End()
	}
	if got := helpers(crewWork - 1); got != 0 {
		t.Errorf("%d helpers for a small product", got)
	}
}
