package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// byteRows returns rows of k bytes and sometimes a few more, that lie apart, and their numbers.
// There are zeros at the ends of rows, and the first has nothing else.
func byteRows[T Float](rng *rand.Rand, m, k int) (rows []ByteRow, numbers []T) {
	rows, numbers = make([]ByteRow, m), make([]T, m*k)
	for i := range rows {
		b := make([]byte, k+rng.IntN(3))
		from, to := rng.IntN(k/3+1), len(b)-rng.IntN(k/3+1)
		for j := from; i > 0 && j < to; j++ {
			b[j] = byte(rng.Uint32())
		}
		rows[i] = NewByteRow(b)
		FromBytes(numbers[i*k:][:k], b[:k], 1)
	}
	return rows, numbers
}

// TestByteRow: a row begins and ends with the blocks in which there is something.
func TestByteRow(t *testing.T) {
	b := make([]byte, 7*BytesBlock+5)
	check := func(from, to int32) {
		t.Helper()
		if r := NewByteRow(b); r.from != from*BytesBlock || r.to != to*BytesBlock {
			t.Errorf("columns %d to %d, want blocks %d to %d", r.from, r.to, from, to)
		}
	}
	b[7*BytesBlock] = 1 // in no block
	check(7, 7)
	b[5*BytesBlock-1] = 1
	check(4, 5)
	b[2*BytesBlock] = 1
	check(2, 5)
	b[0], b[7*BytesBlock-1] = 1, 1
	check(0, 7)
	if r := wholeByteRow(make([]byte, 40)); r.from != 0 || r.to != 32 {
		t.Errorf("a whole row has columns %d to %d", r.from, r.to)
	}
}

// TestBytes: products of bytes and small whole numbers are exact in any order, and nothing is
// written beside them.
func TestBytes(t *testing.T) {
	for _, s := range [][3]int{ // m, n and k, a multiple of BytesBlock
		{0, 3, 16}, {3, 0, 16}, {3, 4, 0}, {1, 1, 16}, {1, 5, 32}, {2, 3, 48}, {3, 10, 16}, {4, 5, 64},
		{5, 6, 80}, {8, 10, 112},
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

// testBytes: the largest sum, 1040 terms of at most 255·8, and with C, stays below the 2^24 up to
// which float32 is exact.
func testBytes[T Float](t *testing.T, m, n, k int, seed uint64) {
	eachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 7))
		a := &arena[T]{rng: rng}
		slice := func(n int) []T { return a.slice(n, func() T { return T(rng.IntN(17) - 8) }) }
		all, numbers := byteRows[T](rng, m+rng.IntN(20), k) // some follow
		rows, numbers := all[:m], numbers[:m*k]
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

// TestBytesSameBits: a row of BytesNT does not depend on the others, BytesTN goes on summing where
// C stands, and the assembly paths agree.
func TestBytesSameBits(t *testing.T) {
	eachType(t, testBytesSameBits[float32], testBytesSameBits[float64])
}

func testBytesSameBits[T Float](t *testing.T) {
	const m, n, k = 27, 7, 784
	rows, _ := byteRows[T](rand.New(rand.NewPCG(3, 4)), m, k)
	b, u := random[T](n*k), random[T](m*n)
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
