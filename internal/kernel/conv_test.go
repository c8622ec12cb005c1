package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// windows of all kinds: several channels, strides, patches that are not square or as large as the
// image, padding, rows of more patches than the kernels take at once.
var windows = []Window{
	{H: 5, W: 6, C: 1, KH: 3, KW: 2, Stride: 1}, {H: 28, W: 28, C: 1, KH: 5, KW: 5, Stride: 1},
	{H: 13, W: 11, C: 3, KH: 3, KW: 5, Stride: 2},
	{H: 12, W: 12, C: 8, KH: 5, KW: 5, Stride: 2}, {H: 4, W: 3, C: 2, KH: 4, KW: 3, Stride: 1},
	{H: 1, W: 1, C: 1, KH: 1, KW: 1, Stride: 3},
	{H: 6, W: 30, C: 2, KH: 1, KW: 4, Stride: 1}, {H: 7, W: 6, C: 3, KH: 3, KW: 4, Stride: 2, PadH: 2, PadW: 1},
	{H: 2, W: 3, C: 5, KH: 4, KW: 3, Stride: 1, PadH: 1},
	{H: 9, W: 8, C: 1, KH: 7, KW: 7, Stride: 1}, {H: 8, W: 9, C: 2, KH: 6, KW: 2, Stride: 2, PadW: 1},
}

// patchesOf lays the patches of images out as a matrix, from the definition.
func patchesOf[T Float](w Window, m int, images []T) []T {
	var p []T
	for i := range m {
		for oi := range w.OutH() {
			for oj := range w.OutW() {
				for kh := range w.KH {
					for kw := range w.KW {
						h, v := oi*w.Stride+kh-w.PadH, oj*w.Stride+kw-w.PadW
						for c := range w.C {
							var x T
							if h >= 0 && h < w.H && v >= 0 && v < w.W {
								x = images[i*w.Pixels()+(h*w.W+v)*w.C+c]
							}
							p = append(p, x)
						}
					}
				}
			}
		}
	}
	return p
}

// eachConvolution runs f for windows and numbers of images and filters, with numbers for the
// images, the filters, and what belongs to the patches.
func eachConvolution[T Float](number func(*rand.Rand) T,
	f func(what string, w Window, m, n int, a *arena[T], images, b, g []T)) {
	rng := rand.New(rand.NewPCG(11, 12))
	filters := []int{1, 37, 6, 8, 16}
	if testing.Short() {
		filters = filters[:3]
	}
	for _, w := range windows {
		for _, n := range filters {
			m, a := 1+rng.IntN(3), &arena[T]{rng: rng}
			slice := func(n int) []T { return a.slice(n, func() T { return number(rng) }) }
			f(fmt.Sprintf("%+v, %d images, %d filters, %v", w, m, n, active), w, m, n, a,
				slice(m*w.Pixels()), slice(n*w.Taps()), slice(m*w.Patches()*n))
		}
	}
}

// TestConvExact: products of small whole numbers are those with the patches as a matrix, on all
// paths, and nothing is written beside them.
func TestConvExact(t *testing.T) { eachPathAndType(t, testConvExact[float32], testConvExact[float64]) }

func testConvExact[T Float](t *testing.T) {
	eachConvolution(small[T], func(what string, w Window, m, n int, a *arena[T], images, b, g []T) {
		rows, taps := m*w.Patches(), w.Taps()
		p := patchesOf(w, m, images)
		c := a.slice(rows*n, func() T { return 5 })
		want, products := slices.Clone(c), make([]T, rows*taps)
		GemmNN(rows, taps, n, products, taps, g, n, b, taps, false)
		PatchesNT(w, m, n, c, images, b)
		GemmNT(rows, n, taps, want, n, p, taps, b, taps, false)
		sameBits(t, "PatchesNT, "+what, c, want)
		for _, acc := range []bool{false, true} {
			c, image := a.slice(n*taps, func() T { return 3 }), a.slice(m*w.Pixels(), func() T { return 2 })
			want := slices.Clone(c)
			PatchesTN(w, m, n, c, g, images, acc)
			GemmTN(n, taps, rows, want, taps, g, n, p, taps, acc)
			sameBits(t, fmt.Sprint("PatchesTN, acc=", acc, ", ", what), c, want)
			terms := []PatchProduct[T]{{n, g, b}}
			if acc { // the same again, of its first filter alone
				first := make([]T, rows)
				for i := range first {
					first[i] = g[i*n]
				}
				terms = append(terms, PatchProduct[T]{1, first, b[:taps]})
				GemmNN(rows, taps, 1, products, taps, first, 1, b, taps, true)
			}
			ImagesNN(w, m, image, terms...)
			a.check(t, what)
			sameBits(t, fmt.Sprint("ImagesNN, ", len(terms), " terms, ", what), image, sumOfPatches(w, m, products))
		}
	})
}

// sumOfPatches returns images that are the sums of a matrix of patches, from the definition.
func sumOfPatches[T Float](w Window, m int, patches []T) []T {
	places := make([]float64, m*w.Pixels())
	for i := range places {
		places[i] = float64(i + 1)
	}
	sum := make([]T, len(places))
	for e, place := range patchesOf(w, m, places) {
		if place > 0 {
			sum[int(place)-1] += patches[e]
		}
	}
	return sum
}

// TestConvSameBits: images alone give the bits that they give among others, sums over images can be
// cut, and the assembly paths agree.
func TestConvSameBits(t *testing.T) {
	eachType(t, testConvSameBits[float32], testConvSameBits[float64])
}

func testConvSameBits[T Float](t *testing.T) {
	eachConvolution(normal[T], func(what string, w Window, m, n int, _ *arena[T], images, b, g []T) {
		rows, taps, pixels := w.Patches(), w.Taps(), w.Pixels()
		all := func() []T {
			c, f, x := make([]T, m*rows*n), make([]T, n*taps), make([]T, m*pixels)
			PatchesNT(w, m, n, c, images, b)
			PatchesTN(w, m, n, f, g, images, false)
			ImagesNN(w, m, x, PatchProduct[T]{n, g, b})
			return slices.Concat(c, f, x)
		}
		pathsAgree(t, what, all)
		eachPath(t, func(t *testing.T) {
			c, f, x := make([]T, m*rows*n), make([]T, n*taps), make([]T, m*pixels)
			for i := range m {
				image, grad := images[i*pixels:][:pixels], g[i*rows*n:][:rows*n]
				PatchesNT(w, 1, n, c[i*rows*n:][:rows*n], image, b)
				PatchesTN(w, 1, n, f, grad, image, true)
				ImagesNN(w, 1, x[i*pixels:][:pixels], PatchProduct[T]{n, grad, b})
			}
			sameBits(t, what, slices.Concat(c, f, x), all())
		})
	})
}

func BenchmarkConv(b *testing.B) { eachType(b, benchConv[float32], benchConv[float64]) }

// benchConv has 16 images of the two layers of a small network.
func benchConv[T Float](b *testing.B) {
	const m = 16
	for _, l := range []struct {
		Window
		n int
	}{{Window{H: 28, W: 28, C: 1, KH: 5, KW: 5, Stride: 1}, 8},
		{Window{H: 24, W: 24, C: 8, KH: 5, KW: 5, Stride: 2}, 16}} {
		w, n := l.Window, l.n
		images, f, g := random[T](m*w.Pixels()), random[T](n*w.Taps()), random[T](m*w.Patches()*n)
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"NT", func() { PatchesNT(w, m, n, g, images, f) }},
			{"TN", func() { PatchesTN(w, m, n, f, g, images, false) }},
			{"images", func() { ImagesNN(w, m, images, PatchProduct[T]{n, g, f}) }},
		} {
			b.Run(fmt.Sprintf("%dx%dx%dx%d_%s", w.KH, w.KW, w.C, n, c.name), func(b *testing.B) {
				eachPath(b, func(b *testing.B) { rate(b, 2*m*w.Patches()*w.Taps()*n, "GFLOP/s", c.f) })
			})
		}
	}
}
