package algo

import (
	"cmp"
	"math"
	"slices"

	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// Of a [process]: the length on which losses are alike, as a share of
// the box, the share of their variance that is noise, and in how many places improvement is tried.
const (
	processLength = 0.15
	processNoise  = 1e-4
	processPlaces = 201
	mostLosses    = 500 // a process keeps the square of it
)

// A process is a Gaussian process through losses at places in [0, 1], with its memory.
type process struct {
	at, losses []float64 // what it goes through
	factor     []float64 // of the matrix K of covariances, row-major
	k, solved  []float64 // of a trial place: its covariances with at, and K⁻¹ k
}

// newProcess returns a process of at most n losses.
func newProcess(n int) process {
	return process{make([]float64, n), make([]float64, n), make([]float64, n*n), make([]float64, n), make([]float64, n)}
}

// mostImproving returns the place of the largest expected improvement on the least of the first n
// losses, by the process through them; of equal ones the first. It overwrites the losses. The
// process is normal at each place, with mean k'K⁻¹f and variance 1 − k'K⁻¹k for losses f of mean 0
// and variance 1.
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
		// at a place that was tried rounding may leave a variance below 0
		if e := expectedImprovement(least-mu, math.Sqrt(max(0, variance))); e > best {
			best, place = e, v
		}
	}
	return place
}

// like returns how alike the losses at two places are.
func like(a, b float64) float64 {
	d := (a - b) / processLength
	return num.Exp(-float64(d * d / 2))
}

// standardize scales losses to mean 0 and variance 1, and returns the least of them then. A loss
// that is not finite counts as the largest finite one, as 0 where there is none. Equal losses
// become 0.
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
