package ad

import (
	"fmt"
	"slices"

	"dsbo/ad/internal/engine"
)

// orderRule finds, for each row, the columns of its k least or largest entries in their order, the
// least or the largest first. Of equal entries the first comes first, and NaN is larger than any
// number. Its derivative is 0.
type orderRule struct {
	k          int
	descending bool
}

// alongRule reads, in each row of its first input, the entries in the columns that its second input
// has. back, its adjoint, adds into those columns of rows of c zeros.
type alongRule struct {
	c    int
	back bool
}

// ArgSort returns, for each row of a matrix, the columns that sort it, the least entry first: whole
// numbers, of which equal entries keep their order and NaN comes last. Its derivative is 0.
func ArgSort(a *Node) *Node {
	_, c := argSortName.matrix(a)
	return ordered(a, orderRule{k: c})
}

// SortRows returns a matrix with each row sorted, the least entry first.
func SortRows(a *Node) *Node { return TakeAlongRows(a, ArgSort(a)) }

// TopK returns the k largest entries of each row, the largest first, and their columns. Of equal
// entries the first comes first.
func TopK(a *Node, k int) (values, columns *Node) {
	_, c := topKName.matrix(a)
	if k < 1 || k > c {
		failf("TopK: k must be from 1 to the number of columns; it is %d, the shape is %v", k, a.Shape())
	}
	columns = ordered(a, orderRule{k, true})
	return TakeAlongRows(a, columns), columns
}

// ArgMax returns the column of the largest entry of each row, a vector of whole numbers. Of equal
// entries the first counts. Its derivative is 0.
func ArgMax(a *Node) *Node {
	m, c := argMaxName.matrix(a)
	checkExact("ArgMax", a, c)
	return Flatten(largestOf(a, m, rowWindow(c)))
}

func ordered(a *Node, r orderRule) *Node {
	m, c := dims(a)
	checkExact(r.String(), a, c)
	return newNode(r, matShape(m, r.k), a)
}

// TakeAlongRows returns the entries of a, m×c, whose columns idx, m×k, has for each row: entry
// (i, j) is a's in row i and column idx_ij. A vector idx has one column a row, and so has the
// result then: of scores and the numbers of classes, it is the score of each row's class. idx is
// data, not differentiated. A program reports an entry that is no column when it runs.
func TakeAlongRows(a, idx *Node) *Node {
	m, c := alongName.matrix(a)
	rows, k := dims(idx)
	if rows != m {
		failf("TakeAlongRows: indices must have as many rows as the matrix; shapes are %v and %v",
			a.Shape(), idx.Shape())
	}
	checkExact("TakeAlongRows", a, c)
	taken := newNode(alongRule{c: c}, matShape(m, k), a, idx)
	return reshape(taken, idx.Shape())
}

// PlaceAlongRows returns rows of c zeros to which the entries of a matrix are added: entry (i, j)
// in row i and column idx_ij, see [TakeAlongRows], whose adjoint it is.
func PlaceAlongRows(a, idx *Node, c int) *Node {
	m, _ := placeAlongName.matrix(a)
	placeAlongName.sameShape(a, idx)
	if c < 1 {
		failf("PlaceAlongRows: there must be at least 1 column; there are %d", c)
	}
	checkExact("PlaceAlongRows", a, c)
	return newNode(alongRule{c, true}, matShape(m, c), a, idx)
}

// Names for errors.
const (
	placeAlongName named = "PlaceAlongRows"

	argSortName named = "ArgSort"
	topKName    named = "TopK"
	argMaxName  named = "ArgMax"
	alongName   named = "TakeAlongRows"
)

func (r orderRule) String() string                 { return fmt.Sprintf("Order(%d, %t)", r.k, r.descending) }
func (r orderRule) grad(nodes, *Node, *Node) nodes { return nodes{nil} }
func (r orderRule) lower(nodes) engine.Op {
	return with(r, "r", orderKernel, orderKernel)
}

// orderKernel sets each row to the columns of its k largest, or smallest, entries in order.
func orderKernel[T Float](r orderRule, c *call[T]) {
	columns := c.Block[:]
	if n := c.In[0].C; n > len(columns) {
		columns = make([]T, n)
	}
	for i := range c.In[0].R {
		row, dst := c.In[0].Row(i), c.Dst.Row(i)
		for j := range row {
			columns[j] = T(j)
		}
		slices.SortStableFunc(columns[:len(row)], func(p, q T) int {
			a, b := row[int(p)], row[int(q)]
			if r.descending {
				a, b = b, a
			}
			return compared(a, b)
		})
		copy(dst, columns)
	}
}

// compared returns −1 where a is before b, 1 where it is after, and 0 where they are equal; NaN is
// after all numbers.
func compared[T Float](a, b T) int {
	switch {
	case a < b || a == a && b != b:
		return -1
	case a > b || a != a && b == b:
		return 1
	}
	return 0
}

func (r alongRule) String() string {
	if r.back {
		return "PlaceAlongRows"
	}
	return "TakeAlongRows"
}

func (r alongRule) grad(in nodes, _, g *Node) nodes {
	if r.back {
		return nodes{newNode(alongRule{c: r.c}, in[0].Shape(), g, in[1]), nil}
	}
	return nodes{newNode(alongRule{r.c, true}, in[0].Shape(), g, in[1]), nil}
}

func (r alongRule) lower(nodes) engine.Op {
	return with(r, "rr", alongKernel, alongKernel)
}

// alongKernel reads each row at the indices given for that row, or, with r.back, adds to these
// places.
func alongKernel[T Float](r alongRule, c *call[T]) {
	idx := flat(c.In[1])
	if r.back {
		clear(c.Dst.V)
	}
	for i := range c.In[0].R {
		a, d := c.In[0].Row(i), c.Dst.Row(i)
		if r.back {
			to := mat[T]{V: d, R: r.c, C: 1}
			for j, v := range a {
				d[to.IndexAt(idx, i*len(a)+j)] += v
			}
			continue
		}
		from := mat[T]{V: a, R: r.c, C: 1}
		for j := range d {
			d[j] = a[from.IndexAt(idx, i*len(d)+j)]
		}
	}
}

// flat returns the entries of a matrix as a column.
func flat[T Float](m mat[T]) mat[T] { return mat[T]{V: m.V, R: len(m.V), C: 1} }
