package models

import (
	"cmp"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// HyperCleanMLP is [HyperClean] with a network in place of the linear classifier: y is Net's y, and
// Net's Penalties, Intercepts and Prior are ignored. The lower problem is not convex.
type HyperCleanMLP struct {
	Net      MLP
	Examples int     // training examples of all agents together
	Ridge    float64 // C; 0: 0.001
}

// linear returns the model that has the same x.
func (h HyperCleanMLP) linear() HyperClean {
	return HyperClean{Features: h.Net.Features, Classes: h.Net.Outputs, Examples: h.Examples, Ridge: h.Ridge}
}

// Dims implements [Model].
func (h HyperCleanMLP) Dims() (p, q int) {
	_, q = h.Net.Dims()
	return h.Examples, q
}

// Check implements [Checker].
func (h HyperCleanMLP) Check(s data.Shard) error {
	if h.Net.Loss != nil {
		return dsbo.ConfigErrorf(
			"the loss of data hyper-cleaning is the cross-entropy: that of the network must not be given")
	}
	return cmp.Or(h.Net.Check(s), h.linear().Check(s))
}

// Lower implements [Model].
func (h HyperCleanMLP) Lower(x, y *ad.Node, b Batch) *ad.Node {
	return h.linear().lower(x, y, h.Net.outputs(y, b.X), b)
}

// Upper implements [Model].
func (h HyperCleanMLP) Upper(_, y *ad.Node, b Batch) *ad.Node {
	return h.Net.fit(lossOrDefault(h.Net.Loss), y, b)
}

// Score implements [Scorer].
func (h HyperCleanMLP) Score(x, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return h.Net.Score(x, y, b)
}

// Penalty implements [Penalized]: 2C in each entry.
func (h HyperCleanMLP) Penalty(dst, x []float64) { h.linear().Penalty(dst, x) }

// Start implements [Starter]: the network's start.
func (h HyperCleanMLP) Start(y []float64) { h.Net.Start(y) }

// Meaning implements [Meant].
func (h HyperCleanMLP) Meaning() Meaning { return h.linear().Meaning() }

// Baselines implements [Baselined].
func (h HyperCleanMLP) Baselines() []Baseline { return h.linear().Baselines() }

// Layers implements [Layered].
func (h HyperCleanMLP) Layers() []Layer { return h.Net.Layers() }
