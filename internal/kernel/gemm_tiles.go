package kernel

import "unsafe"

// sumBytes bounds the piece of a row that gemmDot sums at a time, so that the rows of a tile stay
// in the first-level cache.
const sumBytes = 4096

// dotRows is how many rows of A pass by at a time, so that their pieces stay in the
// second-level cache.
const dotRows = 128

// isChain reports whether each entry of GemmNT is one sum in the order of k, as in GemmNN, and not
// the sum of a dot product's lanes. It is true where adding the lanes takes longer than copying B
// transposed. It must not depend on m, so that a row has the same bits in a call with any other
// rows.
func isChain(n, k int) bool { return n >= 128 && k <= 512 || n >= 16 && k <= 128 || n > 4 && k <= 48 }

// dotTile returns the most rows and columns that the dot kernel of the active path takes at once,
// and the rows that it takes of a single column.
func dotTile() (mr, nr, tall int) {
	if active == AVX2 {
		return 2, 3, 4
	}
	return 4, 5, 8
}

// size returns the bytes of a T; it is a constant in the code of either type.
func size[T byte | float32 | float64]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// pointer returns the address of the first entry of x.
func pointer[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// flag returns acc as a number for assembly.
func flag(acc bool) int {
	if acc {
		return 1
	}
	return 0
}

// ceil returns n/d rounded up.
func ceil(n, d int) int { return (n + d - 1) / d }

// gemmDot sets C = A·Bᵀ, or adds the product.
func gemmDot[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	if active == Generic {
		gemmNTGo(m, n, k, c, ldc, a, lda, b, ldb, acc)
		return
	}
	emptySum(m, n, c, ldc, acc)
	to, left, right := rowMajor(c, ldc), rowMajor(a, lda), rowMajor(b, ldb)
	if mr, _, _ := dotTile(); m < mr && m < n {
		// The transposed product has more rows to group; each entry is the same sum.
		dotShares[T](n, m, k, to.transposed(), right, left)
		return
	}
	dotShares[T](m, n, k, to, left, right)
}

// dotShares adds A·Bᵀ to C. It cuts k into pieces, a matter of k alone, and adds their products to
// C one by one.
func dotShares[T Float](m, n, k int, c, a, b operand) {
	switch team := NewCrew(m * n * k); {
	case team == nil:
		dotPart[T](m, n, k, c, a, b)
	case n >= m:
		team.Share(n, func(from, to int) { dotPart[T](m, to-from, k, c.from(0, from), a, b.from(from, 0)) })
	default:
		team.Share(m, func(from, to int) { dotPart[T](to-from, n, k, c.from(from, 0), a.from(from, 0), b) })
	}
}

// dotPart is dotShares on one processor.
func dotPart[T Float](m, n, k int, c, a, b operand) {
	s := size[T]()
	block := 64 / s
	count := ceil(k*s, sumBytes)
	piece := ceil(ceil(k, count), block) * block
	for p := 0; p < k; p += piece {
		h := min(piece, k-p)
		for i := 0; i < m; i += dotRows {
			dotStrips[T](min(dotRows, m-i), n, h, c.from(i, 0), a.from(i, p), b.from(0, p))
		}
	}
}

// dotStrips cuts the columns of C into narrow strips, so that a strip's rows of B stay in the
// first-level cache while all rows of A are read in groups.
func dotStrips[T Float](m, n, k int, c, a, b operand) {
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
			groups, next := (m-i)/h, 0
			if i == 0 && n*b.row > looseBytes {
				next = min(w, n-j-w)
			}
			dotGroups[T](h, w, groups, k, c.from(i, j), a.from(i, 0), b.from(j, 0), next)
			i += groups * h
		}
		j += w
	}
}

// dotGroups computes groups of mr rows of a strip of nr columns, and meanwhile prefetches the next
// rows of B. It spreads a row's prefetch over several groups, since a whole row at once would stall
// the first ones.
func dotGroups[T Float](mr, nr, groups, k int, c, a, b operand, next int) {
	done := 0
	tiles := func(count int, ask unsafe.Pointer, step, lds int) {
		i := done * mr
		dot[T](mr, nr, count, k, c.from(i, 0).at, c.row, c.col, a.from(i, 0).at, a.row, b.at, b.row, ask, step, lds)
		done += count
	}
	if rows := min(groups, next); rows > 0 {
		shares := groups / rows
		for i := range shares {
			tiles(rows, unsafe.Add(b.at, nr*b.row+i*ceil(k*size[T](), shares)), ceil(64, shares), b.row)
		}
	}
	if done < groups {
		tiles(groups-done, b.at, 0, 0)
	}
}
