package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// poolingWindows are windows, and some with as many channels as registers have lanes, or more
// and fewer.
func poolingWindows() (all []Window) {
	all = append(all, windows...)
	for _, channels := range []int{4, 8, 16, 19, 37} {
		all = append(all, Window{H: 6, W: 8, C: channels, KH: 2, KW: 2, Stride: 2},
			Window{H: 7, W: 6, C: channels, KH: 3, KW: 3, Stride: 1})
		// some pixels are in no patch
		all = append(all, Window{H: 5, W: 4, C: channels, KH: 2, KW: 2, Stride: 2},
			Window{H: 4, W: 5, C: channels, KH: 2, KW: 2, Stride: 2},
			Window{H: 4, W: 4, C: channels, KH: 1, KW: 2, Stride: 2},
			Window{H: 4, W: 4, C: channels, KH: 2, KW: 1, Stride: 2})
	}
	return all
}

// TestPooling: entries are found, read and added as the definition says, with equal entries, zeros
// of either sign, infinities and NaN among them, and nothing is written beside them.
func TestPooling(t *testing.T) { eachPathAndType(t, testPooling[float32], testPooling[float64]) }

func testPooling[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []float64{math.Copysign(0, -1), 0, math.NaN(), math.Inf(1), math.Inf(-1)}
	const m = 2
	for _, w := range poolingWindows() {
		what, a := fmt.Sprintf("%+v", w), &arena[T]{rng: rng}
		entries := m * w.Patches() * w.C
		images := a.slice(m*w.Pixels(), func() T {
			if i := rng.IntN(9); i < len(odd) {
				return T(odd[i])
			}
			return T(rng.IntN(5) - 2) // often equal
		})
		one, taps, picked, sums := func() T { return 1 }, []T(nil), []T(nil), []T(nil)
		taps, picked, sums = a.slice(entries, one), a.slice(entries, one), a.slice(len(images), one)
		p := NewPooling[T](w)
		p.Largest(m, taps, images)
		p.Pick(m, picked, taps, images)
		p.Unpick(m, sums, taps, picked)
		a.check(t, what)
		wantTaps, wantPicked, wantSums := poolingOf(w, m, images)
		sameBits(t, "Largest, "+what, taps, wantTaps)
		sameBits(t, "Pick, "+what, picked, wantPicked)
		sameBits(t, "Unpick, "+what, sums, wantSums)
	}
}

// poolingOf returns the taps with the largest entries of images, these entries, and their sums at
// their places, from the definition.
func poolingOf[T Float](w Window, m int, images []T) (taps, picked, sums []T) {
	places := make([]float64, len(images))
	for i := range places {
		places[i] = float64(i + 1)
	}
	sums = make([]T, len(images))
	patches := patchesOf(w, m, places) // 0 for padding
	for first := 0; first < len(patches); first += w.Taps() {
		for ch := range w.C {
			best := -1
			for tap := range w.KH * w.KW {
				if place := int(patches[first+tap*w.C+ch]) - 1; place >= 0 &&
					(best < 0 || larger(images[place], images[int(patches[first+best*w.C+ch])-1])) {
					best = tap
				}
			}
			place := int(patches[first+best*w.C+ch]) - 1
			taps, picked = append(taps, T(best)), append(picked, images[place])
			sums[place] += images[place]
		}
	}
	return taps, picked, sums
}

// larger reports whether a comes before b: NaN is larger than any number.
func larger[T Float](a, b T) bool { return a > b || a != a && b == b }
