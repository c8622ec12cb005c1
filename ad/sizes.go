package ad

// Sizes are the derivatives of one loss for any number of examples: a program for each number of
// rows that is met, such as a last batch that is shorter, all with the memory of one [Workspace].
// They belong to one goroutine at a time.
type Sizes struct {
	loss Loss
	of   map[int]*Derivs
}

// NewSizes returns the derivatives of a loss whose Rows does not count, none of which is compiled
// yet.
func NewSizes(l Loss) *Sizes {
	if l.Workspace == nil {
		l.Workspace = new(Workspace)
	}
	return &Sizes{l, map[int]*Derivs{}}
}

// Derivs returns the derivatives for a number of rows, compiled at the first call for it. It has
// the errors of [Compile].
func (s *Sizes) Derivs(rows int) (d *Derivs, err error) {
	if d = s.of[rows]; d == nil {
		l := s.loss
		l.Rows = rows
		if d, err = Differentiate(l); err != nil {
			return nil, err
		}
		s.of[rows] = d
	}
	return d, nil
}
