package ad

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// windows are geometries with odd sizes: one pixel, one row, one column, padding, strides that
// leave pixels out.
var windows = []Window{
	{H: 1, W: 1, C: 1, KH: 1, KW: 1, Stride: 1},
	{H: 1, W: 7, C: 2, KH: 1, KW: 3, Stride: 2, PadW: 1},
	{H: 5, W: 1, C: 3, KH: 4, KW: 1, Stride: 3, PadH: 2},
	{H: 4, W: 6, C: 1, KH: 3, KW: 2, Stride: 1},
	{H: 6, W: 5, C: 2, KH: 3, KW: 3, Stride: 2, PadH: 1, PadW: 1},
	{H: 2, W: 2, C: 2, KH: 4, KW: 5, Stride: 1, PadH: 1, PadW: 4},
}

// at returns the pixel's index in an image, −1 for padding, of row kh, column kw and channel c of
// the patch at (oh, ow).
func (w Window) at(oh, ow, kh, kw, c int) int {
	i, j := oh*w.Stride+kh-w.PadH, ow*w.Stride+kw-w.PadW
	if i < 0 || i >= w.H || j < 0 || j >= w.W {
		return -1
	}
	return (i*w.W+j)*w.C + c
}

// TestWindows: patches and pools of two images against the definition.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, w := range windows {
		images := make([]float64, 2*w.pixels())
		for i := range images {
			images[i] = float64(r.IntN(7)) - 3
		}
		var patches, most, mean []float64
		for place := range 2 * w.OutH() * w.OutW() {
			m, oh, ow := place/w.OutW()/w.OutH(), place/w.OutW()%w.OutH(), place%w.OutW()
			tops, sums := slices.Repeat([]float64{math.Inf(-1)}, w.C), make([]float64, w.C)
			for tap := range w.KH * w.KW {
				for c := range w.C {
					p := w.at(oh, ow, tap/w.KW, tap%w.KW, c)
					if p < 0 {
						patches = append(patches, 0)
						continue
					}
					v := images[m*w.pixels()+p]
					patches, tops[c], sums[c] = append(patches, v), max(tops[c], v), sums[c]+v
				}
			}
			most = append(most, tops...)
			for _, s := range sums {
				mean = append(mean, s/float64(w.KH*w.KW))
			}
		}
		of := func(f func(a *Node, w Window) *Node) []float64 {
			return valueOf(t, images, func(y *Node) *Node { return f(Reshape(y, 2, w.pixels()), w) })
		}
		sameValues(t, fmt.Sprintf("Im2col %+v", w), of(Im2col), patches)
		sameValues(t, fmt.Sprintf("MaxPool %+v", w), of(MaxPool), most)
		// Sums of small whole numbers are exact; the mean is a product with 1/(KH·KW), rounded, in
		// place of a quotient.
		within(t, "AvgPool", of(AvgPool), mean, 1e-15)
	}
}

// valueOf returns what f makes of y, row by row.
func valueOf(t *testing.T, y []float64, f func(y *Node) *Node) []float64 {
	t.Helper()
	p := testkit.Get(Compile(
		Func{P: 1, Q: len(y), Build: func(_, y *Node, _ []*Node) []*Node { return []*Node{f(y)} }}))
	v := make([]float64, p.size)
	testkit.OK(p.Eval(v, []float64{0}, y))
	return v
}
