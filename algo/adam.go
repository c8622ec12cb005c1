package algo

import (
	"math"

	"dsbo/internal/elementary"
)

// adam is a step of x with one scale a coordinate, both moments corrected for their zero start (Kingma, Ba 2015).
type adam struct {
	lr    float64 // step
	first float64 // the sum of the weights in the average of u so far
	v     float64 // weight of the average of u²
	eps   float64
}

// step is x −= lr [r/first] / (√(V/(1−v^{k+1})) + ε) with V = vV + (1−v)u²; r is the average of u, u included.
func (a adam) step(k int, x, r, v, u []float64) {
	second := 1 - elementary.Pow(a.v, float64(k+1))
	for i, u := range u {
		v[i] = float64(a.v*v[i]) + float64(float64((1-a.v)*u)*u)
		x[i] -= float64(a.lr*(r[i]/a.first)) / (math.Sqrt(v[i]/second) + a.eps)
	}
}

// clip limits the entries of x to a box.
func clip(x, box []float64) {
	for i, v := range x {
		x[i] = min(max(v, box[0]), box[1])
	}
}
