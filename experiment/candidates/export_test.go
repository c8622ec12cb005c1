package candidates

import (
	"context"

	"dsbo/internal/num"
)

// Steps returns how many steps of a chain a structure is from one penalty for all.
func (st *Structure) Steps() int { return st.steps }

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
	return st.penalties[k], st.from.part(s.fit, k)
}

// Whole returns a structure's model of all examples.
func (st *Structure) Whole() []float64 { return st.all }

// Promise returns how much the loss of the mean would fall by other shares.
func (s *Structures) Promise() (float64, error) {
	logs := make([]float64, len(s.List))
	for m, st := range s.List {
		logs[m] = num.Log(max(float64(st.Share), 1e-300))
	}
	at, err := s.shared(logs)
	if err != nil {
		return 0, err
	}
	return newDownhill(at).promise(), nil
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
	alone, _, err = f.losses(m.Y)
	return float64(m.Phi), m.gradient, alone, err
}
