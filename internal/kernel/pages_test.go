package kernel

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"dsbo/internal/testkit"
)

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, hugeFrom / 8, hugeFrom/4 + 1} {
		v := MakePages[float32](n)
		if len(v) != n {
			t.Fatalf("a vector of %d numbers has %d", n, len(v))
		}
		for i := range v {
			if v[i] != 0 {
				t.Fatalf("entry %d of %d is %g, want 0", i, n, v[i])
			}
			v[i] = 1 // all of it is memory
		}
	}
}

// TestWholePages: no page of a neighbour is asked for.
func TestWholePages(t *testing.T) {
	size := os.Getpagesize()
	memory := make([]byte, 8*size)
	for _, from := range []int{0, 1, size - 1, size} {
		part := memory[from : from+4*size+1]
		got := wholePages(part)
		begin := uintptr(unsafe.Pointer(&got[0]))
		if begin%uintptr(size) != 0 || len(got)%size != 0 || len(got) < 3*size ||
			begin < uintptr(unsafe.Pointer(&part[0])) || len(got) > len(part) {
			t.Errorf("from byte %d: %d bytes at %x are no whole pages", from, len(got), begin)
		}
	}
}

// short is made before any long vector, whose memory it might be given after it.
var short = MakePages[float64](hugeFrom / 64)

// TestAsked: Linux knows that the memory of a long vector is meant for huge pages, and the memory
// of a short one is not.
func TestAsked(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("no kernel with huge pages")
	}
	for _, v := range [][]float64{short, MakePages[float64](4 * hugeFrom)} {
		want := len(v) > len(short)
		if got := meantForHugePages(t, uintptr(unsafe.Pointer(&v[len(v)/2]))); got != want {
			t.Errorf("a vector of %d numbers is meant for huge pages: %v, want %v", len(v), got, want)
		}
	}
}

// meantForHugePages reports the flag hg of the mapping that has an address.
func meantForHugePages(t *testing.T, address uintptr) bool {
	t.Helper()
	inside := false
	for line := range bytes.Lines(testkit.Get(os.ReadFile("/proc/self/smaps"))) {
		fields := strings.Fields(string(line))
		if flags, ok := strings.CutPrefix(string(line), "VmFlags:"); ok && inside {
			return strings.Contains(flags, " hg")
		}
		if from, to, ok := strings.Cut(fields[0], "-"); ok {
			begin, err1 := strconv.ParseUint(from, 16, 64)
			end, err2 := strconv.ParseUint(to, 16, 64)
			inside = err1 == nil && err2 == nil && begin <= uint64(address) && uint64(address) < end
		}
	}
	t.Fatalf("no mapping has address %x", address)
	return false
}
