package ad

import "dsbo/internal/kernel"

// rowCol names the ops between a matrix and a vector along its rows or columns.
type rowCol string

const (
	rowScale  rowCol = "RowScale"
	colScale  rowCol = "ColScale"
	rowDot    rowCol = "RowDot"
	colDot    rowCol = "ColDot"
	addRow    rowCol = "AddRow"
	addCol    rowCol = "AddCol"
	sumRows   rowCol = "SumRows"
	sumCols   rowCol = "SumCols"
	repeatRow rowCol = "RepeatRow"
	repeatCol rowCol = "RepeatCol"
)

func (o rowCol) matrix(a *Node) (r, c int) {
	if len(shapeOf(a)) != 2 {
		failf("%v: the input must be a matrix; its shape is %v", o, a.Shape())
	}
	return dims(a)
}

func (o rowCol) vector(v *Node, n int) {
	if len(shapeOf(v)) != 1 || v.Shape()[0] != n {
		failf("%v: the input must be a vector of length %d; its shape is %v", o, n, v.Shape())
	}
}

// RowScale multiplies row i of the matrix a by u_i.
func RowScale(a, u *Node) *Node {
	r, _ := rowScale.matrix(a)
	rowScale.vector(u, r)
	if c, ok := constOf(u); ok {
		return Scale(c, a)
	}
	if c, ok := constOf(a); ok {
		return Scale(c, RepeatCol(u, a.Shape()[1]))
	}
	return apply(rowScale, a.Shape(), a, u)
}

// ColScale multiplies column j of the matrix a by v_j.
func ColScale(a, v *Node) *Node {
	_, c := colScale.matrix(a)
	colScale.vector(v, c)
	if k, ok := constOf(v); ok {
		return Scale(k, a)
	}
	if k, ok := constOf(a); ok {
		return Scale(k, RepeatRow(v, a.Shape()[0]))
	}
	return apply(colScale, a.Shape(), a, v)
}

// RowDot returns the vector Σ_j a_ij b_ij, one entry a row.
func RowDot(a, b *Node) *Node {
	r, _ := rowDot.matrix(a)
	sameShape(rowDot, a, b)
	if c, ok := constOf(a); ok {
		return Scale(c, SumCols(b))
	}
	if c, ok := constOf(b); ok {
		return Scale(c, SumCols(a))
	}
	return apply(rowDot, vecShape(r), a, b)
}

// ColDot returns the vector Σ_i a_ij b_ij, one entry a column.
func ColDot(a, b *Node) *Node {
	_, c := colDot.matrix(a)
	sameShape(colDot, a, b)
	if k, ok := constOf(a); ok {
		return Scale(k, SumRows(b))
	}
	if k, ok := constOf(b); ok {
		return Scale(k, SumRows(a))
	}
	return apply(colDot, vecShape(c), a, b)
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

func (o rowCol) String() string { return string(o) }

func (o rowCol) split() split {
	switch o {
	case rowScale, rowDot, addCol:
		return split{args: "rr"}
	case colScale, addRow:
		return split{args: "rw"}
	case sumCols, repeatCol:
		return split{args: "r"}
	case colDot:
		return split{args: "rr", sum: true}
	case sumRows:
		return split{args: "r", sum: true}
	}
	return split{} // RepeatRow of a vector that every row needs
}

func (o rowCol) grad(in []*Node, out, g *Node) []*Node {
	a := in[0]
	switch o {
	case rowScale:
		return []*Node{RowScale(g, in[1]), RowDot(g, a)}
	case colScale:
		return []*Node{ColScale(g, in[1]), ColDot(g, a)}
	case rowDot:
		return []*Node{RowScale(in[1], g), RowScale(a, g)}
	case colDot:
		return []*Node{ColScale(in[1], g), ColScale(a, g)}
	case addRow:
		return []*Node{g, SumRows(g)}
	case addCol:
		return []*Node{g, SumCols(g)}
	case sumRows:
		return []*Node{RepeatRow(g, a.Shape()[0])}
	case sumCols:
		return []*Node{RepeatCol(g, a.Shape()[1])}
	case repeatRow:
		return []*Node{SumRows(g)}
	}
	return []*Node{SumCols(g)} // RepeatCol
}

func (o rowCol) kernels() (func(*call[float32]), func(*call[float64])) {
	return rowColKernel[float32](o), rowColKernel[float64](o)
}

func rowColKernel[T Float](o rowCol) func(*call[T]) {
	switch o {
	case rowScale:
		return rowScaleKernel[T]
	case colScale:
		return colScaleKernel[T]
	case rowDot:
		return rowDotKernel[T]
	case colDot:
		return colDotKernel[T]
	case addRow:
		return addRowKernel[T]
	case addCol:
		return addColKernel[T]
	case sumRows:
		return sumRowsKernel[T]
	case sumCols:
		return sumColsKernel[T]
	case repeatRow:
		return repeatRowKernel[T]
	}
	return repeatColKernel[T]
}

// row returns row i.
func (m mat[T]) row(i int) []T { return m.v[i*m.c : (i+1)*m.c] }

func rowScaleKernel[T Float](c *call[T]) {
	for i := range c.dst.r {
		kernel.Scale(c.dst.row(i), c.in[1].v[i], c.in[0].row(i))
	}
}

func colScaleKernel[T Float](c *call[T]) {
	for i := range c.dst.r {
		kernel.MulTo(c.dst.row(i), c.in[0].row(i), c.in[1].v)
	}
}

func rowDotKernel[T Float](c *call[T]) {
	a, b := c.in[0], c.in[1]
	for i := range a.r {
		c.dst.v[i] = kernel.Dot(a.row(i), b.row(i))
	}
}

func colDotKernel[T Float](c *call[T]) {
	c.clear()
	a, b := c.in[0], c.in[1]
	for i := range a.r {
		x, y := a.row(i), b.row(i)
		for j := range c.dst.v {
			c.dst.v[j] += x[j] * y[j]
		}
	}
}

// clear zeroes the output of a sum before its first block of rows.
func (c *call[T]) clear() {
	if c.first {
		clear(c.dst.v)
	}
}

func addRowKernel[T Float](c *call[T]) {
	for i := range c.dst.r {
		kernel.AddTo(c.dst.row(i), c.in[0].row(i), c.in[1].v)
	}
}

func addColKernel[T Float](c *call[T]) {
	for i := range c.dst.r {
		u, d := c.in[1].v[i], c.dst.row(i)
		for j, a := range c.in[0].row(i) {
			d[j] = a + u
		}
	}
}

func sumRowsKernel[T Float](c *call[T]) {
	c.clear()
	for i := range c.in[0].r {
		kernel.AddTo(c.dst.v, c.dst.v, c.in[0].row(i))
	}
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
