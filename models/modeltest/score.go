package modeltest

import (
	"fmt"
	"math"

	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// score checks the score on both sets: losses are finite, hits are in [0, 1], a loss belongs to its
// example and not to the batch, and the losses are Upper's terms.
func (s *subject) score(models.Scorer) error {
	x, y, _ := s.point()
	for _, e := range []data.Examples{s.s.Train, s.s.Val} {
		losses, hits := testkit.Get2(testkit.Get(models.NewScore(s.m, e, false)).Examples(x, y))
		for i, l := range losses {
			if math.IsNaN(l) || math.IsInf(l, 0) {
				return fmt.Errorf("the score's loss of example %d is %g", i, l)
			}
		}
		for i, h := range hits {
			if !(h >= 0 && h <= 1) {
				return fmt.Errorf("the score's hits must be from 0 to 1; that of example %d is %g", i, h)
			}
		}
		if err := scoreOfExamples(s, e, x, y, losses); err != nil {
			return err
		}
	}
	return scoreIsUpper(s, x, y)
}

// scoreOfExamples returns an error if an example's loss in the score changes when it is the only
// example. If the upper loss is no sum of terms of single examples, as with batch statistics, the
// losses must instead be equal when each example occurs twice, in another order.
func scoreOfExamples(s *subject, e data.Examples, x, y, losses []float64) error {
	if s.joint() { // with more examples risk sets are larger
		return nil
	}
	where, lists := "where it is the only one", [][]int{{0}, {e.Len() - 1}}
	if !s.separates(s.sides()[1], x, y) {
		both := make([]int, 2*e.Len())
		for k := range both {
			both[k] = e.Len() - 1 - k%e.Len()
		}
		where, lists = "where each example is there twice", [][]int{both}
	}
	for _, list := range lists {
		again, _ := testkit.Get2(testkit.Get(models.NewScore(s.m, pickRows(e, list), false)).Examples(x, y))
		for k, i := range list {
			// Statistics are sums over the examples, whose rounding a small variance enlarges.
			if math.Abs(again[k]-losses[i]) > 1e-12*float64(len(list))*max(1, math.Abs(losses[i])) {
				return fmt.Errorf("the score's loss of example %d is %g, and %g %s", i, losses[i], again[k], where)
			}
		}
	}
	return nil
}

// scoreIsUpper compares the difference of Upper between two halves of the examples with the
// difference of the scores. Both are taken less their value at another y, so that terms without
// examples, and terms without y, cancel.
func scoreIsUpper(s *subject, x, y []float64) error {
	upper := s.sides()[1]
	half := upper.on.Len() / 2
	if upper.on.Weight != nil || half == 0 {
		return nil
	}
	_, other, _ := s.point()
	var loss, score, size float64
	factor := 1.0
	if of, ok := s.m.(models.Restrained); ok {
		factor = of.Restraint().Factor(x)
	}
	for k, sign := range []float64{1, -1} {
		e := firstRows(upper.on, k*half, half)
		d, each := s.differentiate(upper, e, false), testkit.Get(models.NewScore(s.m, e, false))
		for _, at := range []struct {
			y    []float64
			sign float64
		}{{y, sign}, {other, -sign}} {
			value := testkit.Get(d.Value(x, at.y)) / factor
			sum, _ := testkit.Get2(each.Sums(x, at.y))
			loss += at.sign * value
			score += at.sign * sum / float64(half)
			size = max(size, math.Abs(value), math.Abs(sum))
		}
	}
	mean, sum := math.Abs(loss-score), math.Abs(loss-float64(half)*score)
	if !(min(mean, sum) <= 1e-10*size) {
		return fmt.Errorf(
			"the upper loss must be the mean or the sum of the score's losses, up to terms without examples; "+
				"between two halves of these and two points it changes by %g, their mean by %g", loss, score)
	}
	return nil
}
