package kernel

import "unsafe"

// strides are the strides of the framed images of a window, in bytes: from value to value, from
// patch to patch along a row, and from row to row.
type strides struct{ value, patch, line int }

func stridesOf[T Float](f Window) strides {
	s := size[T]()
	return strides{s, f.Stride * f.C * s, f.line() * s}
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
	for i := range m {
		image, left := pointer(framed(w, frame, images, i)), pointer(a[i*f.Patches()*n:])
		eachRegisters[T](n, func(col, nv, last, most int) {
			imageTN[T](f, nv, last, most, n*s, sums.from(0, col), image, unsafe.Add(left, col*s))
		})
	}
	packTransposed[T](n, taps, rowMajor(c, taps), sums.transposed())
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
func imagesNN[T Float](w Window, m, n int, images, a, b []T, acc bool) {
	ws := workspaces.Get()
	defer workspaces.Add(ws)
	f, frame := frameOf[T](ws, w)
	patches := rowOfPatches[T](ws, f)
	st, taps, across := stridesOf[T](f), f.Taps(), f.OutW()
	if !acc {
		clear(images)
	}
	for i := range m {
		image := framed(w, frame, images, i)
		for oi := range f.OutH() {
			rows := a[(i*f.OutH()+oi)*across*n:][:across*n]
			gemmOuter(across, taps, n, patches, taps, rows, n, 1, b, taps, false)
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
