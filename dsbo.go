package dsbo

import "context"

// Set says which of an agent's random draws a [Sample] belongs to.
type Set uint8

// The draws of the paper, and the whole of the data.
const (
	Lower      Set = iota // ξ̃, the training draw of the y loop (Algorithm 3, line 6)
	Curvature             // ξ, the training draw of the Hessian and Jacobian (Algorithm 2, lines 3 and 7)
	Upper                 // φ, the validation draw (Algorithm 2, lines 4 and 6)
	Whole                 // no draw: all of the agent's examples, what evaluation uses; K and T are ignored
	LowerBatch            // no draw: batch K of a partition of the training examples in T, see [PartitionOracle]
	UpperBatch            // likewise of the validation examples
)

// IsDraw reports whether a sample of the set is a draw, by chance: not all examples, nor a batch of
// a partition.
func (s Set) IsDraw() bool { return s < Whole }

// String returns the set's name.
func (s Set) String() string {
	switch s {
	case Lower:
		return "lower"
	case Curvature:
		return "curvature"
	case Upper:
		return "upper"
	case Whole:
		return "whole"
	case LowerBatch:
		return "lower batch"
	case UpperBatch:
		return "upper batch"
	}
	return "unknown"
}

// A Sample names a draw by its index in the paper: outer iteration K, inner step T.
// An [Oracle] returns the same minibatch for the same name, so that a run needs no
// generator state: φ_0 and ξ_0 can be used twice (Algorithm 2, lines 6 and 7), and a
// resumed run, or one over another transport, sees the same data.
type Sample struct {
	Set  Set
	K, T int
}

// An Oracle is all that an algorithm can ask agent i about its f_i and g_i.
//
// x has length p, y and v have length q. Results are written to the first argument, which
// must not overlap an input; inputs are not changed. An Oracle belongs to one goroutine at a time.
type Oracle interface {
	// Dims returns p, the length of x, and q, the length of y.
	Dims() (p, q int)
	// UpperGrad writes ∇_x f_i to dx (length p) and ∇_y f_i to dy (length q). A nil dx or dy
	// is skipped.
	UpperGrad(dx, dy, x, y []float64, s Sample) error
	// LowerGrad writes ∇_y g_i to dst (length q).
	LowerGrad(dst, x, y []float64, s Sample) error
	// HVP writes (∇²_yy g_i) v to dst (length q). It costs about two gradients.
	HVP(dst, x, y, v []float64, s Sample) error
	// JVP writes (∇²_xy g_i) v to dst (length p). It costs about two gradients.
	JVP(dst, x, y, v []float64, s Sample) error
}

// A JointOracle also gives the gradient of g_i in both variables. Methods that take gradients alone
// need it: they have a penalty λ(g_i(x, y) − g_i(x, z)) in place of second derivatives.
type JointOracle interface {
	Oracle
	// LowerJointGrad writes ∇_x g_i to dx (length p) and ∇_y g_i to dy (length q) in one sweep. A
	// nil dx or dy is skipped. It costs a gradient.
	LowerJointGrad(dx, dy, x, y []float64, s Sample) error
}

// A PartitionOracle also divides its examples into batches, each example in one, and answers on the
// samples that name them. Methods need it that remember an answer for each batch.
type PartitionOracle interface {
	Oracle
	// Batch returns the batch that a named draw takes of a partition in n, all of them equally
	// likely, and the batch's share of the examples: training examples and [LowerBatch] for draws
	// of Lower and Curvature, validation examples and [UpperBatch] for Upper. The name of a batch
	// stands for itself. n must be at least 1 and at most the number of examples.
	Batch(s Sample, n int) (batch Sample, share float64, err error)
}

// A DenseOracle also gives whole second derivatives. Only the methods that the paper compares
// with need it (DSBO-JHIP, GBDSBO): the cost is q Hessian-vector products, and q² or pq numbers.
type DenseOracle interface {
	Oracle
	// Hessian writes ∇²_yy g_i to dst, q×q row-major.
	Hessian(dst, x, y []float64, s Sample) error
	// Jacobian writes ∇²_xy g_i to dst, p×q row-major.
	Jacobian(dst, x, y []float64, s Sample) error
}

// A PenaltyOracle also gives P(x), the part of ∇²_yy g_i that comes from the penalty: a diagonal
// that every agent knows without an exchange, the same for all, with no negative entry. ∇²_yy g_i −
// diag(P(x)) is the data part of the Hessian.
//
// Whether an oracle has the part is known at the first call: an oracle over several models, or
// around another oracle, may have the method and fail with [ErrCapability], which means the same as
// an oracle without the method. The same holds for [DiagonalOracle] and [ValueOracle].
type PenaltyOracle interface {
	Oracle
	// Penalty writes P(x) to dst (length q), or fails with [ErrCapability] if the problem has no
	// such part.
	Penalty(dst, x []float64) error
}

// A DiagonalOracle also gives the diagonal of the Hessian, for preconditioners.
type DiagonalOracle interface {
	Oracle
	// Diagonal writes the diagonal of ∇²_yy g_i, penalty included, to dst (length q), or a stated
	// approximation of it. It costs about two gradients if it is exact. It fails with
	// [ErrCapability] where there is neither.
	Diagonal(dst, x, y []float64, s Sample) error
}

// A ValueOracle also gives the losses themselves, which no algorithm here needs but
// evaluation does.
type ValueOracle interface {
	Oracle
	// Values returns f_i(x, y) and g_i(x, y).
	Values(x, y []float64, s Sample) (upper, lower float64, err error)
}

// A Mixer is one agent's end of one exchange with its neighbours.
type Mixer interface {
	// Mix sets dst = Σ_j w_ij src_j, the sum over this agent i and its neighbours j in ascending
	// order of j, each product rounded before it is added. All agents must call Mix the same
	// number of times with the same length. It blocks until the neighbours' vectors are here or ctx
	// is done. dst may be src; otherwise they must not overlap.
	Mix(ctx context.Context, dst, src []float64) error
}

// An AddingMixer is a Mixer that adds to an entry while it has it at hand: of vectors too long for
// a cache, a step y = mix(y) − β v then crosses memory once and not twice.
type AddingMixer interface {
	Mixer
	// MixAdd does as Mix and then adds a·v to the first entries of dst, as many as v has, on all
	// agents, each product rounded before. v may be the last entries of dst, at most half of them:
	// what is added is what they were before. Otherwise v must not overlap dst.
	MixAdd(ctx context.Context, dst, src []float64, a float64, v []float64) error
}

// A PlacedMixer is a mixer that knows the agent's place among all.
type PlacedMixer interface {
	Mixer
	// Place returns the number of the agent, from 0, and how many agents there are.
	Place() (agent, agents int)
}

// A CombiningMixer is a mixer whose agent may combine what it hears in another way than by a sum,
// such as by medians.
type CombiningMixer interface {
	Mixer
	// CombineBy says how the next Mix combines: by sets dst by the vectors of the agent and its
	// neighbours, in ascending order of their numbers, which it must not change. nil means as
	// usual. All agents must call it before the same Mix. An error matches [ErrCapability] and says
	// that the exchange cannot do so.
	CombineBy(by func(dst []float64, in [][]float64)) error
}

// A DirectedMixer is a mixer over edges of one direction, which may change from iteration to
// iteration. Both calls are as Mix is, and block until the vectors of this iteration are here.
type DirectedMixer interface {
	Mixer
	// Pull sets dst = Σ_j a_ij src_j, where row i of a_ij sums to 1: an agent needs to know what it
	// receives. k is the iteration.
	Pull(ctx context.Context, k int, dst, src []float64) error
	// Push sets dst = Σ_j b_ij src_j, where column j of b_ij sums to 1, so that the sum over the
	// agents stays: an agent needs to know to how many it sends.
	Push(ctx context.Context, k int, dst, src []float64) error
}

// A Compressor encodes vectors in fewer numbers, of which it brings back what is left of them.
type Compressor interface {
	// Encode appends the code of v, a function of v alone, to dst: equally many numbers for vectors
	// of one length, all finite or NaN.
	Encode(dst, v []float64) []float64
	// Decode sets v to what the code stands for. A code that Encode makes of no vector of v's
	// length is an error that matches [ErrShape].
	Decode(v, code []float64) error
	// Floats returns how many numbers the code of n numbers stands for, by which methods count.
	Floats(n int) int
}

// A CompressingMixer is a mixer that sends of a vector what a compressor leaves of it.
type CompressingMixer interface {
	Mixer
	// MixCompressed sets src to what c leaves of it and then does as Mix; only the code travels. c
	// is of one kind on all agents, and dst must not be src.
	MixCompressed(ctx context.Context, dst, src []float64, c Compressor) error
}

// An Averager is a Mixer over which all agents find the exact average of their vectors together.
type Averager interface {
	Mixer
	// Average sets v = (1/n) Σ_j v_j over all n agents, the same bits on every agent (see
	// network.AverageOptions for where they are not) and independent of the order of the sum. All
	// agents must call Mix and Average in the same order with the same lengths. It blocks until the
	// average is known or ctx is done. An entry that is not finite on some agent makes entries of
	// the average NaN. Several vectors have the averages that they have one after the other, but
	// travel together.
	Average(ctx context.Context, vectors ...[]float64) error
}

// A TermAverager is the mixer of a method that serves several agents at once: all that have the
// same state, but for their oracles. The oracle that comes with it to Step stands for theirs: it
// tells dimensions and penalties ([PenaltyOracle]), which they have alike.
type TermAverager interface {
	Averager
	// AverageTerms sets vectors to the averages over all agents of the terms that t makes, as if
	// each agent had called Average with its own. An error of a term is returned as it is. Terms of
	// several agents are made at the same time, each once.
	AverageTerms(ctx context.Context, t Terms, vectors ...[]float64) error
}

// Terms make what agents put into an average.
type Terms interface {
	// Term writes the terms of an agent, by its oracle, one for each vector. Agents are counted
	// from 0, the same each time.
	Term(agent int, o Oracle, vectors [][]float64) error
}

// Named is one named part of the state of an algorithm.
type Named struct {
	Name  string
	Value []float64 // a view, see [Algorithm]: writing to it changes the algorithm
}

// An Algorithm is one agent's side of a decentralized method, between iterations. What it gives a
// view of may be read and written until the next Step, after which it has to be asked for again: it
// may be a copy that a Step takes up.
type Algorithm interface {
	// Step runs outer iteration k (0, 1, ...) of this agent, in the paper's order, asking o and
	// exchanging through m. After an error the state is not usable.
	Step(ctx context.Context, k int, o Oracle, m Mixer) error
	// X returns a view of x_i, length p.
	X() []float64
	// Y returns a view of y_i, length q.
	Y() []float64
	// State returns views of everything that a resume needs, always the same names and lengths
	// in the same order. Copying saved values into them continues the run with the same bits.
	State() []Named
}
