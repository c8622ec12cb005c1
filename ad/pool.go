package ad

import (
	"fmt"
	"math"

	"dsbo/internal/kernel"
)

// largestRule finds, for each patch of a window and each channel, where the patch has its largest entry: the tap, counted along the rows of the
// kernel, which is a small whole number. Of equal entries the first counts, and NaN is larger than any number. Its derivative is 0.
type largestRule struct{ w Window }

// pickRule reads, for each patch and each channel, the entry of its second input at the tap that its first input says. back, its adjoint, adds
// into that place.
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
	return pickTaps(apply(largestRule{w}, matShape(m, w.patches()*w.C), by), a, m, w)
}

func pickTaps(taps, a *Node, m int, w Window) *Node {
	return apply(pickRule{w, false}, matShape(m, w.patches()*w.C), taps, a)
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
	m, _ := dims(in[0])
	if r.back {
		return nodes{nil, pickTaps(in[0], g, m, r.w)}
	}
	return nodes{nil, apply(pickRule{r.w, true}, in[1].Shape(), in[0], g)}
}

func (r pickRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return pickKernel[float32](r), pickKernel[float64](r)
}

func pickKernel[T Float](r pickRule) func(*call[T]) {
	w := r.w
	places := w.places()
	return func(c *call[T]) {
		if r.back {
			clear(c.dst.v)
		}
		for m := range c.in[0].r {
			taps, a, d := c.in[0].row(m), c.in[1].row(m), c.dst.row(m)
			patch := 0
			for i := range w.OutH() {
				for j := range w.OutW() {
					first := ((i*w.Stride-w.PadH)*w.W + j*w.Stride - w.PadW) * w.C
					taps := taps[patch : patch+w.C]
					if r.back {
						for ch, g := range a[patch : patch+w.C] {
							d[first+ch+places[int(taps[ch])]] += g
						}
					} else {
						for ch := range d[patch : patch+w.C] {
							d[patch+ch] = a[first+ch+places[int(taps[ch])]]
						}
					}
					patch += w.C
				}
			}
		}
	}
}

// places returns how far each tap of a patch is from its first one, in entries of the image.
func (w Window) places() []int {
	all := make([]int, 0, w.KH*w.KW)
	for y := range w.KH {
		for x := range w.KW {
			all = append(all, (y*w.W+x)*w.C)
		}
	}
	return all
}

func (r largestRule) String() string { return fmt.Sprintf("Largest%+v", r.w) }

func (largestRule) split() split { return rowsIn }

func (largestRule) grad(nodes, *Node, *Node) nodes { return nodes{nil} }

func (r largestRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return largestKernel[float32](r.w), largestKernel[float64](r.w)
}

func largestKernel[T Float](w Window) func(*call[T]) {
	return func(c *call[T]) {
		for i := range w.OutH() {
			for j := range w.OutW() {
				p, patch := w.clipped(i, j), (i*w.OutW()+j)*w.C
				for m := range c.in[0].r {
					image, taps := c.in[0].row(m), c.dst.row(m)[patch:patch+w.C]
					for ch := range taps {
						taps[ch] = T(largest(image[ch:], p))
					}
				}
			}
		}
	}
}

// clippedPatch is the part of a patch that is in the image: its first tap and that one's place, its last place in each direction as seen from there,
// and the steps to the next row and column of the image, with those of taps to the next row of the kernel. Places are in entries.
type clippedPatch struct{ tap, first, down, right, row, col, taps int }

// clipped returns the patch in row i and column j of the patches.
func (w Window) clipped(i, j int) clippedPatch {
	top, left := i*w.Stride-w.PadH, j*w.Stride-w.PadW
	y, x := max(0, -top), max(0, -left)
	row := w.W * w.C
	return clippedPatch{
		tap: y*w.KW + x, first: (top+y)*row + (left+x)*w.C, row: row, col: w.C, taps: w.KW,
		down: (min(w.KH, w.H-top) - 1 - y) * row, right: (min(w.KW, w.W-left) - 1 - x) * w.C,
	}
}

// largest returns the tap that has the largest entry of a channel. It compares whole numbers, for which no jump is needed that a processor has to
// guess.
func largest[T Float](channel []T, p clippedPatch) int {
	best, at := int64(math.MinInt64), 0
	first := p.tap
	for y := p.first; y <= p.first+p.down; y += p.row {
		tap := first
		for x := y; x <= y+p.right; x += p.col {
			if r := ranked(channel[x]); r > best {
				best, at = r, tap
			}
			tap++
		}
		first += p.taps
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
