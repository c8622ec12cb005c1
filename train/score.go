package train

import (
	"context"
	"math"

	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/models"
	"dsbo/network"
)

// Scores returns the scores of a model on the examples of all agents together; zero scores
// without [Problem.Score].
func (p Problem) Scores(ctx context.Context, m Fit) (sum Scores, err error) {
	g, err := p.group()
	if err != nil {
		return sum, err
	}
	return p.scores(ctx, g, m)
}

// Losses returns f(x, y) and g(x, y) of a model, the averaged losses on all examples; NaN
// without [Problem.Evaluate].
func (p Problem) Losses(ctx context.Context, m Fit) (upper, lower float64, err error) {
	if p.Evaluate == nil {
		return math.NaN(), math.NaN(), nil
	}
	g, err := p.group()
	if err != nil {
		return 0, 0, err
	}
	var both [2]float64
	err = g.MeanNumbers(ctx, "training and validation loss", both[:], func(i int, part []float64) (err error) {
		part[0], part[1], err = p.Evaluate[i].Values(m.X, m.Y, allExamples)
		return err
	})
	return both[0], both[1], err
}

// scores is Scores by way of a group. An agent's counts and sums leave it as a part of an
// average alone.
func (p Problem) scores(ctx context.Context, g *network.Group, m Fit) (sum Scores, err error) {
	if p.Score == nil {
		return sum, nil
	}
	const each = 4 // numbers of a set: its examples, losses, right answers, and examples without answers
	all := make([]float64, each*len(sum.sets()))
	err = g.MeanNumbers(ctx, "losses and right answers", all, func(i int, part []float64) error {
		s, err := p.Score(i, m)
		for k, set := range s.sets() {
			row := part[each*k:][:each]
			copy(row, []float64{set.Rows, set.Losses, set.Right, 0})
			if math.IsNaN(set.Right) { // counted separately, as a NaN would spoil the average
				row[2], row[3] = 0, set.Rows
			}
		}
		return err
	})
	if err != nil {
		return sum, err
	}
	linalg.Scale(all, float64(g.N()), all) // sums
	for k, set := range sum.sets() {
		row := all[each*k:][:each]
		*set = Score{Rows: nearWhole(row[0]), Losses: row[1], Right: nearWhole(row[2])}
		if row[3] > 0 {
			set.Right = math.NaN()
		}
	}
	return sum, nil
}

// nearWhole returns the whole number that a sum of counts is, but for the rounding of averages; of
// counts that are not whole the sum.
func nearWhole(sum float64) float64 {
	if whole := math.Round(sum); math.Abs(sum-whole) <= 1e-6*max(1, whole) {
		return whole
	}
	return sum
}

// A scorer has the programs of a model's scores for this process's agents, which each predict with
// a level of their own where the model has levels.
type scorer []struct {
	sets   [allSets]*models.Score // nil where there are no examples
	levels *models.Levels
}

// newScorer makes a model's scores, one for each set of examples. The scorers of an agent share
// a workspace.
func newScorer(t data.Task, programs *models.Programs, local []int) (scorer, error) {
	s := make(scorer, len(t.Shards))
	for _, i := range local {
		test, err := t.TestPart(i)
		if err != nil {
			return nil, err
		}
		shard, memory := t.Shards[i], programs.Workspace()
		if s[i].levels, err = programs.Levels(shard.Train, memory); err != nil {
			return nil, err
		}
		for k, e := range [allSets]data.Examples{shard.Train, shard.Val, shard.Holdout, test} {
			if e.Len() == 0 {
				continue
			}
			// in float64, whatever the run computes in
			if s[i].sets[k], err = programs.Score(e, false, memory); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// score is a Problem's Score.
func (s scorer) score(i int, m Fit) (all Scores, err error) {
	y, err := s[i].levels.Own(m.X, m.Y)
	if err != nil {
		return all, err
	}
	for k, score := range all.sets() {
		of := s[i].sets[k]
		if of == nil {
			continue
		}
		losses, right, err := of.Sums(m.X, y)
		if err != nil {
			return all, err
		}
		*score = Score{Rows: of.AllRows(), Losses: losses, Right: right}
	}
	return all, nil
}

// examples is a Problem's Each.
func (s scorer) examples(i int, set Set, m Fit) (each Each, err error) {
	of := s[i].sets[set]
	if of == nil {
		return each, nil
	}
	y, err := s[i].levels.Own(m.X, m.Y)
	if err == nil {
		each.Losses, each.Hits, err = of.Examples(m.X, y)
	}
	each.rows = of.Rows
	return each, err
}
