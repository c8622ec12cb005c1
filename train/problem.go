package train

import (
	"fmt"
	"math"

	"dsbo"
	"dsbo/data"
	"dsbo/models"
)

// A Problem is what a run solves: any oracles will do, whatever is behind them. [NewProblem] makes one of
// a model and data.
type Problem struct {
	Oracles []dsbo.Oracle // one an agent
	// Evaluate is asked for everything that evaluation needs, on all examples (dsbo.Whole), one an agent; nil: there is no
	// exact Φ. It may be the same oracles.
	Evaluate []dsbo.ValueOracle
	Start    []float64 // start of every agent's y, length q; nil: 0
	// Score says how good y is on the union of the agents' training and validation examples and on
	// the test examples; nil: there is no such thing.
	Score func(y []float64) (Scores, error)
}

// A Score is the mean loss per example, without regularization, and the share of right answers; NaN
// where there is no such thing.
type Score struct{ Loss, Accuracy float64 }

// Scores are those of one y.
type Scores struct{ Train, Val, Test Score }

var noScore = Score{math.NaN(), math.NaN()}

// Dims returns p and q, or an error that matches [dsbo.ErrShape] if the parts do not fit together.
func (p Problem) Dims() (int, int, error) {
	if len(p.Oracles) == 0 {
		return 0, 0, fmt.Errorf("%w: a problem without oracles: want one for each agent", dsbo.ErrShape)
	}
	np, nq := p.Oracles[0].Dims()
	for i, o := range p.Oracles {
		if a, b := o.Dims(); a != np || b != nq {
			return 0, 0, fmt.Errorf("%w: the oracle of agent %d has p=%d, q=%d, that of agent 0 has %d and %d: want the same", dsbo.ErrShape, i, a, b, np, nq)
		}
	}
	if p.Evaluate != nil && len(p.Evaluate) != len(p.Oracles) {
		return 0, 0, fmt.Errorf("%w: %d oracles for evaluation of %d agents: want one for each, or none", dsbo.ErrShape, len(p.Evaluate), len(p.Oracles))
	}
	if p.Start != nil && len(p.Start) != nq {
		return 0, 0, fmt.Errorf("%w: a start of %d numbers: want q = %d", dsbo.ErrShape, len(p.Start), nq)
	}
	return np, nq, nil
}

// NewProblem makes the problem of a model on the data of all agents. c.Agent is set for each agent.
// Evaluation computes in float64 whatever c says.
func NewProblem(t data.Task, m models.Model, c models.Config) (Problem, error) {
	var prob Problem
	if err := t.Validate(); err != nil {
		return prob, err
	}
	for i, s := range t.Shards {
		c.Agent = i
		o, err := models.NewOracle(m, s, c)
		if err != nil {
			return Problem{}, err
		}
		prob.Oracles = append(prob.Oracles, o)
		if c.Float32 {
			double := c
			double.Float32 = false
			if o, err = models.NewOracle(m, s, double); err != nil {
				return Problem{}, err
			}
		}
		prob.Evaluate = append(prob.Evaluate, o)
	}
	if st, ok := m.(models.Starter); ok {
		_, q := m.Dims()
		prob.Start = make([]float64, q)
		st.Start(prob.Start)
	}
	if _, ok := m.(models.Scorer); ok {
		s, err := newScorer(t, m)
		if err != nil {
			return Problem{}, err
		}
		prob.Score = s.score
	}
	return prob, nil
}
