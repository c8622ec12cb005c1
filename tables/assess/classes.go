// Package assess says how good predictions are by counts that sites add up, so that no prediction
// leaves the site that made it: ROC curves and calibration of probabilities, residuals of numbers.
//
// Each site fills in a [Classes] or a [Residuals]; the sums of their Numbers over all sites are
// what a site with all examples would have. Curves are right to the width of a bin.
package assess

import "math"

// Bins is the number of bins in which probabilities are counted, all of one width.
const Bins = 200

// Classes counts the probabilities that a model gives to each class, by whether an example is of
// that class.
type Classes struct {
	numbers []float64 // for each class: Bins counts of examples of other classes, then Bins of its own
}

// NewClasses returns counts of 0 for n classes.
func NewClasses(n int) *Classes { return &Classes{make([]float64, 2*Bins*n)} }

// Add counts an example of a class to which the model gives the probabilities p, one a class.
func (c *Classes) Add(p []float64, class int) {
	for k, v := range p {
		bin := min(max(int(v*Bins), 0), Bins-1)
		if k == class {
			bin += Bins
		}
		c.numbers[2*Bins*k+bin]++
	}
}

// Numbers returns the counts, to be replaced by their sums over all sites.
func (c *Classes) Numbers() []float64 { return c.numbers }

// class returns the counts of class k: the counts of examples of other classes, and of its own.
func (c *Classes) class(k int) (others, own []float64) {
	all := c.numbers[2*Bins*k:]
	return all[:Bins], all[Bins : 2*Bins]
}

// ROC returns the curve of class k against the rest, from (0, 0) to (1, 1): for thresholds from 1
// down to 0 the share of other examples that are taken for the class, and the share of its own.
// Both are nil if there are none of either kind.
func (c *Classes) ROC(k int) (wrong, right []float64) {
	others, own := c.class(k)
	allOthers, allOwn := sum(others), sum(own)
	if allOthers == 0 || allOwn == 0 {
		return nil, nil
	}
	wrong, right = []float64{0}, []float64{0}
	w, r := 0.0, 0.0
	for bin := Bins - 1; bin >= 0; bin-- {
		if others[bin] == 0 && own[bin] == 0 {
			continue
		}
		w, r = w+others[bin], r+own[bin]
		wrong, right = append(wrong, w/allOthers), append(right, r/allOwn)
	}
	return wrong, right
}

// AUC returns the area under the ROC curve of class k: how often an example of the class gets a
// higher probability than another one, where those in one bin count half. NaN if there are none of
// either kind.
func (c *Classes) AUC(k int) float64 {
	wrong, right := c.ROC(k)
	if wrong == nil {
		return math.NaN()
	}
	area := 0.0
	for i := 1; i < len(wrong); i++ {
		area += float64((wrong[i] - wrong[i-1]) * (right[i] + right[i-1]) / 2)
	}
	return area
}

// Calibration returns for groups of examples with ascending probabilities of class k, of about as
// many examples each, the mean of the probabilities and the share that is of the class.
func (c *Classes) Calibration(k, groups int) (predicted, observed []float64) {
	others, own := c.class(k)
	least := (sum(others) + sum(own)) / float64(groups)
	count, p, hits := 0.0, 0.0, 0.0
	for bin := range Bins {
		rows := others[bin] + own[bin]
		count, p, hits = count+rows, p+rows*(float64(bin)+.5)/Bins, hits+own[bin]
		if count > 0 && (count >= least*(1-1e-9) || bin == Bins-1) {
			predicted, observed = append(predicted, p/count), append(observed, hits/count)
			count, p, hits = 0, 0, 0
		}
	}
	return predicted, observed
}

// sum returns the sum of numbers.
func sum(numbers []float64) (s float64) {
	for _, v := range numbers {
		s += v
	}
	return s
}
