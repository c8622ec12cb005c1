package ad

import (
	"dsbo/internal/kernel"
)

// The ops between a matrix and a vector along its rows or columns.
const (
	rowScale  named = "RowScale"
	colScale  named = "ColScale"
	rowDot    named = "RowDot"
	colDot    named = "ColDot"
	addRow    named = "AddRow"
	addCol    named = "AddCol"
	sumRows   named = "SumRows"
	sumCols   named = "SumCols"
	repeatRow named = "RepeatRow"
	repeatCol named = "RepeatCol"
)

// RowScale multiplies row i of the matrix a by u_i.
func RowScale(a, u *Node) *Node {
	r, c := rowScale.matrix(a)
	rowScale.vector(u, r)
	return scaled(rowScale, a, u, func() *Node { return RepeatCol(u, c) })
}

// ColScale multiplies column j of the matrix a by v_j.
func ColScale(a, v *Node) *Node {
	r, c := colScale.matrix(a)
	colScale.vector(v, c)
	return scaled(colScale, a, v, func() *Node { return RepeatRow(v, r) })
}

// scaled builds the product of a matrix and a vector's numbers, each of which it has as often as
// the matrix that repeated builds.
func scaled(n named, a, v *Node, repeated func() *Node) *Node {
	if c, ok := constOf(v); ok {
		return Scale(c, a)
	}
	if c, ok := constOf(a); ok {
		return Scale(c, repeated())
	}
	return apply(n, a.Shape(), a, v)
}

// RowDot returns the vector Σ_j a_ij b_ij, one entry a row.
func RowDot(a, b *Node) *Node {
	r, _ := rowDot.matrix(a)
	return dotted(rowDot, a, b, r, SumCols)
}

// ColDot returns the vector Σ_i a_ij b_ij, one entry a column.
func ColDot(a, b *Node) *Node {
	_, c := colDot.matrix(a)
	return dotted(colDot, a, b, c, SumRows)
}

// dotted builds sums of so many rows or columns of a∘b, where summed builds those of one matrix.
func dotted(n named, a, b *Node, length int, summed func(*Node) *Node) *Node {
	n.sameShape(a, b)
	for _, ab := range [][2]*Node{{a, b}, {b, a}} {
		if c, ok := constOf(ab[0]); ok {
			return Scale(c, summed(ab[1]))
		}
	}
	return apply(n, vecShape(length), a, b)
}

// AddRow adds the vector v to each row of the matrix a.
func AddRow(a, v *Node) *Node {
	_, c := addRow.matrix(a)
	addRow.vector(v, c)
	return apply(addRow, a.Shape(), a, v)
}

// AddCol adds u_i to each entry of row i of the matrix a.
func AddCol(a, u *Node) *Node {
	r, _ := addCol.matrix(a)
	addCol.vector(u, r)
	return apply(addCol, a.Shape(), a, u)
}

// SumRows returns the sum of the rows of a matrix.
func SumRows(a *Node) *Node {
	_, c := sumRows.matrix(a)
	return apply(sumRows, vecShape(c), a)
}

// SumCols returns the sum of the columns of a matrix.
func SumCols(a *Node) *Node {
	r, _ := sumCols.matrix(a)
	return apply(sumCols, vecShape(r), a)
}

// RepeatRow returns the matrix whose r rows are all v.
func RepeatRow(v *Node, r int) *Node {
	repeatRow.vector(v, shapeOf(v).TotalSize())
	return apply(repeatRow, matShape(r, v.Shape()[0]), v)
}

// RepeatCol returns the matrix whose c columns are all u.
func RepeatCol(u *Node, c int) *Node {
	repeatCol.vector(u, shapeOf(u).TotalSize())
	return apply(repeatCol, matShape(u.Shape()[0], c), u)
}

var broadcasts = map[named]definition{
	rowScale: {bothRowsIn, func(in nodes, _, g *Node) nodes { return nodes{RowScale(g, in[1]), RowDot(g, in[0])} },
		rowScaleKernel[float32], rowScaleKernel[float64]},
	colScale: {split{args: "rw"}, func(in nodes, _, g *Node) nodes {
		return nodes{ColScale(g, in[1]), ColDot(g, in[0])}
	},
		colScaleKernel[float32], colScaleKernel[float64]},
	rowDot: {bothRowsIn, func(in nodes, _, g *Node) nodes { return nodes{RowScale(in[1], g), RowScale(in[0], g)} },
		rowDotKernel[float32], rowDotKernel[float64]},
	colDot: {bothRowsSummed, func(in nodes, _, g *Node) nodes { return nodes{ColScale(in[1], g), ColScale(in[0], g)} },
		colDotKernel[float32], colDotKernel[float64]},
	addRow: {split{args: "rw"}, func(_ nodes, _, g *Node) nodes { return nodes{g, SumRows(g)} },
		addRowKernel[float32], addRowKernel[float64]},
	addCol: {bothRowsIn, func(_ nodes, _, g *Node) nodes { return nodes{g, SumCols(g)} },
		addColKernel[float32], addColKernel[float64]},
	sumRows: {rowsSummed, func(in nodes, _, g *Node) nodes { return nodes{RepeatRow(g, in[0].Shape()[0])} },
		sumRowsKernel[float32], sumRowsKernel[float64]},
	sumCols: {rowsIn, func(in nodes, _, g *Node) nodes { return nodes{RepeatCol(g, in[0].Shape()[1])} },
		sumColsKernel[float32], sumColsKernel[float64]},
	repeatRow: {split{}, func(_ nodes, _, g *Node) nodes { return nodes{SumRows(g)} }, // every row needs the vector
		repeatRowKernel[float32], repeatRowKernel[float64]},
	repeatCol: {rowsIn, func(_ nodes, _, g *Node) nodes { return nodes{SumCols(g)} },
		repeatColKernel[float32], repeatColKernel[float64]},
}

// row returns row i.
func (m mat[T]) row(i int) []T { return m.v[i*m.c : (i+1)*m.c] }

func rowScaleKernel[T Float](c *call[T]) {
	kernel.RowMul(c.dst.r, c.dst.c, c.dst.v, c.in[0].v, c.in[1].v)
}

func colScaleKernel[T Float](c *call[T]) { c.withRow(kernel.MulTo[T]) }

func rowDotKernel[T Float](c *call[T]) {
	a, b := c.in[0], c.in[1]
	for i := range a.r {
		c.dst.v[i] = kernel.Dot(a.row(i), b.row(i))
	}
}

// colDotKernel makes products of many rows at a time and adds them row by row.
func colDotKernel[T Float](c *call[T]) {
	c.clear()
	n := len(c.dst.v)
	a, b := c.in[0], c.in[1]
	together := max(1, len(c.block)/n)
	for i := 0; i < a.r; i += together {
		h := min(together, a.r-i)
		for j := 0; j < n; j += len(c.block) { // once, unless a row is longer
			w := min(n-j, len(c.block))
			products := c.block[:h*w]
			kernel.MulTo(products, a.v[i*n+j:][:h*w], b.v[i*n+j:][:h*w])
			kernel.SumRows(h, w, c.dst.v[j:], products, w)
		}
	}
}

// clear zeroes the output of a sum before its first block of rows.
func (c *call[T]) clear() {
	if c.first {
		clear(c.dst.v)
	}
}

func addRowKernel[T Float](c *call[T]) { c.withRow(kernel.AddTo[T]) }

// withRow does something with each row of the first input and the row that is the second one: with
// many rows at a time where they are short.
func (c *call[T]) withRow(do func(dst, x, y []T)) {
	row, n := c.in[1].v, c.dst.c
	together := min(len(c.block)/n, c.dst.r)
	if together < 2 {
		together = 1
	} else {
		for i := range together {
			copy(c.block[i*n:], row)
		}
		row = c.block[:together*n]
	}
	for i := 0; i < c.dst.r; i += together {
		h := min(together, c.dst.r-i) * n
		do(c.dst.v[i*n:][:h], c.in[0].v[i*n:][:h], row[:h])
	}
}

func addColKernel[T Float](c *call[T]) {
	kernel.RowAdd(c.dst.r, c.dst.c, c.dst.v, c.in[0].v, c.in[1].v)
}

func sumRowsKernel[T Float](c *call[T]) {
	c.clear()
	kernel.SumRows(c.in[0].r, c.in[0].c, c.dst.v, c.in[0].v, c.in[0].c)
}

func sumColsKernel[T Float](c *call[T]) {
	for i := range c.in[0].r {
		c.dst.v[i] = kernel.Sum(c.in[0].row(i))
	}
}

func repeatRowKernel[T Float](c *call[T]) {
	for i := range c.dst.r {
		copy(c.dst.row(i), c.in[0].v)
	}
}

func repeatColKernel[T Float](c *call[T]) {
	for i := range c.dst.r {
		d := c.dst.row(i)
		for j := range d {
			d[j] = c.in[0].v[i]
		}
	}
}
