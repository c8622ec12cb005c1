package linalg

import "math"

// SolveTridiagonal solves S x = b for a symmetric tridiagonal S, with the first len(b) numbers of
// diagonal, and off, one fewer, beside it; x replaces b. S need not be definite: rows are exchanged
// where the one below has the larger pivot. work has at least 3 len(b) numbers. If S is singular, x
// is not finite.
func SolveTridiagonal(b, diagonal, off, work []float64) {
	n := len(b)
	d, up, far := work[:n], work[n:2*n], work[2*n:3*n] // rows of the upper triangle: three numbers each
	copy(d, diagonal[:n])
	copy(up, off)
	for i := range n - 1 {
		below, next := off[i], up[i+1] // row i+1 is below, d[i+1], next
		if far[i] = 0; math.Abs(below) > math.Abs(d[i]) {
			below, d[i] = d[i], below
			up[i], d[i+1] = d[i+1], up[i]
			far[i], next = next, 0
			b[i], b[i+1] = b[i+1], b[i]
		}
		share := below / d[i]
		d[i+1] -= float64(share * up[i])
		up[i+1] = next - float64(share*far[i])
		b[i+1] -= float64(share * b[i])
	}
	for i := n - 1; i >= 0; i-- { // back substitution; the last rows have fewer numbers
		if i+1 < n {
			b[i] -= float64(up[i] * b[i+1])
		}
		if i+2 < n {
			b[i] -= float64(far[i] * b[i+2])
		}
		b[i] /= d[i]
	}
}
