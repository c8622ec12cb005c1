package kernel

import "unsafe"

// sumBytes bounds the piece of a row that gemmNT sums at a time, so that the rows of a tile stay
// in the first-level cache.
const sumBytes = 4096

// outerDepth and outerBytes bound the block of B that gemmOuter keeps in the second-level cache
// while the rows of C pass by.
const (
	outerDepth = 512
	outerBytes = 1 << 18
)

// outerWide is how many registers across a single row of C takes.
const outerWide = 12

// dotTile returns the most rows and columns that the dot kernel of the active path takes at once, and
// the rows that it takes of a single column.
func dotTile() (mr, nr, tall int) {
	if active == AVX2 {
		return 2, 3, 4
	}
	return 4, 5, 8
}

// outerTile returns the most rows that the outer kernel of the active path takes at once, and the numbers in a register.
func outerTile[T Float]() (most, lanes int) {
	if active == AVX2 {
		return 6, 32 / size[T]()
	}
	return 10, 64 / size[T]()
}

// size returns the bytes of a T; it is a constant in the code of either type.
func size[T Float]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// pointer returns the address of the first entry of x.
func pointer[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// flag returns the number that stands for acc in a call of assembly.
func flag(acc bool) int {
	if acc {
		return 1
	}
	return 0
}

// ceil returns n/d rounded up.
func ceil(n, d int) int { return (n + d - 1) / d }

// gemmNT cuts k into pieces, a matter of k alone, and adds their products to C one by one.
func gemmNT[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	if active == Generic {
		gemmNTGo(m, n, k, c, ldc, a, lda, b, ldb, acc)
		return
	}
	emptySum(m, n, c, ldc, acc)
	s := size[T]()
	rs, cs := ldc*s, s
	cp, ap, bp := pointer(c), pointer(a), pointer(b)
	lda, ldb = lda*s, ldb*s
	if mr, _, _ := dotTile(); m < mr && m < n {
		// The transposed product has more rows to group; each entry is the same sum.
		m, n, ap, bp, lda, ldb, rs, cs = n, m, bp, ap, ldb, lda, cs, rs
	}
	block := 64 / s
	count := ceil(k*s, sumBytes)
	piece := ceil(ceil(k, count), block) * block
	for p := 0; p < k; p += piece {
		h := min(piece, k-p)
		dotStrips[T](m, n, h, cp, rs, cs, unsafe.Add(ap, p*s), lda, unsafe.Add(bp, p*s), ldb)
	}
}

// dotStrips cuts the columns of C into strips of a few, whose rows of B stay in the first-level
// cache while the rows of A pass by in groups.
func dotStrips[T Float](m, n, k int, c unsafe.Pointer, rs, cs int, a unsafe.Pointer, lda int, b unsafe.Pointer, ldb int) {
	mr, nr, tall := dotTile()
	strips := ceil(n, nr)
	for j := 0; strips > 0; strips-- {
		w := ceil(n-j, strips)
		for i := 0; i < m; {
			h := 1
			if w == 1 && m-i >= tall {
				h = tall
			} else if m-i >= mr {
				h = mr
			}
			groups := (m - i) / h
			dot[T](h, w, groups, k, unsafe.Add(c, i*rs+j*cs), rs, cs, unsafe.Add(a, i*lda), lda, unsafe.Add(b, j*ldb), ldb)
			i += groups * h
		}
		j += w
	}
}

// gemmOuter cuts k and the columns so that a block of B stays in the cache for all rows of C. Each
// entry is one sum in the order of k, wherever it is cut.
func gemmOuter[T Float](m, n, k int, c []T, ldc int, a []T, ra, ca int, b []T, ldb int, acc bool) {
	if active == Generic {
		gemmOuterGo(m, n, k, c, ldc, a, ra, ca, b, ldb, acc)
		return
	}
	s := size[T]()
	most, _ := outerTile[T]()
	cp, ap, bp := pointer(c), pointer(a), pointer(b)
	ra, ca, ldb, ldc = ra*s, ca*s, ldb*s, ldc*s
	for p := 0; p < k; p += outerDepth {
		h := min(outerDepth, k-p)
		width := n
		if m > most {
			width = outerBytes / (outerDepth * s)
		}
		for j := 0; j < n; j += width {
			w := min(width, n-j)
			blocks := ceil(m, most)
			for i := 0; blocks > 0; blocks-- {
				mr := ceil(m-i, blocks)
				to, left, right := unsafe.Add(cp, i*ldc+j*s), unsafe.Add(ap, i*ra+p*ca), unsafe.Add(bp, p*ldb+j*s)
				outerRows[T](mr, w, h, to, ldc, left, ra, ca, right, ldb, acc || p > 0)
				i += mr
			}
		}
	}
}

// outerRows computes mr rows of n columns: whole registers first, several at a time, then the rest.
func outerRows[T Float](mr, n, k int, c unsafe.Pointer, ldc int, a unsafe.Pointer, ra, ca int, b unsafe.Pointer, ldb int, acc bool) {
	_, lanes := outerTile[T]()
	full, off, add := n/lanes, 0, flag(acc)
	panels := func(nv, count, last int) {
		outer[T](mr, nv, count, last, k, unsafe.Add(c, off), ldc, a, ra, ca, unsafe.Add(b, off), ldb, add)
		off += nv * count * lanes * size[T]()
	}
	if mr == 1 {
		for parts := ceil(full, outerWide); parts > 0; parts-- {
			nv := ceil(full, parts)
			panels(nv, 1, lanes)
			full -= nv
		}
	} else {
		if full > 1 {
			panels(2, full/2, lanes)
		}
		if full%2 == 1 {
			panels(1, 1, lanes)
		}
	}
	if last := n % lanes; last > 0 {
		panels(1, 1, last)
	}
}
