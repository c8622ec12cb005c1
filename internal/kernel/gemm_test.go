package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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
	product[T]
	m, n, k       int
	lda, ldb, ldc int
	a, b, c       []T
	acc           bool
	arena         *arena[T]
}

func newProblem[T Float](rng *rand.Rand, p product[T], m, n, k int, fill func() T) *problem[T] {
	q := &problem[T]{product: p, m: m, n: n, k: k, acc: rng.IntN(2) == 0, arena: &arena[T]{rng: rng}}
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

func (q *problem[T]) String() string {
	return fmt.Sprintf("%s on %v: m=%d n=%d k=%d lda=%d ldb=%d ldc=%d acc=%v", q.name, active, q.m, q.n, q.k, q.lda,
		q.ldb, q.ldc, q.acc)
}

// multiply computes the product into c, of the layout of q.c.
func (q *problem[T]) multiply(c []T) {
	q.f(q.m, q.n, q.k, c, q.ldc, q.a, q.lda, q.b, q.ldb, q.acc)
}

// factors returns A(i,l) and B(l,j).
func (q *problem[T]) factors(i, j, l int) (x, y T) {
	if q.transA {
		x = q.a[l*q.lda+i]
	} else {
		x = q.a[i*q.lda+l]
	}
	if q.transB {
		y = q.b[j*q.ldb+l]
	} else {
		y = q.b[l*q.ldb+j]
	}
	return x, y
}

// reference returns C in twice the working precision or better, and Σ|a||b| + |c| of each entry.
// Entries of C between the rows keep their value and have bound 0.
func (q *problem[T]) reference() (want, bound []float64) {
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
				x, y := q.factors(i, j, l)
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

// check multiplies and fails if an entry is off by more than gamma times its bound, or anything
// around C was changed.
func (q *problem[T]) check(t *testing.T, gamma float64) {
	t.Helper()
	want, bound := q.reference()
	q.multiply(q.c)
	for i := range bound {
		bound[i] *= gamma
	}
	within(t, q.String(), q.c, want, bound)
	q.arena.check(t, q.String())
}

// eachProblem runs f on problems of all three products, with the sizes that the kernels meet, their
// neighbours, and count small ones of every kind, or some of these in short. FuzzGemm has more.
func eachProblem[T Float](seed uint64, count int, number func(rng *rand.Rand) T,
	f func(q *problem[T], rng *rand.Rand)) {
	rng := rand.New(rand.NewPCG(seed, seed+1))
	for _, p := range products[T]() {
		sizes := [][3]int{
			{32, 10, 784}, {10, 784, 32}, {33, 10, 785}, {10, 783, 31}, {16, 1, 200}, {1, 200, 16},
			{17, 32, 128}, {20, 128, 20}, {1, 1, 1}, {0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {3, 1, 1500}, {1, 3, 1500},
			{11, 5, 1027}, {2, 70, 300}, {23, 600, 3}, {70, 10, 16}, {64, 20, 33}, {13, 131, 45}, {14, 515, 21},
			{25, 40, 259}, {dotRows + 7, 12, 150},
		}
		if testing.Short() {
			sizes, count = sizes[len(sizes)/2:], count/3
		}
		for range count {
			// Products of two draws favour small sizes without leaving out large ones.
			sizes = append(sizes, [3]int{rng.IntN(5) * rng.IntN(8), rng.IntN(7) * rng.IntN(12),
				rng.IntN(7) * rng.IntN(25)})
		}
		for _, s := range sizes {
			f(newProblem(rng, p, s[0], s[1], s[2], func() T { return number(rng) }), rng)
		}
	}
}

func normal[T Float](rng *rand.Rand) T { return T(rng.NormFloat64()) }

// small returns a whole number whose products have sums without rounding.
func small[T Float](rng *rand.Rand) T { return T(rng.IntN(15) - 7) }

// TestGemmExact uses small integers: all sums are exact in any order, so every entry must be right
// to the bit, and anything read from outside of a matrix would show.
func TestGemmExact(t *testing.T) { eachPathAndType(t, testGemmExact[float32], testGemmExact[float64]) }

func testGemmExact[T Float](t *testing.T) {
	eachProblem(1, 90, small[T], func(q *problem[T], _ *rand.Rand) { q.check(t, 0) })
}

// TestGemmAccuracy holds the rounding error to its bound: a sum of k products of any order, with
// or without fused operations, is off by at most γ_{k+1}·(Σ|a||b| + |c|), γ_n = nu/(1−nu) with unit
// roundoff u. The reference adds an error of order u of its own for float64.
func TestGemmAccuracy(t *testing.T) {
	eachPathAndType(t, testGemmAccuracy[float32], testGemmAccuracy[float64])
}

func testGemmAccuracy[T Float](t *testing.T) {
	eachProblem(3, 50, normal[T], func(q *problem[T], _ *rand.Rand) {
		n := float64(q.k+2) * roundoff[T]()
		q.check(t, n/(1-n))
	})
}

// TestGemmSameBits checks the promises about order: a row of NT and NN alone gives the bits it
// has among others, sums of TN and NN can be cut at any row, alignment does not matter, and the
// assembly paths agree.
func TestGemmSameBits(t *testing.T) {
	eachType(t, testGemmSameBits[float32], testGemmSameBits[float64])
}

func testGemmSameBits[T Float](t *testing.T) {
	eachProblem(5, 40, normal[T], func(q *problem[T], rng *rand.Rand) {
		all := func() []T {
			c := slices.Clone(q.c)
			q.multiply(c)
			return c
		}
		pathsAgree(t, q.String(), all)
		for p := Generic; p <= best; p++ {
			restore := Use(p)
			c := slices.Clone(q.c)
			if q.transA {
				q.cutSum(c, rng)
			} else {
				q.cutRows(c, rng)
			}
			sameBits(t, q.String(), c, all())
			restore()
		}
	})
}

// cutRows computes c in blocks of rows of A.
func (q *problem[T]) cutRows(c []T, rng *rand.Rand) {
	if q.n == 0 || q.k == 0 {
		q.multiply(c)
		return
	}
	for i := 0; i < q.m; {
		h := min(q.m-i, 1+rng.IntN(7))
		q.f(h, q.n, q.k, c[i*q.ldc:], q.ldc, q.a[i*q.lda:], q.lda, q.b, q.ldb, q.acc)
		i += h
	}
}

// cutSum computes c as a sum over blocks of rows of A and B.
func (q *problem[T]) cutSum(c []T, rng *rand.Rand) {
	q.f(q.m, q.n, 0, c, q.ldc, nil, q.lda, nil, q.ldb, q.acc)
	if q.m == 0 || q.n == 0 {
		return
	}
	for l := 0; l < q.k; {
		h := min(q.k-l, 1+rng.IntN(7))
		q.f(q.m, q.n, h, c, q.ldc, q.a[l*q.lda:], q.lda, q.b[l*q.ldb:], q.ldb, true)
		l += h
	}
}

// TestGemmBlocks: products so large that blocks of them are copied have the bits of the same sums
// without copies: the bits of a few rows of NN at a time, where B lies as it is, and NT and TN
// multiply the same matrices, transposed.
func TestGemmBlocks(t *testing.T) {
	eachPathAndType(t, testGemmBlocks[float32], testGemmBlocks[float64])
}

func testGemmBlocks[T Float](t *testing.T) {
	shapes := []gemmShape{{packHeight + 3, 1100, 270}, {packHeight, 257, 1030}, {packHeight, 545, 509}}
	if testing.Short() {
		shapes = shapes[:1]
	}
	for _, s := range shapes {
		m, n, k := s.m, s.n, s.k
		a, b, start := random[T](m*k), random[T](k*n), random[T](m*n)
		want, got := slices.Clone(start), slices.Clone(start)
		for i := range m {
			GemmNN(1, n, k, want[i*n:], n, a[i*k:], k, b, n, true)
		}
		GemmNN(m, n, k, got, n, a, k, b, n, true)
		sameBits(t, fmt.Sprint("NN ", s), got, want)
		copy(got, start)
		GemmTN(m, n, k, got, n, transposed(m, k, a), m, b, n, true)
		sameBits(t, fmt.Sprint("TN ", s), got, want)
		if isChain(n, k) && active != Generic {
			copy(got, start)
			GemmNT(m, n, k, got, n, a, k, transposed(k, n, b), k, true)
			sameBits(t, fmt.Sprint("NT ", s), got, want)
		}
	}
}

// transposed returns the transpose of a matrix without gaps.
func transposed[T Float](rows, cols int, x []T) []T {
	y := make([]T, len(x))
	for i := range rows {
		for j := range cols {
			y[j*rows+i] = x[i*cols+j]
		}
	}
	return y
}

// TestDots: an entry has the bits of the product of its two rows alone, and the numbers of GemmNT
// to rounding.
func TestDots(t *testing.T) { eachPathAndType(t, testDots[float32], testDots[float64]) }

func testDots[T Float](t *testing.T) {
	for _, s := range []gemmShape{{7, 5, 33}, {2, 140, 20}, {9, 1, 1500}, {1, 6, 40}, {3, 2, 0}} {
		m, n, k := s.m, s.n, s.k
		a, b, got, want := random[T](m*k), random[T](n*k), make([]T, m*n), make([]T, m*n)
		Dots(m, n, k, got, n, a, k, b, k)
		for i := range m {
			for j := range n {
				Dots(1, 1, k, want[i*n+j:], 1, a[i*k:], k, b[j*k:], k)
			}
		}
		sameBits(t, fmt.Sprint("Dots ", s), got, want)
		GemmNT(m, n, k, want, n, a, k, b, k, false)
		exact, bound := make([]float64, m*n), make([]float64, m*n)
		for i := range exact {
			exact[i] = float64(want[i])
			for l := range k { // either is off by γ_k·Σ|a||b|
				bound[i] += 3 * float64(k) * roundoff[T]() * math.Abs(float64(a[i/n*k+l])*float64(b[i%n*k+l]))
			}
		}
		within(t, fmt.Sprint("Dots ", s), got, exact, bound)
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
	eachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, p := range products[T]() {
			newProblem(rng, p, m, n, k, func() T { return small[T](rng) }).check(t, 0)
		}
	})
}
