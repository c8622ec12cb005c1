package kernel

import (
	"syscall"
	"testing"
	"unsafe"
)

// fence returns a slice of n entries that ends, or begins, right where memory that may not be
// touched begins or ends: a read of one byte beyond it kills the test.
func fence[T Float | byte](t *testing.T, n int, atEnd bool) []T {
	t.Helper()
	page := syscall.Getpagesize()
	var v T
	bytes := n * int(unsafe.Sizeof(v))
	inner := (bytes + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("mmap:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, m := range [][]byte{mem[:page], mem[page+inner:]} {
		if err := syscall.Mprotect(m, syscall.PROT_NONE); err != nil {
			t.Skip("mprotect:", err)
		}
	}
	start := page
	if atEnd {
		start += inner - bytes
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[start])), n)
}

// TestNoReadOutside runs everything on slices between fences.
func TestNoReadOutside(t *testing.T) {
	for _, atEnd := range []bool{false, true} {
		eachType(t, func(t *testing.T) { testNoReadOutside[float32](t, atEnd) },
			func(t *testing.T) { testNoReadOutside[float64](t, atEnd) })
	}
}

func testNoReadOutside[T Float](t *testing.T, atEnd bool) {
	const m, n, k = packHeight + 1, 523, 519 // of products whose factors are copied
	a, b, c := fence[T](t, m*k, atEnd), fence[T](t, n*k, atEnd), fence[T](t, m*n, atEnd)
	eachPath(t, func(t *testing.T) {
		GemmNT(m, n, k, c, n, a, k, b, k, true)
		GemmTN(m, n, k, c, n, a, m, b, n, true)
		GemmNN(m, n, k, c, n, a, k, b, n, false)
	})
	for _, w := range windows {
		for _, n := range []int{1, 6, 16, 21} {
			images, b := fence[T](t, w.Pixels(), atEnd), fence[T](t, n*w.Taps(), atEnd)
			c := fence[T](t, w.Patches()*n, atEnd)
			eachPath(t, func(t *testing.T) {
				PatchesNT(w, 1, n, c, images, b)
				PatchesTN(w, 1, n, b, c, images, true)
				ImagesNN(w, 1, images, PatchProduct[T]{n, c, b})
			})
		}
	}
	for _, w := range poolingWindows() {
		entries := w.Patches() * w.C
		images, taps, picked := fence[T](t, w.Pixels(), atEnd), fence[T](t, entries, atEnd), fence[T](t, entries, atEnd)
		p := NewPooling[T](w)
		eachPath(t, func(t *testing.T) {
			p.Largest(1, taps, images)
			p.Pick(1, picked, taps, images)
			p.Unpick(1, images, taps, picked)
		})
	}
	noReadOutsideSmall[T](t, atEnd)
}

// noReadOutsideSmall runs what has no sizes of its own on all small ones.
func noReadOutsideSmall[T Float](t *testing.T, atEnd bool) {
	const most = 45
	x, y, z := fence[T](t, most*most, atEnd), fence[T](t, most*most, atEnd), fence[T](t, most*most, atEnd)
	src := make([]byte, most)
	fenced := fence[byte](t, 48, atEnd)
	var rows [7]ByteRow
	// cut takes n entries at the fence.
	cut := func(s []T, n int) []T {
		if atEnd {
			return s[len(s)-n:]
		}
		return s[:n]
	}
	wide := fence[float64](t, most, atEnd)
	cut64 := func(n int) []float64 {
		if atEnd {
			return wide[most-n:]
		}
		return wide[:n]
	}
	eachPath(t, func(t *testing.T) {
		for n := 1; n <= most; n++ {
			a, b, c := cut(x, n), cut(y, n), cut(z, n)
			for _, fn := range functions[T]() {
				fn.f(a, b)
			}
			AddTo(a, b, c)
			SubTo(a, b, c)
			MulTo(a, b, c)
			DivTo(a, b, c)
			Sqrt(a, b)
			Axpy(a, 2, b)
			Scale(a, 2, b)
			Comb(a, 2, b, 3, c)
			ReLU(a, b)
			Step(a, b)
			Gate(a, b, c)
			FromFloat64(a, cut64(n))
			ToFloat64(cut64(n), a)
			a[0] = Dot(b, c) + Sum(b)
			FromBytes(a, src[:n], 1)
			m := 1 + n%3
			RowSoftmax(m, n, cut(x, m*n), cut(y, m*n))
			RowAdd(m, n, cut(x, m*n), cut(y, m*n), cut(z, m))
			RowMul(m, n, cut(x, m*n), cut(y, m*n), cut(z, m))
			RowLogSumExp(m, n, cut(x, m), cut(y, m*n))
		}
		for _, s := range [][3]int{{1, 1, 1}, {1, 17, 33}, {17, 1, 33}, {4, 5, 16}, {4, 5, 17}, {9, 11, 13},
			{45, 45, 45}, {10, 31, 7}, {3, 40, 9}, {11, 3, 45},
			{3, 150, 13}, {14, 131, 9}, {33, 45, 44}, {2, 515, 3}} {
			m, n, k := s[0], s[1], s[2]
			a, b, c := cut(x, m*k), cut(y, n*k), cut(z, m*n)
			GemmNT(m, n, k, c, n, a, k, b, k, true)
			GemmTN(m, n, k, c, n, a, m, b, n, true)
			GemmNN(m, n, k, c, n, a, k, b, n, false)
			SumRows(m, n, cut(y, n), c, n)
		}
		for n := 1; n <= 13; n++ {
			for _, k := range []int{16, 32, 48} {
				for i := range rows {
					all := fenced[:k]
					if atEnd {
						all = fenced[48-k:]
					}
					rows[i] = wholeByteRow(all)
				}
				BytesNT(7, n, k, cut(z, 7*n), n, rows[:], cut(y, n*k), k)
				BytesTN(n, k, cut(z, n*k), k, cut(y, 7*n), n, rows[:], true)
			}
		}
	})
}
