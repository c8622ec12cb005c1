//go:build amd64 && !noasm

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

// tiles returns the most rows and columns that the dot kernel of the active path takes at once, and
// the rows that it takes of a single column.
func tiles() (mr, nr, tall int) {
	if active == AVX2 {
		return 2, 3, 4
	}
	return 4, 5, 8
}

// gemmNT cuts k into pieces, a matter of k alone, and adds their products to C one by one.
func gemmNT[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	if active == Generic {
		gemmNTGo(m, n, k, c, ldc, a, lda, b, ldb, acc)
		return
	}
	if !acc {
		emptySum(m, n, c, ldc, false)
	}
	s := size[T]()
	rs, cs := ldc*s, s
	cp, ap, bp := pointer(c), pointer(a), pointer(b)
	lda, ldb = lda*s, ldb*s
	if mr, _, _ := tiles(); m < mr && m < n {
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
	mr, nr, tall := tiles()
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
			dotTile[T](h, w, groups, k, unsafe.Add(c, i*rs+j*cs), rs, cs, unsafe.Add(a, i*lda), lda, unsafe.Add(b, j*ldb), ldb)
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
	most := 10
	if active == AVX2 {
		most = 6
	}
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
				outerRows[T](mr, w, h, unsafe.Add(cp, i*ldc+j*s), ldc, unsafe.Add(ap, i*ra+p*ca), ra, ca, unsafe.Add(bp, p*ldb+j*s), ldb, acc || p > 0)
				i += mr
			}
		}
	}
}

// outerRows computes mr rows of n columns: whole registers first, several at a time, then the rest.
func outerRows[T Float](mr, n, k int, c unsafe.Pointer, ldc int, a unsafe.Pointer, ra, ca int, b unsafe.Pointer, ldb int, acc bool) {
	add := 0
	if acc {
		add = 1
	}
	s := size[T]()
	lanes := 64 / s
	if active == AVX2 {
		lanes = 32 / s
	}
	full := n / lanes
	at := 0
	run := func(nv, panels, last int) {
		outerPanels[T](mr, nv, panels, last, k, unsafe.Add(c, at), ldc, a, ra, ca, unsafe.Add(b, at), ldb, add)
		at += nv * panels * lanes * s
	}
	if mr == 1 {
		for parts := ceil(full, outerWide); parts > 0; parts-- {
			nv := ceil(full, parts)
			run(nv, 1, lanes)
			full -= nv
		}
	} else {
		if full > 1 {
			run(2, full/2, lanes)
		}
		if full%2 == 1 {
			run(1, 1, lanes)
		}
	}
	if last := n % lanes; last > 0 {
		run(1, 1, last)
	}
}

// ceil returns n/d rounded up.
func ceil(n, d int) int { return (n + d - 1) / d }
