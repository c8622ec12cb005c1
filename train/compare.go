package train

import (
	"context"
	"math"
	"slices"

	"dsbo"
	"dsbo/network/collective"
	"dsbo/runs"
)

// Compare compares model m of the problem with model a of another one, or of the same, on the test,
// held-out and validation examples of all agents together, as far as there are some: both problems
// are of the same examples. Changes are m's minus a's, example by example, so that what examples
// have in common cancels. What leaves an agent is its part of sums. Without [Problem.Each] there
// are no gains.
func (p Problem) Compare(ctx context.Context, m Fit, against Problem, a Fit) (gains []runs.Gain, err error) {
	if p.Each == nil || against.Each == nil {
		return nil, nil
	}
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	all, err := p.compareSets(ctx, g.Group, m, against, a, ValSet, HoldoutSet, TestSet)
	for k, name := range []string{runs.Validation, runs.HeldOut, runs.Test} {
		if err == nil && all[k].Examples > 0 {
			all[k].Set = name
			gains = slices.Insert(gains, 0, all[k])
		}
	}
	return gains, err
}

// compareSets compares two models on some sets of the examples of all agents together.
func (p Problem) compareSets(ctx context.Context, g *collective.Group, m Fit, against Problem, a Fit,
	sets ...Set) ([]runs.Gain, error) {
	const each = 8 // numbers of a set: the numbers of pairSums, and examples without answers
	total := make([]float64, each*len(sets))
	err := g.MeanNumbers(ctx, total, func(i int, part []float64) error {
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
	all := make([]runs.Gain, len(sets))
	for k := range all {
		row, gain := total[each*k:][:each], &all[k]
		for j := range row {
			row[j] *= float64(g.N())
		}
		rows := math.Round(row[0])
		gain.Examples = int(rows)
		gain.LossAgainst, gain.Loss, gain.LossChange, gain.LossError = pairStatistics(rows, row[1], row[2], row[3])
		if row[7] > 0 {
			row[4], row[5], row[6] = math.NaN(), math.NaN(), math.NaN()
		}
		gain.AccuracyAgainst, gain.Accuracy, gain.AccuracyChange, gain.AccuracyError = pairStatistics(rows,
			math.Round(row[4]), math.Round(row[5]), math.Round(row[6]))
	}
	return all, nil
}

// pairStatistics returns the means of n pairs of numbers with sums a and b, the mean of the
// differences b − a, and its standard error, from the sum of the differences' squares.
func pairStatistics(n, a, b, squares float64) (meanA, meanB, change, deviation runs.Number) {
	mean := (b - a) / n
	variance := max(0, squares/n-float64(mean*mean)) * n / (n - 1)
	return runs.Number(a / n), runs.Number(b / n), runs.Number(mean), runs.Number(math.Sqrt(variance / n))
}

// pairSums returns sums over a set of agent i's examples of what models a and b make of each:
// examples; losses of a, of b, and the squares of their differences; the same of right answers;
// examples without answers.
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
		return row, dsbo.ShapeErrorf("models must be compared on the same examples; agent %d has %d and %d",
			i, len(lossA), len(lossB))
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
