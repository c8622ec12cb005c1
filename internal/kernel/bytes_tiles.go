package kernel

import "unsafe"

// byteRow is the size of a row's place in a list.
const byteRow = int(unsafe.Sizeof(ByteRow{}))

// bytesTile returns the most rows of bytes and of B that the dot kernel of the active path takes
// at once.
func bytesTile() (mr, nr int) {
	if active == AVX2 {
		return 2, 3
	}
	return 2, 10
}

// bytesNT takes the rows of bytes in groups and the columns of C in strips; the first strip of a
// group asks for a later group, as far as there is one.
func bytesNT[T Float](m, n, k int, c []T, ldc int, rows []ByteRow, b []T, ldb int) {
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
	mr, nr := bytesTile()
	strips := ceil(n, nr)
	for i := 0; i < m; {
		h := mr
		if m-i < mr {
			h = 1
		}
		groups, later := (m-i)/h, BytesAhead/h
		ask := min(groups, max(0, len(rows[i:])/h-later))
		for j, left := 0, strips; left > 0; left-- {
			w := ceil(n-j, left)
			strip := func(from, groups, ahead int) {
				if first := i + from*h; groups > 0 {
					bytesDot[T](h, w, groups, unsafe.Add(cp, (first*ldc+j)*s), ldc*s, s,
						(*byte)(pointer(rows[first:])), ahead*h*byteRow, unsafe.Add(bp, j*ldb*s), ldb*s)
				}
			}
			if j > 0 { // the first strip has asked
				ask = 0
			}
			strip(0, ask, later)
			strip(ask, groups-ask, 0)
			j += w
		}
		i += groups * h
	}
}

// bytesTN takes the rows of C in blocks, and the columns two registers at a time.
func bytesTN[T Float](m, n int, c []T, ldc int, a []T, lda int, rows []ByteRow, acc bool) {
	if active == Generic {
		bytesTNGo(m, n, c, ldc, a, lda, rows, acc)
		return
	}
	s, list := size[T](), (*byte)(pointer(rows))
	most, lanes := outerTile[T]()
	full, blocks := n/lanes, ceil(m, most)
	for i := 0; blocks > 0; blocks-- {
		mr := ceil(m-i, blocks)
		panels := func(nv, count, off int) {
			if count > 0 {
				bytesOuter[T](mr, nv, count, len(rows), unsafe.Add(pointer(c), (i*ldc+off)*s), ldc*s,
					unsafe.Add(pointer(a), i*s), lda*s, list, off, flag(acc))
			}
		}
		panels(2, full/2, 0)
		panels(1, full%2, full/2*2*lanes)
		i += mr
	}
}
