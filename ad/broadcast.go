package ad

import (
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
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
	return scaled(rowScale, a, u, r, c, RepeatCol)
}

// ColScale multiplies column j of the matrix a by v_j.
func ColScale(a, v *Node) *Node {
	r, c := colScale.matrix(a)
	return scaled(colScale, a, v, c, r, RepeatRow)
}

// scaled builds the product of a and the matrix that repeats v, of a length, a number of times.
func scaled(n named, a, v *Node, length, times int, repeat func(v *Node, times int) *Node) *Node {
	n.vector(v, length)
	if c, ok := constOf(v); ok {
		return Scale(c, a)
	}
	if c, ok := constOf(a); ok {
		return Scale(c, repeat(v, times))
	}
	return newNode(n, a.Shape(), a, v)
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

// dotted builds the sums of a∘b along one axis, as summed builds them for one matrix.
func dotted(n named, a, b *Node, length int, summed func(*Node) *Node) *Node {
	n.sameShape(a, b)
	for _, ab := range [][2]*Node{{a, b}, {b, a}} {
		if c, ok := constOf(ab[0]); ok {
			return Scale(c, summed(ab[1]))
		}
	}
	return newNode(n, vecShape(length), a, b)
}

// AddRow adds the vector v to each row of the matrix a.
func AddRow(a, v *Node) *Node {
	_, c := addRow.matrix(a)
	addRow.vector(v, c)
	return newNode(addRow, a.Shape(), a, v)
}

// AddCol adds u_i to each entry of row i of the matrix a.
func AddCol(a, u *Node) *Node {
	r, _ := addCol.matrix(a)
	addCol.vector(u, r)
	return newNode(addCol, a.Shape(), a, u)
}

// SumRows returns the sum of the rows of a matrix.
func SumRows(a *Node) *Node {
	_, c := sumRows.matrix(a)
	return newNode(sumRows, vecShape(c), a)
}

// SumCols returns the sum of the columns of a matrix.
func SumCols(a *Node) *Node {
	r, _ := sumCols.matrix(a)
	return newNode(sumCols, vecShape(r), a)
}

// RepeatRow returns the matrix whose r rows are all v.
func RepeatRow(v *Node, r int) *Node {
	repeatRow.vector(v, shapeOf(v).TotalSize())
	return newNode(repeatRow, matShape(r, v.Shape()[0]), v)
}

// RepeatCol returns the matrix whose c columns are all u.
func RepeatCol(u *Node, c int) *Node {
	repeatCol.vector(u, shapeOf(u).TotalSize())
	return newNode(repeatCol, matShape(u.Shape()[0], c), u)
}

// init defines the ops: the kernel of each, and the adjoints of its inputs by the adjoint g of its
// output.
func init() {
	define(map[named]definition{
		rowScale: {overwriting(kernels("rr", rowScaleKernel, rowScaleKernel)), bilinear(RowScale, RowDot)},
		colScale: {overwriting(kernels("rw", colScaleKernel, colScaleKernel)), bilinear(ColScale, ColDot)},
		rowDot: {kernels("rr", rowDotKernel, rowDotKernel),
			func(in nodes, _, g *Node) nodes { return nodes{RowScale(in[1], g), RowScale(in[0], g)} }},
		colDot: {resuming(summing("rr", colDotKernel, colDotKernel)),
			func(in nodes, _, g *Node) nodes { return nodes{ColScale(in[1], g), ColScale(in[0], g)} }},
		addRow: {overwriting(kernels("rw", addRowKernel, addRowKernel)),
			func(_ nodes, _, g *Node) nodes { return nodes{g, SumRows(g)} }},
		addCol: {overwriting(kernels("rr", addColKernel, addColKernel)),
			func(_ nodes, _, g *Node) nodes { return nodes{g, SumCols(g)} }},
		sumRows: {resuming(summing("r", sumRowsKernel, sumRowsKernel)),
			func(in nodes, _, g *Node) nodes { return nodes{RepeatRow(g, in[0].Shape()[0])} }},
		sumCols: {kernels("r", sumColsKernel, sumColsKernel),
			func(in nodes, _, g *Node) nodes { return nodes{RepeatCol(g, in[0].Shape()[1])} }},
		repeatRow: {kernels("", repeatRowKernel, repeatRowKernel), // every row needs the vector
			linear(SumRows)},
		repeatCol: {kernels("r", repeatColKernel, repeatColKernel), linear(SumCols)},
	})
}

func rowScaleKernel[T Float](c *call[T]) {
	kernel.RowMul(c.Dst.R, c.Dst.C, c.Dst.V, c.In[0].V, c.In[1].V)
}

func colScaleKernel[T Float](c *call[T]) { withRow(c, kernel.MulTo[T]) }

// rowDotKernel sets each row to the dot product of the inputs' rows. Short rows share one call of
// the multiplication kernel, as a call for each would cost more than the products.
func rowDotKernel[T Float](c *call[T]) {
	a, b := c.In[0], c.In[1]
	if a.C > shortRow {
		for i := range a.R {
			c.Dst.V[i] = kernel.Dot(a.Row(i), b.Row(i))
		}
		return
	}
	together := len(c.Block) / a.C // short rows have the bits of Dot
	for i := 0; i < a.R; i += together {
		h := min(together, a.R-i)
		products := c.Block[:h*a.C]
		kernel.MulTo(products, a.V[i*a.C:][:h*a.C], b.V[i*a.C:][:h*a.C])
		kernel.RowSums(h, a.C, c.Dst.V[i:], products)
	}
}

// colDotKernel sets each entry to the dot product of the inputs' columns. As columns are not
// contiguous, it multiplies as many rows as the scratch block has room for, then adds the products
// row by row.
func colDotKernel[T Float](c *call[T]) {
	c.Clear()
	n := len(c.Dst.V)
	a, b := c.In[0], c.In[1]
	together := max(1, len(c.Block)/n)
	for i := 0; i < a.R; i += together {
		h := min(together, a.R-i)
		for j := 0; j < n; j += len(c.Block) { // once, unless a row is longer
			w := min(n-j, len(c.Block))
			products := c.Block[:h*w]
			kernel.MulTo(products, a.V[i*n+j:][:h*w], b.V[i*n+j:][:h*w])
			kernel.SumRows(h, w, c.Dst.V[j:], products, w)
		}
	}
}

func addRowKernel[T Float](c *call[T]) { withRow(c, kernel.AddTo[T]) }

// withRow computes with each row of the first input and the row that is the second input: with many
// rows at a time where they are short.
func withRow[T Float](c *call[T], do func(dst, x, y []T)) {
	row, n := c.In[1].V, c.Dst.C
	together := max(1, min(len(c.Block)/n, c.Dst.R))
	if together > 1 { // the row, as often as the scratch block has room for it
		for i := range together {
			copy(c.Block[i*n:], row)
		}
		row = c.Block[:together*n]
	}
	for i := 0; i < c.Dst.R; i += together {
		h := min(together, c.Dst.R-i) * n
		do(c.Dst.V[i*n:][:h], c.In[0].V[i*n:][:h], row[:h])
	}
}

func addColKernel[T Float](c *call[T]) {
	kernel.RowAdd(c.Dst.R, c.Dst.C, c.Dst.V, c.In[0].V, c.In[1].V)
}

func sumRowsKernel[T Float](c *call[T]) {
	c.Clear()
	kernel.SumRows(c.In[0].R, c.In[0].C, c.Dst.V, c.In[0].V, c.In[0].C)
}

func sumColsKernel[T Float](c *call[T]) {
	kernel.RowSums(c.In[0].R, c.In[0].C, c.Dst.V, c.In[0].V)
}

func repeatRowKernel[T Float](c *call[T]) {
	for i := range c.Dst.R {
		copy(c.Dst.Row(i), c.In[0].V)
	}
}

func repeatColKernel[T Float](c *call[T]) {
	for i := range c.Dst.R {
		linalg.Fill(c.Dst.Row(i), c.In[0].V[i])
	}
}
