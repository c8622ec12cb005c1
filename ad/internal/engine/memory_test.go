package engine

import (
	"runtime"
	"testing"
	"unsafe"
)

// TestSlotsAreSmall: an agent has some 200 slots. What a few of them need is behind pointers: each
// has 4, two slices of 24 bytes and three flags.
func TestSlotsAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(slot[float64]{}); size > 4*8+2*24+8 {
		t.Errorf("a slot has %d bytes, want 88", size)
	}
}

// TestPool: a pool gives the shortest memory that is long enough, replaces the longest where none
// is, and has none that nobody needs.
func TestPool(t *testing.T) {
	old := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(old)
	p := new(Pool)
	m := memoryOf[float64](&Workspace{Pool: p})
	var held [][]float64
	for _, n := range []int{10, 30, 20} {
		held = append(held, m.acquire(n))
	}
	for _, s := range held {
		m.release(s)
	}
	for _, c := range []struct{ ask, want int }{{5, 10}, {15, 20}, {30, 30}, {40, 40}, {25, 40}, {0, 10}} {
		s := m.acquire(c.ask)
		if len(s) != c.want {
			t.Errorf("%d numbers asked for: have %d, want %d", c.ask, len(s), c.want)
		}
		m.release(s)
	}
	if len(p.list) != 3 {
		t.Errorf("%d blocks, want 3", len(p.list))
	}
}
