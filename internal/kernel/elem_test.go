package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestElementwise: results are rounded once (Axpy: twice), so every path must have the bits of
// the plain loop, for every length and offset, in place and not.
func TestElementwise(t *testing.T) { eachType(t, testElementwise[float32], testElementwise[float64]) }

func testElementwise[T Float](t *testing.T) {
	two := []struct {
		name    string
		f, twin func(dst, x, y []T)
	}{
		{"AddTo", AddTo[T], addToGo[T]},
		{"SubTo", SubTo[T], subToGo[T]},
		{"MulTo", MulTo[T], mulToGo[T]},
		{"DivTo", DivTo[T], divToGo[T]},
		{"Gate", Gate[T], gateGo[T]},
		{"Axpy", func(dst, x, y []T) { copy(dst, y); Axpy(dst, x[0], x) },
			func(dst, x, y []T) { copy(dst, y); axpyGo(dst, x[0], x) }},
		{"Scale", func(dst, x, y []T) { Scale(dst, y[0], x) }, func(dst, x, y []T) { scaleGo(dst, y[0], x) }},
		{"Comb", func(dst, x, y []T) { Comb(dst, .3, x, -1.7, y) },
			func(dst, x, y []T) { combGo(dst, .3, x, -1.7, y) }},
	}
	eachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, op := range two {
			for n := 1; n < 300; n += 1 + n/70*rng.IntN(9) {
				what := fmt.Sprintf("%s n=%d", op.name, n)
				a := &arena[T]{rng: rng}
				fill := func() T { return T(rng.NormFloat64()) }
				x, y, dst := a.slice(n, fill), a.slice(n, fill), a.slice(n, fill)
				want := make([]T, n)
				op.twin(want, x, y)
				op.f(dst, x, y)
				sameBits(t, what, dst, want)
				if op.name != "Axpy" && op.name != "Scale" {
					xx := append([]T(nil), x...)
					op.f(xx, xx, y)
					sameBits(t, what+" into x", xx, want)
					yy := append([]T(nil), y...)
					op.f(yy, x, yy)
					sameBits(t, what+" into y", yy, want)
				}
				a.check(t, what)
			}
		}
	})
}

// TestOneInput: rectifying, of a second input too, and conversions, of bytes too, have the bits of
// the plain loop, for zeros of either sign, NaN, infinities and numbers that are too large or too
// small for float32 too.
func TestOneInput(t *testing.T) { eachType(t, testOneInput[float32], testOneInput[float64]) }

func testOneInput[T Float](t *testing.T) {
	odd := []float64{math.Copysign(0, -1), 0, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, -1e-46, 1e300, 1 + 1e-12}
	eachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		number := func() float64 {
			if i := rng.IntN(3 * len(odd)); i < len(odd) {
				return odd[i]
			}
			return rng.NormFloat64()
		}
		for n := range 150 {
			a, b := &arena[T]{rng: rng}, &arena[float64]{rng: rng}
			x, dst := a.slice(n, func() T { return T(number()) }), a.slice(n, func() T { return 1 })
			other := a.slice(n, func() T { return T(number()) })
			wide, dst64 := b.slice(n, number), b.slice(n, func() float64 { return 1 })
			src := make([]byte, n)
			for i := range src {
				src[i] = byte(i * 37)
			}
			want, want64 := make([]T, n), make([]float64, n)
			for _, op := range []struct {
				name    string
				f, twin func()
			}{
				{"ReLU", func() { ReLU(dst, x) }, func() { reLUGo(want, x) }},
				{"Sqrt", func() { Sqrt(dst, x) }, func() { sqrtGo(want, x) }},
				{"Step", func() { Step(dst, x) }, func() { stepGo(want, 1, x) }},
				{"Gate", func() { Gate(dst, x, other) }, func() { gateGo(want, x, other) }},
				{"FromFloat64", func() { FromFloat64(dst, wide) }, func() { fromFloat64Go(want, wide) }},
				{"FromBytes", func() { FromBytes(dst, src, T(1.0/255)) }, func() {
					for i, v := range src {
						want[i] = T(v) * T(1.0/255)
					}
				}},
				{"ToFloat64", func() { ToFloat64(dst64, x) }, func() { toFloat64Go(want64, x) }},
			} {
				what := fmt.Sprintf("%s n=%d", op.name, n)
				op.f()
				op.twin()
				sameBits(t, what, dst, want)
				if op.name == "ToFloat64" {
					sameBits(t, what, dst64, want64)
				}
				a.check(t, what)
				b.check(t, what)
			}
			reLUGo(want, x)
			y := slices.Clone(x)
			ReLU(y, y)
			sameBits(t, "ReLU in place", y, want)
			stepGo(want, 1, x)
			Step(x, x)
			sameBits(t, "Step in place", x, want)
		}
	})
}

// TestSumRows: rows are added one by one, in their order, where dst stands, with nothing read or
// written between them.
func TestSumRows(t *testing.T) { eachPathAndType(t, testSumRows[float32], testSumRows[float64]) }

func testSumRows[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fill := func() T { return T(rng.NormFloat64()) }
	for _, m := range []int{0, 1, 2, 7, 300} {
		for _, n := range []int{0, 1, 3, 8, 10, 16, 33, 64, 100, 400} {
			a, lda := &arena[T]{rng: rng}, n+m%3
			rows, dst := a.slice(max(0, (m-1)*lda+n), fill), a.slice(n, fill)
			want := slices.Clone(dst)
			for i := range m {
				addToGo(want, want, rows[i*lda:])
			}
			SumRows(m, n, dst, rows, lda)
			what := fmt.Sprintf("SumRows %d×%d", m, n)
			sameBits(t, what, dst, want)
			a.check(t, what)
		}
	}
}

// TestSums compares with sums that are exact (integers) and holds the sums of reals to
// γ_n·Σ|x·y|, as the products of matrices.
func TestSums(t *testing.T) { eachPathAndType(t, testSums[float32], testSums[float64]) }

func testSums[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < 2000; n += 1 + n/90*rng.IntN(20) {
		for _, kind := range []struct {
			number func(*rand.Rand) T
			gamma  float64
		}{
			{small[T], 0},
			// The float64 reference has the same bound: twice γ covers both.
			{normal[T], 2 * float64(n+1) * roundoff[T]()},
		} {
			a := &arena[T]{rng: rng}
			fill := func() T { return kind.number(rng) }
			x, y := a.slice(n, fill), a.slice(n, fill)
			var dot, sum, magDot, magSum float64
			for i := range x {
				v := float64(x[i]) * float64(y[i])
				dot, magDot = dot+v, magDot+math.Abs(v)
				sum, magSum = sum+float64(x[i]), magSum+math.Abs(float64(x[i]))
			}
			want, bound := []float64{dot, sum}, []float64{kind.gamma * magDot, kind.gamma * magSum}
			within(t, fmt.Sprintf("Dot and Sum, n=%d", n), []T{Dot(x, y), Sum(x)}, want, bound)
		}
	}
}

// TestSumsSameBits: alignment changes nothing, and the assembly paths agree.
func TestSumsSameBits(t *testing.T) {
	eachType(t, testSumsSameBits[float32], testSumsSameBits[float64])
}

func testSumsSameBits[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < 1500; n += 1 + n/90*rng.IntN(20) {
		x, y := random[T](n), random[T](2 * n)[n:]
		sums := func() []T { return []T{Dot(x, y), Sum(x)} }
		pathsAgree(t, fmt.Sprintf("n=%d", n), sums)
		eachPath(t, func(t *testing.T) {
			want := sums()
			for shift := 1; shift < 4; shift++ {
				xs := append(make([]T, shift), x...)[shift:]
				ys := append(make([]T, 2*shift), y...)[2*shift:]
				sameBits(t, fmt.Sprintf("n=%d shifted by %d", n, shift), []T{Dot(xs, ys), Sum(xs)}, want)
			}
		})
	}
}

// TestPrefetch: any piece may be asked for, at the end of memory too, and stays as it is.
func TestPrefetch(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		src := make([]byte, 300)
		for i := range src {
			src[i] = byte(i)
		}
		for from := range 70 {
			for _, n := range []int{0, 1, 63, 64, 65, 230} {
				Prefetch(src[from : from+n])
			}
		}
		Prefetch[byte](nil)
		for i, b := range src {
			if b != byte(i) {
				t.Fatalf("byte %d is %d", i, b)
			}
		}
	})
}

// TestTranspose: every entry is where it belongs, of matrices of all small sizes with gaps between
// their rows, and nothing is written in the gaps.
func TestTranspose(t *testing.T) { eachPathAndType(t, testTranspose[float32], testTranspose[float64]) }

func testTranspose[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for rows := range 40 {
		for _, cols := range []int{0, 1, 3, 8, 16, 24, 37} {
			lds, ldd := cols+rng.IntN(3), rows+rng.IntN(3)
			a := &arena[T]{rng: rng}
			src, dst := a.slice(rows*lds, func() T { return T(rng.NormFloat64()) }),
				a.slice(cols*ldd, func() T { return 7 })
			want := slices.Clone(dst)
			for i := range rows {
				for j := range cols {
					want[j*ldd+i] = src[i*lds+j]
				}
			}
			Transpose(rows, cols, dst, ldd, src, lds)
			what := fmt.Sprintf("%d×%d, strides %d and %d", rows, cols, lds, ldd)
			sameBits(t, what, dst, want)
			a.check(t, what)
		}
	}
}
