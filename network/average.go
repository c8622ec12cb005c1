package network

import (
	"context"
	"math"

	"dsbo"
)

// AverageOptions choose how agents find averages.
type AverageOptions struct {
	Wire Wire // how numbers travel
	// ByMix averages by rounds of Mix alone, as many as W has distinct eigenvalues but 1, where only W may be used: agents then differ in
	// the last bits. Otherwise sums go up a spanning tree of the graph and down again.
	ByMix bool
	Seed  uint64 // names the draws of stochastic rounding, on wires BF16 and Int8
}

// Averages are the ways of one process's agents to exact averages over all agents of a team.
//
// Numbers are summed in fixed point mod 2^bits, with bits of [Wire], in blocks of blockLength numbers whose scale 2^e all agents agree on
// first: the least power of two above all entries of the block. A term is rounded to a multiple of 2^(e−m), where
// m = bits − 1 − ⌈log2 n⌉; the error of an average is at most 2^(e−m−1), on wire Float64 no more than that of float64 for the
// largest entry while n ≤ 1024. Sums of whole numbers are exact in any order: the average has the same bits on every agent, over
// every transport and for every number of processes.
type Averages struct {
	team    Team
	n       int
	tree    *Tree
	options AverageOptions
}

// NewAverages returns the averages of a team over the edges of w.
func NewAverages(team Team, w *Matrix, o AverageOptions) (*Averages, error) {
	tree := w.Tree()
	if tree == nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "the graph must be connected to average over it")
	}
	return &Averages{team, w.N(), tree, o}, nil
}

// Agent returns the end of local agent i. It belongs to one goroutine at a time.
func (a *Averages) Agent(i int) *Averager {
	m := a.team.Mixer(i)
	r, _ := m.(Reducer)
	return &Averager{Mixer: m, reducer: r, averages: a, sends: int64(a.tree.Sends(i))}
}

// Sent counts what an agent has sent.
type Sent struct{ Messages, Floats, Bytes int64 }

// An Averager is one agent's end of [Averages]: a [dsbo.Averager].
type Averager struct {
	dsbo.Mixer
	reducer  Reducer
	averages *Averages
	sends    int64 // messages that the agent sends in a sum
	scales   []uint64
	words    []uint64
	sent     Sent // in averages
}

// Sent returns what this agent has sent in averages.
func (a *Averager) Sent() Sent { return a.sent }

// Average implements [dsbo.Averager].
func (a *Averager) Average(ctx context.Context, dst, src []float64) error {
	if a.reducer == nil {
		return dsbo.Errorf(dsbo.ErrCapability, "this exchange has no sums over all agents (network.Reducer is missing)")
	}
	if len(dst) != len(src) {
		return dsbo.Errorf(dsbo.ErrShape, "dst and src must have one length; they have %d and %d", len(dst), len(src))
	}
	n := a.averages.n
	bits := a.averages.options.Wire.wordBits(n)
	f := fixedPoint{bits - 1 - carryBits(n)}
	a.scales = f.exponents(a.scales[:0], src)
	if err := a.reduce(ctx, Max, exponentBits, a.scales); err != nil {
		return err
	}
	a.words = f.encode(a.words[:0], src, a.scales)
	if err := a.reduce(ctx, Sum, bits, a.words); err != nil {
		return err
	}
	a.sent.Floats += a.sends * int64(len(src))
	f.decode(dst, a.words, a.scales, bits, n)
	return nil
}

// reduce combines words over all agents and counts them.
func (a *Averager) reduce(ctx context.Context, op Op, bits int, words []uint64) error {
	if err := a.reducer.Reduce(ctx, op, bits, words); err != nil {
		return err
	}
	a.sent.Messages += a.sends
	a.sent.Bytes += a.sends * int64(PackedBytes(bits, len(words)))
	return nil
}

// A fixedPoint turns numbers into whole numbers of at most so many bits and a sign.
type fixedPoint struct{ bits int }

const (
	exponentBits = 12
	exponentBias = 1100 // takes the exponents of float64 to 1 and above; 0 stands for a block of zeros
	notFinite    = 1<<exponentBits - 1
)

// exponents appends the scale of each block of v.
func (f fixedPoint) exponents(dst []uint64, v []float64) []uint64 {
	for lo := 0; lo < len(v); lo += blockLength {
		largest := 0.0
		for _, x := range v[lo:min(lo+blockLength, len(v))] {
			if x = math.Abs(x); !(x <= largest) { // NaN too
				largest = x
			}
		}
		switch {
		case largest == 0:
			dst = append(dst, 0)
		case math.IsNaN(largest) || math.IsInf(largest, 0):
			dst = append(dst, notFinite)
		default:
			_, e := math.Frexp(largest) // largest < 2^e
			dst = append(dst, uint64(e+exponentBias))
		}
	}
	return dst
}

// encode appends the numbers of v as multiples of their block's unit, in two's complement.
func (f fixedPoint) encode(dst []uint64, v []float64, scales []uint64) []uint64 {
	most := int64(1)<<f.bits - 1
	for lo := 0; lo < len(v); lo += blockLength {
		scale := scales[lo/blockLength]
		for _, x := range v[lo:min(lo+blockLength, len(v))] {
			whole := int64(0)
			if scale != 0 && scale != notFinite {
				whole = int64(math.RoundToEven(math.Ldexp(x, f.bits-int(scale)+exponentBias)))
			}
			dst = append(dst, uint64(min(max(whole, -most), most)))
		}
	}
	return dst
}

// decode sets dst to the averages of n agents whose sum mod 2^bits is in words.
func (f fixedPoint) decode(dst []float64, words, scales []uint64, bits, n int) {
	for i := range dst {
		scale := scales[i/blockLength]
		sum := int64(words[i]<<(64-bits)) >> (64 - bits)
		switch scale {
		case 0:
			dst[i] = 0
		case notFinite:
			dst[i] = math.NaN()
		default:
			dst[i] = math.Ldexp(float64(sum), int(scale)-exponentBias-f.bits) / float64(n)
		}
	}
}
