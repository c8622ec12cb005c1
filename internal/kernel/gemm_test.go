package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A product is one of the three functions, with how it reads A and B.
type product[T Float] struct {
	name           string
	f              func(m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool)
	transA, transB bool
}

func products[T Float]() []product[T] {
	return []product[T]{
		{"NT", GemmNT[T], false, true},
		{"TN", GemmTN[T], true, false},
		{"NN", GemmNN[T], false, false},
	}
}

// A problem is one call with all that it needs.
type problem[T Float] struct {
	m, n, k       int
	lda, ldb, ldc int
	a, b, c       []T
	acc           bool
	arena         *arena[T]
}

func newProblem[T Float](rng *rand.Rand, p product[T], m, n, k int, fill func() T) *problem[T] {
	q := &problem[T]{m: m, n: n, k: k, acc: rng.IntN(2) == 0, arena: &arena[T]{rng: rng}}
	ra, ca, rb, cb := m, k, k, n
	if p.transA {
		ra, ca = ca, ra
	}
	if p.transB {
		rb, cb = cb, rb
	}
	gap := func() int { return rng.IntN(2) * rng.IntN(20) }
	q.lda, q.ldb, q.ldc = ca+gap(), cb+gap(), n+gap()
	q.a = q.arena.slice(span(ra, ca, q.lda), fill)
	q.b = q.arena.slice(span(rb, cb, q.ldb), fill)
	q.c = q.arena.slice(span(m, n, q.ldc), fill)
	return q
}

// span is the shortest slice that holds rows×cols entries with stride ld.
func span(rows, cols, ld int) int {
	if rows == 0 || cols == 0 {
		return 0
	}
	return (rows-1)*ld + cols
}

// at returns A(i,p) and B(p,j).
func (q *problem[T]) at(p product[T], i, j, l int) (x, y T) {
	if p.transA {
		x = q.a[l*q.lda+i]
	} else {
		x = q.a[i*q.lda+l]
	}
	if p.transB {
		y = q.b[j*q.ldb+l]
	} else {
		y = q.b[l*q.ldb+j]
	}
	return x, y
}

// reference returns C in twice the working precision or better, and Σ|a||b| + |c| of each entry.
// Entries of C between the rows keep their value and have bound 0.
func (q *problem[T]) reference(p product[T]) (want, bound []float64) {
	want, bound = make([]float64, len(q.c)), make([]float64, len(q.c))
	for i, v := range q.c {
		want[i] = float64(v)
	}
	for i := range q.m {
		for j := range q.n {
			var hi, lo, mag float64
			if q.acc {
				hi = float64(q.c[i*q.ldc+j])
				mag = math.Abs(hi)
			}
			for l := range q.k {
				x, y := q.at(p, i, j, l)
				v := float64(x) * float64(y)
				lo += math.FMA(float64(x), float64(y), -v)
				s := hi + v
				z := s - hi
				lo += (hi - (s - z)) + (v - z)
				hi = s
				mag += math.Abs(v)
			}
			want[i*q.ldc+j] = hi + lo
			bound[i*q.ldc+j] = mag
		}
	}
	return want, bound
}

// shapes are the sizes that the kernels meet, their neighbours, and small ones of every kind.
func shapes(rng *rand.Rand, count int) [][3]int {
	s := [][3]int{
		{32, 10, 784}, {10, 784, 32}, {33, 10, 785}, {10, 783, 31}, {16, 1, 200}, {1, 200, 16},
		{17, 32, 128}, {20, 128, 20}, {1, 1, 1}, {0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {3, 1, 1500}, {1, 3, 1500},
		{11, 5, 1027}, {2, 70, 300}, {23, 600, 3}, {70, 10, 16}, {64, 20, 33},
	}
	for range count {
		// Products of two draws favour small sizes without leaving out large ones.
		s = append(s, [3]int{rng.IntN(5) * rng.IntN(8), rng.IntN(7) * rng.IntN(12), rng.IntN(7) * rng.IntN(25)})
	}
	return s
}

// TestGemmExact uses small integers: all sums are exact in any order, so every entry must be right
// to the bit, and anything read from outside of a matrix would show.
func TestGemmExact(t *testing.T) {
	t.Run("float32", testGemmExact[float32])
	t.Run("float64", testGemmExact[float64])
}

func testGemmExact[T Float](t *testing.T) {
	eachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, p := range products[T]() {
			for _, s := range shapes(rng, 150) {
				q := newProblem(rng, p, s[0], s[1], s[2], func() T { return T(rng.IntN(15) - 7) })
				what := fmt.Sprintf("%s m=%d n=%d k=%d lda=%d ldb=%d ldc=%d acc=%v", p.name, q.m, q.n, q.k, q.lda, q.ldb, q.ldc, q.acc)
				want, _ := q.reference(p)
				p.f(q.m, q.n, q.k, q.c, q.ldc, q.a, q.lda, q.b, q.ldb, q.acc)
				for i, w := range want {
					if float64(q.c[i]) != w {
						t.Fatalf("%s: entry (%d,%d) is %g; it must be %g", what, i/q.ldc, i%q.ldc, q.c[i], w)
					}
				}
				q.arena.check(t, what)
			}
		}
	})
}

// TestGemmAccuracy holds the rounding error to its bound: a sum of k products of any order, with
// or without fused operations, is off by at most γ_{k+1}·(Σ|a||b| + |c|), γ_n = nu/(1−nu) with unit
// roundoff u. The reference adds an error of order u of its own for float64.
func TestGemmAccuracy(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testGemmAccuracy[float32](t, 0x1p-24) })
	t.Run("float64", func(t *testing.T) { testGemmAccuracy[float64](t, 0x1p-53) })
}

func testGemmAccuracy[T Float](t *testing.T, u float64) {
	eachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, p := range products[T]() {
			for _, s := range shapes(rng, 100) {
				q := newProblem(rng, p, s[0], s[1], s[2], func() T { return T(rng.NormFloat64()) })
				want, bound := q.reference(p)
				p.f(q.m, q.n, q.k, q.c, q.ldc, q.a, q.lda, q.b, q.ldb, q.acc)
				gamma := float64(q.k+2) * u / (1 - float64(q.k+2)*u)
				for i, w := range want {
					if e := math.Abs(float64(q.c[i]) - w); !(e <= gamma*bound[i]) {
						t.Fatalf("%s %v: entry (%d,%d) is off by %g, bound %g", p.name, s, i/q.ldc, i%q.ldc, e, gamma*bound[i])
					}
				}
			}
		}
	})
}

// TestGemmSameBits checks the promises about order: a row of NT and NN alone gives the bits it
// has among others, sums of TN and NN can be cut at any row, and alignment does not matter.
func TestGemmSameBits(t *testing.T) {
	t.Run("float32", testGemmSameBits[float32])
	t.Run("float64", testGemmSameBits[float64])
}

func testGemmSameBits[T Float](t *testing.T) {
	eachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, p := range products[T]() {
			for _, s := range shapes(rng, 60) {
				q := newProblem(rng, p, s[0], s[1], s[2], func() T { return T(rng.NormFloat64()) })
				what := fmt.Sprintf("%s m=%d n=%d k=%d acc=%v", p.name, q.m, q.n, q.k, q.acc)
				c := append([]T(nil), q.c...)
				p.f(q.m, q.n, q.k, q.c, q.ldc, q.a, q.lda, q.b, q.ldb, q.acc)
				if p.transA {
					q.cutSum(p.f, c, rng)
				} else {
					q.cutRows(p.f, c, rng)
				}
				sameBits(t, what, c, q.c)
			}
		}
	})
}

// cutRows computes c in blocks of rows of A.
func (q *problem[T]) cutRows(f func(m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool), c []T, rng *rand.Rand) {
	if q.n == 0 || q.k == 0 {
		f(q.m, q.n, q.k, c, q.ldc, q.a, q.lda, q.b, q.ldb, q.acc)
		return
	}
	for i := 0; i < q.m; {
		h := min(q.m-i, 1+rng.IntN(7))
		f(h, q.n, q.k, c[i*q.ldc:], q.ldc, q.a[i*q.lda:], q.lda, q.b, q.ldb, q.acc)
		i += h
	}
}

// cutSum computes c as a sum over blocks of rows of A and B.
func (q *problem[T]) cutSum(f func(m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool), c []T, rng *rand.Rand) {
	f(q.m, q.n, 0, c, q.ldc, nil, q.lda, nil, q.ldb, q.acc)
	if q.m == 0 || q.n == 0 {
		return
	}
	for l := 0; l < q.k; {
		h := min(q.k-l, 1+rng.IntN(7))
		f(q.m, q.n, h, c, q.ldc, q.a[l*q.lda:], q.lda, q.b[l*q.ldb:], q.ldb, true)
		l += h
	}
}

// TestGemmPathsAgree: the assembly paths give the same bits as each other.
func TestGemmPathsAgree(t *testing.T) {
	if !Supported(AVX512) {
		t.Skip("needs avx512")
	}
	t.Run("float32", testGemmPathsAgree[float32])
	t.Run("float64", testGemmPathsAgree[float64])
}

func testGemmPathsAgree[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, p := range products[T]() {
		for _, s := range shapes(rng, 200) {
			q := newProblem(rng, p, s[0], s[1], s[2], func() T { return T(rng.NormFloat64()) })
			c := append([]T(nil), q.c...)
			restore := Use(AVX2)
			p.f(q.m, q.n, q.k, c, q.ldc, q.a, q.lda, q.b, q.ldb, q.acc)
			restore()
			restore = Use(AVX512)
			p.f(q.m, q.n, q.k, q.c, q.ldc, q.a, q.lda, q.b, q.ldb, q.acc)
			restore()
			sameBits(t, fmt.Sprintf("%s %v acc=%v", p.name, s, q.acc), c, q.c)
		}
	}
}

// FuzzGemm looks for a shape, a stride or an offset that one of the paths gets wrong.
func FuzzGemm(f *testing.F) {
	for _, s := range [][3]uint8{{1, 1, 1}, {32, 10, 98}, {10, 98, 32}, {0, 3, 3}, {17, 33, 65}} {
		f.Add(s[0], s[1], s[2], uint64(1))
	}
	f.Fuzz(func(t *testing.T, m, n, k uint8, seed uint64) {
		fuzzGemm[float32](t, int(m), int(n), int(k), seed)
		fuzzGemm[float64](t, int(m), int(n), int(k), seed)
	})
}

func fuzzGemm[T Float](t *testing.T, m, n, k int, seed uint64) {
	for path := Generic; path <= best; path++ {
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, p := range products[T]() {
			q := newProblem(rng, p, m, n, k, func() T { return T(rng.IntN(15) - 7) })
			want, _ := q.reference(p)
			restore := Use(path)
			p.f(m, n, k, q.c, q.ldc, q.a, q.lda, q.b, q.ldb, q.acc)
			restore()
			what := fmt.Sprintf("%s on %v m=%d n=%d k=%d seed=%d", p.name, path, m, n, k, seed)
			for i, w := range want {
				if float64(q.c[i]) != w {
					t.Fatalf("%s: entry (%d,%d) is %g; it must be %g", what, i/q.ldc, i%q.ldc, q.c[i], w)
				}
			}
			q.arena.check(t, what)
		}
	}
}
