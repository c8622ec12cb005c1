// ArithmeticDigest returns a digest of the bits of a small fixed computation with every operation
// that a run's results depend on. Processes with equal digests compute alike. Agents compare
// digests when they meet, and a checkpoint has its run's digest.
//
// The plain kernels (DSBO_KERNEL=generic) and all other Go code give the same bits on every
// machine: no product is fused with a sum (fused_test.go checks it), and functions are package
// num's. The assembly kernels, avx2 and avx512, fuse on purpose and sum in their own order. Each
// gives the same bits on all machines that run it, but other bits than the other kernels.

package linalg

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"

	"dsbo/internal/kernel"
	"dsbo/internal/num"
)

// digests has the digest of each kernel path, found when it is asked for.
var digests = [...]func() string{kernel.Generic: sync.OnceValue(digest), kernel.AVX2: sync.OnceValue(digest),
	kernel.AVX512: sync.OnceValue(digest)}

// ArithmeticDigest returns 16 hexadecimal digits that stand for the bits of the computation with
// the kernels of this process. It takes some milliseconds at the first call, and nothing after it.
func ArithmeticDigest() string { return digests[kernel.Active()]() }

// digest computes it with the kernels that are active.
func digest() string {
	d := bits{sha256.New()}
	d.Write(binary.NativeEndian.AppendUint64(nil, strconv.IntSize)) // masks are in the order of a machine's bytes
	r := rand.New(rand.NewPCG(20, 26))
	d.functions(r)
	vectors(d, normals[float64](r, 3*sizes))
	vectors(d, normals[float32](r, 3*sizes))
	d.solution(r)
	d.descent(r)
	return hex.EncodeToString(d.Sum(nil)[:8])
}

// bits is a hash of numbers.
type bits struct{ hash.Hash }

func (d bits) add(v ...float64) {
	var b []byte
	for _, x := range v {
		if x != x {
			x = math.NaN() // NaN has many bit patterns
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	d.Write(b)
}

func addAll[T kernel.Float](d bits, v []T) {
	for _, x := range v {
		d.add(float64(x))
	}
}

// normals returns normal numbers.
func normals[T kernel.Float](r *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(num.Normal(r))
	}
	return v
}

// functions adds draws, and functions of them.
func (d bits) functions(r *rand.Rand) {
	for range 200 {
		x := 4 * num.Normal(r)
		d.add(x, num.Exp(x), num.Expm1(x), num.Log(math.Abs(x)), num.Log1p(math.Abs(x)), num.Erf(x),
			num.Sin(x), num.Cos(x), num.Tanh(x), num.Pow(math.Abs(x), x))
	}
}

// The matrices of vectors: no multiples of the lanes of any kernel, and longer than one of
// its rounds.
const rows, cols, inner = 7, 13, 83
const sizes = inner * cols

// vectors adds the results of the kernels of one type on v, 3·sizes numbers.
func vectors[T kernel.Float](d bits, v []T) {
	a, b, c := v[:rows*inner], v[sizes:2*sizes], make([]T, rows*cols)
	for _, product := range []func(m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int,
		acc bool){kernel.GemmNN[T], kernel.GemmNT[T], kernel.GemmTN[T]} {
		// Leading dimensions that fit all three, as long as the rows of either form.
		product(rows, cols, rows, c, cols, a, inner, b, inner, false)
		addAll(d, c)
	}
	kernel.GemmNT(rows, cols, inner, c, cols, a, inner, b, inner, true)
	addAll(d, c)
	addAll(d, []T{kernel.Dot(a, b[:len(a)]), kernel.Sum(a)})

	dst, src := make([]T, sizes), v[2*sizes:]
	for _, of := range []func(dst, src []T){kernel.Exp[T], kernel.Log1pExp[T], kernel.Sigmoid[T], kernel.Tanh[T],
		kernel.Erf[T]} {
		of(dst, src)
		addAll(d, dst)
	}
	kernel.Exp(dst, src)
	kernel.Log(dst, dst)
	kernel.Axpy(dst, 0.3, src)
	addAll(d, dst)
	kernel.RowSoftmax(inner, cols, dst, src)
	addAll(d, dst)
	kernel.RowLogSumExp(inner, cols, dst[:inner], src)
	addAll(d, dst[:inner])
}

// solution adds the solution of a system by recycled conjugate gradients: eigenvectors and Cholesky
// factors are in it.
func (d bits) solution(r *rand.Rand) {
	const q, most = 24, 9
	m := NewMemory(q, most, 0.1, 1e-10)
	factor, diagonal, ridge := normals[float64](r, q*q), make([]float64, q), make([]float64, q)
	product := func(dst, v []float64) error {
		between := make([]float64, q)
		kernel.GemmNT(q, 1, q, between, 1, factor, q, v, q, false)
		kernel.GemmTN(q, 1, q, dst, 1, factor, q, between, 1, false)
		return nil
	}
	for range most {
		v, dv := normals[float64](r, q), make([]float64, q)
		_ = product(dv, v) // never fails
		m.Add(v, dv)
	}
	for j := range q {
		for i := range q {
			diagonal[j] += float64(factor[i*q+j] * factor[i*q+j])
		}
		ridge[j] = num.Exp(num.Normal(r))
	}
	m.Prepare(ridge, diagonal)
	s := make([]float64, q)
	m.Precondition(s, normals[float64](r, q))
	d.add(s...)
}

// descent adds a few steps of gradients and Hessian-vector products of a logistic regression.
func (d bits) descent(r *rand.Rand) {
	const n, q = 37, 11
	x, y, v := normals[float64](r, n*q), normals[float64](r, q), normals[float64](r, q)
	margin, p, g, hv := make([]float64, n), make([]float64, n), make([]float64, q), make([]float64, q)
	for range 5 {
		kernel.GemmNT(n, 1, q, margin, 1, x, q, y, q, false)
		kernel.Sigmoid(p, margin)
		kernel.GemmTN(q, 1, n, g, 1, x, q, p, 1, false)
		kernel.GemmNT(n, 1, q, margin, 1, x, q, v, q, false)
		for i := range p {
			p[i] = p[i] * (1 - p[i]) * margin[i]
		}
		kernel.GemmTN(q, 1, n, hv, 1, x, q, p, 1, false)
		Axpy(y, -0.1, g)
		Axpy(v, -0.1, hv)
		d.add(y...)
		d.add(v...)
		d.add(Norm(g), Dot(hv, v), Dist2(y, v))
	}
}
