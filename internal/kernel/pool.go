package kernel

import "math"

// A Pooling finds the largest entries of a window's patches, channel by channel, and reads or adds
// there. Taps are counted along the rows of a patch, including the padding. Any number of
// goroutines may use one.
type Pooling[T Float] struct {
	w       Window
	entries int   // the number of patches and channels of an image
	places  []int // of the taps, in entries from where the patch begins
	bytes   []int // the same in bytes
	numbers []T   // of the taps
}

// NewPooling returns the pooling of a window. No patch may be padding alone.
func NewPooling[T Float](w Window) *Pooling[T] {
	p := &Pooling[T]{w: w, entries: w.Patches() * w.C}
	for y := range w.KH {
		for x := range w.KW {
			place := y*w.line() + x*w.C
			p.numbers = append(p.numbers, T(len(p.places)))
			p.places, p.bytes = append(p.places, place), append(p.bytes, place*size[T]())
		}
	}
	return p
}

// leastChannels is how many channels a patch has at least for assembly, which takes a register of
// them at a time, to be faster.
const leastChannels = 4

// hasAssembly reports whether there is assembly for the window.
func (p *Pooling[T]) hasAssembly() bool {
	return active != Generic && p.w.PadH == 0 && p.w.PadW == 0 && p.w.C >= leastChannels
}

// fits reports whether there are images. It panics if slices have not the lengths of m images and
// of their patches.
func (p *Pooling[T]) fits(fn string, m int, images, taps, entries []T) bool {
	return p.w.fits(fn, m, 1, length{"images", len(images), m * p.w.Pixels()},
		length{"taps", len(taps), m * p.entries},
		length{"entries", len(entries), m * p.entries})
}

// eachRow calls f with the places of the first entries of each row of patches, in m images and
// among the patches' entries.
func (p *Pooling[T]) eachRow(m int, f func(image, patch int)) {
	w := p.w
	rows, row := w.OutH(), w.OutW()*w.C
	for i := range m {
		for oi := range rows {
			f(i*w.Pixels()+(oi*w.Stride-w.PadH)*w.line()-w.PadW*w.C, i*p.entries+oi*row)
		}
	}
}

// Largest sets taps, one for each patch and channel of m images, to the number of the tap with the
// largest entry: of the first one of equal ones, and of NaN, which is larger than any number.
// Padding does not count.
func (p *Pooling[T]) Largest(m int, taps, images []T) {
	switch w := p.w; {
	case !p.fits("Largest", m, images, taps, taps):
	case p.hasAssembly():
		p.eachRow(m, func(image, patch int) {
			largestTaps[T](w.OutW(), w.C, pointer(taps[patch:]), pointer(images[image:]), w.Stride*w.C*size[T](),
				len(p.bytes), &p.bytes[0], pointer(p.numbers))
		})
	default:
		p.largestGo(m, taps, images)
	}
}

// Pick sets dst, one entry for each patch and channel of m images, to the entry at the tap that
// taps has.
func (p *Pooling[T]) Pick(m int, dst, taps, images []T) {
	switch w := p.w; {
	case !p.fits("Pick", m, images, taps, dst):
	case p.hasAssembly():
		p.eachRow(m, func(image, patch int) {
			pickTaps[T](w.OutW(), w.C, pointer(dst[patch:]), pointer(taps[patch:]), pointer(images[image:]),
				w.Stride*w.C*size[T](),
				len(p.bytes), &p.bytes[0], pointer(p.numbers))
		})
	default:
		p.eachEntryGo(m, taps, func(image, patch int) { dst[patch] = images[image] })
	}
}

// Unpick sets m images to the sums of a, which has one entry for each patch and channel, each added
// at the tap that taps has, in the order of the patches.
func (p *Pooling[T]) Unpick(m int, images, taps, a []T) {
	w, spread := p.w, putTaps[T]
	if !p.hasAssembly() || !w.tiles() {
		spread = addTaps[T]
		clear(images)
	}
	switch {
	case !p.fits("Unpick", m, images, taps, a):
	case p.hasAssembly():
		p.eachRow(m, func(image, patch int) {
			spread(w.OutW(), w.C, pointer(images[image:]), pointer(taps[patch:]), pointer(a[patch:]),
				w.Stride*w.C*size[T](),
				len(p.bytes), &p.bytes[0], pointer(p.numbers))
		})
	default:
		p.eachEntryGo(m, taps, func(image, patch int) { images[image] += a[patch] })
	}
}

// tiles reports whether each pixel is in one patch.
func (w Window) tiles() bool {
	return w.KH == w.Stride && w.KW == w.Stride && w.OutH()*w.Stride == w.H && w.OutW()*w.Stride == w.W
}

// eachEntryGo calls f with the places of each patch's and channel's entry at its tap, in the images
// and among these entries.
func (p *Pooling[T]) eachEntryGo(m int, taps []T, f func(image, patch int)) {
	w := p.w
	p.eachRow(m, func(image, patch int) {
		for range w.OutW() {
			for ch := range w.C {
				f(image+ch+p.places[int(taps[patch+ch])], patch+ch)
			}
			image, patch = image+w.Stride*w.C, patch+w.C
		}
	})
}

// largestGo is Largest.
func (p *Pooling[T]) largestGo(m int, taps, images []T) {
	w := p.w
	for i := range w.OutH() {
		for j := range w.OutW() {
			c, patch := w.clipped(i, j), (i*w.OutW()+j)*w.C
			for k := range m {
				image := images[k*w.Pixels():][:w.Pixels()]
				for ch := range w.C {
					taps[k*p.entries+patch+ch] = T(largest(image[ch:], c))
				}
			}
		}
	}
}

// clippedPatch is the part of a patch that is in the image: its first tap and that one's place, its
// last place in each direction as seen from there, and the steps to the next row and column of the
// image, with the steps of taps to the next row of the kernel. Places are in entries.
type clippedPatch struct{ tap, first, down, right, row, col, taps int }

// clipped returns the part in the image of the patch in row i and column j. top and left are the
// patch's corner, negative in the padding; y and x are its first row and column in the image.
func (w Window) clipped(i, j int) clippedPatch {
	top, left := i*w.Stride-w.PadH, j*w.Stride-w.PadW
	y, x := max(0, -top), max(0, -left)
	row := w.line()
	return clippedPatch{
		tap: y*w.KW + x, first: (top+y)*row + (left+x)*w.C, row: row, col: w.C, taps: w.KW,
		down: (min(w.KH, w.H-top) - 1 - y) * row, right: (min(w.KW, w.W-left) - 1 - x) * w.C,
	}
}

// largest returns the tap with the largest entry of a channel. It compares integers without a jump,
// which a processor might mispredict.
func largest[T Float](channel []T, p clippedPatch) int {
	best, at := int64(math.MinInt64), 0
	first := p.tap
	for y := p.first; y <= p.first+p.down; y += p.row {
		tap := first
		for x := y; x <= y+p.right; x += p.col {
			if r := ranked(channel[x]); r > best {
				best, at = r, tap
			}
			tap++
		}
		first += p.taps
	}
	return at
}

// ranked returns a number that is larger for larger v, the same for 0 and −0, and the largest
// for NaN.
func ranked[T Float](v T) int64 {
	f := float64(v) + 0 // −0 becomes 0
	if f != f {
		return math.MaxInt64
	}
	bits := int64(math.Float64bits(f))
	return bits ^ int64(uint64(bits>>63)>>1) // of negative numbers all bits but the sign turn
}
