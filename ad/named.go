package ad

import (
	"maps"

	"dsbo/ad/internal/engine"
)

// named is a rule without attributes: its name tells it from others.
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
		failf("%v: shapes must be the same; they are %v and %v; to broadcast use ScaleBy, RowScale, ColScale, "+
			"AddRow or AddCol",
			n, a.Shape(), b.Shape())
	}
}
