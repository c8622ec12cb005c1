package network

import "dsbo/internal/vec"

// combineBlock numbers of dst, 4 KiB, stay in the first-level cache while further
// terms are added to them.
const combineBlock = 512

// Combine sets dst = Σ_k row[k].Weight · in[k], summed in the order of k, each product
// rounded before it is added: the sum of every transport, so that all give the same bits. The
// vectors have the length of dst; none may overlap it.
func Combine(dst []float64, row []Weight, in [][]float64) {
	for lo := 0; lo < len(dst); lo += combineBlock {
		hi := min(lo+combineBlock, len(dst))
		d := dst[lo:hi]
		vec.Scale(d, row[0].Weight, in[0][lo:hi])
		for k := 1; k < len(row); k++ {
			vec.Axpy(d, row[k].Weight, in[k][lo:hi])
		}
	}
}
