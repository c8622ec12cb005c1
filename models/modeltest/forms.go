package modeltest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// shape compares the size of y as a matrix with q.
func (s *subject) shape(m models.Shaper) error {
	if rows, cols := m.Shape(); rows < 1 || cols < 1 || rows*cols != s.q {
		return fmt.Errorf("the shape of y must have q = %d entries; it is %d×%d", s.q, rows, cols)
	}
	return nil
}

// layers follows the layers from the features to the outputs.
func (s *subject) layers(m models.Layered) error {
	in := s.s.Train.X.Cols()
	for i, l := range m.Layers() {
		size := l.Out * l.In
		if l.Bias {
			size += l.Out
		}
		if l.In != in || l.Out < 1 || l.Offset < 0 || l.Offset+size > s.q {
			return fmt.Errorf(
				"layer %d must take %d numbers and have its weights within y's %d; it takes %d, and has %d "+
					"weights from %d on",
				i, in, s.q, l.In, size, l.Offset)
		}
		in = l.Out
	}
	return nil
}

// start writes the model's Start and StartX over the point, and checks that the lower loss is
// finite there, as every method begins there.
func (s *subject) start() error {
	x, y, _ := s.point()
	stx, hasX := s.m.(models.XStarter)
	if hasX {
		if err := s.writeStart(x, stx.StartX); err != nil {
			return fmt.Errorf("x: %w", err)
		}
	}
	st, hasY := s.m.(models.Starter)
	if hasY {
		if err := s.writeStart(y, st.Start); err != nil {
			return err
		}
	}
	if !hasX && !hasY {
		return nil
	}
	o, g := s.oracle(models.Config{}), make([]float64, s.q)
	_, lower := testkit.Get2(o.Values(x, y, whole))
	testkit.OK(o.LowerGrad(g, x, y, whole))
	if math.IsNaN(lower) || math.IsInf(lower, 0) || !linalg.AllFinite(g) {
		return fmt.Errorf("the lower loss and its gradient must be finite at the start; the loss is %g", lower)
	}
	return nil
}

// writeStart writes a start to dst and checks that it is finite and the same when it is written
// over zeros, where dst had other values.
func (s *subject) writeStart(dst []float64, start func([]float64)) error {
	again := make([]float64, len(dst))
	start(dst)
	start(again)
	if !linalg.AllFinite(again) {
		return errors.New("the start is not finite")
	}
	if !slices.Equal(dst, again) {
		return errors.New("two starts differ: a start is the same for all agents and overwrites what was there")
	}
	return nil
}

// meaning counts the entries of x that are said to be pictures.
func (s *subject) meaning(m models.Meant) error {
	w := m.Meaning()
	if w.Symbol == "" || w.One == "" || w.Many == "" {
		return fmt.Errorf("a meaning must have a symbol and words for one entry and for several; it is %+v", w)
	}
	if w.Pictures < 0 || w.Pictures > 0 && (w.Rows < 1 || w.Cols < 1) || w.Pictures*w.Rows*w.Cols > s.p {
		return fmt.Errorf("pictures must be of x's %d entries; there are %d of %d×%d", s.p, w.Pictures, w.Rows, w.Cols)
	}
	return nil
}

// baselines checks that each baseline has a name and finite hyperparameters, as many as its model
// takes.
func (s *subject) baselines(m models.Baselined) error {
	list := m.Baselines()
	if len(list) == 0 {
		return errors.New("there must be at least one baseline; there is none")
	}
	for _, b := range list {
		of := b.Of
		if of == nil {
			of = s.m
		}
		if p, _ := of.Dims(); b.Name == "" || len(b.X) != p || !linalg.AllFinite(b.X) {
			return fmt.Errorf("baseline %q must have a name and %d finite hyperparameters; it has %d",
				b.Name, p, len(b.X))
		}
	}
	return nil
}

// simpler gives a simpler model the same examples.
func (s *subject) simpler(m models.Simplified) error {
	name, simpler := m.Simpler()
	if name == "" || simpler == nil {
		return fmt.Errorf("a simpler model must have a name, and be there; it is %q, %T", name, simpler)
	}
	if _, err := models.NewOracle(simpler, s.s, models.Config{}); err != nil {
		return fmt.Errorf("the simpler model %q must take the same examples: %w", name, err)
	}
	return nil
}
