package mpi

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"unsafe"

	"dsbo"
	"dsbo/network"
)

// Every message begins with these words; its numbers follow.
const (
	headKey   = iota // what the sender mixes with
	headAgent        // whose numbers these are, or the first agent of the rank
	headRound        // of this kind of transfer, from 0
	headWords
)

// maxFloats is the length of the longest message: MPI counts in 31 bits.
const maxFloats = math.MaxInt32 - headWords

// A frame is a message in memory of the library.
type frame struct {
	lib   library
	words []uint64
	n     int // numbers in it
}

// resize makes room for n numbers. What was in the frame is lost.
func (f *frame) resize(n int) {
	f.n = n
	if want := headWords + n; want > len(f.words) {
		f.release()
		f.words = f.lib.alloc(want)
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
	return unsafe.Slice((*float64)(unsafe.Pointer(&f.words[headWords])), f.n)
}

// message returns the words that travel.
func (f *frame) message() []uint64 { return f.words[:headWords+f.n] }

func (f *frame) label(key uint64, agent, round int) {
	f.words[headKey], f.words[headAgent], f.words[headRound] = key, uint64(agent), uint64(round)
}

// check returns an error unless the frame belongs to the given agent and round.
func (f *frame) check(from string, key uint64, agent, round int) error {
	switch h := f.words; {
	case h[headKey] != key:
		return dsbo.ConfigErrorf(
			"all ranks must mix over one graph with the same weights and in the same way; %s does not", from)
	case h[headAgent] != uint64(agent) || h[headRound] != uint64(round):
		return fmt.Errorf("vector %d of agent %d must come next; %s sent vector %d of agent %d", round, agent, from,
			h[headRound], h[headAgent])
	}
	return nil
}

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
