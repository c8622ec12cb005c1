package ad

import (
	"fmt"
	"math"

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
	w := r.w
	return func(c *call[T]) {
		if r.back {
			clear(c.dst.v)
		}
		for m := range c.in[0].r {
			by, a, d := c.in[0].row(m), c.in[1].row(m), c.dst.row(m)
			out := 0
			for i := range w.OutH() {
				for j := range w.OutW() {
					p := w.clipped(i, j)
					for ch := range w.C {
						if at := largest(by, p, ch); r.back {
							d[at] += a[out]
						} else {
							d[out] = a[at]
						}
						out++
					}
				}
			}
		}
	}
}

// clippedPatch is the part of a patch that is in the image: its first entry, how far its last row is from its first one, and its last column from
// the first one, and the steps to the next row and column, all in entries.
type clippedPatch struct{ first, down, right, row, col int }

// clipped returns the patch in row i and column j of the patches.
func (w Window) clipped(i, j int) clippedPatch {
	top, left := i*w.Stride-w.PadH, j*w.Stride-w.PadW
	bottom, right := min(top+w.KH, w.H)-1, min(left+w.KW, w.W)-1
	top, left = max(top, 0), max(left, 0)
	row := w.W * w.C
	return clippedPatch{first: top*row + left*w.C, down: (bottom - top) * row, right: (right - left) * w.C, row: row, col: w.C}
}

// largest returns where channel ch of a patch has its largest entry. It compares whole numbers, for which no jump is needed that a
// processor has to guess.
func largest[T Float](image []T, p clippedPatch, ch int) int {
	best, at := int64(math.MinInt64), 0
	for y := p.first + ch; y <= p.first+ch+p.down; y += p.row {
		for x := y; x <= y+p.right; x += p.col {
			if r := ranked(image[x]); r > best {
				best, at = r, x
			}
		}
	}
	return at
}

// ranked returns a number that is larger for larger v, the same for 0 and −0, and the largest for NaN.
func ranked[T Float](v T) int64 {
	f := float64(v) + 0 // −0 becomes 0
	if f != f {
		return math.MaxInt64
	}
	bits := int64(math.Float64bits(f))
	return bits ^ int64(uint64(bits>>63)>>1) // of negative numbers all bits but the sign turn
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
