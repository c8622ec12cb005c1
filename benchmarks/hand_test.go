package benchmarks

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"dsbo/internal/kernel"
)

// Derivatives of the paper's two tasks, written by hand.

type float interface{ float32 | float64 }

// hand computes one task's derivatives on minibatch idx.
type hand[T float] struct {
	*task
	x, y, v, e, grad []T
	rows             func(dst []T, from, to int) []T // rows of the minibatch, in dst if they have to be copied
	tile             int
	buf, a, b        []T // a tile of rows, and two of logits
	u                []T // one number a row
	gemm             blasOf[T]
}

// blasOf is what a formula needs of a BLAS; strides are the widths.
type blasOf[T float] struct {
	nt func(m, n, k int, c, a, b []T)           // C = A·Bᵀ
	tn func(m, n, k int, c, a, b []T, acc bool) // C (+)= Aᵀ·B
}

func kernels[T float]() blasOf[T] {
	return blasOf[T]{
		nt: func(m, n, k int, c, a, b []T) { kernel.GemmNT(m, n, k, c, n, a, k, b, k, false) },
		tn: func(m, n, k int, c, a, b []T, acc bool) { kernel.GemmTN(m, n, k, c, n, a, m, b, n, acc) },
	}
}

var impl gonum.Implementation

func gonum32() blasOf[float32] { return gonumOf(impl.Sgemm, impl.Sgemv) }
func gonum64() blasOf[float64] { return gonumOf(impl.Dgemm, impl.Dgemv) }

func gonumOf[T float](
	gemm func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int),
	gemv func(tA blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int),
) blasOf[T] {
	return blasOf[T]{
		nt: func(m, n, k int, c, a, b []T) {
			if n == 1 {
				gemv(blas.NoTrans, m, k, 1, a, k, b, 1, 0, c, 1)
				return
			}
			gemm(blas.NoTrans, blas.Trans, m, n, k, 1, a, k, b, k, 0, c, n)
		},
		tn: func(m, n, k int, c, a, b []T, acc bool) {
			beta := T(0)
			if acc {
				beta = 1
			}
			if m == 1 {
				gemv(blas.Trans, k, n, 1, b, n, a, 1, beta, c, 1)
				return
			}
			gemm(blas.Trans, blas.NoTrans, m, n, k, 1, a, m, b, n, beta, c, n)
		},
	}
}

// newHand works through the minibatch in tiles of the given number of rows.
func newHand[T float](k *task, gemm blasOf[T], tile int) *hand[T] {
	q := k.c * k.d
	h := &hand[T]{task: k, tile: tile, gemm: gemm,
		x: make([]T, k.d), y: make([]T, q), v: make([]T, q), e: make([]T, k.d), grad: make([]T, q),
		buf: make([]T, tile*k.d), a: make([]T, tile*k.c), b: make([]T, tile*k.c), u: make([]T, tile)}
	h.rows = h.copied
	if same, ok := any(k.floats).([]T); ok && k.idx == nil && k.bytes == nil {
		h.rows = func(_ []T, from, to int) []T { return same[from*k.d : to*k.d] }
	}
	return h
}

func (h *hand[T]) copied(dst []T, from, to int) []T {
	for i := from; i < to; i++ {
		r, row := h.idx[i], dst[(i-from)*h.d:][:h.d]
		if h.bytes != nil {
			kernel.FromBytes(row, h.bytes[r*h.d:][:h.d], T(1./255))
			continue
		}
		for j, v := range h.floats[r*h.d:][:h.d] {
			row[j] = T(v)
		}
	}
	return dst[:(to-from)*h.d]
}

func (h *hand[T]) label(i int) int {
	if h.idx != nil {
		i = h.idx[i]
	}
	return int(h.labels[i])
}

// point brings x, y and v into the element type, and e^x.
func (h *hand[T]) point(v []float64) {
	for j, a := range h.task.x {
		h.x[j] = T(a)
	}
	for j, a := range h.task.y {
		h.y[j] = T(a)
	}
	for j, a := range v {
		h.v[j] = T(a)
	}
	kernel.Exp(h.e, h.x)
}

// eachTile calls f with blocks of rows.
func (h *hand[T]) eachTile(f func(x []T, from, to int)) {
	for from := 0; from < h.m; from += h.tile {
		to := min(from+h.tile, h.m)
		f(h.rows(h.buf, from, to), from, to)
	}
}

func (h *hand[T]) softmaxGrad(dst []float64) {
	h.point(nil)
	c, d, inv := h.c, h.d, T(1/float64(h.m))
	h.eachTile(func(x []T, from, to int) {
		n := to - from
		h.gemm.nt(n, c, d, h.a, x, h.y)
		kernel.RowSoftmax(n, c, h.a[:n*c], h.a[:n*c])
		for i := range n {
			h.a[i*c+h.label(from+i)]--
		}
		kernel.Scale(h.a[:n*c], inv, h.a[:n*c])
		h.gemm.tn(c, d, n, h.grad, h.a, x, from > 0)
	})
	h.addPenalty(dst, h.y, T(2/float64(c*d)))
}

func (h *hand[T]) softmaxHVP(dst []float64) {
	h.point(h.task.v)
	c, d, inv := h.c, h.d, T(1/float64(h.m))
	h.eachTile(func(x []T, from, to int) {
		n := to - from
		h.gemm.nt(n, c, d, h.a, x, h.y)
		h.gemm.nt(n, c, d, h.b, x, h.v)
		kernel.RowSoftmax(n, c, h.a[:n*c], h.a[:n*c])
		for i := range n {
			p, u := h.a[i*c:(i+1)*c], h.b[i*c:(i+1)*c]
			var mean T
			for k := range p {
				mean += p[k] * u[k]
			}
			for k := range p {
				u[k] = p[k] * (u[k] - mean) * inv
			}
		}
		h.gemm.tn(c, d, n, h.grad, h.b, x, from > 0)
	})
	h.addPenalty(dst, h.v, T(2/float64(c*d)))
}

func (h *hand[T]) softmaxJVP(dst []float64) { h.penaltyJVP(dst, T(2/float64(h.c*h.d))) }

// addPenalty completes a gradient at y, or a product with y, by the gradient or product of scale/2
// Σ e^{x_j} Y_kj².
func (h *hand[T]) addPenalty(dst []float64, y []T, scale T) {
	for k := range h.c {
		for j, e := range h.e {
			i := k*h.d + j
			dst[i] = float64(h.grad[i] + scale*e*y[i])
		}
	}
}

func (h *hand[T]) penaltyJVP(dst []float64, scale T) {
	h.point(h.task.v)
	for j := range h.d {
		var s T
		for k := range h.c {
			s += h.y[k*h.d+j] * h.v[k*h.d+j]
		}
		dst[j] = float64(scale * h.e[j] * s)
	}
}

func (h *hand[T]) logisticGrad(dst []float64) {
	h.point(nil)
	h.eachTile(func(x []T, from, to int) {
		n := to - from
		h.gemm.nt(n, 1, h.d, h.a, x, h.y)
		for i := range n {
			h.a[i] *= -T(h.signs[from+i])
		}
		kernel.Sigmoid(h.a[:n], h.a[:n])
		for i := range n {
			h.a[i] *= -T(h.signs[from+i])
		}
		h.gemm.tn(1, h.d, n, h.grad, h.a, x, from > 0)
	})
	h.addPenalty(dst, h.y, 1)
}

func (h *hand[T]) logisticHVP(dst []float64) {
	h.point(h.task.v)
	h.eachTile(func(x []T, from, to int) {
		n := to - from
		h.gemm.nt(n, 1, h.d, h.a, x, h.y)
		h.gemm.nt(n, 1, h.d, h.b, x, h.v)
		for i := range n {
			h.u[i] = -h.a[i]
		}
		kernel.Sigmoid(h.a[:n], h.a[:n])
		kernel.Sigmoid(h.u[:n], h.u[:n])
		for i := range n {
			h.b[i] *= h.a[i] * h.u[i]
		}
		h.gemm.tn(1, h.d, n, h.grad, h.b, x, from > 0)
	})
	h.addPenalty(dst, h.v, 1)
}

func (h *hand[T]) logisticJVP(dst []float64) { h.penaltyJVP(dst, 1) }

// norm is the largest absolute entry.
func norm(a []float64) float64 {
	n := 0.
	for _, v := range a {
		n = max(n, math.Abs(v))
	}
	return n
}
