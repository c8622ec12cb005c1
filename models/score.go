package models

import (
	"math"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// A Score evaluates a model's loss and hit on each of some examples. It belongs to one goroutine at
// a time.
type Score struct {
	programs *Programs // with the memory of sums
	program  *ad.Program
	rows     int
	of       data.Examples
	values   int       // number of values of program: one or two for each example
	each     []float64 // losses, then hits; nil before the first call of Examples
}

// NewScore returns the score of model m on all examples of e. It shares no program with other
// scores; see [Programs.Score].
func NewScore(m Model, e data.Examples, float32 bool) (*Score, error) {
	p := NewPrograms(m)
	return p.Score(e, float32, p.Workspace())
}

// Score returns the model's score on all examples of e, with memory in w, which scores of one
// goroutine may share. It fails with [dsbo.ErrCapability] if the model is no [Scorer], and with
// [dsbo.ErrShape] if its Score has not one entry for each example.
func (p *Programs) Score(e data.Examples, float32 bool, w *ad.Workspace) (*Score, error) {
	scorer, ok := p.model.(Scorer)
	if !ok {
		return nil, dsbo.Errorf(dsbo.ErrCapability, "model %T has no Score", p.model)
	}
	rows := e.Len()
	f, err := p.compileAll(scoreForm, e, float32, w, func(x, y *ad.Node, b Batch) (vectors []*ad.Node, err error) {
		losses, hits := scorer.Score(x, y, b)
		if vectors = []*ad.Node{losses}; hits != nil {
			vectors = append(vectors, hits)
		}
		for _, v := range vectors {
			if v == nil { // compiling returns the error of nil losses
				continue
			}
			if shape := v.Shape(); len(shape) != 1 || shape[0] != rows {
				err = dsbo.ShapeErrorf(
					"the Score of model %T must have an entry for each of %d examples; its shape is %v",
					p.model, rows, shape)
			}
		}
		return vectors, err
	})
	if err != nil {
		return nil, err
	}
	return &Score{programs: p, program: f.program, rows: rows, of: e, values: f.values * rows}, nil
}

// Len returns the number of examples.
func (s *Score) Len() int { return s.rows }

// Rows returns the number of rows that an example represents, see [data.Examples].
func (s *Score) Rows(example int) float64 { return s.of.Rows(example) }

// Examples returns, for x of length p and y of length q, the loss of each example in the order of
// the rows, and 1 for each right prediction, 0 for each wrong one (nil for a model without
// classes). Both are views that the next call overwrites. The cost is half a gradient.
func (s *Score) Examples(x, y []float64) (losses, hits []float64, err error) {
	if s.each == nil {
		s.each = make([]float64, s.values)
	}
	return s.write(s.each, x, y)
}

// write is Examples, with views of dst.
func (s *Score) write(dst, x, y []float64) (losses, hits []float64, err error) {
	if err := s.program.Eval(dst, x, y); err != nil {
		return nil, nil, err
	}
	if s.values > s.rows {
		hits = dst[s.rows:]
	}
	return dst[:s.rows:s.rows], hits, nil
}

// AllRows returns how many rows all examples together represent.
func (s *Score) AllRows() (n float64) {
	for k := range s.rows {
		n += s.Rows(k)
	}
	return n
}

// Sums returns the sum of the losses and the number of right predictions, NaN for a model
// without classes, of all rows that the examples represent.
func (s *Score) Sums(x, y []float64) (losses, right float64, err error) {
	scratch := s.programs.scratch(s.values)
	defer s.programs.vectors.Add(scratch)
	each, hits, err := s.write(*scratch, x, y)
	for k, l := range each { // empty after an error
		losses += float64(s.Rows(k) * l)
	}
	if hits == nil {
		return losses, math.NaN(), err
	}
	for k, h := range hits {
		right += float64(s.Rows(k) * h)
	}
	return losses, right, err
}
