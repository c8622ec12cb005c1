package ad

import (
	"maps"
	"slices"

	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
)

// named is a rule without attributes, identified by its name.
type named string

// A definition is what a named rule does, see [rule].
type definition struct {
	op   engine.Op
	grad func(in nodes, out, g *Node) nodes
}

// definitions has all named rules. Files with ops add theirs by [define].
var definitions = map[named]definition{}

func define(all map[named]definition) { maps.Copy(definitions, all) }

func (n named) String() string                    { return string(n) }
func (n named) grad(in nodes, out, g *Node) nodes { return definitions[n].grad(in, out, g) }
func (n named) lower(nodes) engine.Op             { return definitions[n].op }

// matrix returns the shape of a, which must be a matrix.
func (n named) matrix(a *Node) (r, c int) {
	if len(shapeOf(a)) != 2 {
		failf("%v: the input must be a matrix; its shape is %v", n, a.Shape())
	}
	return dims(a)
}

// vector refuses v if it is no vector of a length.
func (n named) vector(v *Node, length int) {
	if len(shapeOf(v)) != 1 || v.Shape()[0] != length {
		failf("%v: the input must be a vector of length %d; its shape is %v", n, length, v.Shape())
	}
}

// sameShape refuses inputs of different shapes.
func (n named) sameShape(a, b *Node) {
	if !equal(shapeOf(a), shapeOf(b)) {
		n.unequal(shapeOf(a), shapeOf(b))
	}
}

func (n named) unequal(a, b tensor.Shape) {
	failf("%v: shapes must be the same; they are %v and %v; to broadcast use ScaleBy, RowScale, ColScale, "+
		"AddRow or AddCol",
		n, a, b)
}

// broadcastShape returns the shape that inputs have once they are broadcast, and refuses those that
// do not fit.
func (n named) broadcastShape(in ...*Node) tensor.Shape {
	shape := shapeOf(in[0])
	for _, a := range in[1:] {
		shape = n.commonShape(shape, shapeOf(a))
	}
	return shape
}

// commonShape is broadcastShape of two shapes.
func (n named) commonShape(a, b tensor.Shape) tensor.Shape {
	longer, shorter := a, b
	if len(b) > len(a) {
		longer, shorter = b, a
	}
	all := slices.Clone(longer)
	for i, length := range shorter {
		switch to := &all[len(all)-len(shorter)+i]; {
		case *to == 1:
			*to = length
		case length != 1 && length != *to:
			n.unequal(a, b)
		}
	}
	return all
}

// broadcast returns the inputs repeated to one shape.
func (n named) broadcast(in ...*Node) []*Node {
	shape := n.broadcastShape(in...)
	same := slices.Clone(in)
	for i, a := range in {
		if equal(a.Shape(), shape) {
			continue
		}
		if k := slices.IndexFunc(in, func(b *Node) bool { return equal(b.Shape(), shape) }); a.IsScalar() && k >= 0 {
			same[i] = fill(a, in[k])
			continue
		}
		same[i] = repeated(a, shape)
	}
	return same
}

// repeated repeats a to a shape, along the lengths of 1 and those that it has not.
func repeated(a *Node, shape tensor.Shape) *Node {
	rows, cols := shapeDims(shape)
	if len(shape) == 1 { // of one number
		return Flatten(RepeatCol(Flatten(a), rows))
	}
	r, c := dims(a)
	if len(a.Shape()) == 1 { // a vector is a row
		r, c = 1, r
	}
	if c != cols { // c is 1
		a = RepeatCol(Flatten(a), cols)
	}
	if r != rows { // r is 1
		return RepeatRow(Flatten(a), rows)
	}
	return reshape(a, shape)
}
