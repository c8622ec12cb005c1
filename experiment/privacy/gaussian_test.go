package privacy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// fixed is a source that is the same in each run of the tests.
func fixed() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7})) }

// TestBernoulliExp: the share of n draws is within five standard deviations of e^{−γ}.
func TestBernoulliExp(t *testing.T) {
	const n = 40_000
	r := fixed()
	for _, c := range []struct {
		numerator uint64
		shift     int
	}{{0, 3}, {1, 0}, {1, 1}, {5, 2}, {3 << 40, 41}, {1 << 41, 41}, {7, 0}} {
		p, hits := math.Exp(-math.Ldexp(float64(c.numerator), -c.shift)), 0
		for range n {
			if bernoulliExp(r, c.numerator, c.shift) {
				hits++
			}
		}
		if off := math.Abs(float64(hits) - n*p); off > 5*math.Sqrt(n*p*(1-p)) {
			t.Errorf("γ = %d/2^%d: %d of %d draws are true, want %.0f", c.numerator, c.shift, hits, n, n*p)
		}
	}
}

// TestDiscreteGaussian compares the distribution of draws with the normal one, from which that on
// so fine a grid differs by less than 1e-6: the largest distance of the two is below 2/√n in all
// but some 1e-3 of samples (Kolmogorov).
func TestDiscreteGaussian(t *testing.T) {
	const n = 60_000
	r, draws := fixed(), make([]float64, n)
	for i := range draws {
		draws[i] = math.Ldexp(float64(discreteGaussian(r)), -gridBits)
	}
	slices.Sort(draws)
	farthest := 0.0
	for i, v := range draws {
		p := math.Erfc(-v/math.Sqrt2) / 2
		farthest = max(farthest, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	if farthest > 2/math.Sqrt(n) {
		t.Errorf("the distribution of %d draws is %g from the normal one", n, farthest)
	}
	if least, most := draws[0], draws[n-1]; least > -3 || most < 3 {
		t.Errorf("draws are from %g to %g: there must be tails", least, most)
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) {
	r := fixed()
	for b.Loop() {
		discreteGaussian(r)
	}
}
