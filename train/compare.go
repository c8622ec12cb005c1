package train

import (
	"context"
	"math"
	"slices"

	"dsbo"
)

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

// Compare compares model m of the problem with model a of another one, or of the same, on the validation, held-out and test examples of
// all agents together: both problems are of the same examples. What leaves an agent is its part of sums. Without [Problem.Each] there
// are no examples.
func (p Problem) Compare(ctx context.Context, m Fit, against Problem, a Fit) (all Comparison, err error) {
	if p.Each == nil || against.Each == nil {
		return all, nil
	}
	g, err := p.group()
	if err != nil {
		return all, err
	}
	c, err := p.compareSets(ctx, g, m, against, a, ValSet, HoldoutSet, TestSet)
	if err != nil {
		return all, err
	}
	return Comparison{Val: c[0], Holdout: c[1], Test: c[2]}, nil
}

// compareSets compares two models on some sets of the examples of all agents together.
func (p Problem) compareSets(ctx context.Context, g group, m Fit, against Problem, a Fit, sets ...Set) ([]Compared, error) {
	const each = 8 // numbers of a set: those of pairSums, and examples without answers
	total := make([]float64, each*len(sets))
	err := g.meanNumbers(ctx, total, func(i int, part []float64) error {
		for k, set := range sets {
			row, err := pairSums(i, set, against, a, p, m)
			if err != nil {
				return err
			}
			copy(part[each*k:], row[:])
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
		c.LossA, c.LossB, c.LossChange, c.LossError = pairStatistics(rows, row[1], row[2], row[3])
		if row[7] > 0 {
			row[4] = math.NaN()
		}
		c.AccuracyA, c.AccuracyB, c.AccuracyChange, c.AccuracyError = pairStatistics(rows, math.Round(row[4]), math.Round(row[5]), math.Round(row[6]))
	}
	return all, nil
}

// pairStatistics returns the means of n pairs of numbers with sums a and b, the mean of the differences b − a, and its standard error, from
// the sum of the differences' squares.
func pairStatistics(n, a, b, squares float64) (meanA, meanB, change, deviation float64) {
	change = (b - a) / n
	variance := max(0, squares/n-float64(change*change)) * n / (n - 1)
	return a / n, b / n, change, math.Sqrt(variance / n)
}

// pairSums returns sums over a set of agent i's examples of what models a and b make of each: examples; losses of a, of b, and the squares
// of their differences; the same of right answers; examples without answers.
func pairSums(i int, set Set, of Problem, a Fit, other Problem, b Fit) (row [8]float64, err error) {
	losses, hits, err := of.Each(i, set, a)
	if err != nil {
		return row, err
	}
	lossA, hitsA := slices.Clone(losses), slices.Clone(hits)
	lossB, hitsB, err := other.Each(i, set, b)
	if err != nil {
		return row, err
	}
	if len(lossA) != len(lossB) {
		return row, dsbo.Errorf(dsbo.ErrShape, "models must be compared on the same examples; agent %d has %d and %d", i, len(lossA), len(lossB))
	}
	row[0] = float64(len(lossA))
	row[1], row[2], row[3] = pairTotals(lossA, lossB)
	if hitsA == nil || hitsB == nil {
		row[7] = row[0]
		return row, nil
	}
	row[4], row[5], row[6] = pairTotals(hitsA, hitsB)
	return row, nil
}

// pairTotals returns the sums of two lists of numbers and of the squares of their differences.
func pairTotals(a, b []float64) (sumA, sumB, squares float64) {
	for k := range a {
		d := b[k] - a[k]
		sumA, sumB, squares = sumA+a[k], sumB+b[k], squares+float64(d*d)
	}
	return sumA, sumB, squares
}
