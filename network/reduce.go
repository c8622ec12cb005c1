package network

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"

	"dsbo"
)

// An Op combines whole numbers, in any order with the same result.
type Op uint8

// The operations of a reduction.
const (
	Sum Op = iota // the sum mod 2^bits
	Max           // the largest
)

// Whole and Whole+1 take the place of bits in sums whose words, of 64 bits and the lowest first,
// are one number: carries go from a word to the next one. The two values distinguish two kinds of
// such numbers.
const Whole = 126

// Combine sets dst to dst and src combined, entry by entry if they are no whole number. Bits above
// a reduction's are dropped by its end.
func (op Op) Combine(size int, dst, src []uint64) {
	carry := uint64(0)
	for i, v := range src {
		switch {
		case op == Max:
			dst[i] = max(dst[i], v)
		case size >= Whole:
			dst[i], carry = bits.Add64(dst[i], v, carry)
		default:
			dst[i] += v
		}
	}
}

// A Reducer is what each transport has for an agent: its end of exchanges, whose vectors may be
// combined by weights that change, and over which whole numbers of all agents are combined.
type Reducer interface {
	// Mix is Mix of [dsbo.Mixer].
	Mix(ctx context.Context, dst, src []float64) error
	// CombineBy is CombineBy of [dsbo.MixerCapabilities]; a [Combiner] has it.
	CombineBy(by func(dst []float64, in [][]float64))
	// Reduce replaces the words of each reduction by the words of all agents combined, the same on
	// every agent; what can travel together does. All agents must call Mix and Reduce in the same
	// order, with reductions of the same operation, bits and number of words. It blocks until the
	// results are here or ctx is done. After an error the words are undefined.
	Reduce(ctx context.Context, all ...Reduction) error
}

// A Binder is a [Reducer] whose sums are masked.
type Binder interface {
	// Bind binds the masks of the next sum to a digest of this agent's received values. Masks
	// cancel only if all agents bind the same: terms of agents with different values are never
	// added up.
	Bind(to [32]byte)
	// Noise sets words to numbers that this agent alone can compute, the same again for the same
	// sum, after Bind.
	Noise(words []uint64)
}

// A Reduction is words of all agents to be combined. A word is a number below 2^Bits, 1 ≤ Bits ≤
// 64; sums are mod 2^Bits, or of [Whole] numbers.
type Reduction struct {
	Op    Op
	Bits  int
	Words []uint64
}

// mask returns the number whose lowest bits are 1, of [Whole] numbers all.
func mask(bits int) uint64 { return ^uint64(0) >> (64 - min(bits, 64)) }

// A LocalReduction combines the words of the agents of one process, which all call its Reduce, and
// then the words of all processes: for transports whose processes have several agents. Between
// combines the words with the words of the other processes, once for all agents that are here; nil:
// all agents are here.
type LocalReduction struct {
	Agents          int // number of agents in this process
	AcrossProcesses func(ctx context.Context, r Reduction) error
	Ended           context.Context // of the exchange: done, with its cause, when that has ended

	mu      sync.Mutex
	arrived int
	next    int          // number of the next reduction
	work    [2]reduction // the reductions of even and of odd number
}

// A reduction is one call of Reduce by all agents of a process. Two are enough: an agent enters
// reduction r+2 only when all have taken the result of r, before they entered r+1.
type reduction struct {
	Reduction // of the agents so far
	err       error
	completed chan struct{} // a wake-up for each agent but the last, when words and err are final
}

// Reduce is the Reduce of a [Reducer], for one of the agents of this process; after an error the
// exchange must end. A steady run allocates nothing.
func (j *LocalReduction) Reduce(ctx context.Context, all []Reduction) error {
	for _, own := range all {
		if err := j.check(ctx, own); err != nil {
			return err
		}
		r, last := j.contribute(own)
		if last { // it combines for all, which wait
			if r.err == nil {
				r.err = j.combine(ctx, r.Reduction)
			}
			for range j.Agents - 1 {
				r.completed <- struct{}{}
			}
		} else if err := Await(ctx, r.completed, j.Ended); err != nil {
			return err
		}
		if copy(own.Words, r.Words); r.err != nil {
			return r.err
		}
	}
	return nil
}

// Check returns an error that matches dsbo.ErrShape unless words of r's bits can be combined by its
// operation.
func (r Reduction) Check() error {
	isWhole := r.Bits == Whole || r.Bits == Whole+1
	if r.Op > Max || !isWhole && (r.Bits < 1 || r.Bits > 64) {
		return dsbo.ShapeErrorf(
			"a reduction must be Sum or Max of words of 1 to 64 bits; it is operation %d of %d bits", r.Op, r.Bits)
	}
	return nil
}

// check returns why a reduction cannot begin.
func (j *LocalReduction) check(ctx context.Context, r Reduction) error {
	return cmp.Or(r.Check(), ctx.Err(), EndError(j.Ended))
}

// ReduceTogether is Reduce for all agents of this process in one call: words are theirs combined.
func (j *LocalReduction) ReduceTogether(ctx context.Context, all []Reduction) error {
	for _, r := range all {
		err := j.check(ctx, r)
		if err == nil {
			err = j.combine(ctx, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// combine combines the words of this process with the words of the others, and truncates them.
func (j *LocalReduction) combine(ctx context.Context, r Reduction) error {
	if j.AcrossProcesses != nil {
		if err := j.AcrossProcesses(ctx, r); err != nil {
			return err
		}
	}
	r.Truncate()
	return nil
}

// Truncate clears the bits of words above the reduction's, which sums leave there.
func (r Reduction) Truncate() {
	m := mask(r.Bits)
	for i := range r.Words {
		r.Words[i] &= m
	}
}

// contribute adds an agent's words to the reduction under way, and reports whether it is the
// last agent. Words that do not match the first agent's are an error of all, in r.
func (j *LocalReduction) contribute(own Reduction) (r *reduction, last bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r = &j.work[j.next%2]
	switch {
	case j.arrived == 0: // r has the reduction before the last one, which all have read
		if r.completed == nil {
			r.completed = make(chan struct{}, j.Agents)
		}
		r.Op, r.Bits, r.err = own.Op, own.Bits, nil
		r.Words = append(r.Words[:0], own.Words...)
	case r.Op != own.Op || r.Bits != own.Bits || len(r.Words) != len(own.Words):
		r.err = dsbo.ShapeErrorf(
			"agents must reduce alike; one reduces %d words of %d bits by operation %d and another one %d of %d by %d",
			len(r.Words), r.Bits, r.Op, len(own.Words), own.Bits, own.Op)
	default:
		own.Op.Combine(own.Bits, r.Words, own.Words)
	}
	if j.arrived++; j.arrived < j.Agents {
		return r, false
	}
	j.arrived = 0
	j.next++
	return r, true
}

// EndError returns the error of an exchange that has ended, with the cause of ended; nil: it has
// not.
func EndError(ended context.Context) error {
	if ended.Err() == nil {
		return nil
	}
	return fmt.Errorf("the exchange has ended: %w", context.Cause(ended))
}

// Await waits for a wake-up on ready, or the end of the exchange, or of ctx. If several are here at
// once, the wake-up counts: the outcome does not depend on which of them is seen first.
func Await(ctx context.Context, ready <-chan struct{}, ended context.Context) error {
	var err error
	select {
	case <-ready:
		return nil
	case <-ended.Done():
		err = EndError(ended)
	case <-ctx.Done():
		err = ctx.Err()
	}
	select {
	case <-ready:
		return nil
	default:
		return err
	}
}

// PackedBytes returns the bytes that [PackWords] makes of n words of some bits, 64 for [Whole].
func PackedBytes(bits, words int) int { return (min(bits, 64)*words + 7) / 8 }

// PackWords appends words of some bits, 1 ≤ bits ≤ 64 or [Whole], to dst, the lowest bits first and
// without gaps: PackedBytes(bits, len(words)) bytes, of which the last one is filled up with zeros.
// Words must be below 2^bits.
func PackWords(dst []byte, bits int, words []uint64) []byte {
	bits = min(bits, 64)
	pending, filled := uint64(0), 0 // bits that are not in dst yet, and their number, below 64
	for _, w := range words {
		pending |= w << filled
		if filled += bits; filled >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, pending)
			filled -= 64
			pending = w >> (bits - filled) // 0 if all of w's bits are out
		}
	}
	for ; filled > 0; filled -= 8 {
		dst = append(dst, byte(pending))
		pending >>= 8
	}
	return dst
}

// UnpackWords fills words with those that [PackWords] made b of, or returns an error that matches
// dsbo.ErrShape if it makes no such b.
func UnpackWords(words []uint64, bits int, b []byte) error {
	want := PackedBytes(bits, len(words))
	if len(b) != want {
		return dsbo.ShapeErrorf("%d words of %d bits must be %d bytes; they are %d", len(words), bits, want, len(b))
	}
	bits = min(bits, 64)
	if fill := 8*want - bits*len(words); fill > 0 && b[want-1]>>(8-fill) != 0 { // words have one code
		return dsbo.ShapeErrorf("the last byte of %d words of %d bits must be filled up with zeros", len(words), bits)
	}
	pending, filled := uint64(0), 0 // bits that are in no word yet, and their number, below 64
	for i := range words {
		if filled >= bits {
			words[i] = pending & mask(bits)
			pending >>= bits
			filled -= bits
			continue
		}
		next, have := uint64(0), 64 // bits of b, and their number
		if len(b) >= 8 {
			next, b = binary.LittleEndian.Uint64(b), b[8:]
		} else { // the end, which has what the last words lack
			have = 8 * len(b)
			for k, c := range b {
				next |= uint64(c) << (8 * k)
			}
		}
		words[i] = (pending | next<<filled) & mask(bits)
		used := bits - filled
		pending = next >> used
		filled = have - used
	}
	return nil
}
