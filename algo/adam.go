package algo

import (
	"math"

	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// adam is Adam (Kingma, Ba 2015): steps with one scale a coordinate, both moments corrected for
// their zero start.
type adam struct {
	beta1, beta2 float64 // weights of the averages of u and of u²
	eps          float64
}

// adamStep is step k of x along u: r = β₁ r + (1−β₁) u, and then adamMove.
func adamStep(a adam, k int, lr float64, x, r, v, u []float64) {
	linalg.Comb(r, a.beta1, r, 1-a.beta1, u)
	adamMove(a, k, lr, 1-num.Pow(a.beta1, float64(k+1)), x, r, v, u)
}

// adamMove moves x by the average r of u, u included, and the average v of u², which it updates:
//
//	v = β₂ v + (1−β₂) u²,  x −= lr (r/weightsOfR) / (√(v/weightsOfV) + ε)
//
// Averages start at 0, so that the weights of all u so far sum to less than 1: weightsOfR in r,
// which the caller knows, and 1−β₂^{k+1} in v. The divisions make up for that.
func adamMove(a adam, k int, lr, weightsOfR float64, x, r, v, u []float64) {
	weightsOfV := 1 - num.Pow(a.beta2, float64(k+1))
	for i := range u {
		square := float64(a.beta2*v[i]) + float64(float64((1-a.beta2)*u[i])*u[i])
		v[i] = square
		x[i] -= float64(lr*(r[i]/weightsOfR)) / (math.Sqrt(square/weightsOfV) + a.eps)
	}
}

// clipTo limits the entries of x to a box.
func clipTo(box []float64, x []float64) {
	low, high := box[0], box[1]
	for i, v := range x {
		x[i] = min(max(v, low), high)
	}
}
