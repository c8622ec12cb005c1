package network

import (
	"math"
	"testing"
)

// TestSumsFit: sums of numbers as large as they can be keep their sign and their size, for few agents and for many.
func TestSumsFit(t *testing.T) {
	const length = shortVector + 1
	for _, wire := range []Wire{Float64, Float32, BF16, Int8} {
		for _, n := range []int{1, 2, 3, 8, 1024, 1025, 5000, 1 << 20} {
			f := newFixedPoint(wire, length, n)
			if f.bits > 64 || f.most < 7 {
				t.Fatalf("%v, n = %d: words of %d bits with terms of %d", wire, n, f.bits, f.most)
			}
			for _, size := range []float64{math.MaxFloat64, math.Nextafter(1, 0), 1, 0x1p-1022, math.SmallestNonzeroFloat64} {
				v := make([]float64, length)
				for i := range v {
					v[i] = size * float64(1-2*(i%2))
				}
				scales := f.exponents(nil, v)
				for draw := range uint64(3) {
					words := f.encode(nil, v, scales, newDraws(draw))
					for i := range words { // those of n agents that are alike
						words[i] = words[i] * uint64(n) & mask(f.bits)
					}
					got := make([]float64, length)
					f.decode(got, words, scales, n)
					unit := math.Ldexp(1, int(scales[0])-exponentBias-f.most)
					for i, x := range got {
						if d := math.Abs(x - v[i]); !(d <= max(unit, 0x1p-1074)) {
							t.Errorf("%v, n = %d: the mean of %g is %g; it must be nearer than %g", wire, n, v[i], x, unit)
							break
						}
					}
				}
			}
		}
	}
}
