package candidates

import (
	"math"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
)

// TestOfPart: the weighted mean of the examples of a part is the mean over all with the part's
// weights, and examples of which none is in the part have one that weighs nothing.
func TestOfPart(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5}
	weights := []float64{0, 2, 0, 1, 0, 0, 1.5, 0, 0, 4} // of parts 0 and 1, by rows
	e := data.Examples{X: testkit.Get(ad.FloatTable(5, 1, x)), Weight: testkit.Get(ad.FloatTable(5, 2, weights))}
	for k, count := range []int{1, 3} {
		want := 0.0
		for row, v := range x {
			want += v * weights[2*row+k] / float64(len(x))
		}
		part := testkit.Get(ofPart(e, k))
		got := 0.0
		for row := range part.Len() {
			got += part.X.At(row, 0) * part.Weight.At(row, 0) / float64(part.Len())
		}
		if part.Len() != count || math.Abs(got-want) > 1e-6 { // weights are in float32
			t.Errorf("part %d: %d examples of mean %g, want %d of %g", k, part.Len(), got, count, want)
		}
	}
	e.Weight = testkit.Get(ad.FloatTable(5, 1, make([]float64, 5)))
	if part := testkit.Get(ofPart(e, 0)); part.Len() != 1 || part.Weight.At(0, 0) != 0 {
		t.Errorf("of a part without examples there are %d, of weight %g", part.Len(), part.Weight.At(0, 0))
	}
}
