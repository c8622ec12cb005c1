package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"dsbo"
	"dsbo/network"
)

// A sum is what Reduce of the agents runs on: MPI_Iallreduce over all ranks.
type sum struct {
	collective
	transfer
	kind sumKind
}

func (s *sum) init(x *Exchange, timeout time.Duration) {
	s.transfer = transfer{sum: &s.kind, blocks: x.blocks, timeout: timeout, done: s.complete}
	s.failed = func(err error) {
		if errors.Is(err, errMismatch) {
			err = dsbo.ShapeErrorf(
				"ranks must reduce alike; another one reduces words of other numbers, bits or operations than %d "+
					"words of %d bits",
				s.kind.words, s.kind.bits)
		}
		x.Fail(fmt.Errorf("rank %d: %w", x.world.rank, err))
	}
	lo, hi := x.blocks.agentsOf(x.world.rank)
	s.kind.passive = lo == hi
	if s.kind.passive {
		s.timeout = math.MaxInt64 // it waits for what the others do
	}
	s.collective = x.newCollective(&s.transfer)
	if x.blocks.ranks > 1 {
		x.joint.AcrossProcesses = x.reduceRanks
	}
}

// openSum opens this rank's end of the sum, which all ranks do in the order of their exchanges.
func (x *Exchange) openSum() {
	if x.blocks.ranks > 1 {
		x.world.call(func() { x.world.lib.openSum(&x.sum.transfer) })
	}
}

// joinReductions has a rank without agents take part in what the others reduce.
func (x *Exchange) joinReductions() {
	if x.sum.kind.passive {
		x.world.call(x.sum.begin)
	}
}

// Reduce implements [network.Reducer].
func (a *agent) Reduce(ctx context.Context, op network.Op, bits int, words []uint64) error {
	err := a.x.joint.Reduce(ctx, op, bits, words)
	if err != nil {
		err = fmt.Errorf("agent %d, reduction: %w", a.id, err)
		a.x.Fail(err)
	}
	return err
}

// ReduceTogether implements [network.TogetherReducer].
func (x *Exchange) ReduceTogether(ctx context.Context, op network.Op, bits int, words []uint64) error {
	err := x.joint.ReduceTogether(ctx, op, bits, words)
	if err != nil {
		err = fmt.Errorf("rank %d, reduction: %w", x.world.rank, err)
		x.Fail(err)
	}
	return err
}

// reduceRanks combines the words of this rank's agents with the words of the other ranks.
func (x *Exchange) reduceRanks(ctx context.Context, op network.Op, bits int, words []uint64) error {
	if len(words) > maxFloats {
		return dsbo.ShapeErrorf("a reduction must have at most %d words; it has %d", maxFloats, len(words))
	}
	if bits >= network.Whole {
		return x.reduceWhole(ctx, words)
	}
	if err := x.holdFrames(); err != nil {
		return err
	}
	defer x.frameUsers.Done()
	s := &x.sum
	s.kind.op, s.kind.bits, s.kind.words, s.kind.started = op, bits, len(words), false
	width := s.kind.width()
	memory := x.world.lib.sumWords(&s.transfer, width*len(words))
	putWords(memory, width, words)
	if err := s.run(ctx); err != nil {
		return err
	}
	getWords(words, width, memory)
	return nil
}

// reduceWhole is reduceRanks for a whole number. MPI carries nothing: halves of words have room for
// the sums.
func (x *Exchange) reduceWhole(ctx context.Context, words []uint64) error {
	halves := make([]uint64, 0, 2*len(words))
	for _, w := range words {
		halves = append(halves, w&math.MaxUint32, w>>32)
	}
	if err := x.reduceRanks(ctx, network.Sum, 64, halves); err != nil {
		return err
	}
	high := uint64(0)
	for k := range words {
		low := halves[2*k] + high>>32
		high = halves[2*k+1] + low>>32
		words[k] = low&math.MaxUint32 | high<<32
	}
	return nil
}

// putWords writes words of 4 or 8 bytes as this machine has them, without the bits above.
func putWords(memory []byte, width int, words []uint64) {
	if width == 4 {
		for k, w := range words {
			binary.NativeEndian.PutUint32(memory[4*k:], uint32(w))
		}
		return
	}
	for k, w := range words {
		binary.NativeEndian.PutUint64(memory[8*k:], w)
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
