package ad

import (
	"fmt"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

// Window is the geometry of a convolution or of pooling. Only windows without StrideW and dilation
// have kernels that need no patches in memory.
type Window = kernel.Window

// checkWindow panics, as failf does, for what is no window of the op. Padding is less than the span
// of a patch with its dilation: else a patch would be padding alone. StrideW 0 is Stride, and
// dilation 0 is 1.
func checkWindow(op string, w Window) {
	_, spanH, spanW := w.Along()
	switch {
	case w.C < 1 || w.Stride < 1 || w.KH < 1 || w.KW < 1:
		failf("%s: channels, stride and kernel must be at least 1; the window is %+v", op, w)
	case w.StrideW < 0 || w.DilationH < 0 || w.DilationW < 0:
		failf("%s: strides and dilations must not be negative; the window is %+v", op, w)
	case w.PadH < 0 || w.PadW < 0 || w.PadH >= spanH || w.PadW >= spanW:
		failf("%s: padding must be at least 0 and less than the kernel; the window is %+v", op, w)
	case spanH > w.H+2*w.PadH || spanW > w.W+2*w.PadW:
		failf("%s: the kernel must be no larger than the padded image; the window is %+v", op, w)
	}
}

// countImages refuses what are not images of the window, one a row, and returns their number.
func countImages(op string, images *Node, w Window) int {
	checkWindow(op, w)
	m, c := dims(images)
	if c != w.Pixels() {
		failf("%s: images must have the %d values of window %+v; their shape is %v", op, w.Pixels(), w, images.Shape())
	}
	return m
}

// A windowRule is an operation, given by its name, on the patches of a window of each image.
// im2col, which lines patches up, is adjoint to col2im, which adds them back to their places, and
// pickOp to unpickOp.
//
// largestOp finds, for each patch and each channel, where the patch has its largest entry: the tap,
// counted along the rows of the kernel, which is a small whole number. Of equal entries the first
// counts, and NaN is larger than any number. Its derivative is 0. pickOp reads, for each patch and
// each channel, the entry of its second input at the tap given by its first input; unpickOp adds
// into that place.
type windowRule struct {
	of named
	w  Window
}

const (
	im2col    named = "Im2col"
	col2im    named = "Col2im"
	largestOp named = "Largest"
	pickOp    named = "Pick"
	unpickOp  named = "Unpick"
)

// adjointTo has no largestOp.
var adjointTo = map[named]named{im2col: col2im, col2im: im2col, pickOp: unpickOp, unpickOp: pickOp}

// Im2col turns m images (m × H·W·C) into their patches (m·OutH·OutW × KH·KW·C), so that a
// convolution with F filters is MatMul(Im2col(images, w), filters, false, true) with filters F ×
// KH·KW·C.
func Im2col(images *Node, w Window) *Node {
	m := countImages("Im2col", images, w)
	return newNode(windowRule{im2col, w}, matShape(m*w.Patches(), w.Taps()), images)
}

// Convolve returns the outputs of a convolution of m images (m × H·W·C) with F filters, a row of F
// numbers for each patch, m·OutH·OutW × F. Channels and filters are in groups of equal size, each
// of which reads its own channels: filters are F × KH·KW·C/groups. A group for each channel is a
// depthwise convolution.
func Convolve(images, filters *Node, w Window, groups int) *Node {
	countImages("Convolve", images, w)
	f := countFilters("Convolve", filters, w, groups)
	if groups == 1 {
		return MatMul(Im2col(images, w), filters, false, true)
	}
	channels := w.C
	w.C, f = w.C/groups, f/groups
	parts := make([]*Node, groups)
	for i := range parts { // a group's channels lie together within each pixel
		part := view(images, viewRule{off: i * w.C, n: [4]int{1, 1, w.H * w.W, w.C}, s: [4]int{0, 0, channels, 1}})
		parts[i] = MatMul(Im2col(part, w), Rows(filters, i*f, f), false, true)
	}
	return ConcatCols(parts...)
}

// countFilters refuses what are not filters of the window in some groups, and returns their number.
func countFilters(op string, filters *Node, w Window, groups int) int {
	f, taps := dims(filters)
	if groups < 1 || w.C%groups != 0 || f%groups != 0 || taps*groups != w.Taps() {
		failf("%s: channels and filters must be multiples of %d groups, and filters fit the window; they are "+
			"%v, the window is %+v", op, groups, filters.Shape(), w)
	}
	return f
}

// Col2im is the adjoint of [Im2col]: it adds each patch into the place that it came from.
func Col2im(patches *Node, w Window) *Node {
	checkWindow("Col2im", w)
	r, c := dims(patches)
	if c != w.Taps() || r%w.Patches() != 0 {
		failf("Col2im: patches must fit their window; their shape is %v, the window %+v", patches.Shape(), w)
	}
	return newNode(windowRule{col2im, w}, matShape(r/w.Patches(), w.Pixels()), patches)
}

// ConvTranspose is the adjoint of a convolution by its images: m images of w's OutH×OutW pixels
// with F channels (m × OutH·OutW·F) become images of w's input size, m × H·W·C, by filters F ×
// KH·KW·C/groups.
func ConvTranspose(images, filters *Node, w Window, groups int) *Node {
	checkWindow("ConvTranspose", w)
	m, c := dims(images)
	f := countFilters("ConvTranspose", filters, w, groups)
	if c != w.Patches()*f {
		failf("ConvTranspose: images must have %d patches of %d channels, the filters; their shape is %v, the window "+
			"%+v", w.Patches(), f, images.Shape(), w)
	}
	patches := Reshape(images, m*w.Patches(), f)
	w.C, f = w.C/groups, f/groups
	parts := make([]*Node, groups)
	for i := range parts {
		parts[i] = Reshape(Col2im(MatMul(Cols(patches, i*f, f), Rows(filters, i*f, f), false, false), w),
			m*w.H*w.W, w.C)
	}
	return Reshape(ConcatCols(parts...), m, groups*w.Pixels())
}

func (r windowRule) String() string { return fmt.Sprintf("%v%+v", r.of, r.w) }

func (r windowRule) grad(in nodes, _, g *Node) nodes {
	by, last := make(nodes, len(in)), len(in)-1 // taps come first, and have no derivative
	if of, ok := adjointTo[r.of]; ok {
		by[last] = newNode(windowRule{of, r.w}, in[last].Shape(), append(in[:last:last], g)...)
	}
	return by
}

// lower implements rule. "r": the engine cuts the input by rows, one image each.
func (r windowRule) lower(nodes) engine.Op {
	switch r.of {
	case im2col:
		return uncut(with(r.w, "r", im2colKernel, im2colKernel))
	case col2im:
		return uncut(with(r.w, "r", col2imKernel, col2imKernel))
	case largestOp:
		return kernels("r", pickKernel[float32](r), pickKernel[float64](r))
	}
	return kernels("rr", pickKernel[float32](r), pickKernel[float64](r))
}

// eachRun calls f for every run of n neighbouring values that a patch shares with its image: a row
// of the kernel, without what is padding.
func eachRun(w Window, f func(image, patch, n int)) {
	stride, _, span := w.Along()
	for oi := range w.OutH() {
		for oj := range w.OutW() {
			p := (oi*w.OutW() + oj) * w.Taps()
			left := oj*stride - w.PadW
			from, to := max(0, -left), min(w.KW, w.W-left)
			for k := range w.KH {
				switch i := oi*w.Stride + k*max(w.DilationH, 1) - w.PadH; {
				case i < 0 || i >= w.H:
				case span > w.KW: // no pixel of a patch has a neighbour there
					for l := range w.KW {
						if j := left + l*w.DilationW; j >= 0 && j < w.W {
							f((i*w.W+j)*w.C, p+(k*w.KW+l)*w.C, w.C)
						}
					}
				default:
					f((i*w.W+left+from)*w.C, p+(k*w.KW+from)*w.C, (to-from)*w.C)
				}
			}
		}
	}
}

// im2colKernel lines up the patches of each image. Pixels in the padding are 0.
func im2colKernel[T Float](w Window, c *call[T]) {
	size := w.Patches() * w.Taps()
	for i := range c.In[0].R {
		img, out := c.In[0].Row(i), c.Dst.V[i*size:][:size]
		if w.PadH > 0 || w.PadW > 0 {
			clear(out)
		}
		eachRun(w, func(a, p, n int) { copy(out[p:p+n], img[a:a+n]) })
	}
}

func col2imKernel[T Float](w Window, c *call[T]) {
	size := w.Patches() * w.Taps()
	for i := range c.Dst.R {
		img, in := c.Dst.Row(i), c.In[0].V[i*size:]
		clear(img)
		eachRun(w, func(a, p, n int) { kernel.AddTo(img[a:a+n], img[a:a+n], in[p:p+n]) })
	}
}
