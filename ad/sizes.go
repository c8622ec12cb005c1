package ad

import "dsbo"

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

// ExampleGrads writes the gradients by y of the losses of single examples, rows of the tables that
// the loss's inputs are bound to by name, to dst, a row of Q numbers each. Inputs that are no batch
// are bound to the whole of their tables. The loss of one example is the loss's value on a batch of
// it alone. Cost: a gradient on one row for each.
func (s *Sizes) ExampleGrads(dst, x, y []float64, tables map[string]*Table, rows []int) error {
	d, err := s.Derivs(1)
	if err != nil {
		return err
	}
	if len(dst) != len(rows)*s.loss.Q {
		return dsbo.ShapeErrorf("gradients of %d examples must have %d numbers; len(dst)=%d", len(rows),
			len(rows)*s.loss.Q, len(dst))
	}
	for i := range rows {
		for _, in := range s.loss.Inputs {
			var row []int
			if in.Batch {
				row = rows[i : i+1]
			}
			if err := d.Bind(in.Name, tables[in.Name], row); err != nil {
				return err
			}
		}
		if err := d.Grad(nil, dst[i*s.loss.Q:][:s.loss.Q], x, y); err != nil {
			return err
		}
	}
	return nil
}
