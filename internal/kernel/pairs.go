package kernel

import "unsafe"

// Pairs sets C_i = op(A_i)·op(B_i) for pairs of matrices without gaps, one after another, where op
// transposes if the flag is set. C_i is m×n, and its entries are sums of k terms. All pairs share
// an A or B that is no longer than one matrix. [GemmNN], [GemmTN] and [GemmNT] give the same bits.
// The calls of small products take longer than their sums do: the outer kernel goes through all
// pairs in one call. Pairs reports whether it can, and else leaves C alone.
func Pairs[T Float](pairs, m, n, k int, c, a []T, tA bool, b []T, tB bool) bool {
	s := size[T]()
	if active == Generic || tA && tB || tB && !isChain(n, k) || k == 0 || k*s > depthBytes || m*n*k >= crewWork {
		return false
	}
	step := func(name string, x []T, r, c int) int {
		if len(x) == r*c {
			return 0
		}
		checkMatrix("Pairs", name, len(x), pairs*r, c, c)
		return r * c * s
	}
	as, bs := step("a", a, m, k), step("b", b, n, k)
	if hasEntries("Pairs", pairs*m, n, k, c, n) {
		left, right := rowMajor(a, k), rowMajor(b, n)
		if tA {
			left = rowMajor(a, m).transposed()
		}
		if tB {
			right = rowMajor(b, k).transposed()
		}
		chainPairs[T](pairs, m, n, k, rowMajor(c, n), left, right, as, bs)
	}
	return true
}

// chainPairs is [Pairs], where as and bs are the bytes from one A or B to the next.
func chainPairs[T Float](pairs, m, n, k int, c, a, b operand, as, bs int) {
	s := size[T]()
	next := bs
	packed := b.col != s
	if packed {
		w := workspaces.Get()
		defer workspaces.Add(w)
		next = packedBytes[T](k, n)
		to := w.panels(pairs * next)
		for i := range pairs {
			packBlock[T](k, n, unsafe.Add(to, i*next), operand{unsafe.Add(b.at, i*bs), b.row, b.col})
			if bs == 0 {
				next = 0
				break
			}
		}
		b.at = to
	}
	eachRegisters[T](n, func(col, nv, last, most int) {
		right := b.from(0, col)
		if packed {
			right = operand{unsafe.Add(b.at, col*s*k), nv * registerBytes(), s}
		}
		for i, left := 0, ceil(m, most); left > 0; left-- {
			mr := ceil(m-i, left)
			outer[T](mr, nv, pairs, last, k, 1, c.from(i, col).at, c.row, m*c.row, a.from(i, 0).at, a.row, a.col, 0, as,
				right.at, right.row, next, 0, 0)
			i += mr
		}
	})
}
