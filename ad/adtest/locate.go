package adtest

import "math"

// A variable is x or y: the point that a loss is measured at, as far as it concerns this variable.
type variable struct {
	at    []float64
	value func(at []float64) (float64, error)
	grad  func(dst, at []float64) error
}

// variables returns x and y.
func (m *measure) variables() (x, y variable) {
	l := m.l
	x = variable{m.x, func(at []float64) (float64, error) { return l.Value(at, m.y) },
		func(dst, at []float64) error { return l.Grad(dst, nil, at, m.y) }}
	y = variable{m.y, func(at []float64) (float64, error) { return l.Value(m.x, at) },
		func(dst, at []float64) error { return l.Grad(nil, dst, m.x, at) }}
	return x, y
}

// locate replaces what is wrong in r along a direction by the derivative's worst entry, where that
// alone is wrong beyond doubt.
func (m *measure) locate(r Report) error {
	x, y := m.variables()
	gradXAlongY := func(dst, at []float64) error { return m.l.Grad(dst, nil, m.x, at) }
	for k, i := range r {
		if i.Err() == nil || i.Vague {
			continue
		}
		found, err := i, error(nil)
		switch i.Name {
		case gradientX:
			found, err = m.gradientEntry(i, x)
		case gradientY:
			found, err = m.gradientEntry(i, y)
		case hvp:
			found, err = m.productEntry(i, m.l.HVP, y.grad, len(m.y))
		case jvp:
			found, err = m.productEntry(i, m.l.JVP, gradXAlongY, len(m.x))
		}
		if err != nil {
			return err
		}
		r[k] = found
	}
	return nil
}

// gradientEntry looks for a wrong entry by halving the range of a direction that sees it, and
// returns along if it finds none.
func (m *measure) gradientEntry(along Item, v variable) (Item, error) {
	n := len(v.at)
	g, random := make([]float64, n), m.direction(n)
	if err := v.grad(g, v.at); err != nil {
		return along, err
	}
	compare := func(d []float64) (Item, error) {
		got := weighted(g, d)
		s, err := slopes([]float64{got.size}, norm(v.at), func(dst []reading, h float64) error {
			value, err := v.value(shifted(m.at[:n], v.at, h, d))
			dst[0] = reading{value, math.Abs(value)}
			return err
		})
		if err != nil {
			return along, err
		}
		return s[0].judge(along.Name, got.value, got.size), nil
	}
	from, to := 0, n
	for to-from > 1 {
		middle := (from + to) / 2
		half := make([]float64, n)
		copy(half[from:middle], random[from:middle])
		switch i, err := compare(half); {
		case err != nil:
			return along, err
		case i.wrong():
			to = middle
		default:
			from = middle
		}
	}
	axis := make([]float64, n)
	axis[from] = 1
	i, err := compare(axis)
	if i.Entry = from; err != nil || !i.wrong() {
		return along, err
	}
	return i, nil
}

// productEntry looks for a wrong entry of a product (n numbers) among those that differ most from
// differences of the gradient along y, and returns along if it finds none.
func (m *measure) productEntry(along Item, product func(dst, x, y, v []float64) error,
	grad func(dst, y []float64) error, n int) (Item, error) {
	got, plus, minus, v := make([]float64, n), make([]float64, n), make([]float64, n), m.direction(len(m.y))
	if err := product(got, m.x, m.y, v); err != nil {
		return along, err
	}
	for h := firstStep; h > 1e-8; h /= 64 {
		if err := grad(plus, shifted(m.at[:len(m.y)], m.y, h, v)); err != nil {
			return along, err
		}
		if err := grad(minus, shifted(m.at[:len(m.y)], m.y, -h, v)); err != nil {
			return along, err
		}
		worst, most := 0, -1.
		for i := range got {
			off := math.Abs(got[i] - (plus[i]-minus[i])/(2*h))
			if math.IsNaN(off) {
				off = math.Inf(1)
			}
			if off > most {
				worst, most = i, off
			}
		}
		s, err := slopes([]float64{math.Abs(got[worst])}, norm(m.y), func(dst []reading, h float64) error {
			err := grad(plus, shifted(m.at[:len(m.y)], m.y, h, v))
			dst[0] = reading{plus[worst], math.Abs(plus[worst])}
			return err
		})
		if err != nil {
			return along, err
		}
		if i := s[0].judge(along.Name, got[worst], math.Abs(got[worst])); i.wrong() {
			i.Entry = worst
			return i, nil
		}
	}
	return along, nil
}
