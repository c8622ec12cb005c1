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

// A sum is what reductions and gatherings run on: MPI_Iallreduce over all ranks.
type sum struct {
	transfer
	kind    sumKind
	begin   func()        // has the transfer polled; made once
	ready   chan struct{} // holds one wake-up
	waiting bool          // under the exchange's mu, like round
	round   int           // how many are completed
}

func (s *sum) init(x *Exchange, timeout time.Duration) {
	s.ready = make(chan struct{}, 1)
	s.begin = func() {
		if !x.hasEnded() {
			x.world.begin(&s.transfer)
		}
	}
	s.transfer = transfer{sum: &s.kind, blocks: x.blocks, timeout: timeout}
	s.done = func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		s.waiting = false
		s.round++
		s.ready <- struct{}{}
	}
	s.failed = func(err error) {
		if errors.Is(err, errMismatch) {
			err = dsbo.ShapeErrorf(
				"ranks must reduce or gather alike; another one combines words of other numbers, bits or operations "+
					"than %d words of %d bits", s.kind.words, s.kind.bits)
		}
		x.Fail(fmt.Errorf("rank %d: %w", x.world.rank, err))
	}
	if x.blocks.ranks > 1 {
		x.joint.AcrossProcesses = x.reduceRanks
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

// Gather implements [network.Team]: an error ends the exchange. Rows are added, as the largest of
// words whose highest bit is set, such as negative numbers, is not the same by every MPI: MPICH
// compares them as signed ones.
func (x *Exchange) Gather(ctx context.Context, rows [][]float64) error {
	err := network.CheckRows(rows, len(x.agents))
	if err == nil {
		err = network.GatherWords(rows, x.ids, func(words []uint64) error {
			return x.joint.ReduceTogether(ctx, network.Sum, 64, words)
		})
	}
	if err != nil {
		err = fmt.Errorf("rank %d, gathering: %w", x.world.rank, err)
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
	s.kind = sumKind{op: op, bits: bits, words: len(words)}
	width := s.kind.width()
	memory := x.world.lib.sumWords(&s.transfer, width*len(words))
	putWords(memory, width, words)
	x.mu.Lock()
	s.waiting = true
	x.mu.Unlock()
	x.endIfAbandoned()
	x.world.call(s.begin)
	if err := x.await(ctx, s.ready); err != nil {
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
