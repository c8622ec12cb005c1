package train

import (
	"context"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
)

// A scorer evaluates a model's score on every agent's training and validation examples and on the
// test examples, each set with its own program.
type scorer struct {
	parts []scorePart
	x     []float64 // what programs want besides y; they do not read it
}

type scorePart struct {
	set     int // 0 training, 1 validation, 2 test
	rows    float64
	program *ad.Program
	result  [2]float64
}

func newScorer(t data.Task, m models.Model) (*scorer, error) {
	p, _ := m.Dims()
	s := &scorer{x: make([]float64, p)}
	add := func(set int, e data.Examples) error {
		if e.Len() == 0 {
			return nil
		}
		prog, err := models.NewScore(m, e, false)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, scorePart{set: set, rows: float64(e.Len()), program: prog})
		return nil
	}
	if err := add(2, t.Test); err != nil { // the longest first
		return nil, err
	}
	for _, shard := range t.Shards {
		if err := add(0, shard.Train); err != nil {
			return nil, err
		}
		if err := add(1, shard.Val); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *scorer) score(y []float64) (Scores, error) {
	err := each(context.Background(), len(s.parts), func(i int) error {
		part := &s.parts[i]
		part.result = [2]float64{noScore.Loss, noScore.Accuracy} // what Eval does not write stays unknown
		return part.program.Eval(part.result[:], s.x, y)
	})
	if err != nil {
		return Scores{}, err
	}
	var sum [3][2]float64
	var rows [3]float64
	for _, part := range s.parts {
		rows[part.set] += part.rows
		for j, v := range part.result {
			sum[part.set][j] += float64(v * part.rows)
		}
	}
	of := func(set int) Score {
		if rows[set] == 0 {
			return noScore
		}
		return Score{Loss: sum[set][0] / rows[set], Accuracy: sum[set][1] / rows[set]}
	}
	return Scores{Train: of(0), Val: of(1), Test: of(2)}, nil
}
