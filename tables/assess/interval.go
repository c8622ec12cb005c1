package assess

import (
	"math"

	"dsbo/internal/num"
)

// An Interval is a measure with the ends of its interval of 95 %, over the draw of the examples by
// which it is measured. All are NaN where nothing was measured, and the ends where there are too
// few examples.
type Interval struct{ Value, Low, High float64 }

// unknown is what was not measured.
func unknown() Interval { return Interval{math.NaN(), math.NaN(), math.NaN()} }

// through maps the interval by an ascending function.
func (i Interval) through(of func(float64) float64) Interval {
	return Interval{of(i.Value), of(i.Low), of(i.High)}
}

// fewestOfKind is the least number of examples of a class, and of the other classes, for an
// interval: if none of so few is unlikely, the share of unlikely ones is unknown.
const fewestOfKind = 10

// ifEnough returns the interval without its ends where one of the kinds of examples is rare.
func (i Interval) ifEnough(kinds ...float64) Interval {
	for _, n := range kinds {
		if n < fewestOfKind {
			i.Low, i.High = math.NaN(), math.NaN()
		}
	}
	return i
}

// student95 is how many errors an interval of 95 % reaches to either side, where the error is by
// n numbers.
func student95(n float64) float64 { return num.StudentQuantile(0.975, int(n)-1) }

// A jackknife has of some measures how they change where an example is left out: each is the
// logarithm of a sum, or of a ratio of two, and has the sum of its changes and the sum of
// their squares.
type jackknife []float64

// add adds to measure k by how much its logarithm changes without one of some rows that are alike.
func (j jackknife) add(k int, change, rows float64) {
	j[2*k] += float64(rows * change)
	j[2*k+1] += float64(rows * change * change)
}

// error returns the error of the logarithm of measure k of n examples: the jackknife's, raised by
// 1/√n. Without the raise, intervals of 75 errors with Laplace's tails, or Student's with 5 degrees
// of freedom, cover the truth in 91 to 92 % of draws.
func (j jackknife) error(k int, n float64) float64 {
	sum, squares := j[2*k], j[2*k+1]
	return (1 + 1/math.Sqrt(n)) * math.Sqrt((n-1)/n*max(0, squares-float64(sum*sum)/n))
}

// around returns a measure above 0 in the interval that is symmetric in its logarithm.
func (j jackknife) around(value float64, k int, n float64) Interval {
	if value == 0 {
		return Interval{0, math.NaN(), math.NaN()}
	}
	factor := num.Exp(min(float64(student95(n)*j.error(k, n)), mostReach))
	return Interval{value, value / factor, float64(value * factor)}
}

// explained returns 1 − ratio, where measure k is the ratio.
func (j jackknife) explained(ratio float64, k int, n float64) Interval {
	i := j.around(ratio, k, n)
	return Interval{1 - i.Value, 1 - i.High, 1 - i.Low}
}

// mostReach bounds the logarithms by which intervals reach, which are infinite where one example
// has all of a sum.
const mostReach = 100

// without returns log(1 − part/whole): by how much the logarithm of a sum changes without a part of
// it. It has a bound where the part is all.
func without(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return num.Log(max(1-part/whole, 1e-300))
}

// share returns the proportion k/n in Wilson's interval with continuity correction (Newcombe 1998,
// method 4), which covers the truth for rare events too. The upper end for k is the lower end for
// the n − k others, from 1. At k = 0 and k = n one end is exact.
func share(k, n float64) Interval {
	if n == 0 {
		return unknown()
	}
	const z, z2 = num.Normal95, num.Normal95 * num.Normal95
	low := func(k float64) float64 {
		p := k / n
		root := math.Sqrt(max(0, z2-2-1/n+float64(4*p*(n-k+1))))
		return max(0, (2*k+z2-1-float64(z*root))/(2*(n+z2)))
	}
	i := Interval{k / n, 0, 1}
	if k > 0 {
		i.Low = low(k)
	}
	if k < n {
		i.High = 1 - low(n-k)
	}
	return i
}

// logit returns a share p in the interval that reaches by e to either side of its log-odds.
func logit(p, e float64) Interval {
	odds, reach := p/(1-p), num.Exp(min(e, mostReach))
	low, high := odds/reach, float64(odds*reach)
	return Interval{p, low / (1 + low), 1 - 1/(1+high)}
}

// errors are the sums behind the errors of measures of residuals: the jackknife's, and the number,
// squares and fourth powers of the residuals, which detect rare large ones.
type errors struct {
	jackknife
	tail []float64 // behind the jackknife, in one list
}

// newErrors returns sums of 0 for a number of measures.
func newErrors(measures int) errors {
	all := make([]float64, 2*measures+3)
	return errors{all[:2*measures], all[2*measures:]}
}

// Errors returns the sums, to be replaced by their sums over all sites.
func (s errors) Errors() []float64 { return s.jackknife[:len(s.jackknife)+len(s.tail)] }

// addTail counts the residual of some rows.
func (s errors) addTail(e, rows float64) {
	square := float64(e * e)
	for k, v := range [...]float64{1, square, square * square} {
		s.tail[k] += float64(rows * v)
	}
}

// heavyTail is the kurtosis above which residuals have heavy tails: 3 of normal ones, 6 of
// Laplace's distribution.
const heavyTail = 4

// HeavyTailed reports whether rare residuals are so large that an interval of the mean of squares,
// or of a measure made of it, may miss the truth: a sample without them does not show them.
// Training examples count as well.
func (s errors) HeavyTailed() bool {
	return s.tail[0]*s.tail[2] > heavyTail*float64(s.tail[1]*s.tail[1])
}
