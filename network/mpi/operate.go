package mpi

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"
	"unsafe"

	"dsbo"
	"dsbo/network"
)

// maxLength is the length of the longest vector: MPI counts in 31 bits.
const maxLength = math.MaxInt32

func checkLength(n int) error {
	if n > maxLength {
		return dsbo.ShapeErrorf("ranks must exchange at most %d numbers at a time; they are %d", maxLength, n)
	}
	return nil
}

// operate has all ranks do something together: put writes this rank's bytes, and take reads what
// has come of them, and for a swap what others have sent.
func (x *Exchange) operate(ctx context.Context, o operation, out, in int, put func(own []byte),
	take func(own, theirs []byte)) error {
	if err := x.holdMemory(); err != nil {
		return err
	}
	defer x.users.Done()
	own, theirs, err := x.channel.memory(out, in)
	if err != nil {
		return err
	}
	put(own)
	x.next = o
	x.world.call(x.start)
	if err := network.Await(ctx, x.ready, x.ended); err != nil {
		return err
	}
	take(own, theirs)
	return nil
}

func (x *Exchange) begin() {
	if x.ended.Err() == nil {
		x.waited, x.began = true, time.Now()
		x.channel.begin(x.next)
	}
}

// lookAtResult hands on what has come of an operation: a wake-up, or the end of the exchange. It is
// called by serve alone, whose wait it ends.
func (x *Exchange) lookAtResult(now time.Time) {
	if !x.waited {
		return
	}
	s, err := x.channel.result()
	switch {
	case err != nil:
	case s == pending && now.Sub(x.began) < x.timeout:
		return
	case s == pending: // MPI does not report the ranks that it waits for
		err = &network.SilentError{Processes: []string{"another rank"}, Silent: x.timeout}
	case s == unlike:
		err = dsbo.ShapeErrorf("ranks must do alike; another one does something else than to %v", x.next)
	}
	x.waited = false
	switch {
	case err != nil:
		x.Fail(fmt.Errorf("rank %d: %w", x.world.rank, err))
	case s == left: // whose notice names it
		x.Fail(x.channel.notice().error(x.blocks))
	default:
		x.ready <- struct{}{}
	}
}

// String returns the operation's name.
func (o operation) String() string {
	if o.swap {
		return fmt.Sprintf("mix vectors of %d numbers", o.length)
	}
	return fmt.Sprintf("combine %d words of %d bits", o.length, o.bits)
}

// swap exchanges the vectors that the agents of this rank have in their slots with vectors of other
// ranks. lengths are the largest of the lengths, and of ^length, of those agents.
func (x *Exchange) swap(ctx context.Context, lengths network.Reduction) error {
	n := int(lengths.Words[0])
	if least := int(^lengths.Words[1]); least != n { // the largest complement is the least length's
		return dsbo.ShapeErrorf("neighbours must send equally many numbers; one sends %d and another one %d", least, n)
	}
	slot := x.local[0].round % 2
	put := func(own []byte) {
		for k, p := range x.send {
			copy(floatsOf(own)[k*n:], x.agents[p.agent].slot[slot])
		}
	}
	var err error
	if x.channel != nil {
		err = x.operate(ctx, operation{swap: true, length: n}, 8*n*len(x.send), 8*n*len(x.receive), put,
			func(_, theirs []byte) { x.incoming = floatsOf(theirs) })
	}
	if err == nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.mixed++
	}
	return err
}

// floatsOf returns the numbers in memory of the library.
func floatsOf(b []byte) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// ReduceTogether implements [network.TogetherReducer].
func (x *Exchange) ReduceTogether(ctx context.Context, all ...network.Reduction) error {
	return network.FailBy(x, x.joint.ReduceTogether(ctx, all), "rank %d, reduction", x.world.rank)
}

// Gather implements [network.Team]: an error ends the exchange. It sums words, 0 for rows of other
// ranks. Max would not do: MPICH compares words as signed, so negative numbers would lose to 0.
func (x *Exchange) Gather(ctx context.Context, rows [][]float64) error {
	err := network.CheckRows(rows, len(x.agents))
	if err == nil {
		err = network.GatherWords(rows, x.ids, func(words []uint64) error {
			return x.joint.ReduceTogether(ctx, []network.Reduction{{Op: network.Sum, Bits: 64, Words: words}})
		})
	}
	return network.FailBy(x, err, "rank %d, gathering", x.world.rank)
}

// reduceRanks combines the words of this rank's agents with the words of the other ranks. MPI
// carries nothing from word to word: the halves of a whole number's words travel as words of 64
// bits, which have room for the sums, and are carried afterwards.
func (x *Exchange) reduceRanks(ctx context.Context, r network.Reduction) error {
	words, isWhole := r.Words, r.Bits >= network.Whole
	if isWhole {
		x.halves = appendHalves(x.halves[:0], r.Words)
		words = x.halves
	}
	if err := checkLength(len(words)); err != nil {
		return err
	}
	o := operation{op: r.Op, bits: r.Bits, length: len(words)}
	err := x.operate(ctx, o, o.width()*len(words), 0, func(own []byte) { putWords(own, o.width(), words) },
		func(own, _ []byte) { getWords(words, o.width(), own) })
	if err == nil && isWhole {
		carryHalves(r.Words, words)
	}
	return err
}

// putWords writes words of 4 or 8 bytes as this machine has them, without the bits above.
func putWords(memory []byte, width int, words []uint64) {
	for k, w := range words {
		if width == 4 {
			binary.NativeEndian.PutUint32(memory[4*k:], uint32(w))
		} else {
			binary.NativeEndian.PutUint64(memory[8*k:], w)
		}
	}
}

// getWords reads what putWords writes.
func getWords(words []uint64, width int, memory []byte) {
	for k := range words {
		if width == 4 {
			words[k] = uint64(binary.NativeEndian.Uint32(memory[4*k:]))
		} else {
			words[k] = binary.NativeEndian.Uint64(memory[8*k:])
		}
	}
}

// appendHalves appends the halves of words, the lower first.
func appendHalves(dst, words []uint64) []uint64 {
	for _, w := range words {
		dst = append(dst, w&math.MaxUint32, w>>32)
	}
	return dst
}

// carryHalves sets the words of a whole number to the sums of its halves, with what each half
// carries to the next one.
func carryHalves(words, halves []uint64) {
	carried := uint64(0)
	for k := range words {
		low := halves[2*k] + carried
		high := halves[2*k+1] + low>>32
		words[k], carried = low&math.MaxUint32|high<<32, high>>32
	}
}
