package network

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// wholeSum returns the sum of the whole numbers of some agents' vectors, with noise for what the
// window does not take.
func wholeSum(f fixedPoint, w window, vectors [][]float64, r *rand.Rand) []uint64 {
	sum := make([]uint64, f.wholeWords(w, len(vectors[0])))
	for _, v := range vectors {
		whole := f.appendWhole(nil, w, v)
		noise := make([]uint64, len(whole))
		for k := range noise {
			noise[k] = r.Uint64()
		}
		f.cover(whole, w, v, noise)
		Sum.Combine(Whole, sum, whole)
	}
	return sum
}

// TestWholeNumbers: means by whole numbers are means of sums of any precision, rounded as is said:
// of numbers of all sizes in the wide window, and in the narrow one where it takes them.
func TestWholeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 3, 8, 1000, 1 << 10} {
		f := newFixedPoint(Float64, 1, n, true)
		for round := range min(60, 1+400/n) {
			vectors := make([][]float64, n)
			size := -r.IntN(1100) + 500
			for i := range vectors {
				vectors[i] = make([]float64, 1+round%shortVector)
				for k := range vectors[i] {
					x := math.Float64frombits(r.Uint64())
					switch {
					case x-x != 0 || round%7 == 0:
						x = 0
					case round%2 == 0:
						x = math.Ldexp(r.NormFloat64(), r.IntN(160)-100)
					case round%3 == 0: // of one size, so that what is below it cancels
						x = math.Ldexp(r.Float64()-.5, size)
					}
					vectors[i][k] = x
				}
			}
			got := make([]float64, len(vectors[0]))
			for _, w := range []window{narrow, wide} {
				sum := wholeSum(f, w, vectors, r)
				fit := f.separate(sum, w, len(got))
				if takes := !slices.ContainsFunc(vectors, func(v []float64) bool {
					return slices.ContainsFunc(v, func(x float64) bool { return !narrow.takes(x) })
				}); fit != takes {
					t.Fatalf("n = %d, round %d, %v: the narrow window takes all: %v; it must be %v", n, round, w,
						fit, takes)
				}
				if !fit && w == narrow {
					continue
				}
				f.means(got, sum, w, n)
				for k := range got {
					exact := new(big.Float).SetPrec(2300)
					for i := range vectors {
						exact.Add(exact, big.NewFloat(vectors[i][k]))
					}
					if want := roundedMean(exact, n); math.Float64bits(got[k]) != math.Float64bits(want) {
						t.Fatalf("n = %d, round %d, %v, entry %d: %g; it must be %g", n, round, w, k, got[k], want)
					}
				}
			}
		}
	}
}

// roundedMean returns a sum, rounded to 53 bits, divided by n: the quotient is rounded once more.
func roundedMean(sum *big.Float, n int) float64 {
	fraction := new(big.Float)
	e := sum.MantExp(fraction)
	v, _ := fraction.Float64()
	v = math.Ldexp(v, 64) / float64(n)
	return max(-math.MaxFloat64, min(newPower(e-64).times(v), math.MaxFloat64))
}

// TestWholeSumsTellNothingElse: the words of a sum are the same for other terms with the same sums,
// whatever is carried on the way, and signs.
func TestWholeSumsTellNothingElse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	f := newFixedPoint(Float64, 3, 3, true)
	for _, w := range []window{narrow, wide} {
		for _, terms := range [][3]float64{{0x1p60, -0x1p60, 0x1p-100}, {3, 4, -5}, {0x1p48 - 1, 1, -0x1p-107}} {
			a, b, c := terms[0], terms[1], terms[2]
			one := wholeSum(f, w, [][]float64{{a, c, b}, {b, a, a}, {c, b, c}}, r)
			other := wholeSum(f, w, [][]float64{{0, a, c}, {a + b, c, b}, {c, b, a}}, r)
			if !slices.Equal(one, other) {
				t.Errorf("%v, %v: the words of equal sums are %x and %x", w, terms, one, other)
			}
		}
	}
}

// TestNoiseStaysInItsPlace: what is not finite on some agents is noise where it is, and NaN; the
// numbers beside it have their means. In the narrow window all above it is noise.
func TestNoiseStaysInItsPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	f := newFixedPoint(Float64, 3, 3, true)
	vectors := [][]float64{{-1, math.NaN(), -2, 5}, {-1, math.Inf(1), 0x1p-1000, 6}, {-1, 4, 0, -math.MaxFloat64}}
	seen := map[[4]uint64]bool{}
	for range 50 {
		sum := wholeSum(f, wide, vectors, r)
		if f.separate(sum, wide, 4) {
			t.Fatal("the narrow window takes all")
		}
		seen[[4]uint64(sum[40:44])] = true
		got := make([]float64, 4)
		f.means(got, sum, wide, 3)
		if want := []float64{-1, math.NaN(), -2. / 3, -math.MaxFloat64 / 3}; got[0] != want[0] || got[1] == got[1] ||
			got[2] != want[2] || got[3] != want[3] {
			t.Fatalf("means %v; they must be %v", got, want)
		}
		sum = wholeSum(f, narrow, vectors, r)
		if f.separate(sum, narrow, 4) {
			t.Fatal("the narrow window takes all")
		}
		seen[[4]uint64(sum[8:12])] = true
	}
	if len(seen) != 100 {
		t.Errorf("of 100 sums with noise %d differ", len(seen))
	}
}
