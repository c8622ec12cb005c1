package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/kernel"
)

// TestSameBits holds the functions that use kernels against their formulas, on every path, for
// lengths on both sides of where the kernels take over and for a destination that is an input.
func TestSameBits(t *testing.T) {
	const a, b = 0.3, -1.7
	functions := []struct {
		name string
		f    func(dst, x, y []float64)
		want func(d, x, y float64) float64 // d is dst's old content
	}{
		{"Axpy", func(dst, x, _ []float64) { Axpy(dst, a, x) }, func(d, x, _ float64) float64 {
			return d + float64(a*x)
		}},
		{"Comb", func(dst, x, y []float64) { Comb(dst, a, x, b, y) }, func(_, x, y float64) float64 {
			return float64(a*x) + float64(b*y)
		}},
		{"Scale", func(dst, x, _ []float64) { Scale(dst, a, x) }, func(_, x, _ float64) float64 { return a * x }},
		{"Add", func(dst, x, y []float64) { Add(dst, x, y) }, func(_, x, y float64) float64 { return x + y }},
		{"Sub", func(dst, x, y []float64) { Sub(dst, x, y) }, func(_, x, y float64) float64 { return x - y }},
	}
	for path := kernel.Generic; kernel.Supported(path); path++ {
		defer kernel.Use(path)()
		for _, f := range functions {
			t.Run(fmt.Sprintf("%s/%s", path, f.name), func(t *testing.T) {
				for _, n := range []int{0, 1, 63, 64, 73, 1101} {
					for alias := range 4 {
						d, x, y := random(n, 1), random(n, 2), random(n, 3)
						if alias&1 != 0 {
							x = d
						}
						if alias&2 != 0 {
							y = d
						}
						want := make([]float64, n)
						for i := range want {
							want[i] = f.want(d[i], x[i], y[i])
						}
						if f.f(d, x, y); !slices.Equal(d, want) {
							t.Errorf("%d numbers, x is dst: %v, y is dst: %v: another result", n,
								alias&1 != 0, alias&2 != 0)
						}
					}
				}
			})
		}
	}
}

// TestAllFinite: one number that is not finite is found at each place of each length.
func TestAllFinite(t *testing.T) {
	for n := range 10 {
		x := make([]float64, n)
		if !AllFinite(x) {
			t.Errorf("%v are finite", x)
		}
		for i := range x {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				if x[i] = bad; AllFinite(x) {
					t.Errorf("%v are not finite", x)
				}
			}
			x[i] = -math.MaxFloat64
		}
	}
}

// TestConvert: each entry is converted as Go does, on lengths up to such as a crew shares.
func TestConvert(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1<<18 + 7} {
		v := random(n, 1)
		narrow, wide, again := make([]float32, n), make([]float64, n), make([]float32, n)
		Convert(narrow, v)
		Convert(wide, narrow)
		Convert(again, narrow)
		for i, e := range v {
			if want := float32(e); narrow[i] != want || wide[i] != float64(want) || again[i] != want {
				t.Fatalf("%d numbers: entry %d is %v, %v and %v, want %v", n, i, narrow[i], wide[i], again[i], want)
			}
		}
	}
}

// TestCG: n steps solve a system of n unknowns.
func TestCG(t *testing.T) {
	h := [3][]float64{{4, 1, 0}, {1, 3, -1}, {0, -1, 2}}
	want := []float64{1, -2, 3}
	cg := CG{V: make([]float64, 3), R: make([]float64, 3), D: make([]float64, 3), HD: make([]float64, 3)}
	for i := range h {
		cg.R[i] = Dot(h[i], want)
	}
	cg.Start()
	for range want {
		for i := range h {
			cg.HD[i] = Dot(h[i], cg.D)
		}
		cg.Step(cg.Curvature())
	}
	if Dist2(cg.V, want) > 1e-28 || cg.RR > 1e-28 {
		t.Errorf("solution %v, residual %g; want %v", cg.V, cg.RR, want)
	}
}

func random(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

// TestDigest: the plain kernels have one digest, those in assembly another one, on every machine
// and at every level of its architecture. A change of these numbers changes the bits of all runs:
// checkpoints that were written before cannot be resumed after.
func TestDigest(t *testing.T) {
	for path, want := range map[kernel.Path]string{kernel.Generic: "635ead83608e4a82", kernel.AVX2: "1029fb0abb5aba49",
		kernel.AVX512: "1029fb0abb5aba49"} {
		if !kernel.Supported(path) {
			t.Logf("this machine has no kernels %s", path)
			continue
		}
		restore := kernel.Use(path)
		if got := digest(); got != want {
			t.Errorf("kernels %s: the digest is %s; it must be %s", path, got, want)
		}
		if first, again := ArithmeticDigest(), ArithmeticDigest(); first != want || again != want {
			t.Errorf("kernels %s: the digest that is kept is %s and then %s; it must be %s", path, first, again, want)
		}
		restore()
	}
}
