package ad

import (
	"fmt"

	"dsbo/ad/internal/engine"
)

// Solve returns A⁻¹b for a square matrix A and a vector or matrix b, by LU factors with pivots:
// infinite or NaN where A is singular. Cost: k³/3 products for the factors, once however often A is
// solved with or its determinant is asked for, and k² for each column.
func Solve(a, b *Node) *Node { return BatchSolve(a, b, 1) }

// BatchSolve is [Solve] for n systems: the matrices of a are one below the other, and so are
// the right sides in b.
func BatchSolve(a, b *Node, n int) *Node {
	return solve(a, b, systemRule{solveOp, rightSides("Solve", a, b, n), false})
}

func solve(a, b *Node, r systemRule) *Node {
	return newNode(r, shapeOf(b), a, b, factors(a, r.k))
}

func factors(a *Node, k int) *Node {
	rows, _ := dims(a)
	return newNode(systemRule{factorsOp, k, false}, matShape(rows/k*(k+1), k), a)
}

// LogDet returns the logarithm of |det A| of a square matrix, a scalar: −Inf where A is singular.
func LogDet(a *Node) *Node { return reshape(BatchLogDet(a, 1), scalarShape) }

// BatchLogDet is [LogDet] for n matrices, one below the other: a vector.
func BatchLogDet(a *Node, n int) *Node {
	k := squares("LogDet", a, n)
	return newNode(systemRule{logDetOp, k, false}, vecShape(n), a, factors(a, k))
}

// Cholesky returns the lower triangular L with A = L Lᵀ, read from the lower part of A. It has
// NaN where A is not positive definite.
func Cholesky(a *Node) *Node { return BatchCholesky(a, 1) }

// BatchCholesky is [Cholesky] for n matrices, one below the other.
func BatchCholesky(a *Node, n int) *Node {
	k := squares("Cholesky", a, n)
	return newNode(systemRule{choleskyOp, k, false}, shapeOf(a), a)
}

// SolveLower returns op(L)⁻¹b for the lower part of a square matrix L and a vector or matrix b,
// where op transposes if the flag is set: of a Cholesky factor L, A⁻¹b is SolveLower(l,
// SolveLower(l, b, false), true).
func SolveLower(l, b *Node, transposes bool) *Node { return BatchSolveLower(l, b, 1, transposes) }

// BatchSolveLower is [SolveLower] for n systems, one below the other.
func BatchSolveLower(l, b *Node, n int, transposes bool) *Node {
	return newNode(systemRule{solveLowerOp, rightSides("SolveLower", l, b, n), transposes}, shapeOf(b), l, b)
}

// rightSides returns the size of n square matrices whose right sides are in b.
func rightSides(op string, a, b *Node, n int) int {
	k := squares(op, a, n)
	if r, _ := dims(b); r != n*k {
		failf("%s: there must be %d rows of right sides; shapes are %v and %v", op, n*k, a.Shape(), b.Shape())
	}
	return k
}

// squares returns the size of n square matrices that are one below the other.
func squares(op string, a *Node, n int) (k int) {
	r, k := dims(a)
	if len(a.Shape()) != 2 || n < 1 || r != n*k {
		failf("%s: there must be %d square matrices, one below the other; the shape is %v", op, n, a.Shape())
	}
	return k
}

func (r systemRule) String() string { return fmt.Sprintf("%v(%d, %t)", r.of, r.k, r.changes) }

// grad implements rule, by the closed form of each op's derivative.
func (r systemRule) grad(in nodes, out, g *Node) nodes {
	switch r.of {
	case solveOp:
		return r.solveGrad(in, out, g)
	case logDetOp:
		return logDetGrad(in[0], g)
	case choleskyOp:
		return nodes{choleskyGrad(out, g)}
	case solveLowerOp:
		return r.solveLowerGrad(in[0], out, g)
	case lowerOp:
		return nodes{newNode(r, g.Shape(), g)}
	}
	return nodes{nil}
}

// solveGrad: of X = A⁻¹B, dB = A⁻ᵀG and dA = −dB Xᵀ.
func (r systemRule) solveGrad(in nodes, x, g *Node) nodes {
	db := solve(in[0], g, systemRule{solveOp, r.k, !r.changes})
	return nodes{Neg(stackedOuter(db, x, r.k, r.changes)), db, nil}
}

// stackedOuter returns the products u_i v_iᵀ of blocks of k rows, or their transposes v_i u_iᵀ.
func stackedOuter(u, v *Node, k int, transposes bool) *Node {
	if transposes {
		u, v = v, u
	}
	r, c := dims(u)
	return BatchMatMul(Reshape(u, r, c), Reshape(v, r, c), r/k, false, true)
}

// logDetGrad: G A⁻ᵀ of each matrix.
func logDetGrad(a, g *Node) nodes {
	rows, k := dims(a)
	inverse := solve(a, identityLike(g, rows, k), systemRule{solveOp, k, true})
	return nodes{RowScale(inverse, Flatten(RepeatCol(g, k))), nil}
}

// choleskyGrad (Murray 2016): the symmetric part of L⁻ᵀ Φ(LᵀG) L⁻¹, Φ being the lower part with
// half of the diagonal. Of A its lower part is read: the adjoint is of a symmetric A, halved
// outside of the diagonal on each side.
func choleskyGrad(l, g *Node) *Node {
	rows, k := dims(l)
	n := rows / k
	half := systemRule{lowerOp, k, true}
	p := newNode(half, l.Shape(), BatchMatMul(l, g, n, true, false))
	left := BatchSolveLower(l, p, n, true)
	s := stackedTranspose(BatchSolveLower(l, stackedTranspose(left, k), n, true), k)
	return newNode(half, l.Shape(), Add(s, stackedTranspose(s, k)))
}

// stackedTranspose transposes matrices of k×k.
func stackedTranspose(a *Node, k int) *Node {
	r, c := dims(a)
	return Reshape(view(Reshape(a, r/k, k*c), transpose(k, c)), r, c)
}

// solveLowerGrad: of X = L⁻¹B, dB = L⁻ᵀG and dL = −dB Xᵀ, its lower part.
func (r systemRule) solveLowerGrad(l, x, g *Node) nodes {
	rows, _ := dims(l)
	db := BatchSolveLower(l, g, rows/r.k, !r.changes)
	lower := systemRule{lowerOp, r.k, false}
	return nodes{Neg(newNode(lower, l.Shape(), stackedOuter(db, x, r.k, r.changes))), db}
}

// stacked is an op on blocks of k rows of its inputs that stay together.
func stacked(k int, o engine.Op) engine.Op {
	o.Block = k
	return uncut(o)
}

// lower implements rule. Kernels work on whole blocks of k rows, k+1 for factors with their pivots;
// an "r" is an input that is cut into blocks along with the output.
func (r systemRule) lower(nodes) engine.Op {
	switch r.of {
	case factorsOp:
		return stacked(r.k+1, with(r.k, "r", factorKernel, factorKernel))
	case solveOp:
		return stacked(r.k, with(r, "rrr", solveKernel, solveKernel))
	case logDetOp:
		return stacked(1, with(r.k, "rr", logDetKernel, logDetKernel))
	case signOp:
		return stacked(1, with(r.k, "r", signKernel, signKernel))
	case choleskyOp:
		return stacked(r.k, with(r.k, "r", choleskyKernel, choleskyKernel))
	case solveLowerOp:
		return stacked(r.k, with(r, "rr", triangularKernel, triangularKernel))
	}
	return stacked(r.k, with(r, "r", lowerKernel, lowerKernel))
}
