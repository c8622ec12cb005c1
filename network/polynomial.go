package network

import (
	"context"
	"math"
	"slices"

	"dsbo/internal/num"
)

// averageByMix is Average by the polynomial of W.
func (a *Averager) averageByMix(ctx context.Context, dst, src []float64) error {
	a.mixture = slices.Grow(a.mixture[:0], len(src))[:len(src)]
	copy(dst, src)
	for _, root := range a.averages.roots {
		if err := a.mix(ctx, a.mixture, dst, 0, nil); err != nil {
			return err
		}
		for i, t := range a.mixture {
			dst[i] = (t - float64(root*dst[i])) / (1 - root)
		}
	}
	return nil
}

// distinctValues returns descending eigenvalues, those that differ by rounding only as one.
func distinctValues(eigenvalues []float64) []float64 {
	return slices.CompactFunc(slices.Clone(eigenvalues), func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
}

// lejaOrder returns the roots of a polynomial in an order in which the product of some of its
// factors is nowhere much larger than it must be: first the root farthest from 1, then each time
// that with the largest product of distances to those before.
func lejaOrder(roots []float64) []float64 {
	var order []float64
	logs := make([]float64, len(roots)) // logarithms of the products, as there may be many
	for i, r := range roots {
		logs[i] = num.Log(1 - r)
	}
	rest := slices.Clone(roots)
	for len(rest) > 0 {
		best := 0
		for i := range rest {
			if logs[i] > logs[best] {
				best = i
			}
		}
		chosen := rest[best]
		order = append(order, chosen)
		rest, logs = slices.Delete(rest, best, best+1), slices.Delete(logs, best, best+1)
		for i, r := range rest {
			logs[i] += num.Log(math.Abs(r - chosen))
		}
	}
	return order
}
