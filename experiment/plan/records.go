package plan

import (
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/network"
	"dsbo/train"
)

// addRecords lists what the choice of steps and records send.
func (l *listing) addRecords() {
	c := l.Config
	if c.HasSteps() {
		l.addLargest("largest curvature", 1, exactly(1))
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
	if l.HeldOut { // at records that do not lower that loss
		l.addNumbers("held-out losses of two iterates", pairNumbers, Range{0, float64(records) / 2, float64(records)})
	}
	l.addConsensus(exactly(records+1), exactly(records))
	l.addSum("products for the least eigenvalue", l.q, l.fine,
		Range{2, 20, linalg.MostProducts}.Times(float64(spectra)))
	// a step of Newton's method takes some 45, and more for the gradient
	l.addExact(exactly(exact), exactly(1), effortOf(l.Experience.RecordProducts, 45))
}

// addPrivateRecords lists what records of a run with differential privacy send.
func (l *listing) addPrivateRecords(records int) {
	l.addConsensus(exactly(records+1), exactly(records))
	l.addNumbers("noisy losses and right answers", scoreNumbers, exactly(records))
}

// addConsensus lists what comparisons of the agents' copies send, at some of which they differ: not
// at the first one, where all start.
func (l *listing) addConsensus(comparisons, differ Range) {
	variables := 4 // x, y, z and u, as far as the method has them
	m := algo.Clone(l.Config.Method)
	if m.Init(l.p, l.q, 1) != nil {
		return // which has been checked
	}
	if algo.TraitsOf(m).Z == nil {
		variables--
	}
	l.addLargest("fingerprints of x, y, z, u, best iterate", 2*(variables+1), comparisons)
	if m.Cost(0).Averages > 0 {
		return // all agents have the same
	}
	l.addSum("x and the hypergradient", l.p, l.fine, differ.Times(2))
	l.addSum("y and z", l.q, l.fine, differ.Times(float64(variables-2)))
	l.addSum("distances from the average", 1, network.Float64, differ.Times(float64(variables)))
}
