package assess

import "math"

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

// NewResiduals returns counts of 0 for targets with this mean and standard deviation, which is
// larger than 0.
func NewResiduals(mean, deviation float64) *Residuals {
	return &Residuals{mean, deviation, make([]float64, residualBins+perPrediction*predictionBins)}
}

// farthest is what larger residuals count as, in deviations: sums of all sites must be finite.
const farthest = 1e6

// Add counts an example.
func (r *Residuals) Add(predicted, truth float64) {
	scaled := min(max((truth-predicted)/r.deviation, -farthest), farthest)
	r.numbers[binOf(scaled, residualWidth, residualBins)]++
	group := r.numbers[residualBins+
		perPrediction*binOf((predicted-r.mean)/r.deviation, predictionWidth, predictionBins):]
	group[0], group[1], group[2] = group[0]+1, group[1]+scaled, group[2]+float64(scaled*scaled)
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

// Explained returns R²: one minus the mean square of the residuals in units of the variance
// of targets.
func (r *Residuals) Explained() float64 {
	count, squares := 0.0, 0.0
	for bin := range predictionBins {
		group := r.numbers[residualBins+perPrediction*bin:]
		count, squares = count+group[0], squares+group[2]
	}
	return 1 - squares/count
}
