package num_test

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/internal/num"
)

// TestBits: the numbers of a generator have the same bits on every machine and at every level of
// its architecture; where nothing is fused they are the numbers of math/rand/v2.
func TestBits(t *testing.T) {
	const draws, want = 1 << 20, uint64(0x2b1e151ff6cce558)
	own, std := rand.New(rand.NewPCG(5, 6)), rand.New(rand.NewPCG(5, 6))
	h := fnv.New64a()
	others := 0
	for range draws {
		v := num.Normal(own)
		if v != std.NormFloat64() {
			others++
		}
		bits := math.Float64bits(v)
		for range 8 {
			_, _ = h.Write([]byte{byte(bits)})
			bits >>= 8
		}
	}
	if h.Sum64() != want {
		t.Errorf("the digest of %d numbers is %#x; it must be %#x", draws, h.Sum64(), want)
	}
	t.Logf("%d of %d are not those of math/rand/v2", others, draws)
}

// TestDistribution: moments, and shares of the tail, of a million numbers: within 5
// standard errors.
func TestDistribution(t *testing.T) {
	const draws = 1 << 20
	r := rand.New(rand.NewPCG(7, 8))
	var sum, squares, fourth, far, tail float64
	for range draws {
		v := num.Normal(r)
		sum, squares, fourth = sum+v, squares+v*v, fourth+v*v*v*v
		if !(math.Abs(v) <= 2) {
			far++
		}
		if !(math.Abs(v) <= 3.5) {
			tail++
		}
	}
	share := func(p float64) float64 { return math.Sqrt(p * (1 - p)) }
	for _, c := range []struct {
		name                  string
		mean, want, deviation float64
	}{
		{"mean", sum, 0, 1},
		{"second moment", squares, 1, math.Sqrt(2)},
		{"fourth moment", fourth, 3, math.Sqrt(96)},
		{"share beyond 2", far, math.Erfc(2 / math.Sqrt2), share(math.Erfc(2 / math.Sqrt2))},
		{"share beyond 3.5", tail, math.Erfc(3.5 / math.Sqrt2), share(math.Erfc(3.5 / math.Sqrt2))},
	} {
		if got := c.mean / draws; !(math.Abs(got-c.want) <= 5*c.deviation/math.Sqrt(draws)) {
			t.Errorf("the %s of %d numbers is %v; it must be about %v", c.name, draws, got, c.want)
		}
	}
}
