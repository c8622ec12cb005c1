package train

import (
	"context"
	"math"
	"slices"
)

// A Pair holds sums over some examples of what two models make of each: losses, right answers (1, or 0), the squares of their
// differences, and the number of examples. Right answers are NaN for models without.
type Pair struct {
	Rows                   float64
	LossA, LossB, Loss2    float64
	RightA, RightB, Right2 float64
}

// A Comparison says how two models a and b do on the same examples of all agents. Changes are b minus a, example by example, so that
// what examples have in common cancels.
type Comparison struct{ Val, Holdout, Test Compared }

// Compared is a Comparison on one set of examples; NaN where there are none, or no answers.
type Compared struct {
	Examples                      int
	LossA, LossB                  float64 // means per example
	LossChange, LossError         float64 // mean of the changes, and its standard error
	AccuracyA, AccuracyB          float64
	AccuracyChange, AccuracyError float64
}

// Compare compares models a and b (of length q) on the validation, held-out and test examples of all agents together. What leaves
// an agent is its part of sums. Without [Problem.Pair] there are no examples.
func (p Problem) Compare(ctx context.Context, a, b []float64) (all Comparison, err error) {
	if p.Pair == nil {
		return all, nil
	}
	g, err := p.group()
	if err != nil {
		return all, err
	}
	c, err := p.compared(ctx, g, a, b, ValSet, HoldoutSet, TestSet)
	if err != nil {
		return all, err
	}
	return Comparison{Val: c[0], Holdout: c[1], Test: c[2]}, nil
}

// compared compares two models on some sets of the examples of all agents together.
func (p Problem) compared(ctx context.Context, g group, a, b []float64, sets ...Set) ([]Compared, error) {
	const each = 8 // numbers of a set: those of Pair, and examples without answers
	total := make([]float64, each*len(sets))
	err := g.numbers(ctx, total, func(i int, part []float64) error {
		for k, set := range sets {
			s, err := p.Pair(i, set, a, b)
			if err != nil {
				return err
			}
			row := []float64{s.Rows, s.LossA, s.LossB, s.Loss2, s.RightA, s.RightB, s.Right2, 0}
			if math.IsNaN(s.RightA) {
				copy(row[4:], []float64{0, 0, 0, s.Rows})
			}
			copy(part[each*k:], row)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]Compared, len(sets))
	for k := range all {
		row, c := total[each*k:][:each], &all[k]
		for j := range row {
			row[j] *= float64(g.n)
		}
		rows := math.Round(row[0])
		c.Examples = int(rows)
		c.LossA, c.LossB, c.LossChange, c.LossError = paired(rows, row[1], row[2], row[3])
		if row[7] > 0 {
			row[4] = math.NaN()
		}
		c.AccuracyA, c.AccuracyB, c.AccuracyChange, c.AccuracyError = paired(rows, math.Round(row[4]), math.Round(row[5]), math.Round(row[6]))
	}
	return all, nil
}

// paired returns the means of n pairs of numbers with sums a and b, the mean of the differences b − a, and its standard error, from
// the sum of the differences' squares.
func paired(n, a, b, squares float64) (meanA, meanB, change, deviation float64) {
	change = (b - a) / n
	variance := max(0, squares/n-change*change) * n / (n - 1)
	return a / n, b / n, change, math.Sqrt(variance / n)
}

// pair is a Problem's Pair.
func (s scorer) pair(i int, set Set, a, b []float64) (p Pair, err error) {
	of := s[i][set]
	if of == nil {
		return p, nil
	}
	lossA, hitsA, err := of.Examples(a)
	if err != nil {
		return p, err
	}
	lossA, hitsA = slices.Clone(lossA), slices.Clone(hitsA)
	lossB, hitsB, err := of.Examples(b)
	if err != nil {
		return p, err
	}
	p.Rows = float64(of.Len())
	p.LossA, p.LossB, p.Loss2 = sums(lossA, lossB)
	if p.RightA, p.RightB, p.Right2 = sums(hitsA, hitsB); hitsA == nil {
		p.RightA, p.RightB, p.Right2 = math.NaN(), math.NaN(), math.NaN()
	}
	return p, nil
}

// sums returns the sums of two lists of numbers and of the squares of their differences.
func sums(a, b []float64) (sumA, sumB, squares float64) {
	for k := range a {
		d := b[k] - a[k]
		sumA, sumB, squares = sumA+a[k], sumB+b[k], squares+float64(d*d)
	}
	return sumA, sumB, squares
}
