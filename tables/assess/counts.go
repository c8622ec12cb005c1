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

// Sums over examples of deviances d, residuals e and true counts t.
const (
	sumRows = iota
	sumD
	sumAbsCountE
	sumCountE2
	sumCountT
	sumTLogT
	countSums
)

// Places of measures in the jackknife of [Counts] and of [Residuals].
const (
	ofAbs      = iota // MAE
	ofSquare          // the mean squared error
	ofShare           // the share that is not explained
	ofDeviance        // of counts alone
)

// Counts measures predicted means against true counts.
type Counts struct {
	mean    float64
	numbers []float64 // of each bin perCount, then countSums
	errors
}

// NewCounts returns sums of 0 for counts with this mean, which is larger than 0.
func NewCounts(mean float64) *Counts {
	return &Counts{mean, make([]float64, perCount*countBins+countSums), newErrors(ofDeviance + 1)}
}

// Add counts an example as the given number of rows. predicted is the model's mean, which is
// positive.
func (c *Counts) Add(predicted, truth, rows float64) {
	predicted = c.bounded(predicted)
	log := 0.0 // t log t, whose limit at 0 is 0
	if truth > 0 {
		log = truth * num.Log(truth)
	}
	bin := binOf(num.Log(predicted/c.mean), countWidth, countBins)
	for k, v := range [perCount]float64{1, predicted, truth} {
		c.numbers[perCount*bin+k] += float64(rows * v)
	}
	e := truth - predicted
	for k, v := range [countSums]float64{1, deviance(truth, predicted), math.Abs(e), e * e, truth, log} {
		c.sums()[k] += float64(rows * v)
	}
}

// bounded returns a prediction that is not so far from the mean that sums overflow.
func (c *Counts) bounded(predicted float64) float64 {
	return min(max(predicted, c.mean/farthest), c.mean*farthest)
}

// deviance returns 2 (t log(t/μ) − (t − μ)) of a count t whose mean is μ.
func deviance(t, mean float64) float64 {
	d := mean - t
	if t > 0 {
		d += float64(t * num.Log(t/mean))
	}
	return 2 * d
}

// AddError counts the example of [Counts.Add] in the errors, once Numbers are the sums over
// all sites.
func (c *Counts) AddError(predicted, truth, rows float64) {
	s := c.sums()
	predicted = c.bounded(predicted)
	e, d := truth-predicted, deviance(truth, predicted)
	c.add(ofAbs, without(math.Abs(e), s[sumAbsCountE]), rows)
	c.add(ofSquare, without(e*e, s[sumCountE2]), rows)
	c.add(ofDeviance, without(d, s[sumD]), rows)
	c.add(ofShare, without(d, s[sumD])-without(deviance(truth, s[sumCountT]/s[sumRows]), c.ofMean()), rows)
	c.addTail(e, rows)
}

// AddTrained counts a training example in the sums that detect rare large residuals.
func (c *Counts) AddTrained(predicted, truth, rows float64) {
	c.addTail(truth-c.bounded(predicted), rows)
}

// Numbers returns the sums, to be replaced by their sums over all sites.
func (c *Counts) Numbers() []float64 { return c.numbers }

func (c *Counts) sums() []float64 { return c.numbers[perCount*countBins:] }

// examples returns the number of examples.
func (c *Counts) examples() float64 { return c.sums()[sumRows] }

// Deviance returns the mean of the deviances 2 (t log(t/μ) − (t − μ)).
func (c *Counts) Deviance() Interval {
	n := c.examples()
	return c.around(c.sums()[sumD]/n, ofDeviance, n)
}

// MAE returns the mean size of the residuals, RMSE the root of the mean of their squares, which has
// no interval with fewer than 400 examples, since the few largest counts dominate it.
func (c *Counts) MAE() Interval {
	n := c.examples()
	return c.around(c.sums()[sumAbsCountE]/n, ofAbs, n)
}

// fewestSquaredCounts is the number of examples below which squares of counts have no interval.
const fewestSquaredCounts = 400

// RMSE is documented at MAE.
func (c *Counts) RMSE() Interval {
	n := c.examples()
	i := c.around(c.sums()[sumCountE2]/n, ofSquare, n).through(math.Sqrt)
	if n < fewestSquaredCounts {
		i.Low, i.High = math.NaN(), math.NaN()
	}
	return i
}

// ofMean returns the sum of the deviances of the mean count; NaN where all counts are 0.
func (c *Counts) ofMean() float64 {
	s := c.sums()
	return 2 * (s[sumTLogT] - float64(s[sumCountT]*num.Log(s[sumCountT]/s[sumRows])))
}

// Explained returns the share of the deviance of the mean count that the model takes away.
func (c *Counts) Explained() Interval {
	mean := c.ofMean()
	if !(mean > 0) {
		return unknown()
	}
	return c.explained(c.sums()[sumD]/mean, ofShare, c.examples())
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
