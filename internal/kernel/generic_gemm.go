package kernel

// The plain twins. A product is converted to T before it is added, which forbids the compiler
// to fuse the two, so that these loops give the same bits on every machine.

// gemmNTGo is GemmNT: each entry is summed in order of k. Four columns at a time keep four
// independent sums going.
func gemmNTGo[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	for i := range m {
		ai, ci := a[i*lda:][:k], c[i*ldc:][:n]
		if !acc {
			clear(ci)
		}
		j := 0
		for ; j+4 <= n; j += 4 {
			b0, b1, b2, b3 := b[j*ldb:][:k], b[(j+1)*ldb:][:k], b[(j+2)*ldb:][:k], b[(j+3)*ldb:][:k]
			var s0, s1, s2, s3 T
			for p, v := range ai {
				s0 += T(v * b0[p])
				s1 += T(v * b1[p])
				s2 += T(v * b2[p])
				s3 += T(v * b3[p])
			}
			ci[j] += s0
			ci[j+1] += s1
			ci[j+2] += s2
			ci[j+3] += s3
		}
		for ; j < n; j++ {
			ci[j] += dotSumGo(ai, b[j*ldb:][:k])
		}
	}
}

// gemmOuterGo adds, or sets, C = Σ_p a(·,p)·B[p,·] with entry (i,p) of A at a[i*ra+p*ca], which
// serves GemmTN and GemmNN. Each entry is summed in order of p, starting from C.
func gemmOuterGo[T Float](m, n, k int, c []T, ldc int, a []T, ra, ca int, b []T, ldb int, acc bool) {
	for i := range m {
		ci := c[i*ldc:][:n]
		if !acc {
			clear(ci)
		}
		p := 0
		for ; p+4 <= k; p += 4 {
			o := i*ra + p*ca
			a0, a1, a2, a3 := a[o], a[o+ca], a[o+2*ca], a[o+3*ca]
			b0, b1, b2, b3 := b[p*ldb:][:n], b[(p+1)*ldb:][:n], b[(p+2)*ldb:][:n], b[(p+3)*ldb:][:n]
			for j, s := range ci {
				s += T(a0 * b0[j])
				s += T(a1 * b1[j])
				s += T(a2 * b2[j])
				ci[j] = s + T(a3*b3[j])
			}
		}
		for ; p < k; p++ {
			axpyGo(ci, a[i*ra+p*ca], b[p*ldb:][:n])
		}
	}
}
