package ad

import (
	"fmt"
	"slices"
	"strings"

	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

// viewRule reads each row of its input through strides: entry (i, j, k, l) of a row of the output,
// of n[0]·n[1]·n[2]·n[3] entries, is entry off + i·s[0] + j·s[1] + k·s[2] + l·s[3] of the input's
// row, of c entries. back, its adjoint, adds each entry into the place that it came from. Slices,
// transposes and repetitions are all views.
type viewRule struct {
	off  int
	n, s [4]int
	c    int
	back bool
}

// view applies a view to each row of the matrix a.
func view(a *Node, v viewRule) *Node {
	r, c := dims(a)
	v.c = c
	return newNode(v, matShape(r, v.size()), a)
}

// size is the number of entries of a row of the output.
func (v viewRule) size() int { return v.n[0] * v.n[1] * v.n[2] * v.n[3] }

// Cols returns columns from, from+1, ... of the matrix a, n of them. Cost: a copy.
func Cols(a *Node, from, n int) *Node {
	_, c := colsName.matrix(a)
	if from < 0 || from+n > c || n < 0 {
		failf("Cols: columns must lie inside the matrix; columns %d to %d do not, its shape is %v",
			from, from+n-1, a.Shape())
	}
	if n == c {
		return a
	}
	return view(a, viewRule{off: from, n: [4]int{1, 1, 1, n}, s: [4]int{0, 0, 0, 1}})
}

// Rows returns rows from, from+1, ... of a matrix, n of them, or such entries of a vector. In a
// compiled program it is a view and costs nothing where a has no row for each example of a batch.
func Rows(a *Node, from, n int) *Node {
	r, c := dims(a)
	if from < 0 || from+n > r || n < 0 {
		failf("Rows: rows must lie inside the input; rows %d to %d do not, its shape is %v", from, from+n-1, a.Shape())
	}
	if len(a.Shape()) == 1 {
		return PartVec(a, from, n)
	}
	if n == r {
		return a
	}
	return Part(Flatten(a), from*c, n, c)
}

// Item returns one entry of a, as a scalar, by as many indices as a has dimensions.
func Item(a *Node, index ...int) *Node {
	s := shapeOf(a)
	off, inside := 0, len(index) == len(s)
	for i := 0; i < len(s) && inside; i++ {
		inside = index[i] >= 0 && index[i] < s[i]
		off = off*s[i] + index[i]
	}
	if !inside {
		failf("Item: the entry must lie inside the input; %v does not, its shape is %v", index, s)
	}
	return reshape(PartVec(Flatten(a), off, 1), scalarShape)
}

// Transpose returns the transpose of a matrix. Cost: a copy; a product with it needs none, see
// [MatMul].
func Transpose(a *Node) *Node {
	r, c := transposeName.matrix(a)
	if r == 1 || c == 1 {
		return Reshape(a, c, r)
	}
	return Reshape(view(Reshape(a, 1, r*c), transpose(r, c)), c, r)
}

// transposed returns the matrix that n transposes, nil for other nodes: a product reads it as it
// is.
func transposed(n *Node) *Node {
	if _, ok := ruleOf(n).(shapeRule); !ok {
		return nil
	}
	t := children(n)[0]
	r, c := dims(n)
	if v, ok := ruleOf(t).(viewRule); !ok || v != transpose(c, r) {
		return nil
	}
	return Reshape(unreshaped(children(t)[0]), c, r)
}

// unreshaped returns what n is a shape of.
func unreshaped(n *Node) *Node {
	if _, ok := ruleOf(n).(shapeRule); ok {
		return children(n)[0]
	}
	return n
}

// transpose is the view of a matrix r×c, all in one row, that reads it column by column.
func transpose(r, c int) viewRule {
	return viewRule{n: [4]int{1, 1, c, r}, s: [4]int{0, 0, 1, c}, c: r * c}
}

// Names for errors.
const (
	colsName      named = "Cols"
	transposeName named = "Transpose"
)

func (v viewRule) String() string {
	name := "View"
	if v.back {
		name = "ViewBack"
	}
	return fmt.Sprintf("%s(%d, %v, %v, %d)", name, v.off, v.n, v.s, v.c)
}

func (v viewRule) grad(in nodes, _, g *Node) nodes {
	adjoint, width := v, v.c
	if adjoint.back = !v.back; v.back {
		width = v.size()
	}
	r, _ := dims(in[0])
	return nodes{reshape(newNode(adjoint, matShape(r, width), g), in[0].Shape())}
}

func (v viewRule) lower(nodes) engine.Op { return with(v, "r", viewKernel, viewKernel) }

// columns reports whether a row of the output is neighbouring entries of the input's.
func (v viewRule) columns() bool { return v.n[0]*v.n[1]*v.n[2] == 1 && v.s[3] == 1 }

// eachRun calls f with where each run of n[3] entries begins in a row of the output and of the
// input.
func (v viewRule) eachRun(f func(out, in int)) {
	out := 0
	for i := range v.n[0] {
		for j := range v.n[1] {
			for k := range v.n[2] {
				f(out, v.off+i*v.s[0]+j*v.s[1]+k*v.s[2])
				out += v.n[3]
			}
		}
	}
}

// viewKernel copies the entries of a strided view of each row. With v.back it is the adjoint, which
// adds entries back to their places, which views may share, and leaves 0 elsewhere. Views of
// columns alone are copied by rows.
func viewKernel[T Float](v viewRule, c *call[T]) {
	n, stride := v.n[3], v.s[3]
	entries, places := c.Dst, c.In[0]
	if v.back {
		entries, places = places, entries
		clear(places.V)
	}
	switch {
	case v.columns() && v.back:
		moveRows(places.R, n, places.V[v.off:], v.c, entries.V, n)
		return
	case v.columns():
		moveRows(places.R, n, entries.V, n, places.V[v.off:], v.c)
		return
	}
	for i := range places.R {
		e, p := entries.Row(i), places.Row(i)
		v.eachRun(func(out, in int) {
			switch {
			case stride == 1 && v.back:
				kernel.AddTo(p[in:in+n], p[in:in+n], e[out:out+n])
			case stride == 1:
				copy(e[out:out+n], p[in:in+n])
			case v.back:
				for l := range n {
					p[in+l*stride] += e[out+l]
				}
			default:
				for l := range n {
					e[out+l] = p[in+l*stride]
				}
			}
		})
	}
}

// beside returns the sum of two matrices as what [ConcatCols] makes of their parts, if both are
// sums of columns in zeros, such as adjoints of [Cols], and the columns of all fill the matrix one
// after the other; else nil.
func beside(a, b *Node) *Node {
	_, width := dims(a)
	parts := map[int]*Node{} // by the first column
	seen := 0
	var collect func(n *Node) bool
	collect = func(n *Node) bool {
		if seen++; seen > 2*maxBeside { // a sum of thousands, which grows by one at a time
			return false
		}
		switch r := ruleOf(n).(type) {
		case viewRule:
			if !r.back || !r.columns() || parts[r.off] != nil {
				return false
			}
			parts[r.off] = children(n)[0]
			return true
		case named:
			return r == opAdd && collect(children(n)[1]) && collect(children(n)[0])
		}
		return false
	}
	if !collect(b) || !collect(a) { // a sum grows at its end, so most non-sums are refused at once
		return nil
	}
	var list []*Node
	for at := 0; at < width; {
		part := parts[at]
		if part == nil {
			return nil
		}
		_, c := dims(part)
		at += c
		list = append(list, part)
	}
	if len(list) < len(parts) {
		return nil
	}
	return ConcatCols(list...)
}

// maxBeside is of how many parts a sum is looked through, each time that one is added.
const maxBeside = 16

// concatRule puts the rows of n inputs one behind the other.
type concatRule struct{ n int }

// ConcatCols returns the matrix [a b ...] of matrices with the same number of rows; a vector is a
// column. Cost: a copy.
func ConcatCols(as ...*Node) *Node {
	checkConcat("ConcatCols", as)
	width := 0
	r, _ := dims(as[0])
	for _, a := range as {
		rows, c := dims(a)
		if rows != r {
			failf("ConcatCols: inputs must have the same number of rows; their shapes are %v", shapes(as))
		}
		width += c
	}
	if as = withEntries(as); len(as) == 1 {
		return reshape(as[0], matShape(r, width))
	}
	return newNode(concatRule{len(as)}, matShape(r, width), as...)
}

// ConcatRows returns matrices of the same number of columns one above the other, or vectors one
// behind the other. Cost: a copy.
func ConcatRows(as ...*Node) *Node {
	checkConcat("ConcatRows", as)
	_, c := dims(as[0])
	height := 0
	var flat nodes
	for _, a := range as {
		r, cols := dims(a)
		if cols != c || len(a.Shape()) != len(as[0].Shape()) {
			failf("ConcatRows: inputs must be vectors, or matrices with the same number of columns; their shapes "+
				"are %v", shapes(as))
		}
		height += r
		flat = append(flat, Reshape(a, 1, r*c))
	}
	all := ConcatCols(flat...)
	if len(as[0].Shape()) == 1 {
		return Flatten(all)
	}
	return Reshape(all, height, c)
}

// withEntries returns the nodes that have entries, or else the first.
func withEntries(as nodes) nodes {
	some := slices.DeleteFunc(slices.Clone(as), func(a *Node) bool { return isEmpty(shapeOf(a)) })
	if len(some) == 0 {
		return as[:1]
	}
	return some
}

func checkConcat(op string, as []*Node) {
	if len(as) == 0 {
		failf("%s: there must be at least one input", op)
	}
	for _, a := range as {
		if len(shapeOf(a)) == 0 {
			failf("%s: inputs must be vectors or matrices; their shapes are %v", op, shapes(as))
		}
	}
}

func shapes(as []*Node) []tensor.Shape {
	list := make([]tensor.Shape, len(as))
	for i, a := range as {
		list[i] = shapeOf(a)
	}
	return list
}

func (r concatRule) String() string { return fmt.Sprintf("Concat(%d)", r.n) }

// grad implements rule: each input's adjoint is its columns of g.
func (r concatRule) grad(in nodes, _, g *Node) nodes {
	gs := make(nodes, len(in))
	off := 0
	for i, a := range in {
		_, c := dims(a)
		gs[i] = reshape(Cols(g, off, c), a.Shape())
		off += c
	}
	return gs
}

func (r concatRule) lower(nodes) engine.Op {
	return kernels(strings.Repeat("r", r.n), concatKernel, concatKernel)
}

func concatKernel[T Float](c *call[T]) {
	off := 0
	for _, a := range c.In {
		moveRows(a.R, a.C, c.Dst.V[off:], c.Dst.C, a.V, a.C)
		off += a.C
	}
}
