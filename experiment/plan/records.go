package plan

import (
	"cmp"

	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/network"
	"dsbo/train"
)

// addRecords lists what the choice of steps and records send.
func (l *listing) addRecords() {
	c := l.Config
	if c.HasSteps() {
		l.add(Quantity{Name: "largest curvature", Way: ByMax, Length: 1, Times: exactly(1 + len(c.Membership))})
	}
	records, exact, spectra := 0, 0, 0
	for k := range c.RecordedIterations() {
		records++
		if c.Evaluate == train.EvaluateExact && c.ExactAt(k) {
			exact++
		}
		if c.LeastEigenvalueAt(k) {
			spectra++
		}
	}
	l.addNumbers("losses and right answers", scoreNumbers, exactly(records))
	if scores := &l.list[len(l.list)-1]; c.Problem.Start == nil && scores.small > 0 { // losses of a y of zeros are not
		scores.small--
	}
	if l.HeldOut { // at records that do not lower that loss
		l.addNumbers("held-out losses of two iterates", pairNumbers, Range{0, float64(records) / 2, float64(records)})
	}
	l.addConsensus(exactly(records+1), l.differing())
	l.addSum("products for the least eigenvalue", l.q, l.fine,
		Range{2, 20, linalg.MostProducts}.Times(float64(spectra)))
	// a step of Newton's method takes some 45, and more for the gradient
	l.addExact(exactly(exact), exactly(1), effortOf(l.Experience.RecordProducts, 45))
}

// addPrivateRecords lists what records of a run with differential privacy send.
func (l *listing) addPrivateRecords(records int) {
	l.addConsensus(exactly(records+1), l.differing())
	l.addNumbers("noisy losses and right answers", scoreNumbers, exactly(records))
}

// differing returns at how many comparisons agents have not the same copies: at the end, and at
// records but the first one, where all start. After few iterations they may have, and where a mix
// that comes last is the average.
func (l *listing) differing() (n Range) {
	c, traits := l.Config, algo.TraitsOf(l.Config.Method)
	average := (traits.MixesLast || traits.ExactAverage) && c.W.IsAverage()
	for k := range c.RecordedIterations() {
		one := exactly(1)
		if cmp.Or(k, c.K) <= traits.AlikeUntil || average {
			one.Least = 0
		}
		n = n.plus(one)
	}
	return n
}

// addConsensus lists what comparisons of the agents' copies send, at some of which they differ.
func (l *listing) addConsensus(comparisons, differ Range) {
	variables := 4 // x, y, z and u, as far as the method has them
	m := algo.Clone(l.Config.Method)
	if m.Init(l.p, l.q, 1) != nil {
		return // which has been checked
	}
	if algo.TraitsOf(m).Z == nil {
		variables--
	}
	l.add(Quantity{Name: "fingerprints of x, y, z, u, best iterate", Way: ByMax, Length: 10, Times: comparisons})
	if m.Cost(0).Averages > 0 {
		return // all agents have the same
	}
	small, x := l.small, differ
	if small { // agents may have gradients that are too small to move x
		x.Least = 0
	}
	l.small = false // what is mixed is not
	l.addSum("x and the hypergradient", l.p, l.fine, differ.plus(x))
	l.addSum("y and z", l.q, l.fine, differ.Times(float64(variables-2)))
	l.small = small
	l.addSum("distances from the average", 1, network.Float64, differ.Times(float64(variables-1)).plus(x))
}
