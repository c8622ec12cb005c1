package assess

import "math"

// Residuals counts how far predicted numbers are from the true ones, in units of the targets'
// standard deviation.
type Residuals struct {
	mean, deviation float64
	numbers         []float64
	errors
}

// Bins of residuals and of predictions, each of a number of deviations; the outermost bins include
// everything further out.
const (
	residualBins    = 60
	residualWidth   = .1
	predictionBins  = 24
	predictionWidth = .25
	perPrediction   = 3 // count, sum of residuals, sum of their squares
)

// Sums over examples of residuals e and of true numbers t, both in deviations.
const (
	sumAbsE = iota
	sumE2
	sumT
	sumT2
	residualSums
)

// NewResiduals returns counts of 0 for targets with this mean and standard deviation, which is
// larger than 0.
func NewResiduals(mean, deviation float64) *Residuals {
	return &Residuals{mean, deviation, make([]float64, residualBins+perPrediction*predictionBins+residualSums),
		newErrors(ofShare + 1)}
}

// farthest is what larger residuals count as, in deviations: sums of all sites must be finite.
const farthest = 1e6

// scaled returns the residual and the true number of an example, in deviations.
func (r *Residuals) scaled(predicted, truth float64) (e, t float64) {
	within := func(v float64) float64 { return min(max(v/r.deviation, -farthest), farthest) }
	return within(truth - predicted), within(truth - r.mean)
}

// Add counts an example as the given number of rows: in the histogram of residuals, in the bin of
// its prediction, and in the sums of the measures.
func (r *Residuals) Add(predicted, truth, rows float64) {
	e, t := r.scaled(predicted, truth)
	r.numbers[binOf(e, residualWidth, residualBins)] += rows
	group := r.numbers[residualBins+
		perPrediction*binOf((predicted-r.mean)/r.deviation, predictionWidth, predictionBins):]
	square := float64(e * e)
	for k, v := range [perPrediction]float64{1, e, square} {
		group[k] += float64(rows * v)
	}
	for k, v := range [residualSums]float64{math.Abs(e), square, t, t * t} {
		r.sums()[k] += float64(rows * v)
	}
}

// AddError counts the example of [Residuals.Add] in the errors, once Numbers are the sums over
// all sites: in the jackknife of the measures' logarithms, by how much each moves without the
// example. Without it the squares around the mean, which moves too, fall by n/(n−1)·t².
func (r *Residuals) AddError(predicted, truth, rows float64) {
	s, n := r.sums(), r.examples()
	e, t := r.scaled(predicted, truth)
	t -= s[sumT] / n
	r.add(ofAbs, without(math.Abs(e), s[sumAbsE]), rows)
	r.add(ofSquare, without(e*e, s[sumE2]), rows)
	r.add(ofShare, without(e*e, s[sumE2])-without(n/(n-1)*t*t, r.squares()), rows)
	r.addTail(e, rows)
}

// AddTrained counts a training example in the sums that detect rare large residuals.
func (r *Residuals) AddTrained(predicted, truth, rows float64) {
	e, _ := r.scaled(predicted, truth)
	r.addTail(e, rows)
}

// squares returns the sum of the squared distances of the true numbers from their mean.
func (r *Residuals) squares() float64 {
	s := r.sums()
	return s[sumT2] - float64(s[sumT]*s[sumT])/r.examples()
}

// sums returns the sums behind the counts.
func (r *Residuals) sums() []float64 { return r.numbers[len(r.numbers)-residualSums:] }

// examples returns the number of examples.
func (r *Residuals) examples() float64 { return sum(r.numbers[:residualBins]) }

// MAE returns the mean size of the residuals, and RMSE the root of the mean of their squares, in
// the unit of the targets.
func (r *Residuals) MAE() Interval {
	n := r.examples()
	return r.around(r.deviation*r.sums()[sumAbsE]/n, ofAbs, n)
}

// RMSE is documented at MAE.
func (r *Residuals) RMSE() Interval {
	n := r.examples()
	return r.around(r.deviation*r.deviation*r.sums()[sumE2]/n, ofSquare, n).through(math.Sqrt)
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

// ByPrediction returns, for each bin of predictions that has examples, its middle, and the mean and
// the root mean square of the residuals there, all in the unit of the targets.
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

// Explained returns R² = 1 − mean(e²)/var(t).
func (r *Residuals) Explained() Interval {
	if !(r.squares() > 0) {
		return unknown()
	}
	return r.explained(r.sums()[sumE2]/r.squares(), ofShare, r.examples())
}
