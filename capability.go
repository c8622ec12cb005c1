package dsbo

import (
	"context"
	"reflect"
)

// OracleCapabilities are the questions that some oracles answer beside what every [Oracle] does. A
// function is nil where there is no answer; none fails with [ErrCapability].
//
// An oracle around another one has capabilities of its own: each is made of the inner one's, or
// nil. [Capabilities] refuses a method Capabilities that comes from an embedded oracle, whose
// functions would be reached around the outer one.
type OracleCapabilities struct {
	Of Oracle // whose they are

	// Values returns f_i(x, y) and g_i(x, y).
	Values func(x, y []float64, s Sample) (upper, lower float64, err error)
	// LowerJointGrad writes ∇_x g_i to dx (length p) and ∇_y g_i to dy (length q) in one sweep. A
	// nil dx or dy is skipped. It costs a gradient. Methods that take gradients alone need it: they
	// have a penalty λ(g_i(x, y) − g_i(x, z)) in place of second derivatives.
	LowerJointGrad func(dx, dy, x, y []float64, s Sample) error
	// Batch returns the batch that a named draw takes of a partition in n, each example in one
	// batch and all batches equally likely, and the batch's share of the examples: training
	// examples and [LowerBatch] for draws of Lower and Curvature, validation examples and
	// [UpperBatch] for Upper. The name of a batch is its own batch. n must be at least 1 and at
	// most the number of examples. It is for methods that remember an answer for each batch.
	Batch func(s Sample, n int) (batch Sample, share float64, err error)
	// Hessian writes ∇²_yy g_i to dst, q×q row-major. It costs q Hessian-vector products; only the
	// methods that the paper compares with need it (DSBO-JHIP, GBDSBO).
	Hessian func(dst, x, y []float64, s Sample) error
	// Jacobian writes ∇²_xy g_i to dst, p×q row-major.
	Jacobian func(dst, x, y []float64, s Sample) error
	// Penalty writes P(x) to dst (length q), the part of ∇²_yy g_i that comes from the penalty: a
	// diagonal that every agent knows without an exchange, the same for all, with no negative
	// entry. ∇²_yy g_i − diag(P(x)) is the data part of the Hessian.
	Penalty func(dst, x []float64) error
	// Diagonal writes the diagonal of ∇²_yy g_i, penalty included, to dst (length q), or a stated
	// approximation of it, for preconditioners. It costs about two gradients if it is exact.
	Diagonal func(dst, x, y []float64, s Sample) error
	// GaussNewton writes the product of v and the generalized Gauss-Newton matrix of g_i by y to
	// dst (length q). It costs about two gradients.
	GaussNewton func(dst, x, y, v []float64, s Sample) error
}

// MixerCapabilities are the exchanges that some mixers make beside [Mixer]'s. A function is nil
// where there is no such exchange. As with [OracleCapabilities], a mixer around another one has
// its own.
type MixerCapabilities struct {
	Of Mixer // whose they are

	// MixAdd does as Mix and then adds a·v to the first entries of dst, as many as v has, on all
	// agents, each product rounded before: of vectors too long for a cache, a step y = mix(y) − β v
	// then crosses memory once and not twice. v may be the last entries of dst, at most half of
	// them: what is added is what they were before. Otherwise v must not overlap dst.
	MixAdd func(ctx context.Context, dst, src []float64, a float64, v []float64) error
	// Place returns the number of the agent, from 0, and how many agents there are.
	Place func() (agent, agents int)
	// CombineBy sets the combination of the next Mix, such as medians: by computes dst from the
	// vectors of the agent and its neighbours, in ascending order of their numbers, which it must
	// not change. nil means the usual one. All agents must call it before the same Mix.
	CombineBy func(by func(dst []float64, in [][]float64)) error
	// Pull sets dst = Σ_j a_ij src_j over edges of one direction, which may change from iteration
	// to iteration: k is the iteration. Row i of a_ij sums to 1: an agent needs to know what it
	// receives.
	Pull func(ctx context.Context, k int, dst, src []float64) error
	// Push sets dst = Σ_j b_ij src_j likewise, where column j of b_ij sums to 1, so that the sum
	// over the agents stays: an agent needs to know to how many it sends.
	Push func(ctx context.Context, k int, dst, src []float64) error
	// MixCompressed sets src to what c leaves of it and then does as Mix; only the code travels. c
	// is of one kind on all agents, and dst must not be src.
	MixCompressed func(ctx context.Context, dst, src []float64, c Compressor) error
	// Average sets v = (1/n) Σ_j v_j over all n agents, the same bits on every agent (see
	// network.AverageOptions for where they are not) and independent of the order of the sum. All
	// agents must call Mix and Average in the same order with the same lengths. It blocks until the
	// average is known or ctx is done. An entry that is not finite on some agent makes entries of
	// the average NaN. Several vectors have the averages that they have one after the other, but
	// travel together. Names are for people, who are told what a site has sent.
	Average func(ctx context.Context, vectors ...Named) error
	// AverageTerms sets vectors to the averages over all agents of the terms that t makes, as if
	// each agent had called Average with its own. An error of a term is returned as it is. Terms of
	// several agents are made at the same time, each once.
	//
	// It belongs to the mixer of a method that serves several agents at once, which differ in their
	// oracles alone. Step's oracle then represents theirs: it has dimensions and Penalty, which are
	// the same for all.
	AverageTerms func(ctx context.Context, t Terms, vectors ...Named) error
}

func (c *OracleCapabilities) owner() any { return c.Of }
func (c *MixerCapabilities) owner() any  { return c.Of }

// Capabilities returns what an oracle or a mixer can beside what all can. The error, which matches
// [ErrCapability], names one whose method is not its own, but of what it embeds.
func Capabilities[C any, P interface {
	*C
	owner() any
}](of interface{ Capabilities() P }) (P, error) {
	var c P
	if of != nil { // a method of one agent needs no mixer
		c = of.Capabilities()
	}
	if c == nil {
		return new(C), nil
	}
	if own, other := reflect.TypeOf(of), reflect.TypeOf(c.owner()); own != other {
		return new(C), Errorf(ErrCapability, "%v must have a method Capabilities of its own, with the functions of %v "+
			"that it passes on; it has the other one's", own, other)
	}
	return c, nil
}
