package assess

import (
	"math"

	"dsbo/internal/num"
)

// Residuals counts how far predicted numbers are from the true ones, in units of the targets'
// standard deviation.
type Residuals struct {
	mean, deviation float64
	numbers         []float64
}

// Bins of residuals and of predictions, each of a number of deviations; the outermost ones hold
// what lies further out.
const (
	residualBins    = 60
	residualWidth   = .1
	predictionBins  = 24
	predictionWidth = .25
	perPrediction   = 3 // count, sum of residuals, sum of their squares
)

// Sums over examples of residuals e and of true numbers t, both in deviations. meanSize takes the
// sum behind its own as the sum of squares: the first four stand in that order.
const (
	sumE = iota
	sumAbsE
	sumE2
	sumE4
	sumT
	sumT2
	sumT4
	sumE2T2
	residualSums
)

// NewResiduals returns counts of 0 for targets with this mean and standard deviation, which is
// larger than 0.
func NewResiduals(mean, deviation float64) *Residuals {
	return &Residuals{mean, deviation, make([]float64, residualBins+perPrediction*predictionBins+residualSums)}
}

// farthest is what larger residuals count as, in deviations: sums of all sites must be finite.
const farthest = 1e6

// Add counts an example.
func (r *Residuals) Add(predicted, truth float64) {
	scaled := min(max((truth-predicted)/r.deviation, -farthest), farthest)
	r.numbers[binOf(scaled, residualWidth, residualBins)]++
	group := r.numbers[residualBins+
		perPrediction*binOf((predicted-r.mean)/r.deviation, predictionWidth, predictionBins):]
	square := float64(scaled * scaled)
	group[0], group[1], group[2] = group[0]+1, group[1]+scaled, group[2]+square
	t := min(max((truth-r.mean)/r.deviation, -farthest), farthest)
	for k, v := range [residualSums]float64{scaled, math.Abs(scaled), square, square * square, t, t * t, t * t * t * t,
		square * t * t} {
		r.sums()[k] += v
	}
}

// sums returns the sums behind the counts.
func (r *Residuals) sums() []float64 { return r.numbers[len(r.numbers)-residualSums:] }

// Examples returns the number of examples.
func (r *Residuals) Examples() float64 { return sum(r.numbers[:residualBins]) }

// RMSE returns the root of the mean of the squared residuals, and MAE the mean of their sizes, in
// the unit of the targets.
func (r *Residuals) RMSE() Interval {
	return meanSize(r.sums()[sumE2:], r.Examples()).through(func(v float64) float64 {
		return r.deviation * math.Sqrt(v)
	})
}

// MAE is told at RMSE.
func (r *Residuals) MAE() Interval {
	return meanSize(r.sums()[sumAbsE:], r.Examples()).through(func(v float64) float64 {
		return r.deviation * v
	})
}

// binOf returns the bin of v, where bins of a width lie around 0.
func binOf(v, width float64, bins int) int {
	place := math.Floor(v/width) + float64(float64(bins)/2)
	return int(min(max(place, 0), float64(bins-1)))
}

// Numbers returns the counts, to be replaced by their sums over all sites.
func (r *Residuals) Numbers() []float64 { return r.numbers }

// Histogram returns the middle of each bin of residuals, in the unit of the targets, and the share
// of the examples in it.
func (r *Residuals) Histogram() (residual, share []float64) {
	counts := r.numbers[:residualBins]
	all := max(sum(counts), 1)
	for bin, n := range counts {
		residual = append(residual, r.deviation*residualWidth*(float64(bin)+.5-residualBins/2))
		share = append(share, n/all)
	}
	return residual, share
}

// ByPrediction returns for each bin of predictions with examples its middle, the mean of the
// residuals there, and the root of the mean of their squares, all in the unit of the targets.
func (r *Residuals) ByPrediction() (predicted, mean, size []float64) {
	for bin := range predictionBins {
		group := r.numbers[residualBins+perPrediction*bin:][:perPrediction]
		if group[0] == 0 {
			continue
		}
		predicted = append(predicted, r.mean+float64(r.deviation*predictionWidth*(float64(bin)+.5-predictionBins/2)))
		mean = append(mean, r.deviation*group[1]/group[0])
		size = append(size, r.deviation*math.Sqrt(group[2]/group[0]))
	}
	return predicted, mean, size
}

// Explained returns R² = 1 − mean(e²)/var(t). Its interval is by the error of a ratio of means.
func (r *Residuals) Explained() Interval {
	s, n := r.sums(), r.Examples()
	middle := s[sumT] / n
	targetVariance := s[sumT2]/n - float64(middle*middle)
	if !(targetVariance > 0) {
		return unknown()
	}
	ratio := s[sumE2] / n / targetVariance
	// mean of (e² − ratio t²)², with t around its mean over the training rows, which is near
	variance := (s[sumE4] - 2*float64(ratio*s[sumE2T2]) + float64(ratio*ratio*s[sumT4])) / n
	half := num.Normal95 * math.Sqrt(max(0, variance)/n) / targetVariance
	return Interval{1 - ratio, 1 - ratio - half, min(1, 1-ratio+half)}
}
