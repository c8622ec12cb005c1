package ad

import (
	"fmt"

	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
)

// Solve returns A⁻¹b for a square matrix A and a vector or matrix b, by LU factors with pivots:
// infinite or NaN where A is singular. Cost: k³/3 products for the factors, once however often A is
// solved with or its determinant is asked for, and k² for each column.
func Solve(a, b *Node) *Node { return BatchSolve(a, b, 1) }

// BatchSolve is [Solve] for n systems: the matrices of a are one below the other, and so are
// the right sides in b.
func BatchSolve(a, b *Node, n int) *Node {
	k := squares("Solve", a, n)
	r, _ := dims(b)
	if r != n*k {
		failf("Solve: there must be %d rows of right sides; shapes are %v and %v", n*k, a.Shape(), b.Shape())
	}
	return solve(a, b, solveRule{k, false})
}

func solve(a, b *Node, r solveRule) *Node {
	rows, _ := dims(a)
	factors := newNode(factorRule{r.k}, matShape(rows/r.k*(r.k+1), r.k), a)
	return newNode(r, shapeOf(b), a, b, factors)
}

// LogDet returns the logarithm of |det A| of a square matrix, a scalar: −Inf where A is singular.
func LogDet(a *Node) *Node { return reshape(BatchLogDet(a, 1), scalarShape) }

// BatchLogDet is [LogDet] for n matrices, one below the other: a vector.
func BatchLogDet(a *Node, n int) *Node {
	k := squares("LogDet", a, n)
	factors := newNode(factorRule{k}, matShape(n*(k+1), k), a)
	return newNode(logDetRule{k}, vecShape(n), a, factors)
}

// Cholesky returns the lower triangular L with A = L Lᵀ, read from the lower part of A. It has
// NaN where A is not positive definite.
func Cholesky(a *Node) *Node { return BatchCholesky(a, 1) }

// BatchCholesky is [Cholesky] for n matrices, one below the other.
func BatchCholesky(a *Node, n int) *Node {
	k := squares("Cholesky", a, n)
	return newNode(choleskyRule{k}, shapeOf(a), a)
}

// SolveLower returns op(L)⁻¹b for the lower part of a square matrix L and a vector or matrix b,
// where op transposes if the flag is set: of a Cholesky factor L, A⁻¹b is SolveLower(l,
// SolveLower(l, b, false), true).
func SolveLower(l, b *Node, transposes bool) *Node { return BatchSolveLower(l, b, 1, transposes) }

// BatchSolveLower is [SolveLower] for n systems, one below the other.
func BatchSolveLower(l, b *Node, n int, transposes bool) *Node {
	k := squares("SolveLower", l, n)
	if r, _ := dims(b); r != n*k {
		failf("SolveLower: there must be %d rows of right sides; shapes are %v and %v", n*k, l.Shape(), b.Shape())
	}
	return newNode(triangularRule{k, transposes}, shapeOf(b), l, b)
}

// squares returns the size of n square matrices that are one below the other.
func squares(op string, a *Node, n int) (k int) {
	r, k := dims(a)
	if len(a.Shape()) != 2 || n < 1 || r != n*k {
		failf("%s: there must be %d square matrices, one below the other; the shape is %v", op, n, a.Shape())
	}
	return k
}

func (r factorRule) String() string     { return fmt.Sprintf("Factors(%d)", r.k) }
func (r logDetRule) String() string     { return fmt.Sprintf("LogDet(%d)", r.k) }
func (r choleskyRule) String() string   { return fmt.Sprintf("Cholesky(%d)", r.k) }
func (r solveRule) String() string      { return fmt.Sprintf("Solve(%d, %t)", r.k, r.transposes) }
func (r triangularRule) String() string { return fmt.Sprintf("SolveLower(%d, %t)", r.k, r.transposes) }
func (r lowerRule) String() string      { return fmt.Sprintf("Lower(%d, %v)", r.k, r.diagonal) }

func (r factorRule) grad(nodes, *Node, *Node) nodes { return nodes{nil} }

// grad: of X = A⁻¹B, dB = A⁻ᵀG and dA = −dB Xᵀ.
func (r solveRule) grad(in nodes, x, g *Node) nodes {
	db := solve(in[0], g, solveRule{r.k, !r.transposes})
	da := Neg(stackedOuter(db, x, r.k))
	if r.transposes {
		da = Neg(stackedOuter(x, db, r.k))
	}
	return nodes{da, db, nil}
}

// stackedOuter returns the products u_i v_iᵀ of blocks of k rows.
func stackedOuter(u, v *Node, k int) *Node {
	r, c := dims(u)
	return BatchMatMul(Reshape(u, r, c), Reshape(v, r, c), r/k, false, true)
}

// grad: G A⁻ᵀ of each matrix.
func (r logDetRule) grad(in nodes, _, g *Node) nodes {
	rows, k := dims(in[0])
	units := make([]float64, rows*k)
	for i := range rows {
		units[i*k+i%k] = 1
	}
	inverse := solve(in[0], constants(g, units, matShape(rows, k)), solveRule{k, true})
	return nodes{RowScale(inverse, Flatten(RepeatCol(g, k))), nil}
}

// grad (Murray 2016): the symmetric part of L⁻ᵀ Φ(LᵀG) L⁻¹, Φ being the lower part with half of
// the diagonal. Of A its lower part is read: the adjoint is of a symmetric A, halved outside of
// the diagonal on each side.
func (r choleskyRule) grad(_ nodes, l, g *Node) nodes {
	rows, k := dims(l)
	n := rows / k
	p := newNode(lowerRule{k, .5}, l.Shape(), BatchMatMul(l, g, n, true, false))
	half := BatchSolveLower(l, p, n, true)
	s := stackedTranspose(BatchSolveLower(l, stackedTranspose(half, k), n, true), k)
	return nodes{newNode(lowerRule{k, .5}, l.Shape(), Add(s, stackedTranspose(s, k)))}
}

// stackedTranspose transposes matrices of k×k.
func stackedTranspose(a *Node, k int) *Node {
	r, c := dims(a)
	return Reshape(view(Reshape(a, r/k, k*c), transpose(k, c)), r, c)
}

// grad: of X = L⁻¹B, dB = L⁻ᵀG and dL = −dB Xᵀ, its lower part.
func (r triangularRule) grad(in nodes, x, g *Node) nodes {
	l := in[0]
	rows, _ := dims(l)
	db := BatchSolveLower(l, g, rows/r.k, !r.transposes)
	dl := stackedOuter(db, x, r.k)
	if r.transposes {
		dl = stackedOuter(x, db, r.k)
	}
	return nodes{Neg(newNode(lowerRule{r.k, 1}, l.Shape(), dl)), db}
}

func (r lowerRule) grad(_ nodes, _, g *Node) nodes {
	return nodes{newNode(r, g.Shape(), g)}
}

// stacked is an op on blocks of k rows of its inputs that stay together.
func stacked(args string, block int, f32 func(*call[float32]), f64 func(*call[float64])) engine.Op {
	o := uncut(kernels(args, f32, f64))
	o.Block = block
	return o
}

func (r factorRule) lower(nodes) engine.Op {
	return stacked("r", r.k+1, factorKernel[float32](r.k), factorKernel[float64](r.k))
}
func (r solveRule) lower(nodes) engine.Op {
	return stacked("rrr", r.k, solveKernel[float32](r), solveKernel[float64](r))
}
func (r logDetRule) lower(nodes) engine.Op {
	return stacked("rr", 1, logDetKernel[float32](r.k), logDetKernel[float64](r.k))
}
func (r choleskyRule) lower(nodes) engine.Op {
	return stacked("r", r.k, choleskyKernel[float32](r.k), choleskyKernel[float64](r.k))
}
func (r triangularRule) lower(nodes) engine.Op {
	return stacked("rr", r.k, triangularKernel[float32](r), triangularKernel[float64](r))
}
func (r lowerRule) lower(nodes) engine.Op {
	return stacked("r", r.k, lowerKernel[float32](r), lowerKernel[float64](r))
}

// constants returns a constant of the numbers, one node for equal ones.
func constants(like *Node, numbers []float64, shape tensor.Shape) *Node {
	cols := 0
	if len(shape) == 2 {
		cols = shape[1]
	}
	return NewConst(like, fmt.Sprintf("units %v", shape), shape[0], cols, numbers)
}
