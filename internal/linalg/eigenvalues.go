package linalg

import (
	"errors"
	"math"
)

// MostProducts is the number of products that [Least] takes at most.
const MostProducts = 30

// tolerance is the error of a least eigenvalue at which no more products are taken: as a share of
// it, or a hundred times as a share of the eigenvalue of the largest size.
const tolerance = 0.05

// Least returns about the least eigenvalue of a symmetric matrix of size q that is known by its
// products, by the method of Lanczos (1950): the least Ritz value, which is never below the
// eigenvalue and rarely above it by more than a twentieth. It keeps three vectors: without the
// others, that it has been orthogonal to, Ritz values come twice at worst. It is NaN where products
// are not finite.
func Least(q int, product func(dst, v []float64) error) (float64, error) {
	v, before, next := make([]float64, q), make([]float64, q), make([]float64, q)
	spreadVector(v)
	var diagonal, off []float64 // of the tridiagonal matrix: α_1 ..., β_1 ...
	beta := 0.0
	for {
		if err := product(next, v); err != nil {
			return 0, err
		}
		alpha := Dot(next, v)
		diagonal = append(diagonal, alpha)
		Axpy(next, -alpha, v)
		Axpy(next, -beta, before)
		beta = Norm(next)
		if !(math.Abs(alpha) <= math.MaxFloat64 && beta <= math.MaxFloat64) {
			return math.NaN(), nil
		}
		least, largest, last := ritz(diagonal, off)
		// β |last| bounds how far the nearest eigenvalue is.
		if beta*last <= max(tolerance*math.Abs(least), 0.01*tolerance*largest) ||
			len(diagonal) == min(q, MostProducts) {
			return least, nil
		}
		off = append(off, beta)
		v, before, next = next, v, before
		Scale(v, 1/beta, v)
	}
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
// its products, by power iteration, to about one percent from below. It takes at most 100 products;
// one that is not finite is an error.
func Largest(q int, product func(dst, v []float64) error) (float64, error) {
	v, next := make([]float64, q), make([]float64, q)
	spreadVector(v)
	l := 0.0
	for range 100 {
		if err := product(next, v); err != nil {
			return 0, err
		}
		before := l
		l = Norm(next)
		switch {
		case math.IsNaN(l) || math.IsInf(l, 0):
			return 0, errors.New("the numbers are no longer finite")
		case l == 0, math.Abs(l-before) <= 1e-3*l:
			return l, nil
		}
		Scale(v, 1/l, next)
	}
	return l, nil
}

// spreadVector fills v with a unit vector that has a share of every direction and is the same each
// time: fractions of multiples of the golden ratio.
func spreadVector(v []float64) {
	for i := range v {
		_, f := math.Modf(float64(float64(i+1) * math.Phi))
		v[i] = f - 0.5
	}
	Scale(v, 1/Norm(v), v)
}
