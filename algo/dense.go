package algo

import "dsbo/internal/vec"

// addMulSym adds a·h to dst: dst and a are rows×q row-major, h is q×q. It streams h four rows at a
// time, so that each entry of dst is loaded once for four products.
func addMulSym(dst, a, h []float64, q int) {
	for len(dst) >= q && q > 0 {
		row, out := a[:q], dst[:q]
		k := 0
		for ; k+4 <= q; k += 4 {
			add4(out, row[k:k+4], h[k*q:(k+4)*q])
		}
		for ; k < q; k++ {
			vec.Axpy(out, row[k], h[k*q:(k+1)*q])
		}
		dst, a = dst[q:], a[q:]
	}
}

// add4 adds c_0 h_0 + ... + c_3 h_3 to dst, where h holds four rows of dst's length.
func add4(dst, c, h []float64) {
	q := len(dst)
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	h0, h1, h2, h3 := h[:q], h[q:][:q], h[2*q:][:q], h[3*q:][:q]
	for j := range dst {
		dst[j] = dst[j] + float64(c0*h0[j]) + float64(c1*h1[j]) + float64(c2*h2[j]) + float64(c3*h3[j])
	}
}

// mulVec sets dst_i = Σ_j a_ij v_j for a row-major matrix with rows of v's length.
func mulVec(dst, a, v []float64) {
	q := len(v)
	for i := range dst {
		dst[i] = vec.Dot(a[i*q:(i+1)*q], v)
	}
}
