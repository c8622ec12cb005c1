package network

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// TestSumsFit: sums of numbers as large as they can be keep their sign and their size, for few
// agents and for many.
func TestSumsFit(t *testing.T) {
	const length = shortVector + 1
	for _, wire := range []Wire{Float64, Float32, BF16, Int8} {
		for _, n := range []int{1, 2, 3, 8, 1024, 1025, 5000, 1 << 20} {
			f := newFixedPoint(wire, length, n, true)
			if f.bits > 64 || f.termBits < 7 {
				t.Fatalf("%v, n = %d: words of %d bits with terms of %d", wire, n, f.bits, f.termBits)
			}
			for _, size := range []float64{math.MaxFloat64, math.Nextafter(1, 0), 1, 0x1p-1022,
				math.SmallestNonzeroFloat64} {
				v := make([]float64, length)
				for i := range v {
					v[i] = size * float64(1-2*(i%2))
				}
				scales := f.exponents(nil, v)
				for draw := range uint64(3) {
					words := f.encode(nil, v, scales, newDraws(draw), false)
					for i := range words { // the words of n agents that are alike
						words[i] = words[i] * uint64(n) & mask(f.bits)
					}
					got := make([]float64, length)
					f.decode(got, words, scales, n)
					unit := math.Ldexp(1, int(scales[0])-exponentBias-f.termBits)
					for i, x := range got {
						if d := math.Abs(x - v[i]); !(d <= max(unit, 0x1p-1074)) {
							t.Errorf("%v, n = %d: the mean of %g is %g; it must be nearer than %g", wire,
								n, v[i], x, unit)
							break
						}
					}
				}
			}
		}
	}
}

// TestBitsOfWords: a word has the wire's bits, or a term's with its sign and the carries of a sum
// of n; a guarded one has 12 or 16 bits more, and room for three counts of n agents.
func TestBitsOfWords(t *testing.T) {
	const long = shortVector + 1
	for _, c := range []struct {
		wire        Wire
		length, n   int
		bare, guard int
		guarded     int
	}{{Float64, long, 4, 64, 0, 64}, {Float32, long, 4, 32, 12, 44}, {BF16, long, 4, 16, 16, 32},
		{Int8, long, 4, 10, 16, 26}, {Float32, long, 1024, 35, 12, 47}, {BF16, long, 1024, 19, 16, 35},
		{Int8, long, 1024, 18, 16, 34}, {Int8, long, 1 << 20, 28, 16, 63}, {Int8, shortVector, 4, Whole, 0, Whole}} {
		bare, guarded := newFixedPoint(c.wire, c.length, c.n, false), newFixedPoint(c.wire, c.length, c.n, true)
		if bare.bits != c.bare || bare.guard != 0 || guarded.bits != c.guarded || guarded.guard != c.guard {
			t.Errorf("%v, %d numbers, n = %d: %d bits with %d of guard, guarded %d with %d; want %d, 0, %d, %d", c.wire,
				c.length, c.n, bare.bits, bare.guard, guarded.bits, guarded.guard, c.bare, c.guarded, c.guard)
		}
	}
}

// TestTermsAreRounded: a term is the nearest multiple of its block's unit, on wires that do
// not draw.
func TestTermsAreRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, 3*longBlock)
	for i := range v { // many are too small for all of their digits
		v[i] = math.Ldexp(r.NormFloat64(), -r.IntN(64))
	}
	for _, wire := range []Wire{Float64, Float32} {
		for _, n := range []int{2, 8, 1024} {
			f := newFixedPoint(wire, len(v), n, true)
			scales := f.exponents(nil, v)
			for i, word := range f.encode(nil, v, scales, newDraws(1), false) {
				units := math.Ldexp(v[i], f.termBits-int(scales[i/f.block])+exponentBias) // exact
				if off := math.Abs(float64(int64(word<<(64-f.bits))>>(64-f.bits)) - units); off > .5 {
					t.Fatalf("%v, n = %d: %g is %g units off; it must be at most half a unit", wire, n, v[i], off)
				}
			}
		}
	}
}

// TestScalesFit: scales fit where no block is above its own, and some agent's is near it, unless
// all are zeros, which need none.
func TestScalesFit(t *testing.T) {
	f := newFixedPoint(Float32, 4*longBlock, 3, true)
	const scale = 40
	guard := uint64(f.guard)
	for _, c := range []struct {
		least [3]uint64 // of each agent's block; 0: zeros
		want  bool
	}{
		{[3]uint64{scale, scale, scale}, true},
		{[3]uint64{scale + 1, scale, scale}, false},
		{[3]uint64{scale - guard, scale - guard - 1, 0}, true}, // one fits
		{[3]uint64{scale - guard - 1, scale - guard - 1, scale - guard - 1}, false},
		{[3]uint64{scale - guard - 1, 0, 0}, false},
		{[3]uint64{}, true},
	} {
		flags := uint64(0) // a sum of all agents
		for _, least := range c.least {
			flags += f.flag(least, scale)
		}
		if got := f.allFit([]uint64{f.flag(scale, scale), flags}); got != c.want {
			t.Errorf("blocks of least scales %d fit scale %d: %t, want %t", c.least, scale, got, c.want)
		}
	}
}

// TestNotFinite: a number that is not finite is seen wherever it stands in its block.
func TestNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, at := range []int{0, 1, longBlock - 2, longBlock - 1} {
			v := make([]float64, longBlock)
			v[1], v[at] = -3, bad
			f := newFixedPoint(Float32, len(v), 8, true)
			if got := f.exponents(nil, v); got[0] != notFinite {
				t.Errorf("with %g as entry %d the scale is %d; it must be %d", bad, at, got[0], notFinite)
			}
			if got := (&bundled{f: f}).isOutside(v); !got {
				t.Errorf("with %g as entry %d all numbers are in the sum", bad, at)
			}
		}
	}
}

// TestNearestWhole: small numbers are rounded as all are, ties to the even one.
func TestNearestWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	numbers := []float64{0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, .5, -.5, 1.5, -2.5,
		math.Nextafter(.5, 1), nearWhole - .5, .5 - nearWhole, nearWhole, -nearWhole}
	for range 10000 {
		numbers = append(numbers, math.Ldexp(r.NormFloat64(), r.IntN(48)))
	}
	for _, x := range numbers {
		if got, want := nearestWhole(x), whole(math.RoundToEven(x)); got != want {
			t.Errorf("the whole number nearest to %g is %d; it must be %d", x, int64(got), int64(want))
		}
	}
}

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

// TestCompleteExchangeCounts: an agent whose neighbours have all published completes the exchange,
// whatever has ended by the time that it looks.
func TestCompleteExchangeCounts(t *testing.T) {
	l := NewLocal(testkit.Get(Ring(3, 0.5)).W)
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := l.agents[0]
	for range 100 { // a select among several that are ready draws
		a.ready <- struct{}{}
		if err := Await(ctx, a.ready, l.ended); err != nil {
			t.Fatalf("%v; it must be a complete exchange", err)
		}
	}
	if err := Await(t.Context(), a.ready, l.ended); !errors.Is(err, ErrClosed) {
		t.Errorf("%v; it must be %v", err, ErrClosed)
	}
}
