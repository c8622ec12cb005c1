package algo

import (
	"context"
	"fmt"

	"dsbo"
)

// What follows are the questions of methods to oracles and exchanges that answer more than all do.

// setOracle sets which oracle the turn asks.
func (w *Turn) setOracle(o dsbo.Oracle) {
	var err error
	w.o = o
	w.also, err = dsbo.Capabilities(o)
	w.recordCapabilities(err)
}

// recordCapabilities keeps the error of an oracle or a mixer whose capabilities are not its own.
func (w *Turn) recordCapabilities(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s: %w", w.method, err)
	}
}

// requires reports whether the oracle or mixer has a capability. If not, the turn keeps an error.
func (w *Turn) requires(is bool, what, name string) bool {
	if !is && w.err == nil {
		w.err = dsbo.Errorf(dsbo.ErrCapability, "%s needs %s (%s of its capabilities is nil)", w.method, what, name)
	}
	return is && w.ready()
}

// values returns f and g.
func values(w *Turn, x, y []float64, s dsbo.Sample) (f, g float64) {
	if ask := w.also.Values; w.requires(ask != nil, "values of f and g, which this oracle does not give", "Values") {
		var err error
		f, g, err = ask(x, y, s)
		w.recordError("values of f and g", s, err)
	}
	return f, g
}

// lowerJointGrad writes ∇_x g to dx and ∇_y g to dy; one of them may be nil.
func lowerJointGrad(w *Turn, dx, dy, x, y []float64, s dsbo.Sample) {
	ask := w.also.LowerJointGrad
	if w.requires(ask != nil, "gradients of g by x, which this oracle does not give", "LowerJointGrad") {
		w.recordError("gradient of g", s, ask(dx, dy, x, y, s))
	}
}

// batchOf returns the batch that a draw takes of a partition in n, and its share of the examples.
func batchOf(w *Turn, draw dsbo.Sample, n int) (batch dsbo.Sample, share float64) {
	ask := w.also.Batch
	if w.requires(ask != nil, "batches of a partition, which this oracle does not give", "Batch") {
		var err error
		batch, share, err = ask(draw, n)
		w.recordError("batch of a partition", draw, err)
	}
	return batch, share
}

// agentAndCount returns the agent's number and how many agents there are.
func agentAndCount(w *Turn) (agent, agents int) {
	place := w.exchanges.Place
	if !w.requires(place != nil, "the agent's number, which this exchange does not tell", "Place") {
		return 0, 1 // which the error makes irrelevant
	}
	return place()
}

// mixCombined exchanges src; combine computes dst from all agents' vectors.
func mixCombined(w *Turn, dst, src []float64, combine func(dst []float64, in [][]float64)) {
	by := w.exchanges.CombineBy
	if !w.requires(by != nil, "the values of all agents, which this exchange does not give", "CombineBy") {
		return
	}
	if w.recordExchange(len(src), by(combine)); w.err == nil {
		w.Mix(dst, src)
	}
}

// mixCompressed exchanges src compressed by c, and sets src to its decoded code; nil compresses
// nothing.
func mixCompressed(w *Turn, dst, src []float64, c dsbo.Compressor) {
	if c == nil {
		w.Mix(dst, src)
		return
	}
	mix := w.exchanges.MixCompressed
	if w.requires(mix != nil, "an exchange of compressed vectors, which this one is not", "MixCompressed") {
		w.recordExchange(len(src), mix(w.ctx, dst, src, c))
	}
}

// mixDirected exchanges src over the directed edges of this iteration, by Pull or Push; where edges
// have no direction, by W.
func mixDirected(w *Turn, dst, src []float64, exchange func(ctx context.Context, k int, dst, src []float64) error) {
	if exchange == nil {
		w.Mix(dst, src)
	} else if w.ready() {
		w.recordExchange(len(src), exchange(w.ctx, w.k, dst, src))
	}
}

// penalty writes P(x) to dst, and reports whether the oracle knows it.
func penalty(w *Turn, dst, x []float64) (known bool) {
	ask := w.also.Penalty
	if ask == nil || !w.ready() {
		return false
	}
	w.recordError("diagonal of the penalty", allExamples, ask(dst, x))
	return true
}

// diagonal writes the diagonal of H to dst, and reports whether the oracle knows it.
func diagonal(w *Turn, dst, x, y []float64, s dsbo.Sample) (known bool) {
	ask := w.also.Diagonal
	if ask == nil || !w.ready() {
		return false
	}
	w.recordError("diagonal of the Hessian", s, ask(dst, x, y, s))
	return true
}

// matrix writes to dst, row-major, the named matrix that ask answers: w.also.Hessian q×q numbers,
// w.also.Jacobian p×q.
func matrix(w *Turn, name string, ask func(dst, x, y []float64, s dsbo.Sample) error, dst, x, y []float64,
	s dsbo.Sample) {
	if w.requires(ask != nil, "whole Hessians and Jacobians, and this oracle gives products only", name) {
		w.recordError(name, s, ask(dst, x, y, s))
	}
}
