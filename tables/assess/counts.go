package assess

import (
	"math"

	"dsbo/internal/num"
)

// Bins of predicted counts, by their logarithm around the logarithm of the mean.
const (
	countBins  = 24
	countWidth = .25
	perCount   = 3 // examples, sum of predictions, sum of true counts
)

// Sums of deviances d, true counts t, residuals e: of 1, d, d², |e|, e², e⁴, t and t log t.
const countSums = 8

// Counts says how far predicted means are from true counts.
type Counts struct {
	mean    float64
	numbers []float64 // of each bin perCount, then countSums
}

// NewCounts returns sums of 0 for counts with this mean, which is larger than 0.
func NewCounts(mean float64) *Counts {
	return &Counts{mean, make([]float64, perCount*countBins+countSums)}
}

// Add counts an example of which the model predicts a mean, larger than 0.
func (c *Counts) Add(predicted, truth float64) {
	predicted = min(max(predicted, c.mean/farthest), c.mean*farthest)
	log := 0.0 // t log t
	d := 2 * predicted
	if truth > 0 {
		log = truth * num.Log(truth)
		d = 2 * (float64(truth*num.Log(truth/predicted)) - (truth - predicted))
	}
	bin := binOf(num.Log(predicted/c.mean), countWidth, countBins)
	for k, v := range [perCount]float64{1, predicted, truth} {
		c.numbers[perCount*bin+k] += v
	}
	e := truth - predicted
	for k, v := range [countSums]float64{1, d, d * d, math.Abs(e), e * e, e * e * e * e, truth, log} {
		c.sums()[k] += v
	}
}

// Numbers returns the sums, to be replaced by their sums over all sites.
func (c *Counts) Numbers() []float64 { return c.numbers }

func (c *Counts) sums() []float64 { return c.numbers[perCount*countBins:] }

// Examples returns the number of examples.
func (c *Counts) Examples() float64 { return c.sums()[0] }

// Deviance returns the mean of the deviances 2 (t log(t/μ) − (t − μ)).
func (c *Counts) Deviance() Interval {
	return meanSize(c.sums()[1:], c.Examples())
}

// MAE returns the mean size of the residuals, RMSE the root of the mean of their squares.
func (c *Counts) MAE() Interval {
	return meanSize(c.sums()[3:], c.Examples())
}

// RMSE is told at MAE.
func (c *Counts) RMSE() Interval {
	return meanSize(c.sums()[4:], c.Examples()).through(math.Sqrt)
}

// Explained returns the share of the deviance of the mean count that the model takes away; its
// interval follows from the model's deviance.
func (c *Counts) Explained() Interval {
	s := c.sums()
	if s[6] == 0 {
		return unknown()
	}
	mean := 2 * (s[7] - float64(s[6]*num.Log(s[6]/s[0]))) / s[0]
	if !(mean > 0) {
		return unknown()
	}
	d := c.Deviance()
	return Interval{1 - d.Value/mean, 1 - d.High/mean, 1 - d.Low/mean}
}

// ByPrediction returns for each bin with examples the means of predictions and of true counts.
func (c *Counts) ByPrediction() (predicted, truth []float64) {
	for bin := range countBins {
		if b := c.numbers[perCount*bin:][:perCount]; b[0] > 0 {
			predicted, truth = append(predicted, b[1]/b[0]), append(truth, b[2]/b[0])
		}
	}
	return predicted, truth
}
