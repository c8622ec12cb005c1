package adtest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Compare compares got's value and derivatives at (x, y) with want's and fails t with the table of all if
// an entry differs by more than tol of the derivative's largest entry. A tol of 1e-4 shows whether a float32 loss is the
// float64 one.
func Compare(t testing.TB, got, want Loss, x, y []float64, tol float64) {
	t.Helper()
	r, err := Differences(got, want, x, y, tol)
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Errorf("adtest: %v\n%v", err, r)
	}
}

// Differences is [Compare] without a test.
func Differences(got, want Loss, x, y []float64, tol float64) (Report, error) {
	m := &measure{x: x, y: y, rng: rand.New(rand.NewPCG(1, 2))}
	v := m.direction(len(y))
	for _, d := range []struct {
		name string
		n    int
		of   func(l Loss, dst []float64) error
	}{
		{"value", 1, func(l Loss, dst []float64) (err error) { dst[0], err = l.Value(x, y); return err }},
		{"∇_x", len(x), func(l Loss, dst []float64) error { return l.Grad(dst, nil, x, y) }},
		{"∇_y", len(y), func(l Loss, dst []float64) error { return l.Grad(nil, dst, x, y) }},
		{"HVP (∇²_yy)v", len(y), func(l Loss, dst []float64) error { return l.HVP(dst, x, y, v) }},
		{"JVP (∇²_xy)v", len(x), func(l Loss, dst []float64) error { return l.JVP(dst, x, y, v) }},
	} {
		a, b := make([]float64, d.n), make([]float64, d.n)
		m.noteError(d.of(got, a))
		m.noteError(d.of(want, b))
		if m.err != nil {
			break
		}
		m.report = append(m.report, largestDifference(d.name, a, b, tol))
	}
	return m.report, m.err
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
