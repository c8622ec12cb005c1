package ad

// named is a rule without attributes: its name is all that tells it from others.
type named string

// A definition is what a named rule does, see [rule].
type definition struct {
	split split
	grad  func(in nodes, out, g *Node) nodes
	f32   func(*call[float32])
	f64   func(*call[float64])
}

type nodes = []*Node

// The ways of most rules along the batch: one input or both are cut by rows, and the output has
// rows or is their sum.
var (
	rowsIn, bothRowsIn         = split{args: "r"}, split{args: "rr"}
	rowsSummed, bothRowsSummed = split{args: "r", sum: true}, split{args: "rr", sum: true}
)

func (n named) definition() definition {
	for _, family := range []map[named]definition{elementwise, piecewise, broadcasts, reductions} {
		if d, ok := family[n]; ok {
			return d
		}
	}
	panic("ad: no definition of " + string(n))
}

func (n named) String() string                    { return string(n) }
func (n named) split() split                      { return n.definition().split }
func (n named) grad(in nodes, out, g *Node) nodes { return n.definition().grad(in, out, g) }
func (n named) kernels() (func(*call[float32]), func(*call[float64])) {
	d := n.definition()
	return d.f32, d.f64
}

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
		failf(
			"%v: shapes must be the same; they are %v and %v; to broadcast use ScaleBy, RowScale, ColScale, "+
				"AddRow or AddCol",
			n, a.Shape(), b.Shape())
	}
}
