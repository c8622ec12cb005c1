package network

import (
	"context"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
)

// AverageOptions choose how agents find averages, and how their numbers travel. The zero value
// is exact.
type AverageOptions struct {
	Wire Wire // how numbers travel, in averages and in Mix
	// ByMix averages by rounds of Mix alone, one for each distinct eigenvalue of W but 1, where
	// only W may be used: agents then differ in the last bits. Otherwise sums go up a spanning tree
	// of the graph and down again.
	ByMix bool
	Seed  uint64 // names the draws of stochastic rounding, on wires BF16 and Int8
	// ErrorFeedback adds what the wire rounded off a vector in Mix to the vector of the same place
	// in the next stage: of the k-th Mix since [Averager.Begin] to the k-th after the next Begin
	// that a Mix follows.
	ErrorFeedback bool
}

// shortVector is the longest vector that travels on Float64 in an average whatever the wire is:
// losses, votes and norms, of which a narrow wire would save no bytes to speak of.
const shortVector = 16

// Averages are the ways of one process's agents to exact averages over all agents of a team.
//
// # Exactness
//
// Numbers are summed in fixed point mod 2^bits, in blocks whose scale 2^e all agents agree on
// first: the least power of two above all entries of the block on all agents. A term is rounded to
// a multiple of 2^(e−m), where m = bits − 1 − ⌈log2 n⌉; sums of whole numbers are exact in any
// order, so that the average has the same bits on every agent, over every transport and for every
// number of processes.
//
//	wire      bits                     numbers a block   rounding       m for n = 2, 8, 32, 1024
//	Float64   64                       1024              nearest even   62  60  58  53
//	Float32   32, 25+⌈log2 n⌉ if more  1024              nearest even   30  28  26  24
//	BF16      16, 9+⌈log2 n⌉ if more   64                stochastic     14  12  10   8
//	Int8      8+⌈log2 n⌉               64                stochastic      7   7   7   7
//
// The error of a rounded term, and so of the average, is at most 2^(e−m−1) with nearest even and
// below 2^(e−m) with stochastic rounding, whose expectation is the number itself; dividing by n and
// going back to float64 add two roundings of float64 to the average. With nearest even, this is at
// most half a unit in the last place of the block's largest entry, in float32 and, for up to 1024
// agents, in float64; above, float64 loses a bit each time the number of agents doubles. Zeros are
// +0. A block with a number that is not finite, on any agent, is NaN on all. Vectors of up to 16
// numbers travel on Float64 whatever the wire is.
//
// # What the scales tell
//
// The sums can be masked, but a maximum cannot: the parent of a leaf in the tree sees the leaf's
// scales. Blocks are therefore long where there are bits to spare, and on Float64 e is rounded up
// to a multiple of m−52 too (8 for 8 agents): the bits beyond a float64's hide how large the
// largest of 1024 numbers is, up to a factor of 256. One scale for all of a vector would tell less
// still, but vectors of several parts of different sizes would lose the smaller ones. On BF16 and
// Int8, where each bit counts, a scale is the exponent of the largest of 64 numbers.
//
// # Cost
//
// Agent i sends [Tree.Sends](i) messages for the scales, 12 bits each, and as many for the sums:
// 2(n−1) of both in all, whatever the graph. [Averages.Cost] has the bytes. A steady run
// allocates nothing.
//
// # By Mix alone
//
// With ByMix an average is p(W) applied to the agents' vectors, where p is the polynomial with p(1)
// = 1 that is 0 at all other eigenvalues of W: v ← (Wv − μv)/(1−μ) for each μ, in Leja's order,
// which keeps what is in between small. On Float64 it is exact to about 1e-13 of the largest number
// for the usual graphs of up to 32 agents. On a narrower wire every one of its rounds rounds: it
// costs as many digits as the largest of the factors (W−μ)/(1−μ) multiplies rounding by.
type Averages struct {
	team    Team
	w       *Matrix
	tree    *Tree
	roots   []float64 // eigenvalues of W but 1 in Leja's order, with ByMix
	options AverageOptions
}

// NewAverages returns the averages of a team over the edges of w. w must be connected and, for
// o.ByMix, have a spectrum.
func NewAverages(team Team, w *Matrix, o AverageOptions) (*Averages, error) {
	a := &Averages{team: team, w: w, tree: w.Tree(), options: o}
	if a.tree == nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "the graph must be connected to average over it")
	}
	if x := w.Mixing(); o.ByMix && x != (Plain{}) {
		return nil, dsbo.Errorf(dsbo.ErrConfig,
			"averages by rounds of Mix need plain mixing, which keeps the average; it is %v", x)
	}
	if o.ByMix {
		eigenvalues := w.Eigenvalues()
		if eigenvalues == nil {
			return nil, dsbo.Errorf(dsbo.ErrConfig, "W must be symmetric and not negative to average by rounds of Mix")
		}
		a.roots = lejaOrder(distinctValues(eigenvalues[1:]))
	}
	return a, nil
}

// Agent returns the end of local agent i. It belongs to one goroutine at a time.
func (a *Averages) Agent(i int) *Averager {
	m := a.team.Mixer(i)
	r, _ := m.(Reducer)
	return &Averager{mixer: m, reducer: r, averages: a, id: i}
}

// trafficTo returns what a number of messages to each of some receivers are, of some numbers and
// bytes together.
func trafficTo(receivers, messages, floats, bytes int) dsbo.Traffic {
	return dsbo.Traffic{Messages: int64(receivers * messages), Floats: int64(receivers * floats),
		Bytes: int64(receivers * bytes)}
}

// Cost returns what agent i sends in one average of n numbers on a wire. The scales' exponents
// count as bytes, not as numbers.
func (a *Averages) Cost(i, length int, wire Wire) dsbo.Traffic {
	if a.options.ByMix {
		sends, rounds := a.w.Sends(i), len(a.roots)
		return trafficTo(sends, rounds, rounds*length, rounds*wire.Bytes(length))
	}
	f := newFixedPoint(wire, length, a.w.N())
	return trafficTo(a.tree.Sends(i), 2, length,
		PackedBytes(exponentBits, f.blocks(length))+PackedBytes(f.bits, length))
}

// MaxCost returns what agent i sends as all find the largest of n words of 64 bits (Max
// of [Reducer]).
func (a *Averages) MaxCost(i, words int) dsbo.Traffic {
	return trafficTo(a.tree.Sends(i), 1, words, 8*words)
}

// An Averager is one agent's end of [Averages]: a [dsbo.Averager] whose Mix sends what the wire
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
	mixer    dsbo.Mixer // to the neighbours
	reducer  Reducer    // nil if the mixer is none
	averages *Averages  // what all agents agree on
	id       int        // number of the agent

	stage, count uint64       // names of the next draws
	mixCount     int          // calls of Mix since the stage began
	sent         dsbo.Traffic // by this agent
	residuals    [][]float64  // what rounding took off, by the number of the Mix in its stage

	combination combination // how the next vectors are combined
	coded       coded       // the next vectors as a codec has them

	rounded, mixture, kept []float64 // scratch of averages by Mix
	scales, words          []uint64  // scratch of averages by Reduce
}

var _ dsbo.Averager = (*Averager)(nil)

// Begin begins a stage, such as an iteration or an evaluation, whose number no other stage of the
// run has. Iteration k is stage 2k, and what follows it 2k+1: weights that change are k's.
func (a *Averager) Begin(stage uint64) {
	a.stage, a.count, a.mixCount, a.combination.at = stage, 0, 0, int(stage/2)
}

// Sent returns what this agent has sent so far, in Mix and in averages: payload, and each vector
// once, also when a transport sends it again.
func (a *Averager) Sent() dsbo.Traffic { return a.sent }

// Average implements [dsbo.Averager] on the wire of the options.
func (a *Averager) Average(ctx context.Context, dst, src []float64) error {
	return a.AverageOn(ctx, a.averages.options.Wire, dst, src, nil)
}

// AverageOn is Average on a wire of its own, the same on all agents. With ByMix it is the wire of
// the options all the same: a transport encodes all vectors alike, and there is no error feedback.
//
// lost, where it is not nil, feeds errors back: it is added to src, of whose length it is, and
// holds then what the wire has rounded off their sum, for the next average of a sequence. The sum
// of a sequence is then off by what is lost of the last one alone. After an error lost is of
// no use.
func (a *Averager) AverageOn(ctx context.Context, wire Wire, dst, src, lost []float64) error {
	if len(dst) != len(src) {
		return dsbo.Errorf(dsbo.ErrShape, "dst and src must have one length; they have %d and %d", len(dst), len(src))
	}
	if a.averages.options.ByMix {
		return a.averageByMix(ctx, dst, src)
	}
	if a.reducer == nil {
		return dsbo.Errorf(dsbo.ErrCapability, "this exchange has no sums over all agents (network.Reducer is missing)")
	}
	if lost != nil {
		linalg.Add(lost, lost, src)
		src = lost
	}
	n := a.averages.w.N()
	f := newFixedPoint(wire, len(src), n)
	a.scales = f.exponents(a.scales[:0], src)
	if err := a.reducer.Reduce(ctx, Max, exponentBits, a.scales); err != nil {
		return err
	}
	a.words = f.encode(a.words[:0], src, a.scales, a.draws())
	if lost != nil {
		a.rounded = slices.Grow(a.rounded[:0], len(lost))[:len(lost)]
		f.decode(a.rounded, a.words, a.scales, 1)
		linalg.Sub(lost, lost, a.rounded)
	}
	if err := a.reducer.Reduce(ctx, Sum, f.bits, a.words); err != nil {
		return err
	}
	a.sent.Add(a.averages.Cost(a.id, len(src), wire))
	f.decode(dst, a.words, a.scales, n)
	return nil
}

// draws returns the draws of the next Mix or average.
func (a *Averager) draws() draws {
	a.count++
	return newDraws(a.averages.options.Seed, uint64(a.id), a.stage, a.count)
}
