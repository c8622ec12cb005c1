// Normal draws normally distributed numbers with the same bits on every machine.
//
// rand.NormFloat64 of math/rand/v2 gives other numbers where the compiler may fuse a product with
// the following sum (arm64, GOAMD64=v3 and others), so that even made data would differ. This is
// the same method, the ziggurat of Marsaglia and Tsang ("The ziggurat method for generating random
// variables", 2000), in operations that round the same everywhere. Without fusing, rand.NormFloat64
// draws the same numbers.

package num

import (
	"math"
	"math/rand/v2"
)

const (
	strips = 128
	tail   = 3.442619855899      // where the lowest strip's rectangle ends
	area   = 9.91256303526217e-3 // of each strip
)

// A strip of the ziggurat: numbers j·width of whole j below inside in size are under the curve,
// whose height at the strip's end is height.
type strip struct {
	inside        uint32
	width, height float32
}

var ziggurat = newZiggurat()

// newZiggurat returns the strips: the lowest first, then the rest from the top downwards.
func newZiggurat() (z [strips]strip) {
	const unit = 1 << 31
	bell := func(x float64) float64 { return Exp(-.5 * x * x) }
	end := tail
	base := area / bell(end)
	z[0] = strip{uint32(end / base * unit), float32(base / unit), 1}
	z[strips-1] = strip{0, float32(end / unit), float32(bell(end))}
	for i := strips - 2; i >= 1; i-- {
		before := end
		end = math.Sqrt(-2 * Log(area/before+bell(before)))
		z[i+1].inside = uint32(end / before * unit)
		z[i].width, z[i].height = float32(end/unit), float32(bell(end))
	}
	return z
}

// Normal draws a number of mean 0 and deviation 1. It draws a strip i, and a place j·width in it,
// until that is under the curve.
func Normal(r *rand.Rand) float64 {
	for {
		bits := r.Uint64()
		j, i := int32(bits), bits>>32%strips
		s := ziggurat[i]
		x := float64(j) * float64(s.width)
		size := uint32(j)
		if j < 0 {
			size = -size // as whole numbers of 32 bits, so that −2³¹ has a size too
		}
		switch {
		case size < s.inside:
			return x
		case i == 0: // the lowest strip has the tail beside its rectangle
			return math.Copysign(tailNumber(r), x)
		default: // a height in the strip decides
			above := float32(r.Float64()) * (ziggurat[i-1].height - s.height)
			if s.height+float32(above) < float32(Exp(-.5*x*x)) {
				return x
			}
		}
	}
}

// tailNumber draws a number of the normal distribution beyond tail, by Marsaglia's rejection from
// an exponential.
func tailNumber(r *rand.Rand) float64 {
	for {
		x := -Log(r.Float64()) * (1.0 / tail)
		y := -Log(r.Float64())
		if y+y >= float64(x*x) {
			return tail + float64(x)
		}
	}
}
