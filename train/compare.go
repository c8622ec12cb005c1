package train

import (
	"context"
	"math"
	"slices"
)

// Pairs are the comparisons of two models a and b on one agent's validation, held-out and test examples.
type Pairs struct{ Val, Holdout, Test Pair }

// sets returns the pairs on validation, held-out and test examples, in this order.
func (p *Pairs) sets() [3]*Pair { return [3]*Pair{&p.Val, &p.Holdout, &p.Test} }

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

// sets returns the comparisons on validation, held-out and test examples, in this order.
func (c *Comparison) sets() [3]*Compared { return [3]*Compared{&c.Val, &c.Holdout, &c.Test} }

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
func (p Problem) Compare(ctx context.Context, a, b []float64) (Comparison, error) {
	var sum Pairs
	var all Comparison
	const each = 8 // numbers of a set: those of Pair, and examples without answers
	total := make([]float64, each*len(sum.sets()))
	g, err := p.group()
	if err == nil && p.Pair != nil {
		err = g.numbers(ctx, total, func(i int, part []float64) error {
			pairs, err := p.Pair(i, a, b)
			for k, s := range pairs.sets() {
				row := []float64{s.Rows, s.LossA, s.LossB, s.Loss2, s.RightA, s.RightB, s.Right2, 0}
				if math.IsNaN(s.RightA) {
					copy(row[4:], []float64{0, 0, 0, s.Rows})
				}
				copy(part[each*k:], row)
			}
			return err
		})
	}
	if err != nil {
		return all, err
	}
	for k, c := range all.sets() {
		row := total[each*k:][:each]
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
func (s scorer) pair(i int, a, b []float64) (all Pairs, err error) {
	for k, set := range all.sets() {
		of := s[i][k+1] // no training examples
		if of == nil {
			continue
		}
		lossA, hitsA, err := of.Examples(a)
		if err != nil {
			return all, err
		}
		lossA, hitsA = slices.Clone(lossA), slices.Clone(hitsA)
		lossB, hitsB, err := of.Examples(b)
		if err != nil {
			return all, err
		}
		set.Rows = float64(of.Len())
		set.LossA, set.LossB, set.Loss2 = sums(lossA, lossB)
		if set.RightA, set.RightB, set.Right2 = sums(hitsA, hitsB); hitsA == nil {
			set.RightA, set.RightB, set.Right2 = math.NaN(), math.NaN(), math.NaN()
		}
	}
	return all, nil
}

// sums returns the sums of two lists of numbers and of the squares of their differences.
func sums(a, b []float64) (sumA, sumB, squares float64) {
	for k := range a {
		d := b[k] - a[k]
		sumA, sumB, squares = sumA+a[k], sumB+b[k], squares+float64(d*d)
	}
	return sumA, sumB, squares
}
