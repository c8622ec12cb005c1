package plan

import (
	"dsbo/network"
	"dsbo/runs"
)

// A listing lists the quantities of a run, phase by phase.
type listing struct {
	Run
	p, q   int          // lengths of x and y
	wire   network.Wire // of the run
	fine   network.Wire // of what has to be right to seven digits
	phase  string       // under way
	suffix string       // of the names of what is listed now
	small  bool         // what is listed now may have numbers that are too small for one pass
	lower  bool         // solutions that are listed now are of the lower problem alone
	list   []Quantity   // found so far
}

// Numbers of what is compared.
const (
	scoreNumbers   = 16 // rows, losses and right answers of four sets
	pairNumbers    = 8  // of two models on a set
	compareNumbers = 3 * pairNumbers
)

// quantities lists what the run will send.
func (r Run) quantities() ([]Quantity, error) {
	wire := r.Config.Problem.Average.Wire
	l := &listing{Run: r, wire: wire, fine: min(wire, network.Float32)}
	var err error
	if l.p, l.q, err = r.Config.Problem.Dims(); err != nil {
		return nil, err
	}
	l.phase = Loading
	for _, f := range r.Found {
		l.addFound(f)
	}
	if l.Best {
		first := *l
		first.wire, first.suffix, first.Held = network.Float64, ", start", nil
		n := Range{2, l.Experience.Models, 16}
		first.addSolutions(n, exactly(1))
		first.addNumbers("losses and right answers", scoreNumbers, n)
		l.list = first.list
	}
	if l.Ending.Before {
		first := *l
		first.Ending.Solves = 1
		first.addStructures()
		l.list, l.Ending.Parts = first.list, 0
	}
	l.phase, l.small = Iterations, r.Privacy == nil // noise is not small
	if err := l.addIterations(); err != nil {
		return nil, err
	}
	l.phase = Evaluation
	if r.Privacy != nil {
		l.addPrivateRecords(r.Privacy.Answers[2])
		return l.list, nil
	}
	l.addRecords()
	l.phase = Models
	l.addModels()
	return l.list, nil
}

// add lists a quantity of the phase, unless it is never sent.
func (l *listing) add(q Quantity) {
	if q.Times.Most > 0 {
		q.Phase, q.Name = l.phase, q.Name+l.suffix
		if l.small && !(q.losses && l.Experience.Coarse) {
			q.small = q.Times.Most
		}
		l.list = append(l.list, q)
	}
}

// addSum lists averages of n numbers on a wire.
func (l *listing) addSum(name string, length int, wire network.Wire, times Range) {
	l.add(Quantity{Name: name, Way: BySum, Length: length, Wire: wire, Times: times})
}

// addNumbers lists averages of a few losses, which travel in float64.
func (l *listing) addNumbers(name string, length int, times Range) {
	l.add(Quantity{Name: name, Way: BySum, Length: length, Times: times, losses: true})
}

// addFound lists what was found together as the data were loaded.
func (l *listing) addFound(f runs.Found) {
	if f.Sum != nil {
		l.addNumbers("sums over rows", len(f.Sum), exactly(1))
		return
	}
	longest := 0
	for _, text := range f.Texts {
		longest = max(longest, len(text))
	}
	l.add(Quantity{Name: "text: columns, words or classes", Way: ByText, Length: longest, Times: exactly(1),
		Text: f.Texts[0]})
}
