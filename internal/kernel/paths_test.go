package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A runner is a test or a benchmark, which has parts.
type runner[B any] interface {
	Run(name string, part func(B)) bool
}

// eachPath runs f as a part of t on every path of this machine.
func eachPath[B runner[B]](t B, f func(t B)) {
	for p := Generic; p <= best; p++ {
		t.Run(p.String(), func(t B) {
			defer Use(p)()
			f(t)
		})
	}
}

// eachType runs a test or benchmark of float32 and one of float64 as parts of t.
func eachType[B runner[B]](t B, of32, of64 func(B)) {
	t.Run("float32", of32)
	t.Run("float64", of64)
}

// eachPathAndType runs a test of float32 and one of float64 on every path of this machine.
func eachPathAndType(t *testing.T, of32, of64 func(*testing.T)) {
	eachPath(t, func(t *testing.T) { eachType(t, of32, of64) })
}

// pathsAgree fails unless f gives the same bits on both assembly paths.
func pathsAgree[T Float](t *testing.T, what string, f func() []T) {
	t.Helper()
	var before []T
	for p := AVX2; p <= best; p++ {
		restore := Use(p)
		got := f()
		restore()
		if p > AVX2 {
			sameBits(t, what+" on both paths", got, before)
		}
		before = got
	}
}

// roundoff returns the unit roundoff of T.
func roundoff[T Float]() float64 {
	if size[T]() == 4 {
		return 0x1p-24
	}
	return 0x1p-53
}

func TestChoosePath(t *testing.T) {
	for _, c := range []struct {
		setting string
		best    Path
		want    Path
		err     string
	}{
		{"", AVX512, AVX512, ""},
		{"", Generic, Generic, ""},
		{"generic", AVX512, Generic, ""},
		{"avx2", AVX512, AVX2, ""},
		{"avx512", AVX512, AVX512, ""},
		{"avx512", AVX2, AVX2, "DSBO_KERNEL must be at most avx2 with this build and machine; it is avx512"},
		{"AVX2", AVX2, AVX2, `DSBO_KERNEL must be generic, avx2 or avx512; it is "AVX2"`},
	} {
		got, err := choosePath(c.setting, c.best)
		if got != c.want {
			t.Errorf("choosePath(%q, %v) = %v; it must be %v", c.setting, c.best, got, c.want)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("choosePath(%q, %v): error %v; it must be %q", c.setting, c.best, err, c.err)
		}
	}
}

func TestUse(t *testing.T) {
	before := Active()
	restore := Use(Generic)
	if Active() != Generic {
		t.Errorf("after Use(Generic): %v", Active())
	}
	restore()
	if Active() != before {
		t.Errorf("after restore: %v; it must be %v", Active(), before)
	}
	if Supported(AVX512 + 1) {
		t.Error("an unknown path counts as supported")
	}
	wantPanic(t, "is not supported here", func() { Use(AVX512 + 1) })
}

func TestMisuse(t *testing.T) {
	f := func(n int) []float64 { return make([]float64, n) }
	bytesOf := func(m, k int) []ByteRow { return slices.Repeat([]ByteRow{wholeByteRow(make([]byte, k))}, m) }
	w := Window{H: 3, W: 3, C: 1, KH: 2, KW: 2, Stride: 1}
	const huge = math.MaxInt / 3 // its products overflow
	for _, c := range []struct {
		want string
		call func()
	}{
		{"GemmNT: sizes m=-1", func() { GemmNT(-1, 2, 2, f(4), 2, f(4), 2, f(4), 2, false) }},
		{"GemmNT: a has length 3, which is too short for 2 rows of 2 with stride 2",
			func() { GemmNT(2, 2, 2, f(4), 2, f(3), 2, f(4), 2, false) }},
		{"GemmTN: b has length 3", func() { GemmTN(2, 2, 2, f(4), 2, f(4), 2, f(3), 2, false) }},
		{"GemmNN: c has row stride 1", func() { GemmNN(2, 2, 2, f(4), 1, f(4), 2, f(4), 2, false) }},
		{"GemmNN: c has length 4", func() { GemmNN(huge, 2, huge, f(4), huge, f(4), huge, f(4), 2, false) }},
		{"Exp: dst has length 2 and the input 3", func() { Exp(f(2), f(3)) }},
		{"AddTo: dst", func() { AddTo(f(2), f(2), f(3)) }},
		{"MulTo: dst", func() { MulTo(f(2), f(3), f(2)) }},
		{"Axpy: dst", func() { Axpy(f(2), 1, f(3)) }},
		{"Scale: dst", func() { Scale(f(2), 1, f(3)) }},
		{"Dot: dst", func() { Dot(f(2), f(3)) }},
		{"FromBytes: dst", func() { FromBytes(f(2), make([]byte, 3), 1) }},
		{"BytesNT: 8 columns, which must be a multiple of 16",
			func() { BytesNT(1, 1, 8, f(1), 1, bytesOf(1, 8), f(8), 8) }},
		{"BytesNT: 1 rows, which must be at least 2", func() { BytesNT(2, 1, 16, f(2), 1, bytesOf(1, 16), f(16), 16) }},
		{"BytesNT: row 1 has length 15",
			func() { BytesNT(2, 1, 16, f(2), 1, append(bytesOf(1, 16), bytesOf(1, 15)...), f(16), 16) }},
		{"BytesNT: c has length 1", func() { BytesNT(2, 1, 16, f(1), 1, bytesOf(2, 16), f(16), 16) }},
		{"BytesTN: a has length 1", func() { BytesTN(1, 16, f(16), 16, f(1), 1, bytesOf(2, 16), false) }},
		{"BytesTN: row 0 has length 16", func() { BytesTN(1, 32, f(32), 32, f(2), 1, bytesOf(2, 16), false) }},
		{"PatchesNT: c has length 3, which must be 4 with 1 images and 1 columns",
			func() { PatchesNT(w, 1, 1, f(3), f(9), f(4)) }},
		{"PatchesTN: images has length 8", func() { PatchesTN(w, 1, 1, f(4), f(4), f(8), true) }},
		{"ImagesNN: sizes m=-1", func() { ImagesNN(w, -1, f(9), PatchProduct[float64]{1, f(4), f(4)}) }},
		{"RowSoftmax: src has length 5", func() { RowSoftmax(2, 3, f(6), f(5)) }},
		{"RowSoftmax: dst has length 5", func() { RowSoftmax(2, 3, f(5), f(6)) }},
		{"RowAdd: u has length 1", func() { RowAdd(2, 3, f(6), f(6), f(1)) }},
		{"RowMul: dst has length 5", func() { RowMul(2, 3, f(5), f(6), f(2)) }},
		{"RowSoftmax: -1 rows", func() { RowSoftmax(-1, 3, f(5), f(6)) }},
		{"RowLogSumExp: dst has length 1", func() { RowLogSumExp(2, 3, f(1), f(6)) }},
	} {
		wantPanic(t, "kernel: "+c.want, c.call)
	}
}

// TestAllocs: nothing allocates, rows wider than RowLogSumExp's own memory included.
func TestAllocs(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		x, y, z := random[float32](2000), random[float32](2000), random[float32](2000)
		const wide = 1 << 9 // of a factor that is copied
		left, right, result := random[float32](packHeight*wide), random[float32](wide*(wide+1)),
			random[float32](packHeight*(wide+1))
		w := Window{H: 12, W: 13, C: 2, KH: 5, KW: 4, Stride: 1, PadH: 1}
		src := make([]byte, 2000)
		rows, _ := byteRows[float32](rand.New(rand.NewPCG(1, 1)), 10, 96)
		if n := testing.AllocsPerRun(10, func() {
			GemmNT(10, 10, 100, z, 10, x, 100, y, 100, false)
			GemmTN(10, 100, 10, z, 100, x, 10, y, 100, true)
			GemmNN(10, 10, 10, z, 10, x, 10, y, 10, true)
			GemmNN(packHeight, wide+1, wide, result, wide+1, left, wide, right, wide+1, false)
			PatchesNT(w, 1, 10, result[:w.Patches()*10], x[:w.Pixels()], y[:10*w.Taps()])
			PatchesTN(w, 1, 10, y[:10*w.Taps()], result[:w.Patches()*10], x[:w.Pixels()], true)
			ImagesNN(w, 1, x[:w.Pixels()], PatchProduct[float32]{10, result[:w.Patches()*10], y[:10*w.Taps()]})
			BytesNT(10, 10, 96, z, 10, rows, y, 96)
			BytesTN(10, 96, z, 96, x, 10, rows, true)
			for _, fn := range []func(dst, src []float32){Exp[float32], Log1pExp[float32], Sigmoid[float32],
				Tanh[float32], Erf[float32], Log[float32]} {
				fn(z, x)
			}
			RowSoftmax(200, 10, z, x)
			RowLogSumExp(200, 10, z, x)
			RowLogSumExp(4, 500, z, x)
			FromBytes(z, src, 2)
			AddTo(z, x, y)
			z[0] = Dot(x, y) + Sum(x)
			SumRows(10, 10, z, x, 10)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if s, _ := recover().(string); !strings.Contains(s, want) {
			t.Errorf("panic %q; it must be %q", s, want)
		}
	}()
	f()
}

// bits returns the bits of v, so that NaN and the sign of zero compare too.
func bits[T Float](v T) uint64 {
	if v, ok := any(v).(float32); ok {
		return uint64(math.Float32bits(v))
	}
	return math.Float64bits(float64(v))
}

// sameBits reports the first entry in which got and want differ.
func sameBits[T Float](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: length %d; it must be %d", what, len(got), len(want))
	}
	for i := range got {
		if bits(got[i]) != bits(want[i]) {
			t.Fatalf("%s: entry %d of %d is %g (%x); it must be %g (%x)", what, i, len(got), got[i], bits(got[i]),
				want[i], bits(want[i]))
		}
	}
}

// within reports the first entry of got that is off from want by more than its bound.
func within[T Float](t *testing.T, what string, got []T, want, bound []float64) {
	t.Helper()
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= bound[i]) && float64(got[i]) != w {
			t.Fatalf("%s: entry %d of %d is %g; it must be %g: off by %g, bound %g", what, i, len(want),
				got[i], w, d, bound[i])
		}
	}
}
