package kernel

// eachRowGo calls f with the patches of each row of each image, and the number of the first one.
func eachRowGo[T Float](f Window, m int, patches []T, image func(i int) []T, each func(first int)) {
	for i := range m {
		x := image(i)
		for oi := range f.OutH() {
			f.eachRun(oi, func(at, p int) { copy(patches[p:][:f.run()], x[at:]) })
			each((i*f.OutH() + oi) * f.OutW())
		}
	}
}

// patchesNTGo is PatchesNT.
func patchesNTGo[T Float](f Window, m, n int, c, patches, b []T, image func(i int) []T) {
	taps := f.Taps()
	eachRowGo(f, m, patches, image, func(first int) {
		gemmNTGo(f.OutW(), n, taps, c[first*n:], n, patches, taps, b, taps, false)
	})
}

// patchesTNGo adds to C as PatchesTN does.
func patchesTNGo[T Float](f Window, m, n int, c, a, patches []T, image func(i int) []T) {
	taps := f.Taps()
	eachRowGo(f, m, patches, image, func(first int) {
		gemmOuterGo(n, taps, f.OutW(), c, taps, a[first*n:], 1, n, patches, taps, true)
	})
}
