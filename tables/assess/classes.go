// Package assess says how good predictions are by counts that sites add up, so that no prediction
// leaves the site that made it: ROC curves, calibration and confusions of classes, residuals of
// numbers, deviances of counts, each measure with an [Interval].
//
// Each site fills in a [Classes], a [Residuals] or a [Counts]; the sums of their Numbers over all
// sites are what a site with all examples would have. Curves, and areas under them, are right to
// the width of a bin; all other measures are exact.
package assess

import (
	"math"

	"dsbo/internal/num"
)

// Bins is the number of bins in which probabilities are counted, all of one width.
const Bins = 200

// Classes counts the probabilities that a model gives to each class, by whether an example is of
// that class.
type Classes struct {
	count int // of classes
	// for each class Bins counts of examples of other classes, then Bins of its own; then for each
	// class how often each class is the likeliest; then the sums of Brier scores and of
	// their squares
	numbers []float64
}

// NewClasses returns counts of 0 for n classes.
func NewClasses(n int) *Classes { return &Classes{n, make([]float64, 2*Bins*n+n*n+2)} }

// binOfProbability returns the bin of a probability.
func binOfProbability(p float64) int { return min(max(int(p*Bins), 0), Bins-1) }

// Add counts an example of a class to which the model gives the probabilities p, one a class.
func (c *Classes) Add(p []float64, class int) {
	brier, likeliest := 0.0, 0
	for k, v := range p {
		bin, truth := binOfProbability(v), 0.0
		if k == class {
			bin, truth = bin+Bins, 1
		}
		c.numbers[2*Bins*k+bin]++
		brier += float64((v - truth) * (v - truth))
		if v > p[likeliest] {
			likeliest = k
		}
	}
	if c.count == 2 {
		brier /= 2 // of one of the two classes, as is usual
	}
	c.confusion(class)[likeliest]++
	sums := c.numbers[len(c.numbers)-2:]
	sums[0], sums[1] = sums[0]+brier, sums[1]+float64(brier*brier)
}

// confusion returns the counts of the likeliest classes of the examples of a class.
func (c *Classes) confusion(class int) []float64 {
	return c.numbers[2*Bins*c.count+class*c.count:][:c.count]
}

// Confusion returns for each class how many of its examples have each class as the likeliest one.
func (c *Classes) Confusion() (rows [][]float64) {
	for k := range c.count {
		rows = append(rows, c.confusion(k))
	}
	return rows
}

// Examples returns the number of examples.
func (c *Classes) Examples() (n float64) {
	for k := range c.count {
		n += sum(c.confusion(k))
	}
	return n
}

// Accuracy returns the share of the examples whose likeliest class is their own, in Wilson's
// interval.
func (c *Classes) Accuracy() Interval {
	right := 0.0
	for k := range c.count {
		right += c.confusion(k)[k]
	}
	return share(right, c.Examples())
}

// Recall returns the share of the examples of class k that have it as the likeliest one, and
// Precision the share of those with it as the likeliest one that are of it, in Wilson's intervals.
func (c *Classes) Recall(k int) Interval { return share(c.confusion(k)[k], sum(c.confusion(k))) }

// Precision is told at Recall.
func (c *Classes) Precision(k int) Interval {
	taken := 0.0
	for of := range c.count {
		taken += c.confusion(of)[k]
	}
	return share(c.confusion(k)[k], taken)
}

// Brier returns the mean of the squared distances between the probabilities and 1 for an example's
// class, 0 for others: of two classes the square for one of them.
func (c *Classes) Brier() Interval {
	sums := c.numbers[len(c.numbers)-2:]
	return mean(sums[0], sums[1], c.Examples()).within(0, 2)
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
// either kind. Its interval is by DeLong's error on the scale of log-odds; where next to all pairs
// are in order that error says nothing, and Hanley and McNeil's, of one pair less, takes its place.
func (c *Classes) AUC(k int) Interval {
	others, own := c.class(k)
	m, n := sum(own), sum(others)
	if m == 0 || n == 0 {
		return unknown()
	}
	// Of each example the share of the other kind that it is in order with: sums of it and of its
	// square.
	var area, ownSquares, otherSquares, ownBelow, othersBelow float64
	for bin := range Bins {
		below, above := (othersBelow+float64(others[bin]/2))/n, (m-ownBelow-float64(own[bin]/2))/m
		area += float64(own[bin] * below / m)
		ownSquares += float64(own[bin] * below * below)
		otherSquares += float64(others[bin] * above * above)
		ownBelow, othersBelow = ownBelow+own[bin], othersBelow+others[bin]
	}
	variance := max(0, ownSquares/m-float64(area*area))/m + max(0, otherSquares/n-float64(area*area))/n
	if most := 1 - 1/(2*min(m, n)); area > most {
		a := most
		q1, q2 := a/(2-a), 2*float64(a*a)/(1+a)
		square := float64(a * a)
		one := float64(a*(1-a)) + float64((m-1)*(q1-square)) + float64((n-1)*(q2-square))
		variance = max(variance, one/(m*n))
		return Interval{area, max(0, a-float64(num.Normal95*math.Sqrt(variance))), 1}
	}
	return logit(area, math.Sqrt(variance))
}

// AveragePrecision returns the area under the curve of precision against recall of class k, as a
// sum of steps. Its interval is the binomial one on the scale of log-odds.
func (c *Classes) AveragePrecision(k int) Interval {
	others, own := c.class(k)
	m := sum(own)
	if m == 0 || sum(others) == 0 {
		return unknown()
	}
	area, found, taken := 0.0, 0.0, 0.0
	for bin := Bins - 1; bin >= 0; bin-- {
		if taken += own[bin] + others[bin]; own[bin] > 0 {
			found += own[bin]
			area += float64(own[bin] / m * (found / taken))
		}
	}
	if most := 1 - 1/(2*m); area > most {
		return Interval{area, logit(most, math.Sqrt(most*(1-most)/m)).Low, 1}
	}
	return logit(area, math.Sqrt(area*(1-area)/m))
}

// At returns how many examples a threshold for the probability of class k, one of the edges of
// bins, takes for the class: of its own and of the others.
func (c *Classes) At(k int, threshold float64) (own, others float64) {
	first := min(max(int(math.Round(threshold*Bins)), 0), Bins)
	o, w := c.class(k)
	return sum(w[first:]), sum(o[first:])
}

// Threshold returns the edge of a bin at which the least is paid where a missed example of class k
// costs a number of wrong alarms: of the edges with the least cost the one that is nearest to
// 1/(1 + cost), where probabilities that are right would have it.
func (c *Classes) Threshold(k int, cost float64) float64 {
	best, least, want := 0.0, math.Inf(1), 1/(1+cost)
	all, _ := c.At(k, 0)
	for edge := range Bins + 1 {
		t := float64(edge) / Bins
		found, alarms := c.At(k, t)
		paid := float64(cost*(all-found)) + alarms
		if paid < least || paid == least && math.Abs(t-want) < math.Abs(best-want) {
			best, least = t, paid
		}
	}
	return best
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
