package ad

import (
	"slices"

	"gorgonia.org/tensor"
)

func isEmpty(s tensor.Shape) bool { return slices.Contains(s, 0) }

// empty returns the node of no entries: a leaf, which nothing computes or reads.
func (f *family) empty(shape tensor.Shape, dt tensor.Dtype) *Node { return f.leaf("Empty", shape, dt) }

// ofNothing returns the node of a rule whose output has no entries, or, as 0, of a sum of none; nil
// for other nodes. Rules without a value for no entries are refused.
func (f *family) ofNothing(r rule, shape tensor.Shape, in nodes) *Node {
	if isEmpty(shape) {
		return f.empty(shape, in[0].Dtype())
	}
	if !slices.ContainsFunc(in, func(n *Node) bool { return isEmpty(shapeOf(n)) }) {
		return nil
	}
	zero := slices.Contains([]rule{dotOp, sumAllOp, sumRows, sumCols, rowDot, colDot}, r)
	switch r.(type) {
	case matmulRule, batchRule, placeRule, segmentRule, constant:
		zero = true
	}
	if zero {
		return f.node(constant{}, shape, in[0].Dtype(), numberLike(0, in[0]))
	}
	failf("%v: of no entries there is no value; the inputs have shapes %v", r, shapes(in))
	return nil
}

// some returns a number of entries, of which there must be some.
func some(what string, n int) float64 {
	if n == 0 {
		failf("%s: of no entries there is no value", what)
	}
	return float64(n)
}
