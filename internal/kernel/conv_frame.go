package kernel

import "unsafe"

// frameOf returns the window of images with their padding, and memory for such an image, or nil if
// the window has no padding.
func frameOf[T Float](ws *workspace, w Window) (f Window, frame []T) {
	if f = w.framed(); f == w {
		return f, nil
	}
	n := f.Pixels()
	return f, unsafe.Slice((*T)(ws.rows(n*size[T]())), n)
}

// framed returns image i with its padding, in frame unless that is nil.
func framed[T Float](w Window, frame, images []T, i int) []T {
	image := images[i*w.Pixels():][:w.Pixels()]
	if frame == nil {
		return image
	}
	clear(frame)
	w.eachLine(func(in, out int) { copy(frame[out:][:w.line()], image[in:]) })
	return frame
}

// unframe copies a frame that is not nil back to image i.
func unframe[T Float](w Window, images, frame []T, i int) {
	if frame != nil {
		image := images[i*w.Pixels():][:w.Pixels()]
		w.eachLine(func(in, out int) { copy(image[in:][:w.line()], frame[out:]) })
	}
}

// eachLine calls f with the places of the rows of an image, in the image and in its frame.
func (w Window) eachLine(f func(in, out int)) {
	line := w.framed().line()
	for h := range w.H {
		f(h*w.line(), (h+w.PadH)*line+w.PadW*w.C)
	}
}

// rowOfPatches returns memory for a row of patches.
func rowOfPatches[T Float](ws *workspace, f Window) []T {
	n := f.OutW() * f.Taps()
	return unsafe.Slice((*T)(ws.panels(n*size[T]())), n)
}

// eachRun calls f for each run of row oi of patches, the values of a patch's row that are
// contiguous in the image: at is its place in a framed image, and p its place among the row's
// patches.
func (w Window) eachRun(oi int, f func(at, p int)) {
	p := 0
	for oj := range w.OutW() {
		for k := range w.KH {
			f((oi*w.Stride+k)*w.line()+oj*w.Stride*w.C, p)
			p += w.run()
		}
	}
}
