package network

import "dsbo/internal/vec"

// combineBlock numbers of dst, 8 KiB, stay in the first-level cache while further
// terms are added to them.
const combineBlock = 1024

// Combine sets dst = Σ_k row[k].Weight · in[k], summed in the order of k, each product
// rounded before it is added: the sum of every transport, so that all give the same bits. The
// vectors have the length of dst; none may overlap it. Up to three terms, all of a ring, take one pass.
func Combine(dst []float64, row []Weight, in [][]float64) {
	for lo := 0; lo < len(dst); lo += combineBlock {
		hi := min(lo+combineBlock, len(dst))
		d := dst[lo:hi]
		var k int
		switch len(row) {
		case 1:
			vec.Scale(d, row[0].Weight, in[0][lo:hi])
			k = 1
		case 2:
			vec.Comb(d, row[0].Weight, in[0][lo:hi], row[1].Weight, in[1][lo:hi])
			k = 2
		default:
			comb3(d, row[0].Weight, in[0][lo:hi], row[1].Weight, in[1][lo:hi], row[2].Weight, in[2][lo:hi])
			k = 3
		}
		for ; k+1 < len(row); k += 2 {
			axpy2(d, row[k].Weight, in[k][lo:hi], row[k+1].Weight, in[k+1][lo:hi])
		}
		if k < len(row) {
			vec.Axpy(d, row[k].Weight, in[k][lo:hi])
		}
	}
}

// comb3 sets dst = a·x + b·y + c·z.
func comb3(dst []float64, a float64, x []float64, b float64, y []float64, c float64, z []float64) {
	x, y, z = x[:len(dst)], y[:len(dst)], z[:len(dst)]
	for i := range dst {
		dst[i] = float64(a*x[i]) + float64(b*y[i]) + float64(c*z[i])
	}
}

// axpy2 adds a·x and then b·y to dst.
func axpy2(dst []float64, a float64, x []float64, b float64, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = dst[i] + float64(a*x[i]) + float64(b*y[i])
	}
}
