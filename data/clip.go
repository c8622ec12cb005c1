package data

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/ad"
)

// Clip returns t with each feature row of the given agents' examples, and of their part of the test
// examples, scaled to norm c if it is longer, which bounds the influence of one row. The rows are
// copies in float32.
func Clip(t Task, c float64, agents []int) (Task, error) {
	if !(c > 0 && c <= math.MaxFloat32) {
		return Task{}, dsbo.ConfigErrorf("the norm to which rows are clipped must be positive; it is %g", c)
	}
	t.Shards = slices.Clone(t.Shards)
	for _, i := range agents {
		s := &t.Shards[i]
		test, err := t.TestPart(i)
		if err != nil {
			return Task{}, err
		}
		s.Test = test
		for _, e := range []*Examples{&s.Train, &s.Val, &s.Holdout, &s.Test} {
			if e.Len() == 0 {
				continue
			}
			if e.X, err = clipRows(e.X, c); err != nil {
				return Task{}, err
			}
		}
	}
	t.Test = Examples{} // each agent has its part
	return t, nil
}

// clipRows returns a table with its rows scaled to norm c where they are longer.
func clipRows(x *ad.Table, c float64) (*ad.Table, error) {
	rows, cols := x.Rows(), x.Cols()
	clipped, row := make([]float32, rows*cols), make([]float64, cols)
	for i := range rows {
		largest, sum := 0.0, 0.0
		for j := range row {
			row[j] = x.At(i, j)
			largest = max(largest, math.Abs(row[j]))
		}
		for _, v := range row { // in units of the largest number, whose square might overflow
			sum += float64(v / largest * (v / largest))
		}
		scale := 1.0
		if norm := largest * math.Sqrt(sum); norm > c*inside {
			scale = c * inside / norm
		}
		for j, v := range row {
			clipped[i*cols+j] = float32(v * scale)
		}
	}
	return ad.Float32Table(rows, cols, clipped)
}

// inside keeps a clipped row's norm below the bound also after its numbers are rounded to float32.
const inside = 1 - 1e-6
