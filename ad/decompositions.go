package ad

import (
	"fmt"
	"math"
	"math/bits"

	"dsbo/ad/internal/engine"
	"dsbo/internal/linalg"
)

// An eigenRule is of symmetric matrices of k×k, one below the other. eigenOp finds, in k+1 rows for
// each, the eigenvalues and then a unit eigenvector a row. Its readers, which take some of them,
// have the derivatives.
type eigenRule struct {
	of             named
	k, from, count int
}

const (
	eigenOp        named = "Eigen"
	eigenvaluesOp  named = "Eigenvalues"
	eigenvectorsOp named = "Eigenvectors"
	signOp         named = "SignOfDet"
)

// SymmetricEigen returns the eigenvalues of the symmetric part (A + Aᵀ)/2 of a square matrix, in
// ascending order, and unit eigenvectors, a row each, whose largest entry is positive. An
// eigenvector has derivatives where its eigenvalue is no other one's, and so have second
// derivatives of the eigenvalue; else they are infinite, NaN, or too large to be of use. Cost: k³
// operations, and k⁴/3 for derivatives of eigenvectors. NaN where A is not finite.
func SymmetricEigen(a *Node) (values, vectors *Node) { return BatchSymmetricEigen(a, 1) }

// BatchSymmetricEigen is [SymmetricEigen] for n matrices, one below the other.
func BatchSymmetricEigen(a *Node, n int) (values, vectors *Node) {
	k := squares("SymmetricEigen", a, n)
	return eigenRule{k: k, count: k}.pairs(Scale(.5, Add(a, stackedTranspose(a, k))))
}

// pairs returns some eigenvalues and eigenvectors of symmetric matrices.
func (r eigenRule) pairs(a *Node) (values, vectors *Node) {
	rows, k := dims(a)
	n := rows / k
	of := func(name named) eigenRule { return eigenRule{name, k, r.from, r.count} }
	all := newNode(eigenRule{of: eigenOp, k: k}, matShape(n*(k+1), k), a)
	return newNode(of(eigenvaluesOp), vecShape(n*r.count), a, all),
		newNode(of(eigenvectorsOp), matShape(n*r.count, k), a, all)
}

func (r eigenRule) String() string { return fmt.Sprintf("%v(%d, %d, %d)", r.of, r.k, r.from, r.count) }

// grad of eigenvalues: Σ_i g_i v_i v_iᵀ. Of eigenvectors: Σ_i w_i v_iᵀ, where (λ_i − A) w_i + μ v_i
// = g_i and v_iᵀ w_i = 0, one system of k+1 rows for each.
func (r eigenRule) grad(in nodes, _, g *Node) nodes {
	if r.of == eigenOp {
		return nodes{nil}
	}
	a, k := in[0], r.k
	rows, _ := dims(a)
	n := rows / k
	values, v := r.pairs(a)
	if r.of == eigenvaluesOp {
		return nodes{BatchMatMul(RowScale(v, g), v, n, true, false), nil}
	}
	all := n * r.count
	systems := minusEach(TensorOf(Outer(values, Flatten(identityLike(a, k, k))), n, r.count, k*k),
		TensorOf(a, n, 1, k*k))
	top := ConcatCols(Reshape(systems.Node, all*k, k), Flatten(v))
	zero := Uniform(0, values)
	whole := Reshape(ConcatCols(Reshape(top, all, k*(k+1)), v, zero), all*(k+1), k+1)
	w := Reshape(BatchSolve(whole, Flatten(ConcatCols(g, zero)), all), all, k+1)
	return nodes{BatchMatMul(Cols(w, 0, k), v, n, true, false), nil}
}

func (r eigenRule) lower(nodes) engine.Op {
	if r.of == eigenOp {
		return stacked(r.k+1, with(r.k, "r", eigenKernel, eigenKernel))
	}
	return stacked(r.count, with(r, "rr", eigenPartKernel, eigenPartKernel))
}

// identityLike returns unit matrices of k×k one below the other, in some rows.
func identityLike(like *Node, rows, k int) *Node {
	units := make([]float64, rows*k)
	for i := range rows {
		units[i*k+i%k] = 1
	}
	// It is named by the shape, so that equal numbers are one node.
	return NewConst(like, fmt.Sprintf("units %d×%d", rows, k), rows, k, units)
}

// SVD returns the singular values of a matrix, the largest first, with singular vectors as columns
// of U and V: A = U diag(s) Vᵀ. They are eigenvalues of [0 A; Aᵀ 0], and have [SymmetricEigen]'s
// derivatives; vectors of singular values 0 have none, and no unit length.
func SVD(a *Node) (u, s, v *Node) {
	m, n := svdName.matrix(a)
	least := min(m, n)
	both := Add(TensorOf(a, m, n).Pad(0, 0, n, Zeros).Pad(1, m, 0, Zeros).Node,
		TensorOf(Transpose(a), n, m).Pad(0, m, 0, Zeros).Pad(1, 0, n, Zeros).Node)
	values, vectors := eigenRule{from: m + n - least, count: least}.pairs(both)
	vectors = Scale(math.Sqrt2, TensorOf(vectors, least, m+n).Flip(0).Node)
	return Transpose(Cols(vectors, 0, m)), TensorOf(values, least).Flip(0).Node, Transpose(Cols(vectors, m, n))
}

const (
	svdName named = "SVD"
	qrName  named = "QR"
)

// QR returns Q with orthonormal columns and R, upper triangular with a positive diagonal, of a
// matrix A = QR with at least as many rows as columns, by Cholesky factors of AᵀA, twice: exact to
// rounding where A's condition is below 10⁷ (10³ in float32), NaN where its columns are linearly
// dependent.
func QR(a *Node) (q, r *Node) {
	q, l := orthogonal(a)
	return Transpose(q), Transpose(l)
}

// orthogonal returns Qᵀ and Rᵀ.
func orthogonal(a *Node) (q, l *Node) {
	if m, n := qrName.matrix(a); m < n {
		failf("QR: there must be at least as many rows as columns; the shape is %v", a.Shape())
	}
	q = Transpose(a)
	for range 2 { // rows are orthogonal but for the squared condition number times rounding, then for rounding
		factor := Cholesky(MatMul(q, q, false, true))
		if q = SolveLower(factor, q, false); l == nil {
			l = factor
		} else {
			l = MatMul(l, factor, false, false)
		}
	}
	return q, l
}

// LeastSquares returns the x with the least ‖Ax − b‖ for a vector or matrix b, by [QR]: the
// columns of A must be linearly independent.
func LeastSquares(a, b *Node) *Node {
	q, l := orthogonal(a)
	r, c := dims(b)
	x := SolveLower(l, MatMul(q, Reshape(b, r, c), false, false), true)
	return reshape(x, tall(l.Shape()[0], b))
}

// Inverse returns A⁻¹; a product with it is better a [Solve].
func Inverse(a *Node) *Node {
	k := squares("Inverse", a, 1)
	return Solve(a, identityLike(a, k, k))
}

// SignOfDet returns the sign of the determinant of a square matrix, −1, 0 or 1, whose derivative
// is 0: with [LogDet] it is the determinant of any size.
func SignOfDet(a *Node) *Node {
	k := squares("SignOfDet", a, 1)
	return reshape(newNode(systemRule{signOp, k, false}, vecShape(1), factors(a, k)), scalarShape)
}

// mostExpanded is of how many rows a determinant is a sum of products, at most.
const mostExpanded = 8

// Det returns the determinant of a square matrix. Its derivatives are right where A is singular, of
// up to 8 rows: it is expanded by minors then. They are NaN, or of no use, of more rows.
func Det(a *Node) *Node {
	k := squares("Det", a, 1)
	if k > mostExpanded {
		return Mul(SignOfDet(a), Exp(LogDet(a)))
	}
	// Minors of the first rows, one for each set of as many columns, by the minors of one row less.
	minors, place := Uniform(1, Flatten(Rows(Cols(a, 0, 1), 0, 1))), map[int]int{0: 0}
	for r := range k {
		var signed []taps
		var entries []int
		next := map[int]int{}
		for set := range 1 << k {
			if bits.OnesCount(uint(set)) != r+1 {
				continue
			}
			next[set] = len(next)
			sign := float64(1 - 2*(r%2)) // of the first column of the set
			for j := range k {
				if set>>j&1 == 1 {
					signed = append(signed, taps{[]int{place[set&^(1<<j)]}, []float64{sign}})
					entries, sign = append(entries, j), -sign
				}
			}
		}
		less := sparseRule{s: mapOf(len(place), signed), cols: 1}.of(Reshape(minors, 1, len(place)))
		row := taken(Rows(a, r, 1), 1, entries)
		minors, place = RowDot(Reshape(less, len(next), r+1), Reshape(row, len(next), r+1)), next
	}
	return reshape(minors, scalarShape)
}

// Distances returns the Euclidean distances of the rows of a from the rows of b, a row for each of
// a's. Their derivatives at 0 are taken as 0.
func Distances(a, b *Node) *Node {
	m, d := dims(a)
	n, e := dims(b)
	if d != e {
		failf("Distances: rows must have the same length; shapes are %v and %v", a.Shape(), b.Shape())
	}
	return minusEach(TensorOf(a, m, 1, d), TensorOf(b, 1, n, d)).Norm(2).Node
}

// minusEach returns a − b, broadcast.
func minusEach(a, b Tensor) Tensor {
	return Broadcast(func(in ...*Node) *Node { return Sub(in[0], in[1]) }, a, b)
}

// eigenKernel computes eigenvalues and eigenvectors of matrices of k×k, in float64. They are NaN if
// the algorithm fails.
func eigenKernel[T Float](k int, c *call[T]) {
	numbers := make([]float64, k*k+k+linalg.Work(k))
	a, values, work := numbers[:k*k], numbers[k*k:][:k], numbers[k*k+k:]
	for m := range c.In[0].R / k {
		dst := c.Dst.V[m*(k+1)*k:][:(k+1)*k]
		linalg.Convert(a, c.In[0].V[m*k*k:][:k*k])
		if !linalg.Eigen(k, a, values, work) {
			linalg.Fill(dst, T(math.NaN()))
			continue
		}
		for i := range k {
			v, most := a[i*k:][:k], 0.
			for _, x := range v {
				if math.Abs(x) > math.Abs(most) {
					most = x
				}
			}
			if most < 0 { // either sign is an eigenvector: the largest entry is positive
				linalg.Scale(v, -1, v)
			}
		}
		linalg.Convert(dst[:k], values)
		linalg.Convert(dst[k:], a)
	}
}

// eigenPartKernel reads of each matrix's k+1 rows the first, or the others.
func eigenPartKernel[T Float](r eigenRule, c *call[T]) {
	from, n := r.from, r.count
	if r.of == eigenvectorsOp {
		from, n = (1+from)*r.k, n*r.k
	}
	moveRows(len(c.Dst.V)/n, n, c.Dst.V, n, c.In[1].V[from:], (r.k+1)*r.k)
}

// signKernel multiplies the signs of pivots, and one for each exchange of rows.
func signKernel[T Float](k int, c *call[T]) {
	for m := range c.Dst.V {
		sign := T(1)
		lu, from := factorsIn(c.In[0].V, m, k)
		for i := range k {
			switch p := lu[i*k+i]; {
			case p == 0:
				sign = 0
			case p < 0:
				sign = -sign
			case p != p:
				sign = p
			}
			for _, before := range from[:i] {
				if before > from[i] {
					sign = -sign
				}
			}
		}
		c.Dst.V[m] = sign
	}
}
