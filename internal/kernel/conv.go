package kernel

import "fmt"

// Window is the geometry of a convolution or of pooling: images of H×W pixels with C channels
// (row-major, channels last), surrounded by PadH rows of zeros above and below and PadW columns at
// each side, and cut into KH×KW patches at every Stride-th pixel. StrideW is the stride along a row
// of pixels, 0 for Stride. The pixels of a patch are DilationH and DilationW apart, 0 for 1. All
// lengths fit together: a patch is no larger than the padded image. The products and pooling of
// this package are for windows that are [Window.Plain].
type Window struct {
	H, W, C, KH, KW, Stride, PadH, PadW int // see above

	StrideW, DilationH, DilationW int // see above
}

// Along returns the stride along a row, and how many pixels a patch spans along each side.
func (w Window) Along() (strideW, spanH, spanW int) {
	if strideW = w.StrideW; strideW == 0 {
		strideW = w.Stride
	}
	return strideW, (w.KH-1)*max(w.DilationH, 1) + 1, (w.KW-1)*max(w.DilationW, 1) + 1
}

// Plain reports whether the window has one stride and no dilation.
func (w Window) Plain() bool {
	strideW, spanH, spanW := w.Along()
	return strideW == w.Stride && spanH == w.KH && spanW == w.KW
}

// OutH and OutW return how many patches fit along each side.
func (w Window) OutH() int { _, h, _ := w.Along(); return (w.H+2*w.PadH-h)/w.Stride + 1 }
func (w Window) OutW() int { s, _, v := w.Along(); return (w.W+2*w.PadW-v)/s + 1 }

// Patches returns the number of patches of an image, Taps the number of values of a patch, and
// Pixels the number of values of an image.
func (w Window) Patches() int { return w.OutH() * w.OutW() }
func (w Window) Taps() int    { return w.KH * w.KW * w.C }
func (w Window) Pixels() int  { return w.H * w.W * w.C }

// run is the number of values that a row of a patch has side by side in its image, and line the
// number of a row of an image.
func (w Window) run() int  { return w.KW * w.C }
func (w Window) line() int { return w.W * w.C }

// framed returns the window of images that include the padding as pixels.
func (w Window) framed() Window {
	w.H, w.W, w.PadH, w.PadW = w.H+2*w.PadH, w.W+2*w.PadW, 0, 0
	return w
}

// Products with the patches of images: P has a row for each patch, image by image, and a column for
// each value of a patch. It is never in memory; the kernels read its entries where they lie in the
// images. Matrices and images have no gaps.

// PatchesNT sets C = P·Bᵀ for P of m images, B n×taps, C m·patches×n. Each entry is one sum in the
// order of the taps. It costs 2·m·patches·taps·n flops.
func PatchesNT[T Float](w Window, m, n int, c, images, b []T) {
	if w.fits("PatchesNT", m, n, length{"c", len(c), m * w.Patches() * n},
		length{"images", len(images), m * w.Pixels()},
		length{"b", len(b), n * w.Taps()}) {
		patchesNT(w, m, n, c, images, b)
	}
}

// PatchesTN sets C = Aᵀ·P, or C += Aᵀ·P if acc, for P of m images, A m·patches×n, C n×taps. Images
// are added in their order, and an image's patches in an order that the window and n alone
// determine. It costs 2·m·patches·taps·n flops.
func PatchesTN[T Float](w Window, m, n int, c, a, images []T, acc bool) {
	if w.fits("PatchesTN", m, n, length{"c", len(c), n * w.Taps()}, length{"a", len(a), m * w.Patches() * n},
		length{"images", len(images), m * w.Pixels()}) {
		patchesTN(w, m, n, c, a, images, acc)
	} else if !acc {
		clear(c)
	}
}

// A PatchProduct is the product of A m·patches×N and B N×taps, which is patches of m images.
type PatchProduct[T Float] struct {
	N    int
	A, B []T
}

// ImagesNN computes the patches P = Σ A·B, term by term in their order, and sets m images to the
// sums of the patches at their places. Patches are added in their order. A product costs
// 2·m·patches·taps·N flops. Patches are added once, whatever the number of products.
func ImagesNN[T Float](w Window, m int, images []T, terms ...PatchProduct[T]) {
	clear(images)
	some := false
	for _, t := range terms {
		if w.fits("ImagesNN", m, t.N, length{"images", len(images), m * w.Pixels()},
			length{"a", len(t.A), m * w.Patches() * t.N}, length{"b", len(t.B), t.N * w.Taps()}) {
			some = true
		}
	}
	if some {
		imagesNN(w, m, images, terms)
	}
}

// A length is a slice's length and the required one.
type length struct {
	name       string
	have, must int
}

// fits reports whether there are images and columns. It panics if slices do not have the lengths
// that they must have.
func (w Window) fits(fn string, m, n int, lengths ...length) bool {
	if m < 0 || n < 0 {
		panic(fmt.Sprintf("kernel: %s: sizes m=%d n=%d must not be negative", fn, m, n))
	}
	for _, l := range lengths {
		if l.have != l.must {
			panic(fmt.Sprintf("kernel: %s: %s has length %d, which must be %d with %d images and %d columns", fn,
				l.name, l.have, l.must, m, n))
		}
	}
	return m > 0 && n > 0
}
