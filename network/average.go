package network

import (
	"context"
	"fmt"

	"dsbo"
)

// AverageOptions choose how agents find averages, and how their numbers travel. The zero value
// is exact.
type AverageOptions struct {
	Wire Wire   // how numbers travel, in averages and in Mix
	Seed uint64 // names the draws of stochastic rounding, on wires BF16 and Int8
	// ErrorFeedback adds what the wire rounded off a vector in Mix to the vector of the same place
	// in the next stage: of the k-th Mix since [Averager.Begin] to the k-th after the next Begin
	// that a Mix follows.
	ErrorFeedback bool
	Mixed         string // name of what Mix carries, for people: see [Carried]
}

// MarshalJSON implements [json.Marshaler]. ByMix was an option of earlier versions, whose
// checkpoints name it.
func (o AverageOptions) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"Wire":%q,"ByMix":false,"Seed":%d,"ErrorFeedback":%t}`, o.Wire, o.Seed,
		o.ErrorFeedback), nil
}

// shortVector is the longest vector that travels as a whole number in an average whatever the wire
// is: losses, votes and norms, for which nothing has to be asked before, and 30 bytes a number do
// not matter.
const shortVector = 16

// Averages are the ways of one process's agents to exact averages over all agents of a team.
//
// # Exactness
//
// Numbers are summed in fixed point mod 2^bits, in blocks of one scale. Let 2^e be the least power
// of two above all entries of a block on all agents. A term is rounded to a multiple of 2^(e−m) or
// of a finer one; sums of whole numbers are exact in any order, so the average has the same bits on
// every agent, over every transport and for every number of processes.
//
//	wire      bits                     guard   a block   rounding       m for n = 2, 8, 32, 1024
//	Float64   64                        0      1024      nearest even   62  60  58  53
//	Float32   32, 25+⌈log2 n⌉ if more  12      1024      nearest even   30  28  26  24
//	BF16      16, 9+⌈log2 n⌉ if more   16      64        stochastic     14  12  10   8
//	Int8      8+⌈log2 n⌉               16      64        stochastic      7   7   7   7
//
// The error of a rounded term, and so of the average, is at most 2^(e−m−1) with nearest even and
// below 2^(e−m) with stochastic rounding, whose expectation is the number itself; dividing by n and
// going back to float64 add two roundings of float64 to the average. With nearest even, this is at
// most half a unit in the last place of the block's largest entry, in float32 and, for up to 1024
// agents, in float64; above, float64 loses a bit each time the number of agents doubles. Zeros are
// +0. A block with a number that is not finite, on any agent, is NaN on all.
//
// Vectors of up to 16 numbers are summed without rounding, whatever the wire is: they are one whole
// number, mod a power of two, in which each has 224 bits, for multiples of 2^-160 below 2^64 in
// magnitude, and three times ⌈log2 n⌉ + 1 for the sum and two counts: of agents whose number is
// another one, and of those where it is not finite. Where one is, all numbers travel once more,
// with 2176 bits each, and so do the next vectors of this length until all numbers are within the
// 224 again. The bits of an average do not depend on it. NaN is the entry alone.
//
// # One pass
//
// Unless Wire of the options is BF16 or Int8, which save bytes, words have guard bits more than in
// the table, on each wire. An average is tried under the scales of the last one of its wire and
// length that asked for scales, half of the guard bits above what these were. Beside the words, a
// flag for each block counts the agents for which its scale is too small, or so large that the
// error could be above the bound. If a block has the first, or the second alone, all agents ask for
// scales and send their words once more. Where there are no guard bits, scales are asked for each
// time. The last bits of an average so depend on the averages before it: what is resumed needs
// [Averager.Scales].
//
// Vectors that are averaged together have the bits that they have one after the other, and travel
// together. Where scales do not fit one, those after it of its wire and length are sent again with
// it.
//
// # What the scales reveal
//
// The sums can be masked, flags with them, but a maximum cannot: where scales are asked for, the
// parent of a leaf in the tree sees the leaf's. Blocks are therefore long where there are bits to
// spare, and on Float64 e is rounded up to a multiple of m−52 too (8 for 8 agents): the bits beyond
// a float64's hide how large the largest of 1024 numbers is, up to a factor of 256. One scale for
// all of a vector would reveal less still, but vectors of several parts of different sizes would
// lose the smaller ones. On BF16 and Int8, where each bit counts, a scale is the exponent of the
// largest of 64 numbers.
//
// # Cost
//
// Agent i sends [Tree.Sends](i) messages for all sums of an average and, where they are asked for,
// as many for the scales, 12 bits each: 2(n−1) of both in all, whatever the graph. [Averages.Cost]
// has the bytes. A short vector takes one more where it travels twice. A steady run allocates
// nothing.
type Averages struct {
	team    Team
	w       *Matrix
	tree    *Tree
	options AverageOptions
	ofGroup bool   // whether a Group finds them
	of      string // ends the names of their vectors
}

// NewAverages returns the averages of a team over the edges of w, which must be connected.
func NewAverages(team Team, w *Matrix, o AverageOptions) (*Averages, error) {
	a := &Averages{team: team, w: w, tree: w.Tree(), options: o}
	if a.tree == nil {
		return nil, dsbo.ConfigErrorf("the graph must be connected to average over it")
	}
	return a, nil
}

// Agent returns the end of local agent i. It belongs to one goroutine at a time.
func (a *Averages) Agent(i int) *Averager {
	end := &Averager{mixer: a.team.Mixer(i), averages: a, id: i, memory: new(scaleMemory)}
	end.also = dsbo.MixerCapabilities{Of: end, MixAdd: end.MixAdd, Place: end.Place, CombineBy: end.CombineBy,
		Pull: end.Pull, Push: end.Push, MixCompressed: end.MixCompressed, Average: end.Average}
	return end
}

// Around returns the capabilities of a mixer around a, whose exchanges around makes, each of a
// number of entries. Average is nil: it has vectors of several lengths.
func (a *Averager) Around(of dsbo.Mixer, around func(entries int, exchange func() error) error) dsbo.MixerCapabilities {
	return dsbo.MixerCapabilities{Of: of, Place: a.Place, CombineBy: a.CombineBy,
		MixAdd: func(ctx context.Context, dst, src []float64, factor float64, v []float64) error {
			return around(len(src), func() error { return a.MixAdd(ctx, dst, src, factor, v) })
		},
		Pull: func(ctx context.Context, k int, dst, src []float64) error {
			return around(len(src), func() error { return a.Pull(ctx, k, dst, src) })
		},
		Push: func(ctx context.Context, k int, dst, src []float64) error {
			return around(len(src), func() error { return a.Push(ctx, k, dst, src) })
		},
		MixCompressed: func(ctx context.Context, dst, src []float64, c dsbo.Compressor) error {
			return around(c.Floats(len(src)), func() error { return a.MixCompressed(ctx, dst, src, c) })
		}}
}

// trafficTo returns what a number of messages to each of some receivers are, of some numbers and
// bytes together.
func trafficTo(receivers, messages, floats, bytes int) dsbo.Traffic {
	return dsbo.Traffic{Messages: int64(receivers * messages), Floats: int64(receivers * floats),
		Bytes: int64(receivers * bytes)}
}

// Cost returns what agent i sends in one average of a number of numbers on a wire, at least and at
// most. Scales and flags count as bytes, not as numbers, and a vector that is sent again counts
// once.
func (a *Averages) Cost(i, length int, wire Wire) (least, most dsbo.Traffic) {
	f, sends := a.fixedPoint(wire, length), a.tree.Sends(i)
	if f.exact { // in the narrow window, and perhaps once more in the wide one
		first := 8 * f.wholeWords(narrow, length)
		return trafficTo(sends, 1, length, first), trafficTo(sends, 2, length, first+8*f.wholeWords(wide, length))
	}
	blocks := f.blocks(length)
	asked := PackedBytes(exponentBits, blocks) + PackedBytes(f.bits, length) // scales, and words
	if f.guard == 0 {                                                        // scales are asked for each time
		least = trafficTo(sends, 2, length, asked)
		return least, least
	}
	tried := PackedBytes(f.bits, length+blocks) // words under scales of before, with flags
	return trafficTo(sends, 1, length, min(tried, asked)), trafficTo(sends, 3, length, tried+asked)
}

// traffic returns what agent i has sent in an average that took a trip.
func (a *Averages) traffic(i int, t Trip) dsbo.Traffic {
	return trafficTo(a.tree.Sends(i), t.Exchanges, t.Floats, t.Bytes)
}

// fixedPoint returns the fixed point of the averages of n numbers on a wire. Who has chosen a wire
// that saves bytes has no guard bits.
func (a *Averages) fixedPoint(wire Wire, n int) fixedPoint {
	return newFixedPoint(wire, n, a.w.N(), a.options.Wire <= Float32)
}

// MaxCost returns what agent i sends as all find the largest of n words of 64 bits (Max
// of [Reducer]).
func (a *Averages) MaxCost(i, words int) dsbo.Traffic {
	return trafficTo(a.tree.Sends(i), 1, words, 8*words)
}

// An Averager is one agent's end of [Averages]: a [dsbo.Mixer] that sends what the wire
// can carry.
//
// Mix rounds its vector to the wire, with nearest even on Float32 and stochastically on BF16 and
// Int8, and mixes what [Wire.Encode] and [Wire.Decode] keep to the last bit, so that all transports
// give the same bits. The agent's own term is rounded as well: as W is doubly stochastic, the sum
// over the agents after Mix is then the sum of the rounded vectors, which differs from the sum
// before by the rounding alone, and not by what the agents see of it.
//
// Draws of stochastic rounding have names: seed, agent, stage, number of the Mix or average since
// the stage began, and entry. A run that is resumed at the beginning of a stage draws the same.
type Averager struct {
	mixer    Reducer                // to the neighbours
	averages *Averages              // what all agents agree on
	id       int                    // number of the agent
	also     dsbo.MixerCapabilities // its own

	stage, count uint64       // names of the next draws
	mixCount     int          // calls of Mix since the stage began
	sent         dsbo.Traffic // by this agent
	residuals    [][]float64  // what rounding took off, by the number of the Mix in its stage

	combination combination // how the next vectors are combined
	coded       coded       // the next vectors as a codec has them

	rounded, kept []float64    // scratch of Mix
	memory        *scaleMemory // alike on all agents
	shares        bool         // a Together has averaged since: other ends have the same memory
	alone         *Together    // this end as all of a process; nil before its first average
	given         []Vector     // on the wire of the options
	trip          Trip         // of the last average
}

var _ dsbo.Mixer = (*Averager)(nil)

// Begin begins a stage, such as an iteration or an evaluation, whose number no other stage of the
// run has. Iteration k is stage 2k, and what follows it 2k+1: weights that change are k's.
func (a *Averager) Begin(stage uint64) {
	a.stage, a.count, a.mixCount, a.combination.at = stage, 0, 0, int(stage/2)
}

// Sent returns what this agent has sent so far, in Mix and in averages: payload, and each vector
// once, also when a transport sends it again.
func (a *Averager) Sent() dsbo.Traffic { return a.sent }

// Average is Average of [dsbo.MixerCapabilities], on the wire of the options.
func (a *Averager) Average(ctx context.Context, vectors ...dsbo.Named) error {
	return a.AverageOn(ctx, a.onWire(vectors)...)
}

// onWire returns vectors on the wire of the options, which are a's until the next call.
func (a *Averager) onWire(vectors []dsbo.Named) []Vector {
	a.given = a.given[:0]
	for _, v := range vectors {
		a.given = append(a.given, Vector{Name: v.Name, Wire: a.averages.options.Wire, Dst: v.Value})
	}
	return a.given
}

// AverageOn is Average on wires of the vectors' own, the same on all agents.
func (a *Averager) AverageOn(ctx context.Context, vectors ...Vector) error {
	if a.alone == nil {
		a.alone = a.averages.Together([]*Averager{a})
	}
	if a.shares { // other ends, whose goroutines may average at this moment, have the same memory
		of := a.memory
		a.memory, a.shares = new(scaleMemory), false
		a.memory.setState(of.state())
	}
	return a.alone.AverageOn(ctx, nil, vectors...)
}

// Trip returns what the last average took, the same on all agents.
func (a *Averager) Trip() Trip { return a.trip }

// Scales returns the scales under which the next averages are tried, and, if masks are bound to it,
// a digest of the averages so far, the same on all agents. It is the averages' state for a
// checkpoint, beside the number of the next stage, once for all agents of a process.
func (a *Averager) Scales() []float64 { return a.memory.state() }

// SetScales sets what Scales returned, in this or another process. All agents must set the same.
func (a *Averager) SetScales(scales []float64) { a.memory.setState(scales) }

func (a *Averager) nextDraws() draws {
	a.count++
	return newDraws(a.averages.options.Seed, uint64(a.id), a.stage, a.count)
}
