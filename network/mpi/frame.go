package mpi

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"unsafe"

	"dsbo/network"
)

// maxFloats is the length of the longest message: MPI counts in 31 bits.
const maxFloats = math.MaxInt32

// A frame is a message in memory of the library.
type frame struct {
	lib   library
	words []uint64
	n     int // numbers in it
}

// resize makes room for n numbers. What was in the frame is lost.
func (f *frame) resize(n int) {
	f.n = n
	if n > len(f.words) {
		f.release()
		f.words = f.lib.alloc(n)
	}
}

func (f *frame) release() {
	if f.words != nil {
		f.lib.free(f.words)
		f.words = nil
	}
}

// floats returns the numbers, in place.
func (f *frame) floats() []float64 {
	if f.n == 0 {
		return nil
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&f.words[0])), f.n)
}

// message returns the words that travel.
func (f *frame) message() []uint64 { return f.words[:f.n] }

// fingerprint stands for a matrix with its mixing, and the distribution of its agents.
func fingerprint(w *network.Matrix, ranks int) uint64 {
	h := fnv.New64a()
	put := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	put(uint64(ranks))
	for i := range w.N() {
		put(uint64(len(w.Row(i))))
		for _, e := range w.Row(i) {
			put(uint64(e.Agent))
			put(math.Float64bits(e.Weight))
		}
	}
	h.Write([]byte(w.Mixing().String()))
	return h.Sum64()
}
