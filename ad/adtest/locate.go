package adtest

import "slices"

// locate replaces what is wrong in r along a direction by a wrong entry of the derivative, where
// that alone is wrong beyond doubt.
func (m *measure) locate(r Report) error {
	for k, i := range r {
		if !i.wrong() || i.Name == adjoint || i.Name == symmetry {
			continue
		}
		u, v, w := m.directions()
		entry, err := m.wrongEntry(map[string][]float64{gradientX: u, gradientY: v, hvp: w, jvp: u}[i.Name],
			func() (Item, error) {
				r, err := m.round(u, v, w)
				if err != nil {
					return i, err
				}
				return r[k], nil
			})
		if err != nil {
			return err
		}
		if entry.wrong() {
			r[k] = entry
		}
	}
	return nil
}

// wrongEntry looks for a wrong entry by halving the range of the weights of all entries, by which
// seen compares them. It takes a round for each halving.
func (m *measure) wrongEntry(weights []float64, seen func() (Item, error)) (Item, error) {
	all := slices.Clone(weights)
	from, to := 0, len(all)
	for to-from > 1 {
		middle := (from + to) / 2
		clear(weights)
		copy(weights[from:middle], all[from:middle])
		i, err := seen()
		if err != nil {
			return i, err
		}
		if i.wrong() {
			to = middle
		} else {
			from = middle
		}
	}
	clear(weights)
	weights[from] = 1
	i, err := seen()
	i.Entry = from
	return i, err
}
