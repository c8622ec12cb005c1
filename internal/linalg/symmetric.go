// This file has eigenvalues and factors of symmetric matrices with the same bits on all machines of
// one kernel path.
//
// gonum's functions give other bits on each architecture: some have assembly that sums in another
// order, and on others the compiler fuses products with sums. So a run's results depend on the
// functions here instead. A run decomposes small matrices alone: at most 120 pairs of a memory, 30
// steps of Lanczos's method, and once the mixing matrix.

package linalg

import (
	"math"

	"dsbo/internal/kernel"
)

// mostSweeps bounds the iterations for one eigenvalue; two or three are usual.
const mostSweeps = 60

// Eigen finds the eigenvalues of the symmetric matrix a (n×n) in ascending order, and turns a into
// their unit eigenvectors, a row each. Time is O(n³), and work has at least [Work](n) numbers. It
// returns false, with values and a spoilt, where a is not finite.
func Eigen(n int, a, values, work []float64) bool {
	rows, scratch := work[:n*n], work[n*n:]
	if !decompose(n, a, values, rows, scratch) {
		return false
	}
	copy(a, rows)
	return true
}

// Work is the number of numbers that [Eigen] works in.
func Work(n int) int { return n * (n + 3) }

// Eigenvalues is Eigen without the eigenvectors, at a third of the time. It spoils a.
func Eigenvalues(n int, a, values []float64) bool {
	return decompose(n, a, values, nil, make([]float64, 3*n))
}

// decompose finds the eigenvalues, and the eigenvectors unless rows is nil, in 3n numbers
// of scratch.
func decompose(n int, a, values, rows, scratch []float64) bool {
	off, taus, p := scratch[:n], scratch[n:2*n], scratch[2*n:3*n]
	Fill(off, 0)
	reduce(n, a[:n*n], values[:n], off, taus, p)
	if rows != nil {
		multiply(n, a, taus, rows)
	}
	return AllFinite(values[:n]) && AllFinite(off) && diagonal(values[:n], off, rows)
}

// reduce sets d and off[1:] to the diagonal and the one beside it of the tridiagonal matrix P a P',
// by Householder's reflections. Row k of a then has the k-th reflection's vector, right of the
// diagonal, and taus its factor. p is scratch.
func reduce(n int, a, d, off, taus, p []float64) {
	for k := range n - 1 {
		v, rest := a[k*n+k+1:(k+1)*n], n-k-1
		d[k] = a[k*n+k]
		taus[k], off[k+1] = reflection(v)
		if taus[k] == 0 {
			continue
		}
		// a − v w' − w v' with w = p − (τ/2)(p'v) v and p = τ a v
		w := p[:rest]
		kernel.GemmNT(rest, 1, rest, w, 1, a[(k+1)*n+k+1:], n, v, rest, false)
		Scale(w, taus[k], w)
		Axpy(w, -taus[k]*Dot(w, v)/2, v)
		for i := range rest {
			row := a[(k+1+i)*n+k+1:][:rest]
			Axpy(row, -v[i], w)
			Axpy(row, -w[i], v)
		}
	}
	if n > 0 {
		d[n-1] = a[n*n-1]
	}
}

// multiply sets rows to P, the product of the reflections that reduce has left in a.
func multiply(n int, a, taus, rows []float64) {
	Fill(rows, 0)
	for i := range n {
		rows[i*n+i] = 1
	}
	for k := n - 2; k >= 0; k-- { // P = H_{n−2} ... H_0
		v := a[k*n+k+1 : (k+1)*n]
		for i := k + 1; i < n && taus[k] != 0; i++ {
			row := rows[i*n+k+1 : (i+1)*n]
			Axpy(row, -taus[k]*Dot(row, v), v)
		}
	}
}

// reflection turns x into the vector v, whose first entry is 1, and returns τ and β, with (I − τ v
// v') x = (β, 0, ...). τ is 0 where x has that form, and x stays as it is.
func reflection(x []float64) (tau, beta float64) {
	size := 0.0
	for _, v := range x[1:] {
		size = max(size, math.Abs(v))
	}
	if size == 0 {
		return 0, x[0]
	}
	size = max(size, math.Abs(x[0]))
	Scale(x, 1/size, x)                  // squares neither overflow nor vanish
	beta = -math.Copysign(Norm(x), x[0]) // of the other sign, so that x[0] − β does not cancel
	tau = (beta - x[0]) / beta
	scale := 1 / (x[0] - beta)
	x[0] = 1
	Scale(x[1:], scale, x[1:])
	return tau, beta * size
}

// diagonal turns a tridiagonal matrix, with d on the diagonal and off[1:] beside it, into its
// eigenvalues in ascending order by implicit QL sweeps. rows, unless it is nil, is multiplied by
// the same rotations from the left: it becomes their eigenvectors if it was P.
func diagonal(d, off, rows []float64) bool {
	n, e := len(d), off
	if n > 0 { // e[i] is beside d[i] and d[i+1] from here on
		copy(e, e[1:])
		e[n-1] = 0
	}
	for l := range n {
		for sweeps := 0; ; sweeps++ {
			m := l // the block from l to m is decoupled
			for m < n-1 && math.Abs(e[m]) > 0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])) {
				m++
			}
			if m == l {
				break
			}
			if sweeps == mostSweeps {
				return false
			}
			sweep(d, e, rows, l, m)
		}
	}
	ascending(d, rows)
	return true
}

// sweep is one sweep of rotations over the block from l to m, with Wilkinson's shift.
func sweep(d, e, rows []float64, l, m int) {
	n := len(d)
	g := (d[l+1] - d[l]) / float64(2*e[l])
	g = d[m] - d[l] + e[l]/(g+math.Copysign(length(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := float64(s*e[i]), float64(c*e[i])
		r := length(f, g)
		e[i+1] = r
		if r == 0 { // the block has come apart
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = float64((d[i]-g)*s) + float64(2*c*b)
		p = float64(s * r)
		d[i+1] = g + p
		g = float64(c*r) - b
		if rows != nil {
			low, high := rows[i*n:][:n], rows[(i+1)*n:][:n]
			for k, u := range low {
				v := high[k]
				low[k], high[k] = float64(c*u)-float64(s*v), float64(s*u)+float64(c*v)
			}
		}
	}
	d[l] -= p
	e[l], e[m] = g, 0
}

// length is √(a² + b²), without overflow.
func length(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	large, ratio := max(a, b), min(a, b)
	if large == 0 {
		return 0
	}
	ratio /= large
	return float64(large * math.Sqrt(1+float64(ratio*ratio)))
}

// ascending sorts eigenvalues, and their eigenvectors with them.
func ascending(d, rows []float64) {
	n := len(d)
	for i := range n {
		least := i
		for k := i + 1; k < n; k++ {
			if d[k] < d[least] {
				least = k
			}
		}
		if least == i {
			continue
		}
		d[i], d[least] = d[least], d[i]
		for k := i * n; k < (i+1)*n && rows != nil; k++ {
			other := k + (least-i)*n
			rows[k], rows[other] = rows[other], rows[k]
		}
	}
}

// Cholesky turns the symmetric positive definite matrix a (n×n, its lower triangle) into its factor
// L with a = L L', in the lower triangle. Time is O(n³). It returns false, with a spoilt, where a
// is not positive definite.
func Cholesky(n int, a []float64) bool {
	for i := range n {
		row := a[i*n:][:n]
		for j := range i {
			row[j] = (row[j] - Dot(row[:j], a[j*n:][:j])) / a[j*n+j]
		}
		square := row[i] - Dot(row[:i], row[:i])
		if !(square > 0) {
			return false
		}
		row[i] = math.Sqrt(square)
	}
	return true
}

// Solve solves L L' x = b in place, with the factor L that [Cholesky] has found.
func Solve(n int, l, b []float64) {
	for i := range n {
		b[i] = (b[i] - Dot(l[i*n:][:i], b[:i])) / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		b[i] /= l[i*n+i]
		Axpy(b[:i], -b[i], l[i*n:][:i])
	}
}
