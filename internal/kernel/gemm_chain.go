package kernel

import "unsafe"

// Thresholds of copying. B is copied if it has more than looseBytes, a share of the second-level
// cache, and at least packHeight rows of C read it; the first ones make the copy. A is copied if
// the rows or columns of a sliver are spread over more than looseSliver, a share of the first-level
// cache, and C has at least sliverCols columns.
const (
	looseBytes  = 1 << 20
	packHeight  = 32
	looseSliver = 1 << 14
	sliverCols  = 128
)

// outerWide is how many registers across a single row of C takes.
const outerWide = 12

// singleRows is the most rows that the outer kernel takes at once with one register across.
const singleRows = 12

// rowsAhead is how many rows of B before its turn one is asked for, where sums have more terms, so
// that the terms beyond the last one matter little.
const (
	rowsAhead = 8
	askTerms  = 16 * rowsAhead
)

// outerTile returns the most rows that the outer kernel of the active path takes at once with two
// registers across, and the numbers in a register.
func outerTile[T Float]() (most, lanes int) {
	if active == AVX2 {
		return 6, registerBytes() / size[T]()
	}
	return 12, registerBytes() / size[T]()
}

// registerBytes is the size of a register of the active path.
func registerBytes() int {
	if active == AVX2 {
		return 32
	}
	return 64
}

// tallest returns the most rows that the outer kernel takes at once of n columns.
func tallest[T Float](n int) int {
	if most, lanes := outerTile[T](); n >= 2*lanes {
		return most
	}
	return singleRows
}

// gemmChain sets C = A·B, or adds the product. Each entry is one sum in the order of k that starts
// from C, for any cut and any copies. Blocks of B and slivers of A are copied where that pays, so
// that the kernel reads contiguous memory.
func gemmChain[T Float](m, n, k int, c, a, b operand, acc bool) {
	switch team := NewCrew(m * n * k); {
	case team == nil:
		chainPart[T](m, n, k, c, a, b, acc)
	case n >= m || n >= blockCols: // a part copies its own columns of B
		team.Share(n, func(from, to int) {
			chainPart[T](m, to-from, k, c.from(0, from), a, b.from(0, from), acc)
		})
	default:
		team.Share(m, func(from, to int) {
			chainPart[T](to-from, n, k, c.from(from, 0), a.from(from, 0), b, acc)
		})
	}
}

// chainPart is gemmChain on one processor.
func chainPart[T Float](m, n, k int, c, a, b operand, acc bool) {
	s := size[T]()
	packB := b.col != s || m >= packHeight && n*k*s > looseBytes
	packA := n >= sliverCols && max(m*a.row, k*a.col) > looseSliver
	var w *workspace
	if packA || packB {
		w = workspaces.Get()
		defer workspaces.Add(w)
	}
	depth := ceil(k, ceil(k*s, depthBytes))
	for p := 0; p < k; p += depth {
		h := min(depth, k-p)
		for j := 0; j < n; j += blockCols {
			cols := min(blockCols, n-j)
			right := block{operand: b.from(p, j), packed: 1}
			switch {
			case b.col != s:
				right = packBlock[T](h, cols, w.panels(blockBytes), right.operand)
			case packB:
				right.to = w.panels(blockBytes)
			}
			for i, left := 0, ceil(m, tallest[T](cols)); left > 0; left-- {
				mr := ceil(m-i, left)
				rows := a.from(i, p)
				if packA {
					rows = packSliver[T](mr, h, w.rows(sliverBytes), rows)
				}
				chainRows[T](mr, cols, h, c.from(i, j), rows, &right, acc || p > 0)
				i += mr
			}
		}
	}
}

// chainRows computes mr rows of n columns of C. A block that is to be packed, which takes at least
// 2 rows, is so from then on.
func chainRows[T Float](mr, n, k int, c, a operand, b *block, acc bool) {
	_, lanes := outerTile[T]()
	s, add := size[T](), flag(acc)
	panels := func(from, count, nv, last int) {
		row := nv * lanes * s
		ldb, ahead := b.row, 0
		if b.packed > 1 {
			ldb = row
		}
		if k >= askTerms {
			ahead = rowsAhead * ldb
		}
		to, at := c.from(0, from).at, unsafe.Add(b.at, from*s*b.packed)
		if b.to != nil {
			outerPack[T](mr, nv, count, last, k, to, c.row, row, a.at, a.row, a.col, at, ldb, row, ahead,
				unsafe.Add(b.to, from*s*k), add)
			return
		}
		outer[T](mr, nv, count, last, k, 1, to, c.row, row, a.at, a.row, a.col, 0, 0, at, ldb, row*b.packed, ahead, add)
	}
	if mr > 1 || b.packed > 1 {
		eachPanel[T](n, panels)
		if b.to != nil {
			*b = block{operand: operand{b.to, 0, s}, packed: k}
		}
		return
	}
	// A single row would be one sum after the other, so it takes many registers across.
	from, full := 0, n/lanes
	for parts := ceil(full, outerWide); parts > 0; parts-- {
		nv := ceil(full, parts)
		panels(from, 1, nv, lanes)
		from += nv * lanes
		full -= nv
	}
	if from < n {
		panels(from, 1, 1, n-from)
	}
}
