package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestPairs: pairs of matrices have the bits of their products one by one, whether each has its own
// factors or all share one, and nothing around C changes. Only what has no kernel is refused.
func TestPairs(t *testing.T) { eachPathAndType(t, testPairs[float32], testPairs[float64]) }

func testPairs[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, p := range products[T]() {
		for _, s := range [][3]int{{28, 28, 4}, {28, 4, 28}, {13, 33, 7}, {1, 5, 48}, {3, 1, 2}, {7, 70, 1}, {0, 5, 5},
			{5, 0, 5}, {5, 5, 0}, {12, 2, 128}, {2, 6, 300}} {
			m, n, k, pairs := s[0], s[1], s[2], 1+rng.IntN(5)
			for shared := range 4 { // by bit: A, B
				of := func(x, size int) (numbers, step int) {
					if shared>>x&1 == 1 {
						return size, 0
					}
					return pairs * size, size
				}
				an, as := of(0, m*k)
				bn, bs := of(1, n*k)
				mem := &arena[T]{rng: rng}
				number := func() T { return normal[T](rng) }
				a, b, c := mem.slice(an, number), mem.slice(bn, number), mem.slice(pairs*m*n, number)
				name := fmt.Sprint(p.name, " of ", pairs, " pairs ", s, ", shared ", shared)
				can := active != Generic && k > 0 && k*size[T]() <= depthBytes && (!p.transB || isChain(n, k))
				if got := Pairs(pairs, m, n, k, c, a, p.transA, b, p.transB); got != can {
					t.Fatalf("%s: %t, want %t", name, got, can)
				}
				if !can {
					continue
				}
				lda, ldb := k, n
				if p.transA {
					lda = m
				}
				if p.transB {
					ldb = k
				}
				want := make([]T, len(c))
				for i := range pairs {
					p.f(m, n, k, want[i*m*n:], n, a[i*as:], lda, b[i*bs:], ldb, false)
				}
				sameBits(t, name, c, want)
				mem.check(t, name)
			}
		}
	}
}
