package adtest

import "math"

// An estimate is a number by finite differences, and how far off a right one may be from it.
type estimate struct{ value, allowed float64 }

// A reading is a scalar at one point of a line, with the size of what it was summed from: its
// rounding is in proportion to that.
type reading struct{ value, size float64 }

// A slope is the derivative of a scalar along a line, from both sides and from each. The three
// differ where the scalar has a kink.
type slope struct {
	central, right, left estimate
	size                 float64 // of the scalar itself
}

// Steps shrink from firstStep to 3e-11. Along a direction with entries of up to 1 the first is
// coarse for every usual loss. The last is so fine that a network with 10⁷ hidden values is as good
// as never at one's kink: those lie within 1e-9 of each other.
const (
	firstStep = .125
	shrink    = 4
	steps     = 17
	columns   = 4    // of the extrapolation
	nothing   = 1e-7 // part of a scalar's size below which its derivative may as well be 0
	enough    = 1e-8 // part of the scale that an estimate may be uncertain by to need no finer steps
	eps       = 0x1p-52
	ulps      = 64 // rounding of a reading, in units in the last place of its size
)

// slopes returns the derivatives at h = 0 of scalars that read gives at h. scales are the sizes of
// right derivatives, as far as they are known and finite, and far is the size of the point's
// entries, which are as exact as they can be written.
//
// It takes 2 readings a step, and no finer steps than are needed.
func slopes(scales []float64, far float64, read func(dst []reading, h float64) error) ([]slope, error) {
	n := len(scales)
	for i, s := range scales {
		scales[i] = finite(s)
	}
	here, plus, minus := make([]reading, n), make([]reading, n), make([]reading, n)
	central, right, left := make([]extrapolation, n), make([]extrapolation, n), make([]extrapolation, n)
	if err := read(here, 0); err != nil {
		return nil, err
	}
	h := firstStep
	for range steps {
		if err := read(plus, h); err != nil {
			return nil, err
		}
		if err := read(minus, -h); err != nil {
			return nil, err
		}
		done := true
		for i := range n {
			rounding := eps * (ulps*max(here[i].size, plus[i].size, minus[i].size) + far*scales[i]) / h
			central[i].add((plus[i].value-minus[i].value)/(2*h), shrink*shrink, rounding)
			right[i].add((plus[i].value-here[i].value)/h, shrink, 2*rounding)
			left[i].add((here[i].value-minus[i].value)/h, shrink, 2*rounding)
			done = done && central[i].settled(scales[i])
		}
		if done {
			break
		}
		h /= shrink
	}
	all := make([]slope, n)
	for i := range all {
		all[i] = slope{central[i].best, right[i].best, left[i].best, here[i].size}
	}
	return all, nil
}

// An extrapolation is Richardson's table for differences of shrinking steps. The error of a central
// difference is a₁h² + a₂h⁴ + ..., that of a one-sided one a₁h + a₂h² + ...; column j removes the
// first j terms by combining two neighbours of column j-1.
//
// How much a number differs from those it was made of, and from the one before it in its column,
// times safety, bounds its truncation (Ridders 1982, with a third number). Three steps that agree
// by chance, while kinks between them make each wrong, do so to a part δ of their error with
// probability of the order δ²: what is taken for certain to 1e-4 of the scale is wrong less than
// once in 10⁵ times.
type extrapolation struct {
	rows   int
	above  [columns]float64
	before float64 // first column of the row above that
	best   estimate
	since  int // steps after best that brought nothing better
}

// add takes the difference of the next step; its rounding is known, and ratio is that of two
// steps' errors.
func (e *extrapolation) add(difference, ratio, rounding float64) {
	const safety = 10
	if e.rows == 0 {
		e.best = estimate{difference, math.Inf(1)}
	}
	var row [columns]float64
	row[0] = difference
	power := 1.
	for j := range min(e.rows+1, columns) {
		off := max(math.Abs(difference-e.above[0]), math.Abs(difference-e.before))
		if j > 0 {
			power *= ratio
			row[j] = row[j-1] + (row[j-1]-e.above[j-1])/(power-1)
			off = max(math.Abs(row[j]-row[j-1]), math.Abs(row[j]-e.above[j-1]), math.Abs(row[j]-e.above[j]))
		}
		if bound := safety*off + rounding; e.rows >= max(2, j+1) && bound < e.best.allowed {
			e.best, e.since = estimate{row[j], bound}, -1
		}
	}
	e.before, e.above = e.above[0], row
	e.rows++
	e.since++
}

// settled reports whether finer steps would not improve a derivative of this scale: its estimate is
// good enough, or it is good and rounding, most of the differences' error by now, would only grow.
func (e *extrapolation) settled(scale float64) bool {
	scale = max(scale, math.Abs(e.best.value))
	same := e.rows > 2 && e.above[0] == 0 && e.before == 0 // a scalar that does not change
	return same || e.best.allowed <= enough*scale || e.since > 2 && e.best.allowed <= .1*vague*scale
}

// judge compares a derivative of this scale with its slope.
//
// At a kink the loss's own derivative may be that of either side, or one between them, as sums of
// several kinks give.
func (s slope) judge(name string, got, scale float64) Item {
	scale = finite(scale)
	i := Item{Name: name, Entry: -1, Got: got, Want: s.central.value, Allowed: s.central.allowed,
		Scale: max(scale, math.Abs(s.central.value), nothing*s.size)}
	i.Vague = isVague(i.Allowed, i.Scale)
	if i.Err() == nil {
		return i
	}
	low, high := s.left, s.right
	if low.value > high.value {
		low, high = high, low
	}
	sharp := func(e estimate) bool { return !isVague(e.allowed, max(i.Scale, math.Abs(e.value))) }
	near := func(e estimate) bool { return sharp(e) && math.Abs(got-e.value) <= e.allowed }
	between := sharp(low) && sharp(high) && low.value <= got && got <= high.value
	switch {
	case near(low):
		i.Want, i.Allowed = low.value, low.allowed
	case near(high):
		i.Want, i.Allowed = high.value, high.allowed
	case between && high.value-low.value > low.allowed+high.allowed:
		i.Want, i.Allowed = (low.value+high.value)/2, (high.value-low.value)/2
	default:
		return i
	}
	i.Kink, i.Vague = true, false
	return i
}

// finite returns a scale, or 0 for that of a derivative which is NaN or infinite.
func finite(scale float64) float64 {
	if scale <= math.MaxFloat64 {
		return scale
	}
	return 0
}

func isVague(allowed, scale float64) bool {
	return !(allowed <= vague*scale) && (scale > 0 || math.IsInf(allowed, 1))
}

// shifted sets dst = point + h·dir.
func shifted(dst, point []float64, h float64, dir []float64) []float64 {
	for i := range dst {
		dst[i] = point[i] + h*dir[i]
	}
	return dst
}
