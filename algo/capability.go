package algo

import (
	"context"
	"errors"

	"dsbo"
)

// What follows are the questions of methods to oracles and exchanges that answer more than all do.

// capability returns what a turn asks, its oracle or mixer, as one that can do more. For any other
// it keeps an error, which says for what the method needs it. ok is false if nothing is to
// be asked.
func capability[C any](w *turn, of any, need string) (c C, ok bool) {
	if c, ok = of.(C); !ok && w.err == nil {
		w.err = dsbo.Errorf(dsbo.ErrCapability, "%s %s", w.method, need)
	}
	return c, ok && w.ready()
}

// values returns f and g.
func values(w *turn, x, y []float64, s dsbo.Sample) (f, g float64) {
	o, ok := capability[dsbo.ValueOracle](w, w.o,
		"needs values of f and g, which this oracle does not give (dsbo.ValueOracle is missing)")
	if ok {
		var err error
		f, g, err = o.Values(x, y, s)
		w.recordError("values of f and g", s, err)
	}
	return f, g
}

// lowerJointGrad writes ∇_x g to dx and ∇_y g to dy; one of them may be nil.
func lowerJointGrad(w *turn, dx, dy, x, y []float64, s dsbo.Sample) {
	o, ok := capability[dsbo.JointOracle](w, w.o,
		"needs gradients of g by x, which this oracle does not give (dsbo.JointOracle is missing)")
	if ok {
		w.recordError("gradient of g", s, o.LowerJointGrad(dx, dy, x, y, s))
	}
}

// batchOf returns the batch that a draw takes of a partition in n, and its share of the examples.
func batchOf(w *turn, draw dsbo.Sample, n int) (batch dsbo.Sample, share float64) {
	o, ok := capability[dsbo.PartitionOracle](w, w.o,
		"needs batches of a partition, which this oracle does not give (dsbo.PartitionOracle is missing)")
	if ok {
		var err error
		batch, share, err = o.Batch(draw, n)
		w.recordError("batch of a partition", draw, err)
	}
	return batch, share
}

// agentAndCount returns the agent's number and how many agents there are.
func agentAndCount(w *turn) (agent, agents int) {
	m, ok := capability[dsbo.PlacedMixer](w, w.m,
		"needs the agent's number, which this exchange does not tell (dsbo.PlacedMixer is missing)")
	if !ok {
		return 0, 1
	}
	return m.Place()
}

// mixCombined exchanges src; dst is what combine makes of all agents' vectors.
func mixCombined(w *turn, dst, src []float64, combine func(dst []float64, in [][]float64)) {
	m, ok := capability[dsbo.CombiningMixer](w, w.m,
		"needs the values of all agents, which this exchange does not give (dsbo.CombiningMixer is missing)")
	if !ok {
		return
	}
	if w.recordExchange(len(src), m.CombineBy(combine)); w.err == nil {
		w.mix(dst, src)
	}
}

// mixCompressed exchanges what c leaves of src, which src is then; nil leaves all.
func mixCompressed(w *turn, dst, src []float64, c dsbo.Compressor) {
	if c == nil {
		w.mix(dst, src)
		return
	}
	m, ok := capability[dsbo.CompressingMixer](w, w.m,
		"sends compressed vectors, which this exchange cannot (dsbo.CompressingMixer is missing)")
	if ok {
		w.recordExchange(len(src), m.MixCompressed(w.ctx, dst, src, c))
	}
}

// mixDirected exchanges src over the directed edges of this iteration; where edges have no
// direction, by W.
func mixDirected(w *turn, dst, src []float64,
	exchange func(m dsbo.DirectedMixer, ctx context.Context, k int, dst, src []float64) error) {
	m, ok := w.m.(dsbo.DirectedMixer)
	if !ok {
		w.mix(dst, src)
		return
	}
	if w.ready() {
		w.recordExchange(len(src), exchange(m, w.ctx, w.k, dst, src))
	}
}

// penalty writes P(x) to dst, and reports whether the oracle knows it.
func penalty(w *turn, dst, x []float64) (known bool) {
	o, ok := w.o.(dsbo.PenaltyOracle)
	if !ok || !w.ready() {
		return false
	}
	return recordUnlessMissing(w, "diagonal of the penalty", allExamples, o.Penalty(dst, x))
}

// diagonal writes the diagonal of H to dst, and reports whether the oracle knows it.
func diagonal(w *turn, dst, x, y []float64, s dsbo.Sample) (known bool) {
	o, ok := w.o.(dsbo.DiagonalOracle)
	if !ok || !w.ready() {
		return false
	}
	return recordUnlessMissing(w, "diagonal of the Hessian", s, o.Diagonal(dst, x, y, s))
}

// recordUnlessMissing keeps the error of an optional question to the oracle. An oracle may say by
// [dsbo.ErrCapability] that it has no answer: that is no error, and it reports false.
func recordUnlessMissing(w *turn, call string, s dsbo.Sample, err error) (known bool) {
	if errors.Is(err, dsbo.ErrCapability) {
		return false
	}
	w.recordError(call, s, err)
	return true
}

// denseOracle returns the oracle as one that gives matrices. For any other oracle it keeps an error
// and returns nil.
func denseOracle(w *turn) dsbo.DenseOracle {
	d, _ := capability[dsbo.DenseOracle](w, w.o,
		"needs whole Hessians and Jacobians, and this oracle gives products only (dsbo.DenseOracle is missing)")
	return d
}

// hessian writes the Hessian H to dst, q×q row-major.
func hessian(w *turn, d dsbo.DenseOracle, dst, x, y []float64, s dsbo.Sample) {
	if w.ready() {
		w.recordError("Hessian", s, d.Hessian(dst, x, y, s))
	}
}

// jacobian writes the Jacobian J to dst, p×q row-major.
func jacobian(w *turn, d dsbo.DenseOracle, dst, x, y []float64, s dsbo.Sample) {
	if w.ready() {
		w.recordError("Jacobian", s, d.Jacobian(dst, x, y, s))
	}
}
