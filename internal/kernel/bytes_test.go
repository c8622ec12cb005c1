package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// byteRows returns rows of k bytes that lie apart.
func byteRows(rng *rand.Rand, m, k int) [][]byte {
	rows := make([][]byte, m)
	for i := range rows {
		rows[i] = make([]byte, k)
		for j := range rows[i] {
			rows[i][j] = byte(rng.Uint32())
		}
	}
	return rows
}

// TestBytes: products of bytes and small whole numbers are exact in any order, and nothing is written beside them.
func TestBytes(t *testing.T) {
	for _, s := range [][3]int{ // m, n and k, a multiple of BytesBlock
		{0, 3, 16}, {3, 0, 16}, {3, 4, 0}, {1, 1, 16}, {1, 5, 32}, {2, 3, 48}, {3, 10, 16}, {4, 5, 64}, {5, 6, 80}, {8, 10, 112},
		{9, 11, 272}, {13, 2, 528}, {16, 7, 96}, {31, 10, 784}, {80, 10, 784}, {6, 32, 256}, {7, 1, 1040},
	} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			testBytes[float32](t, s[0], s[1], s[2], 1)
			testBytes[float64](t, s[0], s[1], s[2], 1)
		})
	}
}

func FuzzBytes(f *testing.F) {
	f.Add(uint8(5), uint8(6), uint8(3), uint64(1))
	f.Add(uint8(0), uint8(1), uint8(0), uint64(2))
	f.Add(uint8(23), uint8(12), uint8(49), uint64(3))
	f.Fuzz(func(t *testing.T, m, n, blocks uint8, seed uint64) {
		testBytes[float32](t, int(m), int(n%40), BytesBlock*int(blocks%60), seed)
		testBytes[float64](t, int(m), int(n%40), BytesBlock*int(blocks%60), seed)
	})
}

// testBytes: the largest sum, 1040 terms of at most 255·8, and with C, stays below the 2^24 up to which float32 is exact.
func testBytes[T Float](t *testing.T, m, n, k int, seed uint64) {
	eachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 7))
		a := &arena[T]{rng: rng}
		slice := func(n int) []T { return a.slice(n, func() T { return T(rng.IntN(17) - 8) }) }
		all := byteRows(rng, m+rng.IntN(20), k+rng.IntN(3)) // some follow, and they are longer
		rows, numbers := all[:m], make([]T, m*k)
		for i, r := range rows {
			FromBytes(numbers[i*k:][:k], r[:k], 1)
		}
		ldb, ldc := k+rng.IntN(3), n+rng.IntN(3)
		c, b := slice(span(m, n, ldc)), slice(span(n, k, ldb))
		want := append([]T(nil), c...)
		BytesNT(m, n, k, c, ldc, all, b, ldb)
		GemmNT(m, n, k, want, ldc, numbers, k, b, ldb, false)
		sameBits(t, "BytesNT", c, want)

		lda, ldc := n+rng.IntN(3), k+rng.IntN(3)
		u := slice(span(m, n, lda))
		for _, acc := range []bool{false, true} {
			c := slice(span(n, k, ldc))
			want := append([]T(nil), c...)
			BytesTN(n, k, c, ldc, u, lda, rows, acc)
			GemmTN(n, k, m, want, ldc, u, lda, numbers, k, acc)
			sameBits(t, fmt.Sprint("BytesTN, acc=", acc), c, want)
		}
		a.check(t, "products of bytes")
	})
}

// TestBytesSameBits: a row of BytesNT does not depend on the others, BytesTN goes on summing where C stands, and the
// assembly paths agree.
func TestBytesSameBits(t *testing.T) {
	eachType(t, testBytesSameBits[float32], testBytesSameBits[float64])
}

func testBytesSameBits[T Float](t *testing.T) {
	const m, n, k = 27, 7, 784
	rows, b, u := byteRows(rand.New(rand.NewPCG(3, 4)), m, k), random[T](n*k), random[T](m*n)
	results := func() (nt, tn []T) {
		nt, tn = make([]T, m*n), make([]T, n*k)
		BytesNT(m, n, k, nt, n, rows, b, k)
		BytesTN(n, k, tn, k, u, n, rows, false)
		return nt, tn
	}
	pathsAgree(t, "BytesNT and BytesTN", func() []T { return slices.Concat(results()) })
	eachPath(t, func(t *testing.T) {
		nt, tn := results()
		alone, parts := make([]T, m*n), make([]T, n*k)
		for i := range m {
			BytesNT(1, n, k, alone[i*n:], n, rows[i:], b, k)
		}
		sameBits(t, "rows alone", alone, nt)
		for i, from := 0, 0; from < m; i++ {
			to := min(m, from+1+i)
			BytesTN(n, k, parts, k, u[from*n:], n, rows[from:to], true)
			from = to
		}
		sameBits(t, "sum in parts", parts, tn)
	})
}

func BenchmarkBytes(b *testing.B) { eachType(b, benchBytes[float32], benchBytes[float64]) }

// benchBytes multiplies a tile of MNIST that is in the caches.
func benchBytes[T Float](b *testing.B) {
	const m, n, k = 80, 10, 784
	rows, w, u := byteRows(rand.New(rand.NewPCG(1, 1)), m, k), random[T](n*k), random[T](m*n)
	eachPath(b, func(b *testing.B) {
		b.Run("NT", func(b *testing.B) {
			rate(b, 2*m*n*k, "GFLOP/s", func() { BytesNT(m, n, k, u, n, rows, w, k) })
		})
		b.Run("TN", func(b *testing.B) {
			rate(b, 2*m*n*k, "GFLOP/s", func() { BytesTN(n, k, w, k, u, n, rows, false) })
		})
	})
}
