package train

import (
	"context"

	"dsbo/data"
	"dsbo/models"
)

// A Score is how well a model does on some examples: their number, the sum of their losses, without regularization, and the
// number of right answers.
type Score struct{ Rows, Losses, Right float64 }

// Loss returns the mean loss per example, NaN where there are no examples.
func (s Score) Loss() float64 { return s.Losses / s.Rows }

// Accuracy returns the share of right answers, NaN where there are no examples or no answers.
func (s Score) Accuracy() float64 { return s.Right / s.Rows }

// Scores are the scores of one y on training, validation and test examples: those of one agent, which has a part of the test
// examples, or of all agents together.
type Scores struct{ Train, Val, Test Score }

// sets returns the scores on training, validation and test examples, in this order.
func (s *Scores) sets() [3]*Score { return [3]*Score{&s.Train, &s.Val, &s.Test} }

// Scores returns the scores of y (length q) on the examples of all agents together; zero scores without [Problem.Score].
func (p Problem) Scores(ctx context.Context, y []float64) (sum Scores, err error) {
	g, err := p.group()
	if err != nil || p.Score == nil {
		return sum, err
	}
	rows, err := g.collect(ctx, 9, func(i int, row []float64) error {
		s, err := p.Score(i, y)
		for k, set := range s.sets() {
			copy(row[3*k:], []float64{set.Rows, set.Losses, set.Right})
		}
		return err
	})
	if err != nil {
		return sum, err
	}
	for _, row := range rows {
		for k, set := range sum.sets() {
			set.Rows += row[3*k]
			set.Losses += row[3*k+1]
			set.Right += row[3*k+2]
		}
	}
	return sum, nil
}

// newScorer returns a Problem's Score, which runs one program of the model for each set of examples.
func newScorer(t data.Task, m models.Model, g group) (func(i int, y []float64) (Scores, error), error) {
	agents := make([][3]*models.Score, g.n) // training, validation and test examples; nil where there are none
	for _, i := range g.local {
		test, err := t.TestPart(i)
		if err != nil {
			return nil, err
		}
		for k, e := range [3]data.Examples{t.Shards[i].Train, t.Shards[i].Val, test} {
			if e.Len() == 0 {
				continue
			}
			if agents[i][k], err = models.NewScore(m, e, false); err != nil {
				return nil, err
			}
		}
	}
	return func(i int, y []float64) (all Scores, err error) {
		for k, score := range all.sets() {
			of := agents[i][k]
			if of == nil {
				continue
			}
			losses, right, err := of.Sums(y)
			if err != nil {
				return all, err
			}
			*score = Score{Rows: float64(of.Len()), Losses: losses, Right: right}
		}
		return all, nil
	}, nil
}
