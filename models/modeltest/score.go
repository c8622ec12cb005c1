package modeltest

import (
	"fmt"
	"math"

	"dsbo/data"
	"dsbo/internal/must"
	"dsbo/models"
)

// score holds the score to its word on both sets: finite losses, hits from 0 to 1, those of an example the same whoever is in the batch,
// and losses that are those of Upper.
func (s *subject) score() error {
	if _, ok := s.m.(models.Scorer); !ok {
		return nil
	}
	x, y, _ := s.point()
	for _, e := range []data.Examples{s.s.Train, s.s.Val} {
		losses, hits := must.Get2(must.Get(models.NewScore(s.m, e, false)).Examples(x, y))
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
		// One example alone has the same score: losses are of examples, not of batches.
		for _, i := range []int{0, e.Len() - 1} {
			alone, _ := must.Get2(must.Get(models.NewScore(s.m, pickRows(e, []int{i}), false)).Examples(x, y))
			if math.Abs(alone[0]-losses[i]) > 1e-12*max(1, math.Abs(losses[i])) {
				return fmt.Errorf("the score's loss of example %d is %g, and %g where it is the only one", i, losses[i], alone[0])
			}
		}
	}
	return s.scoreIsUpper(x, y)
}

// scoreIsUpper compares how Upper differs between two halves of the examples with how the scores do, both at y less at another point:
// what does not depend on the examples, or not on y, cancels.
func (s *subject) scoreIsUpper(x, y []float64) error {
	upper := s.sides()[1]
	half := upper.on.Len() / 2
	if upper.on.Weight != nil || half == 0 {
		return nil
	}
	_, other, _ := s.point()
	var loss, score, size float64
	for k, sign := range []float64{1, -1} {
		e := firstRows(upper.on, k*half, half)
		d, each := s.differentiate(upper, e, false), must.Get(models.NewScore(s.m, e, false))
		for _, at := range []struct {
			y    []float64
			sign float64
		}{{y, sign}, {other, -sign}} {
			value := must.Get(d.Value(x, at.y))
			sum, _ := must.Get2(each.Sums(x, at.y))
			loss += at.sign * value
			score += at.sign * sum / float64(half)
			size = max(size, math.Abs(value), math.Abs(sum))
		}
	}
	mean, sum := math.Abs(loss-score), math.Abs(loss-float64(half)*score)
	if !(min(mean, sum) <= 1e-10*size) {
		return fmt.Errorf("the upper loss must be the mean or the sum of the score's losses, up to terms without examples; "+
			"between two halves of these and two points it changes by %g, their mean by %g", loss, score)
	}
	return nil
}
