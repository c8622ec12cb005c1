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

// TestStudent compares with numbers of scipy, which are right to about 1e-11. A tail is half of the
// difference of two sums of up to n/2 terms, each right to 2^-53 of itself.
func TestStudent(t *testing.T) {
	for _, c := range []struct {
		p    float64
		n    int
		want float64
	}{
		{0.5, 7, 0}, {0.75, 1, 1}, {0.75, 2, 0.8164965809277266}, {0.975, 1, 12.706204736432095},
		{0.975, 2, 4.302652729911275}, {0.975, 5, 2.5705818366147395}, {0.975, 19, 2.093024054408263},
		{0.975, 399, 1.965927295920809}, {0.975, 100_000, 1.9599877075346093},
		{0.9958333333333333, 5, 4.219309115888926}, {0.9958333333333333, 59, 2.730131656592265},
	} {
		if got := num.StudentQuantile(c.p, c.n); !(math.Abs(got-c.want) <= 1e-9*max(1, c.want)) {
			t.Errorf("quantile %v of %d degrees: %v, want %v", c.p, c.n, got, c.want)
		}
	}
	for _, c := range []struct {
		t    float64
		n    int
		want float64
	}{
		{0, 4, 0.5}, {0.1, 1, 0.4682744825694464}, {1, 2, 0.21132486540518713}, {1, 37, 0.16190293617770912},
		{3, 4, 0.019970984035859413}, {3, 1000, 0.0013833545221190939}, {8, 37, 6.894543948963381e-10},
		{-1, 2, 1 - 0.21132486540518713}, {3, 1_000_000, 0.0013502304420323597},
	} {
		if got := num.StudentTail(c.t, c.n); !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("tail of %v with %d degrees: %v, want %v", c.t, c.n, got, c.want)
		}
	}
	if v := num.StudentQuantile(0.975, 0); v == v {
		t.Errorf("quantile of no degree %v, want NaN", v)
	}
}

func TestMedian(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		in   []float64
		want float64
	}{
		{[]float64{3}, 3}, {[]float64{5, 1, 3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{nan, 2, nan}, 2},
		{[]float64{1, math.Inf(1), 2}, 2}, {nil, nan}, {[]float64{nan}, nan},
	} {
		if got := num.Median(tt.in); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("Median(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
	values := []float64{2, 1}
	if num.Median(values); values[0] != 2 {
		t.Error("the argument was sorted")
	}
}
