package models

import (
	"math"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// A Score says how well a model does on each of some examples. It belongs to one goroutine at a time.
type Score struct {
	program *ad.Program
	rows    int
	hits    bool
	values  []float64 // losses, then hits
}

// NewScore compiles the score of model m on all examples of e. It fails with [dsbo.ErrCapability] if m is no [Scorer], and with
// [dsbo.ErrShape] if m's Score has not one entry for each example.
func NewScore(m Model, e data.Examples, float32 bool) (*Score, error) {
	scorer, ok := m.(Scorer)
	if !ok {
		return nil, dsbo.Errorf(dsbo.ErrCapability, "model %T has no Score", m)
	}
	ex, err := newExamples(e, float32)
	if err != nil {
		return nil, err
	}
	p, q := m.Dims()
	s := &Score{rows: ex.rows}
	var vectors []*ad.Node
	s.program, err = ex.compile(p, q, ex.rows, float32, nil, func(x, y *ad.Node, b Batch) []*ad.Node {
		losses, hits := scorer.Score(x, y, b)
		vectors = []*ad.Node{losses}
		if s.hits = hits != nil; s.hits {
			vectors = append(vectors, hits)
		}
		return vectors
	})
	if err != nil {
		return nil, err
	}
	for _, v := range vectors {
		if shape := v.Shape(); len(shape) != 1 || shape[0] != s.rows {
			return nil, dsbo.Errorf(dsbo.ErrShape, "the Score of model %T must have an entry for each of %d examples; its shape is %v", m, s.rows, shape)
		}
	}
	s.values = make([]float64, len(vectors)*s.rows)
	return s, ex.bind(s.program, nil)
}

// Len returns the number of examples.
func (s *Score) Len() int { return s.rows }

// Examples returns, for x of length p and y of length q, the loss of each example in the order of the rows, and 1 for each right prediction, 0 for
// each wrong one (nil for a model without classes). Both are views that the next call overwrites. The cost is half a gradient.
func (s *Score) Examples(x, y []float64) (losses, hits []float64, err error) {
	if err := s.program.Eval(s.values, x, y); err != nil {
		return nil, nil, err
	}
	if s.hits {
		hits = s.values[s.rows:]
	}
	return s.values[:s.rows:s.rows], hits, nil
}

// Sums returns the sum of the losses and the number of right predictions, NaN for a model without classes.
func (s *Score) Sums(x, y []float64) (losses, right float64, err error) {
	each, hits, err := s.Examples(x, y)
	for _, l := range each {
		losses += l
	}
	if hits == nil {
		return losses, math.NaN(), err
	}
	for _, h := range hits {
		right += h
	}
	return losses, right, err
}
