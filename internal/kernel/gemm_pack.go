package kernel

import "unsafe"

// The sizes of blocks, in bytes: of a row of A, and of all of B that stays in the second-level
// cache while the rows of A pass by in slivers, which stay in the first-level cache.
const (
	depthBytes = 1 << 10
	blockBytes = 1 << 19
	blockCols  = blockBytes / depthBytes
)

// sliverBytes is the most that a sliver takes, of up to 16 rows in whole registers.
const sliverBytes = 16 * depthBytes

// A workspace is the scratch memory of one product. It grows to the largest product's need.
type workspace struct{ block, sliver, joined []byte }

// panels returns memory for a block of B, rows for rows of A, and taps for the taps of joined
// patches, of at least n bytes.
func (w *workspace) panels(bytes int) unsafe.Pointer { return aligned(&w.block, bytes) }
func (w *workspace) rows(bytes int) unsafe.Pointer   { return aligned(&w.sliver, bytes) }
func (w *workspace) taps(bytes int) unsafe.Pointer   { return aligned(&w.joined, bytes) }

// aligned returns the first address in memory that begins a cache line, before at least n bytes.
func aligned(memory *[]byte, bytes int) unsafe.Pointer {
	const line = 64
	if len(*memory) < bytes+line {
		*memory = make([]byte, bytes+line)
	}
	p := pointer(*memory)
	return unsafe.Add(p, -int(uintptr(p))&(line-1))
}

// workspaces are the ones not in use. Their total is the largest number of products that ever ran
// at once.
var workspaces Spares[workspace]

// An operand is a matrix whose entry (i, j) is i·row + j·col bytes from at.
type operand struct {
	at       unsafe.Pointer
	row, col int
}

// rowMajor returns the operand of a matrix with row stride ld.
func rowMajor[T Float](x []T, ld int) operand {
	s := size[T]()
	return operand{pointer(x), ld * s, s}
}

// from returns the matrix that begins at entry (i, j).
func (o operand) from(i, j int) operand {
	o.at = unsafe.Add(o.at, i*o.row+j*o.col)
	return o
}

// transposed returns the transposed matrix.
func (o operand) transposed() operand { return operand{o.at, o.col, o.row} }

// A block is rows of B. If it is packed, it is in contiguous panels without gaps between rows, and
// packed is the rows of each panel; else packed is 1. The first product with a block whose to is
// not nil packs it there.
type block struct {
	operand
	packed int
	to     unsafe.Pointer
}

// packSliver copies mr rows of k numbers, so that they are not in each other's way in the cache.
func packSliver[T Float](mr, k int, to unsafe.Pointer, a operand) operand {
	s := size[T]()
	if a.col == s {
		for i := range mr {
			copy(unsafe.Slice((*T)(unsafe.Add(to, i*depthBytes)), k), unsafe.Slice((*T)(unsafe.Add(a.at, i*a.row)), k))
		}
		return operand{to, depthBytes, s}
	}
	_, lanes := outerTile[T]()
	row := ceil(mr, lanes) * lanes * s
	for i := 0; i < mr; i += lanes {
		packRows[T](min(lanes, mr-i), k, unsafe.Add(to, i*s), row, unsafe.Add(a.at, i*s), a.col)
	}
	return operand{to, s, row}
}

// packBlock copies k rows and n columns of B, whose columns have no gaps, to panels.
func packBlock[T Float](k, n int, to unsafe.Pointer, b operand) block {
	s := size[T]()
	_, lanes := outerTile[T]()
	eachPanel[T](n, func(from, count, nv, last int) {
		width := nv * lanes
		for i := from; i < min(n, from+count*width); i += width {
			packTransposed[T](k, min(width, n-i), operand{unsafe.Add(to, i*s*k), width * s, s}, b.from(0, i))
		}
	})
	return block{operand: operand{to, 0, s}, packed: k}
}

// packedBytes is the size of k rows and n columns in panels.
func packedBytes[T Float](k, n int) int {
	_, lanes := outerTile[T]()
	return ceil(n, lanes) * lanes * k * size[T]()
}

// packTransposed copies k rows and n columns of B, whose columns have no gaps. It works on chunks
// of rows small enough that the panel's part stays in the first-level cache until it is full.
func packTransposed[T Float](k, n int, to, b operand) {
	const vector, group, chunk = 32, 16, 256 // bytes of columns, of rows, and of rows at a time
	s := size[T]()
	cols, rows := n*s/vector*vector/s, k*s/group*group/s
	for p := 0; p < rows; p += chunk / s {
		h := min(chunk/s, rows-p)
		for j := 0; j < cols; j += vector / s {
			packColumns[T](h*s/group, to.from(p, j).at, to.row, b.from(p, j).at, b.col, b.col*vector/s)
		}
	}
	for j := range n {
		p := 0
		if j < cols {
			p = rows
		}
		for ; p < k; p++ {
			*(*T)(to.from(p, j).at) = *(*T)(b.from(p, j).at)
		}
	}
}

// eachRegisters calls f for each panel of n columns, with the most rows that the outer kernel takes
// of it.
func eachRegisters[T Float](n int, f func(col, nv, last, most int)) {
	eachPanel[T](n, func(from, count, nv, last int) {
		two, lanes := outerTile[T]()
		most := singleRows
		if nv == 2 {
			most = two
		}
		for i := range count {
			f(from+i*nv*lanes, nv, last, most)
		}
	})
}

// eachPanel calls f for the panels of n columns: panels of two registers, then one of one register,
// then one of the last columns that fill none. from is the first column.
func eachPanel[T Float](n int, f func(from, count, nv, last int)) {
	_, lanes := outerTile[T]()
	from, full := 0, n/lanes
	if full > 1 {
		f(0, full/2, 2, lanes)
		from = full / 2 * 2 * lanes
	}
	if full%2 == 1 {
		f(from, 1, 1, lanes)
		from += lanes
	}
	if from < n {
		f(from, 1, 1, n-from)
	}
}
