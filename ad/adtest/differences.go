package adtest

import "math"

// An estimate is a derivative by finite differences.
type estimate struct {
	value   []float64
	allowed []float64 // how far off a right derivative may be from value
	scale   float64   // largest entry of value
}

// Steps are halved from firstStep on. Along a direction with entries of up to 1, the first is coarse for
// every usual loss, and the last, 1e-5, fine.
const (
	firstStep = .25
	steps     = 15
	columns   = 4 // of the extrapolation
)

// differences returns the derivative of f (n numbers) at point along dir.
//
// The central difference with step h has the error a₁h² + a₂h⁴ + ...; column j of the table removes the
// first j terms by combining two neighbours of column j-1. How much a number differs from those it was
// made of, times safety, bounds its truncation (Ridders 1982). To it comes rounding: each f may be off by
// some units in the last place of the largest number in f, and the step is only as exact as point±h·dir
// can be written. Of each entry's table the number with the least bound is taken. Sums in f whose
// terms cancel leave more rounding than f's size shows: 1e-10 of the derivative's scale is added for them.
func (m *measure) differences(f func(dst, point []float64) error, n int, point, dir []float64) estimate {
	const safety, ulps, eps = 10, 64, 0x1p-52
	e := estimate{value: make([]float64, n), allowed: make([]float64, n)}
	for i := range e.allowed {
		e.allowed[i] = math.Inf(1)
	}
	var row, above [columns][]float64
	for j := range columns {
		row[j], above[j] = make([]float64, n), make([]float64, n)
	}
	plus, minus := make([]float64, n), make([]float64, n)
	at := make([]float64, len(point))
	size, far, h := 0., norm(point), firstStep
	for k := range steps {
		m.noteError(f(plus, shifted(at, point, h, dir)))
		m.noteError(f(minus, shifted(at, point, -h, dir)))
		if m.err != nil {
			return e
		}
		size = max(size, norm(plus), norm(minus))
		for i := range n {
			row[0][i] = (plus[i] - minus[i]) / (2 * h)
			power := 1.
			for j := 1; j < min(k+1, columns); j++ {
				power *= 4
				v := row[j-1][i] + (row[j-1][i]-above[j-1][i])/(power-1)
				row[j][i] = v
				off := max(math.Abs(v-row[j-1][i]), math.Abs(v-above[j-1][i]))
				bound := safety*off + eps*(ulps*size+far*math.Abs(v))/h
				if bound < e.allowed[i] {
					e.allowed[i], e.value[i] = bound, v
				}
			}
		}
		row, above = above, row
		h /= 2
	}
	e.scale = norm(e.value)
	for i := range n {
		e.allowed[i] += 1e-10 * e.scale
	}
	return e
}

// shifted sets dst = point + h·dir.
func shifted(dst, point []float64, h float64, dir []float64) []float64 {
	for i := range dst {
		dst[i] = point[i] + h*dir[i]
	}
	return dst
}

// dotWith returns the estimate of v·e.
func (e estimate) dotWith(v []float64) estimate {
	return estimate{value: []float64{dot(v, e.value)}, allowed: []float64{absDot(v, e.allowed)}, scale: absDot(v, e.value)}
}

// ofScale returns e as one entry of a derivative whose largest is scale.
func (e estimate) ofScale(scale float64) estimate {
	e.scale = max(e.scale, scale)
	return e
}
