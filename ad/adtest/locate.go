package adtest

// A part is a derivative at the point of a measure, whose entries, weighted by d, are seen by
// differences along a line.
type part struct {
	n     int                                           // entries
	along func(h float64, d []float64) (reading, error) // a scalar whose slope is d times the derivative
	far   float64                                       // size of the entries of what moves
}

// part returns the derivative of a name, products along v.
func (m *measure) part(name string, v []float64) part {
	x, y := m.x, m.y
	n, slopes := len(x), m.dx
	switch name {
	case gradientX:
		return part{n, func(h float64, d []float64) (reading, error) {
			return m.value(shifted(m.at[:len(x)], x, h, d), y)
		}, norm(x)}
	case gradientY:
		return part{len(y), func(h float64, d []float64) (reading, error) {
			return m.value(x, shifted(m.at[:len(y)], y, h, d))
		}, norm(y)}
	case hvp:
		n, slopes = len(y), m.dy
	}
	return part{n, func(h float64, d []float64) (reading, error) {
		err := m.l.Grad(m.dx, m.dy, x, shifted(m.at[:len(y)], y, h, v))
		return weighted(slopes, d), err
	}, norm(y)}
}

// locate replaces what is wrong in r along a direction by a wrong entry of the derivative, where
// that alone is wrong beyond doubt.
func (m *measure) locate(r Report) error {
	v := m.direction(len(m.y))
	for k, i := range r {
		if i.Err() == nil || i.Vague || i.Name == adjoint || i.Name == symmetry {
			continue
		}
		found, err := m.wrongEntry(i, v)
		if err != nil {
			return err
		}
		r[k] = found
	}
	return nil
}

// wrongEntry looks for a wrong entry by halving the range of a direction that sees it, and returns
// seen if it finds none. It takes some dozens of readings for each halving.
func (m *measure) wrongEntry(seen Item, v []float64) (Item, error) {
	p := m.part(seen.Name, v)
	g, random := make([]float64, p.n), m.direction(p.n)
	if err := derivative(seen.Name, m.l, g, m.x, m.y, v); err != nil {
		return seen, err
	}
	compare := func(d []float64) (Item, error) {
		got := weighted(g, d)
		s, err := slopes([]float64{got.size}, p.far, func(dst []reading, h float64) (err error) {
			dst[0], err = p.along(h, d)
			return err
		})
		if err != nil {
			return seen, err
		}
		return s[0].judge(seen.Name, got.value, got.size), nil
	}
	from, to := 0, p.n
	for to-from > 1 {
		middle := (from + to) / 2
		half := make([]float64, p.n)
		copy(half[from:middle], random[from:middle])
		switch i, err := compare(half); {
		case err != nil:
			return seen, err
		case i.wrong():
			to = middle
		default:
			from = middle
		}
	}
	axis := make([]float64, p.n)
	axis[from] = 1
	i, err := compare(axis)
	if i.Entry = from; err != nil || !i.wrong() {
		return seen, err
	}
	return i, nil
}
