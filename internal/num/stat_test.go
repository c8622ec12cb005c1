package num_test

import (
	"math"
	"testing"

	"dsbo/internal/num"
)

func TestMedian(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		in   []float64
		want float64
	}{
		{[]float64{3}, 3}, {[]float64{5, 1, 3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{nan, 2, nan}, 2},
		{[]float64{1, math.Inf(1), 2}, 2}, {nil, nan}, {[]float64{nan}, nan},
	} {
		if got := num.Median(tt.in); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("Median(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
	values := []float64{2, 1}
	if num.Median(values); values[0] != 2 {
		t.Error("the argument was sorted")
	}
}
