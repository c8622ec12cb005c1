package adtest

import (
	"math"
	"testing"
)

// Compare compares got's value and derivatives at (x, y) with want's and fails t with the table of
// all if an entry differs by more than tol of the derivative's largest entry. A tol of 1e-4 shows
// whether a float32 loss is the float64 one.
//
// Where an entry differs by more, want is asked again as close to (x, y) as tol/64 of each of their
// entries: what changes there, as across a kink of ReLU, got may be off by too, 8 times.
func Compare(t testing.TB, got, want Loss, x, y []float64, tol float64) {
	t.Helper()
	r, err := Differences(got, want, x, y, tol)
	r.failTest(t, err)
}

// Differences is [Compare] without a test. If a difference is too large, it also measures the
// change of want's derivative over tol/64 around (x, y): a point that close to a kink explains the
// difference.
func Differences(got, want Loss, x, y []float64, tol float64) (Report, error) {
	m := newMeasure(want, x, y)
	v := m.direction(len(y))
	var r Report
	for _, d := range []struct {
		name string
		n    int
	}{{value, 1}, {gradientX, len(x)}, {gradientY, len(y)}, {hvp, len(y)}, {jvp, len(x)}} {
		if d.n == 0 { // there is no x
			continue
		}
		a, b := make([]float64, d.n), make([]float64, d.n)
		if err := derivative(d.name, got, a, x, y, v); err != nil {
			return nil, err
		}
		if err := derivative(d.name, want, b, x, y, v); err != nil {
			return nil, err
		}
		i := largestDifference(d.name, a, b, tol)
		if i.wrong() {
			change, err := m.change(a, b, tol/64,
				func(dst, x, y []float64) error { return derivative(d.name, want, dst, x, y, v) })
			if err != nil {
				return nil, err
			}
			i.Allowed += 8 * change
			i.Kink = i.Err() == nil
			i.Vague = i.Allowed > i.Scale
		}
		r = append(r, i)
	}
	return r, nil
}

// derivative writes a derivative of l, by its name, to dst, products along v.
func derivative(name string, l Loss, dst, x, y, v []float64) (err error) {
	switch name {
	case value:
		dst[0], err = l.Value(x, y)
		return err
	case gradientX:
		return l.Grad(dst, nil, x, y)
	case gradientY:
		return l.Grad(nil, dst, x, y)
	case hvp:
		return l.HVP(dst, x, y, v)
	}
	return l.JVP(dst, x, y, v)
}

// largestDifference reports the entry in which a and b differ most.
func largestDifference(name string, a, b []float64, tol float64) Item {
	i := Item{Name: name, Got: a[0], Want: b[0], Scale: norm(b)}
	for j := range a {
		if off := math.Abs(a[j] - b[j]); off > math.Abs(i.Got-i.Want) || math.IsNaN(off) {
			i.Entry, i.Got, i.Want = j, a[j], b[j]
		}
	}
	i.Allowed = tol * i.Scale
	return i
}

// change returns the largest difference between f here, which is known, and at two points on
// opposite sides of here, whose entries differ from these by at most a part of themselves. scratch
// has f's length.
func (m *measure) change(scratch, here []float64, part float64, f func(dst, x, y []float64) error) (float64, error) {
	dx, dy := m.direction(len(m.x)), m.direction(len(m.y))
	x, y := make([]float64, len(dx)), make([]float64, len(dy))
	most := 0.
	for _, side := range []float64{part, -part} {
		for i, d := range dx {
			x[i] = m.x[i] * (1 + side*d)
		}
		for i, d := range dy {
			y[i] = m.y[i] * (1 + side*d)
		}
		if err := f(scratch, x, y); err != nil {
			return 0, err
		}
		for i, v := range scratch {
			most = max(most, math.Abs(v-here[i]))
		}
	}
	return most, nil
}
