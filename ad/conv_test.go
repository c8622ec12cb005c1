package ad

import (
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

// TestIm2col: patches of two images against the definition.
func TestIm2col(t *testing.T) {
	for _, w := range windows {
		images := make([]float64, 2*w.pixels())
		for i := range images {
			images[i] = float64(1 + i)
		}
		var want []float64
		for m := range 2 {
			for oh := range w.OutH() {
				for ow := range w.OutW() {
					for kh := range w.KH {
						for kw := range w.KW {
							for c := range w.C {
								v := 0.
								if p := w.at(oh, ow, kh, kw, c); p >= 0 {
									v = images[m*w.pixels()+p]
								}
								want = append(want, v)
							}
						}
					}
				}
			}
		}
		got := valueOf(t, images, func(y *Node) *Node { return Im2col(Reshape(y, 2, w.pixels()), w) })
		if !slices.Equal(got, want) {
			t.Errorf("%+v: patches %v, want %v", w, got, want)
		}
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
