package main

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"dsbo/internal/testkit"
)

// TestOutside: value, gradient and Hessian-vector product of each model are the ones that PyTorch's
// double backward has, in float64, but for the rounding of some hundred sums each; and in float32
// they are the same to its digits.
func TestOutside(t *testing.T) {
	const n, d = 6, 3
	var all map[string]struct {
		Value         float64
		Gradient, HVP []float64
	}
	testkit.OK(json.Unmarshal(testkit.Get(os.ReadFile("testdata/outside.json")), &all))
	if len(all) != len(outsideModels) {
		t.Errorf("%d models have numbers of the peer, of %d", len(all), len(outsideModels))
	}
	for _, o := range outsideModels {
		t.Run(o.name, func(t *testing.T) {
			m, want := &outsideModel{rows: n}, all[o.name]
			m.loss = o.build(m, n, d)
			y, v := m.point(), numbers(102, m.q)
			for single, tolerance := range map[bool]float64{false: 1e-12, true: 2e-4} {
				f, g, h := m.differentiate(single), make([]float64, m.q), make([]float64, m.q)
				value := testkit.Get(f.ValueGrad(nil, g, nil, y))
				testkit.OK(f.HVP(h, nil, y, v))
				compare := func(what string, got, want []float64) {
					worst, size := 0.0, 1e-3
					for i := range want {
						worst, size = max(worst, math.Abs(got[i]-want[i])), max(size, math.Abs(want[i]))
					}
					if len(got) != len(want) || !(worst <= tolerance*size) {
						t.Errorf("float32 %v: %s is off by %.2g of %.2g, of %d numbers and %d", single, what, worst,
							size, len(got), len(want))
					}
				}
				compare("value", []float64{value}, []float64{want.Value})
				compare("gradient", g, want.Gradient)
				compare("product", h, want.HVP)
			}
		})
	}
}
