package linalg

import (
	"errors"
	"math"
	"math/rand/v2"

	"dsbo/internal/num"
)

// MostProducts is the number of products that [Least] takes at most.
const MostProducts = 30

// tolerance is the error of a least eigenvalue at which Lanczos stops: relative to it, or a
// hundredth of that relative to the eigenvalue of the largest size.
const tolerance = 0.05

// Least returns about the least eigenvalue of a symmetric matrix of size q, from its products, by
// the method of Lanczos (1950). The result is the least Ritz value, which is never below the
// eigenvalue and rarely above it by more than a twentieth. Only three vectors are kept. Losing
// orthogonality to earlier vectors at worst repeats Ritz values. It is NaN if products are not
// finite.
func Least(q int, product func(dst, v []float64) error) (float64, error) {
	z := newLanczos(q)
	for {
		beta, err := z.step(product)
		if err != nil {
			return 0, err
		}
		if !(beta <= math.MaxFloat64) {
			return math.NaN(), nil
		}
		least, largest, last := ritz(z.diagonal, z.off[1:])
		// β |last| bounds how far the nearest eigenvalue is.
		if beta*last <= max(tolerance*math.Abs(least), 0.01*tolerance*largest) ||
			len(z.diagonal) == min(q, MostProducts) {
			return least, nil
		}
	}
}

// Extremes returns the least and the largest eigenvalue of a symmetric matrix of size q whose
// products are finite, more exactly than [Least]. It ends after 2q products, or when alike accepts
// the results of half as many products as equal. Eigenvalues crowded at an end of the spectrum take
// most.
func Extremes(q int, product func(dst, v []float64), alike func(before, now float64) bool) (least, largest float64) {
	z := newLanczos(q)
	least, largest = math.NaN(), math.NaN()
	for check := 16; ; {
		beta, _ := z.step(func(dst, v []float64) error { product(dst, v); return nil })
		k := len(z.diagonal)
		if last := k == 2*q || !(beta > 0); last || k == check {
			before, beyond := least, largest
			least, largest = z.eigenvalue(0), z.eigenvalue(k-1)
			if last || alike(before, least) && alike(beyond, largest) {
				return least, largest
			}
			check *= 2
		}
	}
}

// eigenvalue returns eigenvalue number k, counted from 0 at the least, of the tridiagonal matrix,
// by bisection.
func (z *lanczos) eigenvalue(k int) float64 {
	high := 0.0 // all are within the longest row, by Gershgorin
	for i, d := range z.diagonal {
		next := 0.0
		if i+1 < len(z.off) {
			next = z.off[i+1]
		}
		high = max(high, math.Abs(d)+z.off[i]+next)
	}
	low := -high
	for {
		middle := low + float64((high-low)/2)
		switch below := z.below(middle); {
		case !(low < middle && middle < high): // neighbouring numbers, or NaN
			return middle
		case below > k:
			high = middle
		default:
			low = middle
		}
	}
}

// below returns how many eigenvalues of the tridiagonal matrix are below x, by Sturm's sequence.
func (z *lanczos) below(x float64) (count int) {
	pivot := 1.0
	for i, d := range z.diagonal {
		if pivot = d - x - float64(z.off[i]*z.off[i])/pivot; pivot == 0 {
			pivot = -math.SmallestNonzeroFloat64
		}
		if pivot < 0 {
			count++
		}
	}
	return count
}

// A lanczos is the state of the method of Lanczos.
type lanczos struct {
	v, before, next []float64
	diagonal, off   []float64 // of the tridiagonal matrix: α_1, α_2 ... and 0, β_1, β_2 ...
	beta            float64   // the next one
}

func newLanczos(q int) *lanczos {
	z := &lanczos{v: make([]float64, q), before: make([]float64, q), next: make([]float64, q)}
	drawVector(z.v)
	return z
}

// step takes a product, and returns the β that follows: 0 at the end, and not finite where α or
// β is not.
func (z *lanczos) step(product func(dst, v []float64) error) (float64, error) {
	if len(z.diagonal) > 0 {
		z.v, z.before, z.next = z.next, z.v, z.before
		Scale(z.v, 1/z.beta, z.v)
	}
	if err := product(z.next, z.v); err != nil {
		return 0, err
	}
	alpha := Dot(z.next, z.v)
	z.diagonal, z.off = append(z.diagonal, alpha), append(z.off, z.beta)
	Axpy(z.next, -alpha, z.v)
	Axpy(z.next, -z.beta, z.before)
	if z.beta = Norm(z.next); math.IsNaN(alpha) || math.IsInf(alpha, 0) {
		z.beta = math.NaN()
	}
	return z.beta, nil
}

// ritz returns the least eigenvalue of a symmetric tridiagonal matrix, the largest in size, and the
// last entry of the least one's unit vector, both as they are in size.
func ritz(diagonal, off []float64) (least, largest, last float64) {
	n := len(diagonal)
	vectors, values := make([]float64, n*n), make([]float64, n)
	for i, d := range diagonal {
		vectors[i*n+i] = d
		if i < n-1 {
			vectors[i*n+i+1], vectors[(i+1)*n+i] = off[i], off[i]
		}
	}
	if !Eigen(n, vectors, values, make([]float64, Work(n))) {
		return math.NaN(), 0, 0
	}
	return values[0], max(math.Abs(values[0]), math.Abs(values[n-1])), math.Abs(vectors[n-1])
}

// Largest returns the largest eigenvalue in size of a symmetric matrix of size q that is known by
// its products, by the method of Lanczos: from below, and by at most a hundredth but for two start
// vectors of a million. It takes some 15 products where few eigenvalues are far out, 100 where they
// crowd at an end, and [mostLargest] at most. A product that is not finite is an error.
//
// The vector after k products is p_k(A) times the start and has the length 1, so that |p_k(λ)| is
// at most 1/c, c the share of λ's unit eigenvector in the start, which is below δ for at most
// δ√(2q/π) of all starts. p_k has the Ritz values as roots, and grows beyond them: where it is more
// than 1/δ there is no λ (Hochstenbach 2013). Residuals tell nothing of eigenvalues not met yet.
func Largest(q int, product func(dst, v []float64) error) (float64, error) {
	const tolerance, starts = 0.01, 1e-6
	bound := math.Sqrt(float64(2*q)/math.Pi) / starts
	for z := newLanczos(q); ; {
		beta, err := z.step(product)
		if err != nil {
			return 0, err
		}
		if !(beta <= math.MaxFloat64) {
			return 0, errors.New("the numbers are no longer finite")
		}
		k := len(z.diagonal)
		largest := max(math.Abs(z.eigenvalue(0)), math.Abs(z.eigenvalue(k-1)))
		beyond := float64(largest * (1 + tolerance))
		if beta == 0 || k == mostLargest || z.polynomial(beyond) >= bound && z.polynomial(-beyond) >= bound {
			return largest, nil
		}
	}
}

// mostLargest is the number of products that [Largest] takes at most.
const mostLargest = 300

// polynomial returns |p_k(x)| for an x beyond the Ritz values, β_{i+1} p_{i+1} = (x − α_i) p_i −
// β_i p_{i−1}.
func (z *lanczos) polynomial(x float64) float64 {
	p, ratio := 1.0, 1.0 // ratio is p_{i+1}/p_i, as p_{i−1} may be too large
	for i, d := range z.diagonal {
		next := z.beta // β after the last row; off has the others
		if i+1 < len(z.off) {
			next = z.off[i+1]
		}
		ratio = (x - d - z.off[i]/ratio) / next
		p *= ratio
	}
	return math.Abs(p)
}

// drawVector fills v with a unit vector of random direction, the same for each call.
func drawVector(v []float64) {
	r := rand.New(rand.NewPCG(uint64(len(v)), 1))
	for i := range v {
		v[i] = num.Normal(r)
	}
	Scale(v, 1/Norm(v), v)
}
