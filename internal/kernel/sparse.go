package kernel

// Products with one sparse row: the numbers val in the columns idx, ascending, and zeros elsewhere.
// Each runs in plain Go on every path, with the same bits on all of them, and adds in the order of
// the columns. The columns must be within the matrix.

// SparseRowNT sets dst_k = Σ_e val_e b[k·ldb + idx_e]: the row times Bᵀ, for B of len(dst) rows.
func SparseRowNT[T Float](dst []T, idx []int32, val []T, b []T, ldb int) {
	val = val[:len(idx)]
	k := 0
	for ; k+2 <= len(dst); k += 2 { // two rows of B at a time read idx and val half as often
		b0, b1 := b[k*ldb:][:ldb], b[(k+1)*ldb:][:ldb]
		var s0, s1 T
		for e, j := range idx {
			s0 += T(val[e] * b0[j])
			s1 += T(val[e] * b1[j])
		}
		dst[k], dst[k+1] = s0, s1
	}
	if k < len(dst) {
		b0 := b[k*ldb:][:ldb]
		var s T
		for e, j := range idx {
			s += T(val[e] * b0[j])
		}
		dst[k] = s
	}
}

// SparseRowNN sets dst_k = Σ_e val_e b[idx_e·ldb + k]: the row times B, for B of len(dst) columns.
func SparseRowNN[T Float](dst []T, idx []int32, val []T, b []T, ldb int) {
	val = val[:len(idx)]
	k := 0
	for ; k+4 <= len(dst); k += 4 { // sums stay in registers
		var s0, s1, s2, s3 T
		for e, j := range idx {
			v, row := val[e], b[int(j)*ldb+k:][:4]
			s0 += T(v * row[0])
			s1 += T(v * row[1])
			s2 += T(v * row[2])
			s3 += T(v * row[3])
		}
		dst[k], dst[k+1], dst[k+2], dst[k+3] = s0, s1, s2, s3
	}
	for ; k+2 <= len(dst); k += 2 {
		var s0, s1 T
		for e, j := range idx {
			v, row := val[e], b[int(j)*ldb+k:][:2]
			s0 += T(v * row[0])
			s1 += T(v * row[1])
		}
		dst[k], dst[k+1] = s0, s1
	}
	if k < len(dst) {
		var s T
		for e, j := range idx {
			s += T(val[e] * b[int(j)*ldb+k])
		}
		dst[k] = s
	}
}

// SparseOuter adds u_k val_e to c[k·ldc + idx_e]: the product of the column u and the row, to C of
// len(u) rows.
func SparseOuter[T Float](c []T, ldc int, u []T, idx []int32, val []T) {
	val = val[:len(idx)]
	k := 0
	for ; k+2 <= len(u); k += 2 {
		u0, u1 := u[k], u[k+1]
		c0, c1 := c[k*ldc:][:ldc], c[(k+1)*ldc:][:ldc]
		for e, j := range idx {
			c0[j] += T(u0 * val[e])
			c1[j] += T(u1 * val[e])
		}
	}
	if k < len(u) {
		u0, c0 := u[k], c[k*ldc:][:ldc]
		for e, j := range idx {
			c0[j] += T(u0 * val[e])
		}
	}
}

// SparseOuterT adds val_e u_k to c[idx_e·ldc + k]: the transpose of [SparseOuter]'s product, to C
// of len(u) columns.
func SparseOuterT[T Float](c []T, ldc int, u []T, idx []int32, val []T) {
	val = val[:len(idx)]
	k := 0
	for ; k+4 <= len(u); k += 4 {
		u0, u1, u2, u3 := u[k], u[k+1], u[k+2], u[k+3]
		for e, j := range idx {
			v, row := val[e], c[int(j)*ldc+k:][:4]
			row[0] += T(u0 * v)
			row[1] += T(u1 * v)
			row[2] += T(u2 * v)
			row[3] += T(u3 * v)
		}
	}
	for ; k+2 <= len(u); k += 2 {
		u0, u1 := u[k], u[k+1]
		for e, j := range idx {
			v, row := val[e], c[int(j)*ldc+k:][:2]
			row[0] += T(u0 * v)
			row[1] += T(u1 * v)
		}
	}
	if k < len(u) {
		for e, j := range idx {
			c[int(j)*ldc+k] += T(u[k] * val[e])
		}
	}
}
