package site

import (
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/network"
	"dsbo/train"
)

// A listing appends quantities of a run to a list.
type listing struct {
	Run
	p, q   int          // lengths of x and y
	wire   network.Wire // of the run
	phase  string       // under way
	suffix string       // of the names of what is listed now
	lower  bool         // solutions that are listed now are of the lower problem alone
	list   *[]Quantity
}

// Numbers of what is compared.
const (
	scoreNumbers   = 16 // rows, losses and right answers of four sets
	pairNumbers    = 8  // of two models on a set
	compareNumbers = 3 * pairNumbers
)

// quantities lists what the run will send, phase by phase. Copies of l list stages with other
// settings: the search for a start at the best constant, and structures before the iterations,
// after which the ending compares as other runs do (no Parts). With differential privacy no models
// follow the iterations.
func (r Run) quantities() (list []Quantity, err error) {
	l := listing{Run: r, wire: r.Config.Problem.Average.Wire, phase: Loading, list: &list}
	if l.p, l.q, err = r.Config.Problem.Dims(); err != nil {
		return nil, err
	}
	for _, f := range r.Found {
		l.add(f)
	}
	if l.Best {
		first := l
		first.wire, first.suffix, first.Held = network.Float64, ", start", nil
		first.addScored(constants)
	}
	if l.Ending.Before {
		first := l
		first.Ending.Solves = 1
		first.addStructures()
		l.Ending.Parts = 0
	}
	l.phase = Iterations
	if err := l.addIterations(); err != nil {
		return nil, err
	}
	l.phase = Evaluation
	l.addRecords()
	if l.phase = Models; r.Privacy == nil {
		l.addModels()
	}
	return list, nil
}

// add lists a quantity of the phase, unless it is never sent.
func (l listing) add(q Quantity) {
	if q.Times.Most > 0 {
		q.Phase, q.Name = l.phase, q.Name+l.suffix
		*l.list = append(*l.list, q)
	}
}

// addSum lists sums of n numbers on a wire.
func (l listing) addSum(name string, n int, wire network.Wire, times Range) {
	l.add(Quantity{Name: name, Length: float64(n), Wire: wire, Times: times})
}

// addNumbers lists sums of n numbers in float64.
func (l listing) addNumbers(name string, n int, times Range) { l.add(Sum(name, n, times)) }

// addWith lists sums that travel with others, in no message of their own.
func (l listing) addWith(name string, n int, wire network.Wire, times Range) {
	l.add(Quantity{Name: name, Length: float64(n), Wire: wire, Times: times, With: true})
}

// addIterations lists what the method sends, by the forecast of each iteration: averages, by their
// kind, and vectors by Mix, with their mean length. With held-out examples patience may end the run
// after the first records; iterations after that have a least cost of 0.
func (l listing) addIterations() error {
	c := l.Config
	m := algo.Clone(c.Method)
	if err := m.Init(l.p, l.q, c.K); err != nil {
		return err
	}
	shortest := c.K
	if c.Patience > 0 && l.HeldOut {
		shortest = min(c.K, c.Patience*c.EvalEvery)
	}
	var times [len(averaged)]Range
	var messages, joined Range
	var floats float64 // numbers in vectors by Mix, at most
	for k := range c.K {
		least, most := algo.ForecastOf(m, k)
		if k >= shortest {
			least = algo.Cost{}
		}
		messages = messages.plus(Range{float64(least.Messages), float64(most.Messages)})
		floats += float64(most.Floats)
		joined = joined.plus(Range{float64(least.Joined), float64(most.Joined)})
		some, all := l.averagesOf(least), l.averagesOf(most)
		for i := range times {
			times[i] = times[i].plus(Range{some[i], all[i]})
		}
	}
	lengths := [len(averaged)]int{l.q, l.q, l.q, l.q, l.p, 1, algo.ShorterSteps}
	for i, name := range averaged {
		if _, ok := m.(*algo.AdamCG); ok && name == "residuals" {
			name = "validation gradients" // from which its solves begin
		}
		l.addSum(name, lengths[i], l.wire, times[i])
	}
	l.addWith("diagonal of the Hessian", l.q, l.wire, joined)
	l.add(Quantity{Name: c.Problem.Average.Mixed, Way: network.ByMix, Length: floats / max(1, messages.Most),
		Wire: l.wire, Times: messages})
	return nil
}

// averaged are what methods average, each alone.
var averaged = [...]string{"gradients", "residuals", "products with the Hessian", "diagonal of the Hessian",
	"hypergradient", "validation loss, votes", algo.LossesOfShorterSteps}

// averagesOf returns the number of averages of each kind, in the order of averaged, of an
// iteration. A Cost has only their number and their total length. An average has q numbers (long),
// p (one for each JVP), ShorterSteps (losses of shorter steps) or one number, and solving the two
// equations gives the number of long ones. If q is 1, averages of one number are counted as long.
func (l listing) averagesOf(c algo.Cost) (n [len(averaged)]float64) {
	if c.Averages == 0 {
		return n
	}
	long := c.Averages - c.JVP - c.Shorter
	if l.q > 1 {
		long = (c.AverageFloats - c.Averages - c.JVP*(l.p-1) - c.Shorter*(algo.ShorterSteps-1)) / (l.q - 1)
	}
	for i, count := range []int{c.LowerGrad, c.UpperGrad, long - c.LowerGrad - c.UpperGrad - c.Diagonal,
		c.Diagonal - c.Joined, c.JVP, c.Averages - long - c.JVP - c.Shorter, c.Shorter} {
		n[i] = float64(count)
	}
	return n
}

// addRecords lists what the search for the curvature and the records send. With differential
// privacy the records are the answers about test rows, without exact values. At each record, and
// once at the end, agents compare their copies of the variables.
func (l listing) addRecords() {
	c := l.Config
	var records, exact, spectra int
	for _, k := range c.RecordedIterations() {
		records++
		if c.Evaluate == train.EvaluateExact && c.ExactAt(k) {
			exact++
		}
		if c.LeastEigenvalueAt(k) {
			spectra++
		}
	}
	if l.Privacy != nil {
		records, exact, spectra, l.HeldOut = l.Privacy.Answers[2], 0, 0, false
	} else if c.HasSteps() {
		l.add(Quantity{Name: "largest curvature", Way: network.ByMax, Length: 1, Times: exactly(1 + len(c.Membership))})
	}
	l.addNumbers("losses and right answers", scoreNumbers, exactly(records))
	if l.HeldOut { // only at records that do not lower the held-out loss
		l.addNumbers("held-out losses of two iterates", pairNumbers, Range{0, float64(records)})
	}
	l.addCopies(exactly(records + 1))
	l.addSum("products for the least eigenvalue", l.q, min(l.wire, network.Float32),
		Range{2, linalg.MostProducts}.Times(exactly(spectra)))
	l.addSolutions(exactly(exact))
}

// addCopies lists what comparisons of the agents' copies of x, y, z and u send: fingerprints, and
// where these differ the copies' averages and the distances from them. Methods by exact averages
// have the same copies everywhere.
func (l listing) addCopies(comparisons Range) {
	n, fine := comparisons.Most, min(l.wire, network.Float32)
	l.add(Quantity{Name: network.Fingerprints, Way: network.ByMax, Length: 10,
		Times: comparisons})
	m := algo.Clone(l.Config.Method)
	if m.Init(l.p, l.q, 1) != nil || m.Cost(0).Averages > 0 {
		return // Init was checked before
	}
	l.addSum("x", l.p, fine, Range{0, n})
	l.addSum("u", l.p, fine, Range{0, n})
	l.addSum("y", l.q, fine, Range{0, n})
	l.addSum("z", l.q, fine, Range{0, n})
	l.addNumbers("distances from the average", 1, Range{0, 4 * n})
}
