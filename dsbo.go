package dsbo

import "context"

// Set is the kind of an agent's random draws that a [Sample] belongs to.
type Set uint8

// The draws of the paper, and the whole of the data.
const (
	Lower      Set = iota // ξ̃, the training draw of the y loop (Algorithm 3, line 6)
	Curvature             // ξ, the training draw of the Hessian and Jacobian (Algorithm 2, lines 3 and 7)
	Upper                 // φ, the validation draw (Algorithm 2, lines 4 and 6)
	Whole                 // no draw: all of the agent's examples, what evaluation uses; K and T are ignored
	LowerBatch            // no draw: batch K of a partition of the training examples in T (see Batch)
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
	// Capabilities returns what the oracle answers besides, the same in each call; nil: nothing.
	// They are asked for by the function [Capabilities].
	Capabilities() *OracleCapabilities
}

// A ValueOracle is an oracle for evaluation, which has the losses themselves.
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
	// Capabilities returns how else the mixer exchanges, the same in each call; nil: by Mix alone.
	// They are asked for by the function [Capabilities].
	Capabilities() *MixerCapabilities
}

// A Compressor encodes vectors in fewer numbers, of which it brings back what is left of them.
type Compressor interface {
	// Encode appends the code of v, a function of v alone, to dst: equally many numbers for vectors
	// of one length, all finite or NaN.
	Encode(dst, v []float64) []float64
	// Decode sets v to the decoded vector. A code that Encode makes of no vector of v's length is
	// an error that matches [ErrShape].
	Decode(v, code []float64) error
	// Floats returns the count of numbers, for a method's cost, of the code of n numbers.
	Floats(n int) int
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
