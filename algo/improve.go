package algo

import (
	"cmp"
	"math"
	"slices"

	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// Constants of a [process].
const (
	processLength = 0.15 // length scale of the kernel, as a share of the box
	processNoise  = 1e-4 // variance of the noise, as a share of the losses' variance
	processPlaces = 201  // number of places at which the improvement is computed
	mostLosses    = 500  // a process has a matrix of mostLosses² numbers
)

// A process is a Gaussian process through losses at places in [0, 1], with its memory.
type process struct {
	at, losses []float64 // the places and losses that the process is conditioned on
	factor     []float64 // of the matrix K of covariances, row-major
	k, solved  []float64 // for a trial place: its covariances k with at, and K⁻¹ k
}

// newProcess returns a process of at most n losses.
func newProcess(n int) process {
	return process{make([]float64, n), make([]float64, n), make([]float64, n*n), make([]float64, n), make([]float64, n)}
}

// mostImproving returns the place in [0, 1] at which the process, given the first n losses, expects
// the largest improvement on the least of them; the first of several such places. It tries
// processPlaces places. At each the process is normal with mean k'K⁻¹f and variance 1 − k'K⁻¹k, for
// losses f standardized to mean 0 and variance 1. It overwrites the losses.
func (p *process) mostImproving(n int) float64 {
	at, f, k, solved := p.at[:n], p.losses[:n], p.k[:n], p.solved[:n]
	least := standardize(f)
	for i := range at {
		for j := range i {
			p.factor[i*n+j] = like(at[i], at[j])
		}
		p.factor[i*n+i] = 1 + processNoise
	}
	linalg.Cholesky(n, p.factor)
	linalg.Solve(n, p.factor, f) // f = K⁻¹ f
	best, place := math.Inf(-1), 0.0
	for s := range processPlaces {
		v := float64(s) / (processPlaces - 1)
		for i, a := range at {
			k[i] = like(v, a)
		}
		copy(solved, k)
		linalg.Solve(n, p.factor, solved)
		mu, variance := linalg.Dot(k, f), 1-linalg.Dot(k, solved)
		// near a place of at the variance is about 0, and rounding may make it negative
		if e := expectedImprovement(least-mu, math.Sqrt(max(0, variance))); e > best {
			best, place = e, v
		}
	}
	return place
}

// like returns the covariance of the losses at two places, a Gaussian kernel of their distance.
func like(a, b float64) float64 {
	d := (a - b) / processLength
	return num.Exp(-float64(d * d / 2))
}

// standardize shifts and scales losses to mean 0 and variance 1, and returns the least of the
// result. A loss that is not finite, as of a diverged run, is replaced by the largest finite one,
// or by 0 if none is finite. If all are equal, the deviation is 0 and they are only shifted.
func standardize(f []float64) (least float64) {
	largest := math.Inf(-1)
	for _, v := range f {
		if v <= math.MaxFloat64 { // no NaN either
			largest = max(largest, v)
		}
	}
	if math.IsInf(largest, -1) {
		largest = 0
	}
	for i, v := range f {
		if !(math.Abs(v) <= math.MaxFloat64) {
			f[i] = largest
		}
	}
	center := mean(f)
	for i := range f {
		f[i] -= center
	}
	deviation := cmp.Or(math.Sqrt(linalg.Dot(f, f)/float64(len(f))), 1)
	for i := range f {
		f[i] /= deviation
	}
	return slices.Min(f)
}

// expectedImprovement returns the mean of max(0, Z) for a normal variable Z.
func expectedImprovement(mean, deviation float64) float64 {
	if deviation == 0 {
		return max(0, mean)
	}
	z := mean / deviation
	return float64(mean*num.NormalCDF(z)) + float64(deviation*num.NormalDensity(z))
}
