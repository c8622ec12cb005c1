package ad

import (
	"fmt"

	"dsbo/internal/kernel"
)

// pickRule reads, for each patch of a window and each channel, the entry of its second input that stands where the patch of the first one has
// its largest entry; of equal ones the first counts, and NaN is larger than any number. back, its adjoint, adds into that place. What the first
// input says is piecewise constant: its derivative is 0.
type pickRule struct {
	w    Window
	back bool
}

// MaxPool returns the largest entry of each patch and channel: m images (m × H·W·C) become m × OutH·OutW·C. Padding does not count.
// Of equal entries the first has the derivative.
func MaxPool(images *Node, w Window) *Node {
	m := w.images("MaxPool", images)
	return pick(images, images, m, w)
}

func pick(by, a *Node, m int, w Window) *Node {
	return apply(pickRule{w, false}, matShape(m, w.patches()*w.C), by, a)
}

// RowMax returns the largest entry of each row of a matrix. Of equal entries the first has the derivative.
func RowMax(a *Node) *Node { return pickRow(rowMaxName, a, a) }

// RowMin returns the smallest entry of each row of a matrix. Of equal entries the first has the derivative.
func RowMin(a *Node) *Node { return pickRow(rowMinName, Neg(a), a) }

// RowHit returns, for each row, 1 if the largest entry of scores stands where onehot has its 1, and 0
// if not; of equal scores the first counts. It is meant for accuracies: its derivative by scores is 0.
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

func (r pickRule) split() split { return bothRowsIn }

func (r pickRule) grad(in nodes, _, g *Node) nodes {
	if m, _ := dims(in[0]); r.back {
		return nodes{nil, pick(in[0], g, m, r.w)}
	}
	return nodes{nil, apply(pickRule{r.w, true}, in[0].Shape(), in[0], g)}
}

func (r pickRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return pickKernel[float32](r), pickKernel[float64](r)
}

func pickKernel[T Float](r pickRule) func(*call[T]) {
	p := picker[T]{w: r.w, best: make([]T, r.w.C), at: make([]int, r.w.C)}
	return func(c *call[T]) {
		if r.back {
			clear(c.dst.v)
		}
		for m := range c.in[0].r {
			by, a, d := c.in[0].row(m), c.in[1].row(m), c.dst.row(m)
			out := 0
			for i := range r.w.OutH() {
				for j := range r.w.OutW() {
					p.find(by, i, j)
					for ch, at := range p.at {
						if r.back {
							d[at] += a[out+ch]
						} else {
							d[out+ch] = a[at]
						}
					}
					out += r.w.C
				}
			}
		}
	}
}

// A picker finds where patches have their largest entries.
type picker[T Float] struct {
	w    Window
	best []T   // of each channel
	at   []int // their places in the image
}

// find looks at the patch in row i and column j of the patches.
func (p *picker[T]) find(image []T, i, j int) {
	w := p.w
	top, left := i*w.Stride-w.PadH, j*w.Stride-w.PadW
	seen := false
	for y := max(top, 0); y < min(top+w.KH, w.H); y++ {
		for x := max(left, 0); x < min(left+w.KW, w.W); x++ {
			at := (y*w.W + x) * w.C
			for ch, v := range image[at : at+w.C] {
				if !seen || v > p.best[ch] || v != v && p.best[ch] == p.best[ch] {
					p.best[ch], p.at[ch] = v, at+ch
				}
			}
			seen = true
		}
	}
}

// poolRule adds up each patch, one sum a channel; back, its adjoint, adds such a sum to each pixel of its patch.
type poolRule struct {
	w    Window
	back bool
}

// AvgPool returns the mean of each patch and channel: m images (m × H·W·C) become m × OutH·OutW·C. Padding counts as zeros.
func AvgPool(images *Node, w Window) *Node {
	m := w.images("AvgPool", images)
	return Scale(1/float64(w.KH*w.KW), apply(poolRule{w, false}, matShape(m, w.patches()*w.C), images))
}

func (r poolRule) String() string {
	if r.back {
		return fmt.Sprintf("Unpool%+v", r.w)
	}
	return fmt.Sprintf("Pool%+v", r.w)
}

func (r poolRule) split() split { return rowsIn }

func (r poolRule) grad(in nodes, _, g *Node) nodes {
	m, _ := dims(in[0])
	if r.back {
		return nodes{apply(poolRule{r.w, false}, matShape(m, r.w.patches()*r.w.C), g)}
	}
	return nodes{apply(poolRule{r.w, true}, matShape(m, r.w.pixels()), g)}
}

func (r poolRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return poolKernel[float32](r), poolKernel[float64](r)
}

func poolKernel[T Float](r poolRule) func(*call[T]) {
	w := r.w
	return func(c *call[T]) {
		clear(c.dst.v)
		for m := range c.dst.r {
			from, to := c.in[0].row(m), c.dst.row(m)
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
