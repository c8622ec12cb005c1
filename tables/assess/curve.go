package assess

import (
	"cmp"
	"math"
	"slices"

	"dsbo/internal/num"
)

// steps is the Kaplan-Meier curve of a site's rows: share[k] from times[k] on, and 1 before
// times[0].
type steps struct {
	times, share []float64
	spread       []float64 // Greenwood's sum, the variance of the curve's logarithm
}

// KaplanMeier returns the survival curve of rows; times are negative where they are censored, and
// rows[i] is the number of rows that row i represents. Where d of the n rows at risk have their
// event at a time, the curve is multiplied by (n − d)/n, and Greenwood's sum grows by d/(n (n −
// d)). With censored, events and censoring change roles; events at a time of censoring come first,
// so that they are no longer at risk of it.
func KaplanMeier(times, rows []float64, censored bool) (s steps) {
	order := indices(len(times))
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(times[i]), math.Abs(times[j])) })
	left, share, spread := sum(rows), 1.0, 0.0 // left: rows at risk
	for at := 0; at < len(order); {
		t, ends := math.Abs(times[order[at]]), [2]float64{} // rows that end at t: censored, events
		for ; at < len(order) && math.Abs(times[order[at]]) == t; at++ {
			k := 0
			if isEvent(times[order[at]]) {
				k = 1
			}
			ends[k] += rows[order[at]]
		}
		n, d := left, ends[1]
		if censored {
			n, d = left-ends[1], ends[0]
		}
		if left -= ends[0] + ends[1]; d > 0 {
			share *= (n - d) / n
			spread += d / (n * (n - d))
			s.times, s.share, s.spread = append(s.times, t), append(s.share, share), append(s.spread, spread)
		}
	}
	return s
}

// indices returns the numbers from 0 to n−1.
func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// at returns the curve and Greenwood's sum behind its first k steps.
func (s steps) at(k int) (share, spread float64) {
	if k == 0 {
		return 1, 0
	}
	return s.share[k-1], s.spread[k-1]
}

// At returns the curve and Greenwood's sum at a time.
func (s steps) At(t float64) (share, spread float64) {
	k, found := slices.BinarySearch(s.times, t)
	if found {
		k++
	}
	return s.at(k)
}

// before returns the curve just before a time.
func (s steps) before(t float64) float64 {
	k, _ := slices.BinarySearch(s.times, t)
	share, _ := s.at(k)
	return share
}

// perStep is the number of sums of a bin of a curve: rows at risk at its start, the expected number
// of them without an event at its end, by the site's own curve, and the variance of that number.
const perStep = 3

// CurveNumbers is the number of sums of [AddCurve].
const CurveNumbers = perStep * mostBins

// AddCurve adds the perStep numbers of a site for each bin of a grid to sums, which has
// CurveNumbers entries. Sites share them, and not their curves, whose steps are times of rows. A
// bin at whose end the site's curve is 0 adds no survivors.
func AddCurve(sums, grid, times, rows []float64) {
	own := KaplanMeier(times, rows, false)
	before, spread := 1.0, 0.0
	for k, end := range grid[1:] {
		risk := 0.0
		for i, t := range times {
			if k == 0 || math.Abs(t) > grid[k] {
				risk += rows[i]
			}
		}
		share, sum := own.At(end)
		if share > 0 && before > 0 {
			left := float64(risk * (share / before))
			sums[perStep*k+1] += left
			sums[perStep*k+2] += float64(left * left * (sum - spread))
		}
		sums[perStep*k] += risk
		before, spread = share, sum
	}
}

// A Curve is the share of rows of all sites without an event up to each edge of a grid, in its
// interval of 95 %.
type Curve struct {
	Times []float64 `json:"times"`
	Share []float64 `json:"share"`
	Low   []float64 `json:"low"`
	High  []float64 `json:"high"`
}

// NewCurve returns the curve of the pooled sums of [AddCurve]: the product of the bins' shares of
// survivors. Its interval is symmetric on the scale of log(−log S), so that it stays within 0 and
// 1. The curve stops at the first bin without survivors, where no interval exists.
func NewCurve(grid, sums []float64) Curve {
	c := Curve{[]float64{0}, []float64{1}, []float64{1}, []float64{1}}
	share, variance := 1.0, 0.0
	for k, end := range grid[1:] {
		risk, left, squares := sums[perStep*k], sums[perStep*k+1], sums[perStep*k+2]
		if !(left > 0) {
			break
		}
		share *= left / risk
		variance += squares / (left * left)
		low, high := share, share
		if share < 1 {
			log := num.Log(share)
			reach := num.Exp(num.Normal95 * math.Sqrt(variance) / -log)
			low, high = num.Exp(float64(log*reach)), num.Exp(log/reach)
		}
		c.Times, c.Share = append(c.Times, end), append(c.Share, share)
		c.Low, c.High = append(c.Low, low), append(c.High, high)
	}
	return c
}
