// This file allocates long vectors and asks the system for huge pages under them. A pass over
// millions of numbers translates the address of each page, and a product of matrices of each row:
// with small pages that is a twentieth of a deep network's gradient.
//
// The system may refuse: results, and the memory used, are the same.

package kernel

import (
	"os"
	"unsafe"
)

// hugeFrom is the least size in bytes of vectors that ask: a huge page, of mostly 2 MiB, lies in
// them wherever they begin.
const hugeFrom = 4 << 20

// MakePages returns a vector of n zeros.
func MakePages[T byte | float32 | float64](n int) []T {
	v := make([]T, n)
	if bytes := inMemory(v); len(bytes) >= hugeFrom {
		adviseHuge(wholePages(bytes))
	}
	return v
}

// ViewAs returns the memory of v as numbers of type T, as many as fit. A view as float64 must be of
// memory that was made as float64.
func ViewAs[T, S float32 | float64](v []S) []T {
	return unsafe.Slice((*T)(pointer(v)), len(v)*size[S]()/size[T]())
}

// wholePages returns the small pages that belong to memory alone.
func wholePages(memory []byte) []byte {
	size := os.Getpagesize()
	memory = memory[-int(uintptr(unsafe.Pointer(&memory[0])))&(size-1):]
	return memory[:len(memory)&^(size-1)]
}
