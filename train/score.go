package train

import (
	"context"
	"math"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
)

// A Score is the mean loss per example, without regularization, and the share of right answers; NaN
// where there is no such thing.
type Score struct{ Loss, Accuracy float64 }

// Scores are those of one y, on the union of what all agents have of each set.
type Scores struct{ Train, Val, Test Score }

// A Tally is what one agent adds to the scores of a y: sums over its training and validation examples and over
// its part of the test examples.
type Tally struct{ Train, Val, Test Sums }

// Sums are over some examples: how many they are, their losses and their right answers.
type Sums struct{ Rows, Loss, Right float64 }

const tallyLen = 9

func (t *Tally) sets() [3]*Sums { return [3]*Sums{&t.Train, &t.Val, &t.Test} }

func (t *Tally) pack() []float64 {
	var row []float64
	for _, s := range t.sets() {
		row = append(row, s.Rows, s.Loss, s.Right)
	}
	return row
}

// Scores says how good y is, as all agents together find; NaN without [Problem.Tally].
func (p Problem) Scores(ctx context.Context, y []float64) (Scores, error) {
	g, err := p.group()
	if err != nil {
		return Scores{}, err
	}
	unknown := Score{math.NaN(), math.NaN()}
	if p.Tally == nil {
		return Scores{unknown, unknown, unknown}, nil
	}
	rows := g.rows(tallyLen, func(int) []float64 { return make([]float64, tallyLen) })
	err = g.each(ctx, func(i int) error {
		t, err := p.Tally(i, y)
		copy(rows[i], t.pack())
		return err
	})
	if err != nil {
		return Scores{}, err
	}
	if err := g.gather(ctx, rows); err != nil {
		return Scores{}, err
	}
	var sum [tallyLen]float64
	for _, row := range rows {
		for j, v := range row {
			sum[j] += v
		}
	}
	of := func(set int) Score {
		s := sum[3*set:]
		if s[0] == 0 {
			return unknown
		}
		return Score{Loss: s[1] / s[0], Accuracy: s[2] / s[0]}
	}
	return Scores{Train: of(0), Val: of(1), Test: of(2)}, nil
}

// A scorer finds tallies by a model's score, each set with its own program.
type scorer struct {
	programs [][3]*ad.Program // by agent: training, validation and test examples; nil where there are none
	rows     [][3]int
	x        []float64 // what programs want besides y; they do not read it
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

// tally is a Problem's Tally.
func (s *scorer) tally(i int, y []float64) (t Tally, err error) {
	for set, sums := range t.sets() {
		rows := float64(s.rows[i][set])
		if rows == 0 {
			continue
		}
		result := []float64{math.NaN(), math.NaN()} // what Eval does not write stays unknown
		if err := s.programs[i][set].Eval(result, s.x, y); err != nil {
			return t, err
		}
		*sums = Sums{Rows: rows, Loss: result[0] * rows, Right: math.Round(result[1] * rows)}
	}
	return t, nil
}
