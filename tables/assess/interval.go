package assess

import (
	"math"

	"dsbo/internal/num"
)

// An Interval is a measure with the ends of its interval of 95 %, over the draw of the examples by
// which it is measured. All are NaN where nothing was measured.
type Interval struct{ Value, Low, High float64 }

// unknown is what was not measured.
func unknown() Interval { return Interval{math.NaN(), math.NaN(), math.NaN()} }

// within cuts the interval at bounds of the measure.
func (i Interval) within(low, high float64) Interval {
	return Interval{i.Value, max(i.Low, low), min(i.High, high)}
}

// through maps the interval by an ascending function.
func (i Interval) through(of func(float64) float64) Interval {
	return Interval{of(i.Value), of(i.Low), of(i.High)}
}

// mean returns a mean by the sums of n numbers and of their squares.
func mean(numbers, squares, n float64) Interval {
	if n == 0 {
		return unknown()
	}
	m := numbers / n
	e := float64(num.Normal95 * math.Sqrt(max(0, squares/n-float64(m*m))/max(n-1, 1)))
	return Interval{m, m - e, m + e}
}

// meanSize returns the mean of n numbers from 0, whose sum and sum of squares are the first
// two sums.
func meanSize(sums []float64, n float64) Interval {
	return mean(sums[0], sums[1], n).within(0, math.Inf(1))
}

// share returns the share of k of n, in Wilson's interval.
func share(k, n float64) Interval {
	if n == 0 {
		return unknown()
	}
	const z2 = num.Normal95 * num.Normal95
	p := k / n
	middle := (p + z2/(2*n)) / (1 + z2/n)
	half := float64(num.Normal95 / (1 + z2/n) * math.Sqrt(float64(p*(1-p))/n+z2/(4*float64(n*n))))
	return Interval{p, max(0, middle-half), min(1, middle+half)}
}

// logit returns a share with an error, in the interval that is symmetric in its log-odds.
func logit(p, e float64) Interval {
	if p <= 0 || p >= 1 {
		return Interval{p, max(0, p-float64(num.Normal95*e)), min(1, p+float64(num.Normal95*e))}
	}
	odds, reach := p/(1-p), num.Exp(num.Normal95*e/(p*(1-p)))
	low, high := odds/reach, float64(odds*reach)
	return Interval{p, low / (1 + low), 1 - 1/(1+high)}
}
