package ad_test

import (
	"math"
	"slices"
	"testing"

	"dsbo/ad"
	"dsbo/internal/testkit"
)

// TestRowsThatCount: a product at a point where most examples have no curvature has the bits of the
// first one there, which reads all rows, in float32 and float64; one with a vector that is not
// finite is not finite.
func TestRowsThatCount(t *testing.T) {
	const rows, q = 301, 7
	for _, single := range []bool{false, true} {
		for name, scale := range map[string]float64{"most": 900, "none": 1e6, "all": 1} {
			x, y := make([]float64, rows*q), []float64{1, -1, .5, .25, 2, 0, 1}
			for i := range x {
				x[i] = scale * math.Sin(float64(i*i))
			}
			d := testkit.Get(ad.Differentiate(ad.Loss{P: 1, Q: q, Rows: rows, Float32: single,
				Inputs: []ad.Input{{Name: "X", Shape: []int{q}, Batch: true}},
				Build: func(x, y *ad.Node, in []*ad.Node) *ad.Node {
					losses := ad.Softplus(ad.MatVec(in[0], y, false))
					return ad.Add(ad.SumAll(losses), ad.Dot(ad.Exp(x), ad.PartVec(y, 0, 1)))
				}}))
			testkit.OK(d.Bind("X", testkit.Get(ad.FloatTable(rows, q, x)), nil))
			first, again, v := make([]float64, q), make([]float64, q), []float64{3, 1, 4, 1, 5, 9, 2}
			testkit.OK(d.HVP(first, []float64{0}, y, v))
			testkit.OK(d.HVP(again, []float64{0}, y, y))
			testkit.OK(d.HVP(again, []float64{0}, y, v))
			if !slices.Equal(first, again) {
				t.Errorf("float32 %t, %s: %v, at first %v", single, name, again, first)
			}
			v[2] = math.NaN()
			testkit.OK(d.HVP(again, []float64{0}, y, v))
			if !math.IsNaN(again[0]) {
				t.Errorf("float32 %t, %s: %v of NaN", single, name, again)
			}
		}
	}
}
