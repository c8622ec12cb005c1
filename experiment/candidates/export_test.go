package candidates

import (
	"context"
)

// From returns the name of the structure whose weights shape this one's penalties.
func (st *Structure) From() string {
	if st.from == nil {
		return ""
	}
	return st.from.Name
}

// PenaltiesOf returns a structure's log-penalties of part k at strength 0, and the weights that
// shape them.
func (s *Structures) PenaltiesOf(st *Structure, k int) (penalties, weights []float64) {
	if st.from != nil {
		weights, _ = s.fit.Model.Fold(st.from.y, k)
	}
	return st.penalties[k], weights
}

// AtBlocks returns the loss of blocks' penalties with its prior, its gradient, and the loss alone.
func (c CrossFit) AtBlocks(ctx context.Context, theta []float64, strength float64) (loss float64, gradient []float64,
	alone float64, err error) {
	f, err := c.newCrossFit(ctx)
	if err != nil {
		return 0, nil, 0, err
	}
	m, err := f.atBlocks(new(Structure), theta, strength, nil, nil)
	if err != nil {
		return 0, nil, 0, err
	}
	t, err := f.judge(m.Y)
	return float64(m.Phi), m.gradient, t.loss, err
}

// RowWeights returns how much a row that an example stands for weighs, of each agent's validation
// examples.
func (c CrossFit) RowWeights(ctx context.Context) ([][]float64, error) {
	f, err := c.newCrossFit(ctx)
	if err != nil {
		return nil, err
	}
	return f.weights, nil
}

// Strongest returns the λ from which on there are no weights with α = 1.
func (s *SparseProblem) Strongest() float64 { return s.largest }

// Judged returns the cross-fitted loss of the models of all parts.
func (c CrossFit) Judged(ctx context.Context, y []float64) (float64, error) {
	f, err := c.newCrossFit(ctx)
	if err != nil {
		return 0, err
	}
	t, err := f.judge(y)
	return t.loss, err
}

// Wrong returns the share of the rows whose class the models of the parts get wrong.
func (c CrossFit) Wrong(ctx context.Context, y []float64) (float64, error) {
	f, err := c.newCrossFit(ctx)
	if err != nil {
		return 0, err
	}
	t, err := f.judge(y)
	return t.wrong, err
}

// Sparse returns the problem of the models of all parts, and u where it begins.
func (c CrossFit) Sparse(ctx context.Context) (*SparseProblem, []float64, error) {
	return NewSparse(ctx, c.Problem, c.Data.Shards, c.Model, nil)
}
