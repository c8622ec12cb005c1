package assess

import (
	"math"

	"dsbo/internal/num"
)

// bins is the number of bins in which probabilities p are counted. They have one width in
// √p / (√p + √(1−p)), so that a rare class, whose probabilities all are small, is in many bins too.
// All counts of two classes are 1005, which share one scale as they are sent: a block of 0 of its
// own, which the scale shows, would tell that a site has no row of a class.
const bins = 250

// Classes counts the probabilities that a model gives to each class, by whether an example is of
// that class.
type Classes struct {
	count int // of classes
	// for each class Bins counts of examples of other classes, then Bins of its own; then for each
	// class how often each class is the likeliest; then the sum of Brier scores
	numbers []float64
	errors  jackknife // of the Brier score
}

// NewClasses returns counts of 0 for n classes.
func NewClasses(n int) *Classes {
	return &Classes{n, make([]float64, 2*bins*n+n*n+1), make(jackknife, 2)}
}

// placeOf returns where a probability is among the edges of bins, and probabilityAt the probability
// at such a place.
func placeOf(p float64) float64 {
	own, rest := math.Sqrt(min(max(p, 0), 1)), math.Sqrt(min(max(1-p, 0), 1))
	return bins * (own / (own + rest))
}

// probabilityAt is documented at placeOf.
func probabilityAt(place float64) float64 {
	own, rest := float64(place*place), float64((bins-place)*(bins-place))
	return own / (own + rest)
}

// binOfProbability returns the bin of a probability.
func binOfProbability(p float64) int { return max(min(int(placeOf(p)), bins-1), 0) }

// Add counts an example of a class as the given number of rows. p is the model's probabilities, one
// a class.
func (c *Classes) Add(p []float64, class int, rows float64) {
	likeliest := 0
	for k, v := range p {
		bin := binOfProbability(v)
		if k == class {
			bin += bins
		}
		c.numbers[2*bins*k+bin] += rows
		if v > p[likeliest] {
			likeliest = k
		}
	}
	c.confusion(class)[likeliest] += rows
	*c.brier() += float64(rows * brierScore(p, class))
}

// AddError counts the example of [Classes.Add] in the errors, once Numbers are the sums over
// all sites.
func (c *Classes) AddError(p []float64, class int, rows float64) {
	c.errors.add(0, without(brierScore(p, class), *c.brier()), rows)
}

// brierScore returns the squared distance between the probabilities and the indicator of the true
// class. For two classes it is halved: the usual score counts one of them.
func brierScore(p []float64, class int) (sum float64) {
	for k, v := range p {
		if k == class {
			v--
		}
		sum += float64(v * v)
	}
	if len(p) == 2 {
		sum /= 2
	}
	return sum
}

// brier returns the sum of the Brier scores.
func (c *Classes) brier() *float64 { return &c.numbers[len(c.numbers)-1] }

// confusion returns the counts of the likeliest classes of the examples of a class.
func (c *Classes) confusion(class int) []float64 {
	return c.numbers[2*bins*c.count+class*c.count:][:c.count]
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

// Recall returns the share of class k's examples whose likeliest class is k, and Precision the
// share of class k among the examples whose likeliest class is k, in Wilson's intervals.
func (c *Classes) Recall(k int) Interval { return share(c.confusion(k)[k], sum(c.confusion(k))) }

// Precision is documented at Recall.
func (c *Classes) Precision(k int) Interval {
	taken := 0.0
	for of := range c.count {
		taken += c.confusion(of)[k]
	}
	return share(c.confusion(k)[k], taken)
}

// Brier returns the mean of the squared distances between the probabilities and 1 for an example's
// class, 0 for others: of two classes the square for one of them. It has no interval where fewer
// than ten examples are not of the commonest class.
func (c *Classes) Brier() Interval {
	n, commonest := c.Examples(), 0.0
	for k := range c.count {
		commonest = max(commonest, sum(c.confusion(k)))
	}
	return c.errors.around(*c.brier()/n, 0, n).ifEnough(n - commonest)
}

// Numbers returns the counts, to be replaced by their sums over all sites.
func (c *Classes) Numbers() []float64 { return c.numbers }

// Errors returns the sums of AddError, to be replaced by their sums over all sites.
func (c *Classes) Errors() []float64 { return c.errors }

// class returns the counts of class k: the counts of examples of other classes, and of its own.
func (c *Classes) class(k int) (others, own []float64) {
	all := c.numbers[2*bins*k:]
	return all[:bins], all[bins : 2*bins]
}

// ROC returns the ROC curve of class k against the rest, from (0, 0) to (1, 1): the false and the
// true positive rates as the threshold falls from 1 to 0. Both are nil if all examples are of
// the class, or none are. Empty bins add no points.
func (c *Classes) ROC(k int) (wrong, right []float64) {
	others, own := c.class(k)
	allOthers, allOwn := sum(others), sum(own)
	if allOthers == 0 || allOwn == 0 {
		return nil, nil
	}
	wrong, right = []float64{0}, []float64{0}
	alarms, hits := 0.0, 0.0
	for bin := bins - 1; bin >= 0; bin-- {
		if others[bin] == 0 && own[bin] == 0 {
			continue
		}
		alarms, hits = alarms+others[bin], hits+own[bin]
		wrong, right = append(wrong, alarms/allOthers), append(right, hits/allOwn)
	}
	return wrong, right
}

// AUC returns the area under the ROC curve of class k: the probability that an example of the class
// gets a higher probability than one of the others, where ties in a bin count half. It is NaN if
// one kind has no example; with fewer than ten of either kind there is no interval.
//
// The interval inverts a test, as Wilson's of a proportion does: it has all areas a for which the
// measured area is within the error at a. The error is the larger of DeLong's, scaled by a(1 − a),
// and Newcombe's (2006, method 5); DeLong's is too small with few pairs in the wrong order. The
// quantile is Student's, with the degrees of freedom of the rarer kind.
func (c *Classes) AUC(k int) Interval {
	others, own := c.class(k)
	m, n := sum(own), sum(others)
	area, variance := delong(others, own)
	reach := student95(min(m, n))
	end := func(far float64) float64 { // of the interval, by bisection between the area and far
		near := area
		for range 50 { // to the last bit or so
			a := float64((near + far) / 2)
			byAreas := (1 + float64((float64((m+n)/2)-1)*((1-a)/(2-a)+a/(1+a)))) / (m * n)
			if math.Abs(area-a) > reach*math.Sqrt(float64(a*(1-a)*max(variance, byAreas))) {
				far = a
			} else {
				near = a
			}
		}
		return near
	}
	return Interval{area, end(0), end(1)}.ifEnough(m, n)
}

// delong returns the area under the ROC curve, and DeLong's variance of it over a(1 − a); 0 where
// no pair, or each, is in the right order. Each example is in the right order with a share of the
// other kind: sums of these shares and of their squares are the area and the variance.
func delong(others, own []float64) (area, variance float64) {
	m, n := sum(own), sum(others)
	var ownSquares, otherSquares, ownBelow, othersBelow float64
	for bin := range bins {
		below, above := (othersBelow+float64(others[bin]/2))/n, (m-ownBelow-float64(own[bin]/2))/m
		area += float64(own[bin] * below / m)
		ownSquares += float64(own[bin] * below * below)
		otherSquares += float64(others[bin] * above * above)
		ownBelow, othersBelow = ownBelow+own[bin], othersBelow+others[bin]
	}
	if area == 0 || area >= 1 { // 1 may be exceeded by rounding
		return area, 0
	}
	variance = max(0, ownSquares/m-float64(area*area))/(m-1) + max(0, otherSquares/n-float64(area*area))/(n-1)
	return area, variance / float64(area*(1-area))
}

// AUCEnds returns bounds of the area of class k over all orders of the rows within each bin, which
// counts do not show.
func (c *Classes) AUCEnds(k int) (low, high float64) {
	others, own := c.class(k)
	pairs, alike := sum(own)*sum(others), 0.0
	for bin := range bins {
		alike += float64(own[bin] * others[bin])
	}
	area, _ := delong(others, own)
	half := float64(alike / pairs / 2) // pairs of one bin count half in the area
	return area - half, area + half
}

// AveragePrecision returns the area under the precision-recall curve of class k, as a sum of steps.
// Its interval is symmetric on the scale of log-odds. The error is the larger of the infinitesimal
// jackknife's and the binomial one of the class's examples. There is no interval with fewer than
// ten examples of either kind. Areas within half an example of 1 are moved to there for the
// interval, as their log-odds would be infinite.
func (c *Classes) AveragePrecision(k int) Interval {
	others, own := c.class(k)
	m, n := sum(own), sum(others)
	if m == 0 || n == 0 {
		return unknown()
	}
	area, most := stepArea(others, own), 1-1/(2*m) // most: half an example below 1
	logOdds := func(p float64) float64 { p = min(p, most); return num.Log(p / (1 - p)) }
	changes, p := make(jackknife, 2), min(area, most)
	for _, counts := range [][]float64{others, own} {
		for bin, count := range counts {
			if count == 0 {
				continue
			}
			row := min(1, count) // with fractional weights a bin may have less than one row
			counts[bin] -= row
			change := (logOdds(stepArea(others, own)) - logOdds(area)) / row
			counts[bin] = count
			changes[0] += float64(count * change)
			changes[1] += float64(count * change * change)
		}
	}
	i := logit(p, student95(m)*max(changes.error(0, m+n), 1/math.Sqrt(float64(m*p)*(1-p))))
	if i.Value = area; area > most {
		i.High = 1
	}
	return i.ifEnough(m, n)
}

// stepArea returns the area under the curve of precision against recall.
func stepArea(others, own []float64) (area float64) {
	m, found, taken := sum(own), 0.0, 0.0
	for bin := bins - 1; bin >= 0; bin-- {
		if taken += own[bin] + others[bin]; own[bin] > 0 {
			found += own[bin]
			area += float64(own[bin] / m * (found / taken))
		}
	}
	return area
}

// PrecisionEnds returns bounds of the average precision of class k over all orders of the rows
// within each bin, which counts do not show. Rows of a bin may also be equal, as in
// AveragePrecision.
func (c *Classes) PrecisionEnds(k int) (low, high float64) {
	others, own := c.class(k)
	m, found, taken := sum(own), 0.0, 0.0
	for bin := bins - 1; bin >= 0; bin-- {
		if n := own[bin]; n > 0 { // low: the others of the bin come first; high: last
			low += float64(n / m * meanPrecision(found, taken+others[bin], n))
			high += float64(n / m * meanPrecision(found, taken, n))
		}
		found, taken = found+own[bin], taken+own[bin]+others[bin]
	}
	return low, max(high, stepArea(others, own)) // rows that are equal all have the precision of the last one
}

// meanPrecision returns the mean precision of n examples of a class, one after the other, behind
// taken ones of which found are of the class: of (found + t)/(taken + t) for t from 1 to n, by the
// integral. Weights may make n less than 1.
func meanPrecision(found, taken, n float64) float64 {
	first := min(1, n)
	if n-first < 1e-9*n { // one example, whose integral would be 0/0
		return (found + first) / (taken + first)
	}
	return 1 - float64((taken-found)*num.Log1p((n-first)/(taken+first))/(n-first))
}

// At returns how many examples a threshold for the probability of class k, one of the edges of
// bins, takes for the class: of its own and of the others.
func (c *Classes) At(k int, threshold float64) (own, others float64) {
	first := int(math.Round(placeOf(threshold)))
	othersOf, ownOf := c.class(k)
	return sum(ownOf[first:]), sum(othersOf[first:])
}

// Threshold returns the bin edge of least cost, where a missed example of class k costs as much as
// cost false alarms. Of equal edges it is the nearest to 1/(1 + cost), the optimum of calibrated
// probabilities.
func (c *Classes) Threshold(k int, cost float64) float64 {
	best, least, optimum := 0.0, math.Inf(1), 1/(1+cost)
	all, _ := c.At(k, 0)
	for edge := range bins + 1 {
		t := probabilityAt(float64(edge))
		found, alarms := c.At(k, t)
		total := float64(cost*(all-found)) + alarms
		if total < least || total == least && math.Abs(t-optimum) < math.Abs(best-optimum) {
			best, least = t, total
		}
	}
	return best
}

// Calibration cuts the examples, in the order of their probabilities of class k, into groups of
// about equal size, each of whole bins. It returns the mean probability of each group, with the
// middle of a bin for its examples, and the observed share of the class. The last group has what
// is left over.
func (c *Classes) Calibration(k, groups int) (predicted, observed []float64) {
	others, own := c.class(k)
	least := (sum(others) + sum(own)) / float64(groups)
	count, p, hits := 0.0, 0.0, 0.0
	for bin := range bins {
		rows := others[bin] + own[bin]
		count, p, hits = count+rows, p+float64(rows*probabilityAt(float64(bin)+.5)), hits+own[bin]
		if count > 0 && (count >= least*(1-1e-9) || bin == bins-1) { // 1e-9: sums of weights are rounded
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
