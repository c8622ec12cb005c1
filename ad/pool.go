package ad

import (
	"fmt"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

// largestRule finds, for each patch of a window and each channel, where the patch has its largest
// entry: the tap, counted along the rows of the kernel, which is a small whole number. Of equal
// entries the first counts, and NaN is larger than any number. Its derivative is 0.
type largestRule struct{ w Window }

// pickRule reads, for each patch and each channel, the entry of its second input at the tap that
// its first input says. back, its adjoint, adds into that place.
type pickRule struct {
	w    Window
	back bool
}

// MaxPool returns the largest entry of each patch and channel: m images (m × H·W·C) become m ×
// OutH·OutW·C. Padding does not count. Of equal entries the first has the derivative.
func MaxPool(images *Node, w Window) *Node {
	m := w.images("MaxPool", images)
	if _, plain := w.plain(); !plain {
		failf("MaxPool: there must be one stride and no dilation; the window is %+v", w)
	}
	return pick(images, images, m, w)
}

func pick(by, a *Node, m int, w Window) *Node {
	return pickTaps(newNode(largestRule{w}, matShape(m, w.patches()*w.C), by), a, m, w)
}

func pickTaps(taps, a *Node, m int, w Window) *Node {
	return newNode(pickRule{w, false}, matShape(m, w.patches()*w.C), taps, a)
}

// RowMax returns the largest entry of each row of a matrix. Of equal entries the first has the
// derivative.
func RowMax(a *Node) *Node { return pickRow(rowMaxName, a, a) }

// RowMin returns the smallest entry of each row of a matrix. Of equal entries the first has the
// derivative.
func RowMin(a *Node) *Node { return pickRow(rowMinName, Neg(a), a) }

// RowHit returns, for each row, 1 if the largest entry of scores stands where onehot has its 1,
// and 0 if not; of equal scores the first counts. It is meant for accuracies: its derivative by
// scores is 0.
func RowHit(scores, onehot *Node) *Node {
	rowHitName.sameShape(scores, onehot)
	return pickRow(rowHitName, scores, onehot)
}

// Names for errors.
const (
	rowMaxName named = "RowMax"
	rowMinName named = "RowMin"
	rowHitName named = "RowHit"
)

func pickRow(name named, by, a *Node) *Node {
	m, c := name.matrix(by)
	return Flatten(pick(by, a, m, Window{H: 1, W: c, C: 1, KH: 1, KW: c, Stride: 1}))
}

func (r pickRule) String() string {
	if r.back {
		return fmt.Sprintf("Unpick%+v", r.w)
	}
	return fmt.Sprintf("Pick%+v", r.w)
}

func (r pickRule) grad(in nodes, _, g *Node) nodes {
	m, _ := dims(in[0])
	if r.back {
		return nodes{nil, pickTaps(in[0], g, m, r.w)}
	}
	return nodes{nil, newNode(pickRule{r.w, true}, in[1].Shape(), in[0], g)}
}

func (r pickRule) lower(nodes) engine.Op {
	return kernels("rr", pickKernel[float32](r), pickKernel[float64](r))
}

func pickKernel[T Float](r pickRule) func(*call[T]) {
	w, _ := r.w.plain()
	p := kernel.NewPooling[T](w)
	if r.back {
		return func(c *call[T]) { p.Unpick(c.In[0].R, c.Dst.V, c.In[0].V, c.In[1].V) }
	}
	return func(c *call[T]) { p.Pick(c.In[0].R, c.Dst.V, c.In[0].V, c.In[1].V) }
}

func (r largestRule) String() string { return fmt.Sprintf("Largest%+v", r.w) }

func (largestRule) grad(nodes, *Node, *Node) nodes { return nodes{nil} }

func (r largestRule) lower(nodes) engine.Op {
	return kernels("r", largestKernel[float32](r.w), largestKernel[float64](r.w))
}

func largestKernel[T Float](window Window) func(*call[T]) {
	w, _ := window.plain()
	p := kernel.NewPooling[T](w)
	return func(c *call[T]) { p.Largest(c.In[0].R, c.Dst.V, c.In[0].V) }
}

// poolRule adds up each patch, one sum a channel; back, its adjoint, adds such a sum to each pixel
// of its patch.
type poolRule struct {
	w    Window
	back bool
}

// AvgPool returns the mean of each patch and channel: m images (m × H·W·C) become m × OutH·OutW·C.
// Padding counts as zeros.
func AvgPool(images *Node, w Window) *Node {
	m := w.images("AvgPool", images)
	return Scale(1/float64(w.KH*w.KW), newNode(poolRule{w, false}, matShape(m, w.patches()*w.C), images))
}

func (r poolRule) String() string {
	if r.back {
		return fmt.Sprintf("Unpool%+v", r.w)
	}
	return fmt.Sprintf("Pool%+v", r.w)
}

func (r poolRule) grad(in nodes, _, g *Node) nodes {
	m, _ := dims(in[0])
	if r.back {
		return nodes{newNode(poolRule{r.w, false}, matShape(m, r.w.patches()*r.w.C), g)}
	}
	return nodes{newNode(poolRule{r.w, true}, matShape(m, r.w.pixels()), g)}
}

func (r poolRule) lower(nodes) engine.Op {
	return kernels("r", poolKernel[float32](r), poolKernel[float64](r))
}

func poolKernel[T Float](r poolRule) func(*call[T]) {
	w := r.w
	return func(c *call[T]) {
		clear(c.Dst.V)
		for m := range c.Dst.R {
			from, to := c.In[0].Row(m), c.Dst.Row(m)
			w.eachRun(func(image, patch, n int) {
				sum := patch / w.taps() * w.C
				for p := image; p < image+n; p += w.C {
					src, dst := p, sum
					if r.back {
						src, dst = sum, p
					}
					kernel.AddTo(to[dst:dst+w.C], to[dst:dst+w.C], from[src:src+w.C])
				}
			})
		}
	}
}
