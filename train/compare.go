package train

import (
	"context"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
	"dsbo/runs"
)

// Compare compares model m of the problem with model a of another problem on the same examples: the
// test, held-out and validation examples of all agents together, as far as they exist. Changes are
// m's minus a's, example by example, so that variation common to both cancels from the standard
// error. An agent sends only its terms of sums. Without [Problem.Each] there are no gains.
func (p Problem) Compare(ctx context.Context, m Fit, against Problem, a Fit) (gains []runs.Gain, err error) {
	if p.Each == nil || against.Each == nil {
		return nil, nil
	}
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	all, err := p.compareSets(ctx, "losses of two models", g, m, against, a, ValSet, HoldoutSet, TestSet)
	for k, name := range []string{runs.Validation, runs.HeldOut, runs.Test} {
		if err == nil && all[k].Examples > 0 {
			all[k].Set = name
			gains = slices.Insert(gains, 0, all[k]) // test examples first
		}
	}
	return gains, err
}

// The numbers that a comparison has of a set of examples, by their places.
const (
	compareRows    = 0 // rows that the examples represent
	compareLosses  = 1 // three, of pairTotals
	compareHits    = 4 // likewise of right answers
	compareMissing = 7 // rows without answers
	compareLength  = 8
)

// compareSets compares two models on some sets of the examples of all agents together.
func (p Problem) compareSets(ctx context.Context, name string, g *network.Group, m Fit, against Problem, a Fit,
	sets ...Set) ([]runs.Gain, error) {
	total := make([]float64, compareLength*len(sets))
	err := g.MeanNumbers(ctx, name, total, func(i int, part []float64) error {
		for k, set := range sets {
			row, err := pairSums(i, set, against, a, p, m)
			if err != nil {
				return err
			}
			copy(part[compareLength*k:], row[:])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]runs.Gain, len(sets))
	for k := range all {
		row, gain := total[compareLength*k:][:compareLength], &all[k]
		linalg.Scale(row, float64(g.N()), row) // sums
		rows, hits := nearWhole(row[compareRows]), row[compareHits:compareMissing]
		gain.Examples = int(math.Round(rows))
		gain.LossAgainst, gain.Loss, gain.LossChange, gain.LossError = pairStatistics(rows,
			row[compareLosses:compareHits])
		for j, right := range hits {
			if hits[j] = nearWhole(right); row[compareMissing] > 0 { // an agent has no answers
				hits[j] = math.NaN()
			}
		}
		gain.AccuracyAgainst, gain.Accuracy, gain.AccuracyChange, gain.AccuracyError = pairStatistics(rows, hits)
	}
	return all, nil
}

// pairStatistics returns the means of n pairs of numbers, the mean of the differences, and its
// standard error, from pairTotals.
func pairStatistics(n float64, totals []float64) (meanA, meanB, change, deviation runs.Number) {
	a, b := totals[0], totals[1]
	mean := (b - a) / n
	variance := max(0, totals[2]/n-float64(mean*mean)) * n / (n - 1) // rounding may leave less than 0
	return runs.Number(a / n), runs.Number(b / n), runs.Number(mean), runs.Number(math.Sqrt(variance / n))
}

// pairSums returns sums over a set of agent i's examples that compare models a and b, indexed by
// the constants above. The models must have results for the same number of examples. Each returns
// views that its next call overwrites, so the first model's are copied.
func pairSums(i int, set Set, of Problem, a Fit, other Problem, b Fit) (row [compareLength]float64, err error) {
	first, err := of.Each(i, set, a)
	if err != nil {
		return row, err
	}
	first.Losses, first.Hits = slices.Clone(first.Losses), slices.Clone(first.Hits)
	second, err := other.Each(i, set, b)
	if err != nil {
		return row, err
	}
	if len(first.Losses) != len(second.Losses) {
		return row, dsbo.ShapeErrorf("models must be compared on the same examples; agent %d has %d and %d",
			i, len(first.Losses), len(second.Losses))
	}
	for k := range first.Losses {
		row[compareRows] += first.Rows(k)
	}
	pairTotals(row[compareLosses:], first.Losses, second.Losses, first.Rows)
	if first.Hits == nil || second.Hits == nil {
		row[compareMissing] = row[compareRows]
	} else {
		pairTotals(row[compareHits:], first.Hits, second.Hits, first.Rows)
	}
	return row, nil
}

// pairTotals adds the sums of a, of b, and of the squares of their differences to the first three
// totals. An example counts rows(example) times.
func pairTotals(totals, a, b []float64, rows func(example int) float64) {
	for k := range a {
		n, d := rows(k), b[k]-a[k]
		totals[0], totals[1] = totals[0]+float64(n*a[k]), totals[1]+float64(n*b[k])
		totals[2] += float64(n * d * d)
	}
}
