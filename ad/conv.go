package ad

import (
	"fmt"

	"dsbo/internal/kernel"
)

// Window is the geometry of a convolution without padding: images of H×W pixels with C channels
// (row-major, channels last), cut into K×K patches at every Stride-th pixel.
type Window struct{ H, W, C, K, Stride int }

// OutH and OutW return how many patches fit along each side.
func (w Window) OutH() int { return (w.H-w.K)/w.Stride + 1 }
func (w Window) OutW() int { return (w.W-w.K)/w.Stride + 1 }

func (w Window) patches() int { return w.OutH() * w.OutW() }
func (w Window) taps() int    { return w.K * w.K * w.C }
func (w Window) pixels() int  { return w.H * w.W * w.C }

func (w Window) check() {
	if w.C < 1 || w.Stride < 1 || w.K < 1 || w.K > w.H || w.K > w.W {
		failf("Im2col: channels, stride and kernel must be at least 1, and the kernel no larger than the image; the window is %+v", w)
	}
}

// windowRule lays out patches as rows, or, back, adds patches into images. They are each other's adjoint.
type windowRule struct {
	w    Window
	back bool
}

// Im2col turns m images (m × H·W·C) into their patches (m·OutH·OutW × K·K·C), so that a convolution
// with F filters is MatMul(Im2col(images, w), filters, false, true) with filters F × K·K·C.
func Im2col(images *Node, w Window) *Node {
	w.check()
	m, c := dims(images)
	if c != w.pixels() {
		failf("Im2col: images must have the %d values of window %+v; they have %d", w.pixels(), w, c)
	}
	return apply(windowRule{w, false}, matShape(m*w.patches(), w.taps()), images)
}

// Col2im is the adjoint of [Im2col]: it adds each patch into the place that it came from.
func Col2im(patches *Node, w Window) *Node {
	w.check()
	r, c := dims(patches)
	if c != w.taps() || r%w.patches() != 0 {
		failf("Col2im: patches must fit their window; their shape is %v, the window %+v", patches.Shape(), w)
	}
	return apply(windowRule{w, true}, matShape(r/w.patches(), w.pixels()), patches)
}

func (r windowRule) String() string {
	if r.back {
		return fmt.Sprintf("Col2im%+v", r.w)
	}
	return fmt.Sprintf("Im2col%+v", r.w)
}

func (r windowRule) split() split { return rowsIn }

func (r windowRule) grad(_ nodes, _, g *Node) nodes {
	if r.back {
		return nodes{Im2col(g, r.w)}
	}
	return nodes{Col2im(g, r.w)}
}

func (r windowRule) kernels() (func(*call[float32]), func(*call[float64])) {
	if r.back {
		return col2imKernel[float32](r.w), col2imKernel[float64](r.w)
	}
	return im2colKernel[float32](r.w), im2colKernel[float64](r.w)
}

// eachRun calls f for every run of K·C neighbouring values that a patch shares with its image.
func (w Window) eachRun(f func(image, patch int)) {
	for oi := range w.OutH() {
		for oj := range w.OutW() {
			p := (oi*w.OutW() + oj) * w.taps()
			for k := range w.K {
				f(((oi*w.Stride+k)*w.W+oj*w.Stride)*w.C, p+k*w.K*w.C)
			}
		}
	}
}

func im2colKernel[T Float](w Window) func(*call[T]) {
	run := w.K * w.C
	return func(c *call[T]) {
		for i := range c.in[0].r {
			img, out := c.in[0].row(i), c.dst.v[i*w.patches()*w.taps():]
			w.eachRun(func(a, p int) { copy(out[p:p+run], img[a:a+run]) })
		}
	}
}

func col2imKernel[T Float](w Window) func(*call[T]) {
	run := w.K * w.C
	return func(c *call[T]) {
		for i := range c.dst.r {
			img, in := c.dst.row(i), c.in[0].v[i*w.patches()*w.taps():]
			clear(img)
			w.eachRun(func(a, p int) { kernel.AddTo(img[a:a+run], img[a:a+run], in[p:p+run]) })
		}
	}
}
