package train

import (
	"context"
	"math"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
)

// A Score of some examples is how many they are, the sum of their losses, without regularization, and how many answers are right.
type Score struct{ Rows, Losses, Right float64 }

// Loss returns the mean loss per example, NaN where there are no examples.
func (s Score) Loss() float64 { return s.Losses / s.Rows }

// Accuracy returns the share of right answers, NaN where there are no examples or no answers.
func (s Score) Accuracy() float64 { return s.Right / s.Rows }

// Scores are those of one y: of one agent, on its training and validation examples and on its part of the test examples, or of
// all agents together.
type Scores struct{ Train, Val, Test Score }

func (s *Scores) sets() [3]*Score { return [3]*Score{&s.Train, &s.Val, &s.Test} }

// Scores returns how good y (length q) is on the examples of all agents together; it is zero without [Problem.Score].
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

// A scorer computes scores by the programs of a model, one for each set of examples.
type scorer struct {
	programs [][3]*ad.Program // by agent: training, validation and test examples; nil where there are none
	rows     [][3]int
	x        []float64 // the x that programs take besides y; they do not read it
}

func newScorer(t data.Task, m models.Model, g group) (*scorer, error) {
	p, _ := m.Dims()
	s := &scorer{programs: make([][3]*ad.Program, g.n), rows: make([][3]int, g.n), x: make([]float64, p)}
	for _, i := range g.local {
		test, err := t.TestPart(i)
		if err != nil {
			return nil, err
		}
		for set, e := range [3]data.Examples{t.Shards[i].Train, t.Shards[i].Val, test} {
			if s.rows[i][set] = e.Len(); e.Len() == 0 {
				continue
			}
			if s.programs[i][set], err = models.NewScore(m, e, false); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// score is a Problem's Score.
func (s *scorer) score(i int, y []float64) (all Scores, err error) {
	for k, set := range all.sets() {
		rows := float64(s.rows[i][k])
		if rows == 0 {
			continue
		}
		result := []float64{math.NaN(), math.NaN()} // what Eval does not write stays unknown
		if err := s.programs[i][k].Eval(result, s.x, y); err != nil {
			return all, err
		}
		*set = Score{Rows: rows, Losses: result[0] * rows, Right: math.Round(result[1] * rows)}
	}
	return all, nil
}
