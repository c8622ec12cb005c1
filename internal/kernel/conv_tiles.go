package kernel

import "unsafe"

// strides are the strides of the framed images of a window, in bytes: from value to value, from
// patch to patch along a row, and from row to row.
type strides struct{ value, patch, line int }

func stridesOf[T Float](f Window) strides {
	s := size[T]()
	across, _, _ := f.Along()
	return strides{s, across * f.C * s, f.line() * s}
}

// Products with few columns leave most lanes of a register empty. Neighbouring patches along a row
// overlap, so that several are one patch that is little longer, and their columns fill the lanes.

// joined returns the window whose patches are each some neighbouring ones of f, and how many: as
// many as have at most a number of columns together, where each has n. It is f and 1 where that
// saves less than a quarter of the taps.
func (f Window) joined(n, columns int) (wide Window, patches int) {
	stride, _, _ := f.Along()
	for g := columns / n; g > 1; g-- {
		wide = f
		wide.KW, wide.StrideW = f.KW+(g-1)*stride, g*stride
		if f.OutW()%g == 0 && 4*wide.KW <= 3*g*f.KW {
			return wide, g
		}
	}
	return f, 1
}

// joinedTaps returns the taps b, n rows of f, for patches of wide, each of which is some of f.
// There are n rows for each of these, which are 0 where the others' taps are.
func joinedTaps[T Float](ws *workspace, f, wide Window, patches, n int, b []T) []T {
	to := unsafe.Slice((*T)(ws.taps(patches*n*wide.Taps()*size[T]())), patches*n*wide.Taps())
	clear(to)
	stride, _, _ := f.Along()
	for j := range patches {
		for i := range n {
			for k := range f.KH {
				copy(to[(j*n+i)*wide.Taps()+k*wide.run()+j*stride*f.C:][:f.run()], b[i*f.Taps()+k*f.run():])
			}
		}
	}
	return to
}

// patchesNT makes the patches along a row of an image the rows of the outer kernel, and the taps,
// which lie in runs, its k.
func patchesNT[T Float](w Window, m, n int, c, images, b []T) {
	ws := workspaces.Get()
	defer workspaces.Add(ws)
	f, frame := frameOf[T](ws, w)
	if active == Generic {
		patchesNTGo(f, m, n, c, rowOfPatches[T](ws, f), b, func(i int) []T { return framed(w, frame, images, i) })
		return
	}
	_, lanes := outerTile[T]()
	if wide, patches := f.joined(n, lanes); patches > 1 {
		b = joinedTaps(ws, f, wide, patches, n, b)
		f, n = wide, patches*n
	}
	s, st, taps, across := size[T](), stridesOf[T](f), f.Taps(), f.OutW()
	right := packBlock[T](taps, n, ws.panels(packedBytes[T](taps, n)), rowMajor(b, taps).transposed())
	for i := range m {
		image, to := pointer(framed(w, frame, images, i)), pointer(c[i*f.Patches()*n:])
		eachRegisters[T](n, func(col, nv, last, most int) {
			for j, left := 0, ceil(across, most); left > 0; left-- {
				mr := ceil(across-j, left)
				outer[T](mr, nv, f.OutH(), last, f.run(), f.KH, unsafe.Add(to, (j*n+col)*s), n*s, across*n*s,
					unsafe.Add(image, j*st.patch), st.patch, s, st.line-f.run()*s, f.Stride*st.line,
					unsafe.Add(right.at, col*s*taps), nv*registerBytes(), 0, 0, 0)
				j += mr
			}
		})
	}
}

// tapLines returns the number of lines of a patch whose sums tapSums keeps in vector registers at
// once, with nv registers for the columns. It returns 0 if there is no code for runs of that many
// taps, or no need for it.
func tapLines(f Window, nv int) int {
	const lines, shortest, longest = 5, 2, 7
	most := 28 // sums in registers
	if active == AVX2 {
		most = 12
	}
	if nv > 1 || f.run() < shortest || f.run() > longest {
		return 0
	}
	return ceil(f.KH, ceil(f.KH, min(lines, most/f.run())))
}

// patchesTN computes Pᵀ·A, the transpose of the result, with the outer kernel: a run's taps, or
// several short runs', are its rows, and the patches, row by row of an image, its k.
func patchesTN[T Float](w Window, m, n int, c, a, images []T, acc bool) {
	ws := workspaces.Get()
	defer workspaces.Add(ws)
	f, frame := frameOf[T](ws, w)
	if !acc {
		clear(c)
	}
	if active == Generic {
		patchesTNGo(f, m, n, c, a, rowOfPatches[T](ws, f), func(i int) []T { return framed(w, frame, images, i) })
		return
	}
	s, taps := size[T](), f.Taps()
	sums := operand{ws.panels(taps * n * s), n * s, s}
	packTransposed[T](taps, n, sums, rowMajor(c, taps).transposed())
	wide, patches := f.joined(n, widestRegister/s)
	for i := range m {
		image, left := pointer(framed(w, frame, images, i)), pointer(a[i*f.Patches()*n:])
		if patches > 1 {
			joinedTN[T](ws, f, wide, patches, n, sums, image, left)
			continue
		}
		eachRegisters[T](n, func(col, nv, last, most int) {
			imageTN[T](f, nv, last, most, n*s, sums.from(0, col), image, unsafe.Add(left, col*s))
		})
	}
	packTransposed[T](n, taps, rowMajor(c, taps), sums.transposed())
}

// widestRegister is the size of the largest register of any path.
const widestRegister = 64

// joinedTN adds the products of the patches of an image, of which some are one of wide, and their n
// columns to the sums. The sums of the first of these patches in all of wide, of the second, and so
// on are added to them in this order, on all paths: where a register has not their columns, each is
// a product of its own.
func joinedTN[T Float](ws *workspace, f, wide Window, patches, n int, sums operand, image, left unsafe.Pointer) {
	s, st := size[T](), stridesOf[T](f)
	times, columns := 1, patches*n
	if columns*s > registerBytes() {
		times, columns = patches, n
		wide.KW = f.KW
	}
	part := unsafe.Slice((*T)(ws.taps(wide.Taps()*columns*s)), wide.Taps()*columns)
	at := rowMajor(part, columns)
	for j := range times {
		clear(part)
		imageTN[T](wide, 1, columns, singleRows, patches*n*s, at,
			unsafe.Add(image, j*st.patch), unsafe.Add(left, j*n*s))
		for i := range patches / times {
			for k := range f.KH {
				addRows[T](f.run(), n, sums.from(k*f.run(), 0), at.from(k*wide.run()+i*st.patch/s, i*n))
			}
		}
	}
}

// addRows adds rows of n numbers.
func addRows[T Float](rows, n int, to, from operand) {
	for i := range rows {
		d := unsafe.Slice((*T)(to.from(i, 0).at), n)
		for j, v := range unsafe.Slice((*T)(from.from(i, 0).at), n) {
			d[j] += v
		}
	}
}

// imageTN adds the products of the patches of an image and nv registers of columns, ld bytes from
// row to row.
func imageTN[T Float](f Window, nv, last, most, ld int, sums operand, image, left unsafe.Pointer) {
	s, st, across := size[T](), stridesOf[T](f), f.OutW()
	jump := f.Stride*st.line - across*st.patch
	if h := tapLines(f, nv); h > 0 {
		for kh := 0; kh < f.KH; kh += h {
			tapSums[T](min(h, f.KH-kh), f.run(), last, across, f.OutH(), sums.from(kh*f.run(), 0).at, sums.row,
				unsafe.Add(image, kh*st.line), st.line, st.patch, jump, left, ld)
		}
		return
	}
	for t, parts := 0, ceil(f.run(), most); parts > 0; parts-- {
		mr := ceil(f.run()-t, parts)
		outer[T](mr, nv, f.KH, last, across, f.OutH(), sums.from(t, 0).at, sums.row, f.run()*sums.row,
			unsafe.Add(image, t*s), s, st.patch, jump, st.line, left, ld, 0, 0, flag(true))
		t += mr
	}
}

// imagesNN multiplies out one row of patches at a time, which stays in the first-level cache until
// it is added.
func imagesNN[T Float](w Window, m int, images []T, terms []PatchProduct[T]) {
	ws := workspaces.Get()
	defer workspaces.Add(ws)
	f, frame := frameOf[T](ws, w)
	patches := rowOfPatches[T](ws, f)
	st, taps, across := stridesOf[T](f), f.Taps(), f.OutW()
	for i := range m {
		image := framed(w, frame, images, i)
		for oi := range f.OutH() {
			acc := false
			for _, t := range terms {
				if t.N > 0 {
					rows := t.A[(i*f.OutH()+oi)*across*t.N:][:across*t.N]
					gemmOuter(across, taps, t.N, patches, taps, rows, t.N, 1, t.B, taps, acc)
					acc = true
				}
			}
			if active == Generic {
				f.eachRun(oi, func(at, p int) {
					addToGo(image[at:][:f.run()], image[at:][:f.run()], patches[p:][:f.run()])
				})
				continue
			}
			addRuns[T](across, f.KH, f.run(), unsafe.Add(pointer(image), oi*f.Stride*st.line), st.line, st.patch,
				pointer(patches))
		}
		unframe(w, images, frame, i)
	}
}
