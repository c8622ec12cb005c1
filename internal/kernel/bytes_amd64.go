//go:build amd64 && !noasm

package kernel

import "unsafe"

// header is the size of a []byte in memory.
const header = int(unsafe.Sizeof([]byte(nil)))

// bytesAhead is how many groups of rows before its turn one is asked for.
const bytesAhead = 2

func bytesNT[T Float](m, n, k int, c []T, ldc int, rows [][]byte, b []T, ldb int) {
	if active == Generic {
		bytesNTGo(m, n, k, c, ldc, rows, b, ldb)
		return
	}
	emptySum(m, n, c, ldc, false)
	if k == 0 {
		return
	}
	s := size[T]()
	cp, bp := pointer(c), pointer(b)
	mr, nr, _ := tiles()
	strips := ceil(n, nr)
	for i := 0; i < m; {
		h := mr
		if m-i < mr {
			h = 1
		}
		groups := (m - i) / h
		ask := min(groups, max(0, len(rows[i:])/h-bytesAhead))
		for j, left := 0, strips; left > 0; left-- {
			w := ceil(n-j, left)
			at, to := unsafe.Add(bp, j*ldb*s), unsafe.Add(cp, (i*ldc+j)*s)
			if j > 0 { // the first strip has asked
				ask = 0
			}
			if ask > 0 {
				bytesDot[T](h, w, ask, k, to, ldc*s, rows[i:], bytesAhead*h*header, at, ldb*s)
			}
			if rest := groups - ask; rest > 0 {
				bytesDot[T](h, w, rest, k, unsafe.Add(to, ask*h*ldc*s), ldc*s, rows[i+ask*h:], 0, at, ldb*s)
			}
			j += w
		}
		i += groups * h
	}
}

func bytesDot[T Float](mr, nr, groups, k int, c unsafe.Pointer, rs int, rows [][]byte, ahead int, b unsafe.Pointer, ldb int) {
	s := size[T]()
	block := 64 / s
	share := ceil(k/block, mr) * block
	list := unsafe.SliceData(rows)
	switch wide := active == AVX512; {
	case wide && s == 4:
		bytesDotF32AVX512(mr, nr, groups, k, share, f32(c), rs, s, list, ahead, f32(b), ldb)
	case wide:
		bytesDotF64AVX512(mr, nr, groups, k, share, f64(c), rs, s, list, ahead, f64(b), ldb)
	case s == 4:
		bytesDotF32AVX2(mr, nr, groups, k, share, f32(c), rs, s, list, ahead, f32(b), ldb)
	default:
		bytesDotF64AVX2(mr, nr, groups, k, share, f64(c), rs, s, list, ahead, f64(b), ldb)
	}
}

func bytesTN[T Float](m, n int, c []T, ldc int, a []T, lda int, rows [][]byte, acc bool) {
	if active == Generic {
		bytesTNGo(m, n, c, ldc, a, lda, rows, acc)
		return
	}
	s := size[T]()
	most, lanes := 10, 64/s
	if active == AVX2 {
		most, lanes = 6, 32/s
	}
	blocks := ceil(m, most)
	for i := 0; blocks > 0; blocks-- {
		mr := ceil(m-i, blocks)
		cp, ap := unsafe.Add(pointer(c), i*ldc*s), unsafe.Add(pointer(a), i*s)
		full := n / lanes
		if full > 1 {
			bytesOuter[T](mr, 2, full/2, cp, ldc*s, ap, lda*s, rows, 0, acc)
		}
		if at := full / 2 * 2; at < full {
			bytesOuter[T](mr, 1, 1, unsafe.Add(cp, at*lanes*s), ldc*s, ap, lda*s, rows, at*lanes, acc)
		}
		i += mr
	}
}

func bytesOuter[T Float](mr, nv, panels int, c unsafe.Pointer, ldc int, a unsafe.Pointer, lda int, rows [][]byte, off int, acc bool) {
	add := 0
	if acc {
		add = 1
	}
	k, list := len(rows), unsafe.SliceData(rows)
	switch wide := active == AVX512; {
	case wide && size[T]() == 4:
		bytesOuterF32AVX512(mr, nv, panels, k, f32(c), ldc, f32(a), lda, list, off, add)
	case wide:
		bytesOuterF64AVX512(mr, nv, panels, k, f64(c), ldc, f64(a), lda, list, off, add)
	case size[T]() == 4:
		bytesOuterF32AVX2(mr, nv, panels, k, f32(c), ldc, f32(a), lda, list, off, add)
	default:
		bytesOuterF64AVX2(mr, nv, panels, k, f64(c), ldc, f64(a), lda, list, off, add)
	}
}
