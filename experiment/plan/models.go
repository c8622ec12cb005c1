package plan

import (
	"cmp"

	"dsbo"
	"dsbo/algo"
	"dsbo/experiment/candidates"
	"dsbo/network"
)

// An Experience is what runs of a task took on average where that depends on what they find: a plan
// calls it usual.
type Experience struct {
	algo.Experience
	RecordProducts float64 // products with the Hessian by which a record's exact solution is found
	Models         float64 // models that are solved at the end
	ModelProducts  float64 // products of each
	// Coarse says that losses are differences of numbers of about 1, as of softmax: they are 0, or
	// not below 2^-108.
	Coarse bool
}

// DefaultExperience is what softmax on MNIST took, with which plans count where a task does not
// know its own.
var DefaultExperience = Experience{algo.Experience{Constants: 3, FurtherShare: 0.35}, 70, 3, 65, false}

// An effort is what an exact solution asks for again and again.
type effort struct{ products, steps, losses Range }

// Products of a solution, and steps of Newton's method, from the least to the most that was seen on
// the tasks of this module.
const (
	leastProducts, mostProductsSeen = 4, 500
	leastSteps, mostStepsSeen       = 1, 30
	mostLossesSeen                  = 700 // where losses no longer fall but for their round-off
)

// effortOf returns the effort of a solution that usually takes a number of products, and a step for
// each share of these.
func effortOf(products, perStep float64) effort {
	steps := 1 + products/perStep
	return effort{Range{leastProducts, products, mostProductsSeen}, Range{leastSteps, steps, mostStepsSeen},
		Range{leastSteps, steps, mostLossesSeen}}
}

// modelEffort returns the effort of a model at the end, where a step takes some 25 products. Where
// the lower problem is not convex it ends mostly by the bound of its products, which are not
// rounded after the first negative curvature, and many a step is tried in vain.
func (l *listing) modelEffort() effort {
	if l.Config.Problem.Nonconvex {
		const most = candidates.MostProducts
		return effort{Range{most / 10, most * .65, most}, Range{5, 18, 60}, Range{10, 60, 400}}
	}
	return effortOf(l.Experience.ModelProducts, 25)
}

// addExact lists what n exact solutions send, by a number of solvers, each of which begins at the
// gradient that all of its solutions are relative to.
func (l *listing) addExact(n, solvers Range, e effort) {
	if n.Most == 0 {
		return
	}
	prob := l.Config.Problem
	fine, change, coarse := min(l.wire, network.BF16), network.BF16, network.Int8
	switch {
	case fine == network.Float64:
		change, coarse = fine, fine
	case prob.Nonconvex:
		coarse = fine
	}
	l.addSum("gradients", l.q, fine, n)
	if !l.lower {
		l.addSum("validation gradients", l.p+l.q, fine, n)
	}
	// Residuals after rounds of the adjoint system; those at its start travel with the validation
	// gradients, and gradients after steps with the losses there, unless many steps are tried. The
	// first gradient of a first solution is a change from that at the start.
	l.addSum("residuals", l.q, change, Range{0, 1.3, 3}.times(n))
	l.add(Quantity{Name: "changes of gradients, residuals", Way: BySum, Length: l.q, Wire: change,
		Times: n.times(e.steps).plus(n).plus(solvers), With: !prob.Nonconvex})
	l.addSum("products with the Hessian", l.q, coarse, n.times(e.products))
	if !l.lower {
		l.addSum("hypergradient", l.p, fine, n)
	}
	// at the two points where a solution may start, too
	l.addNumbers("training and validation loss", 2, n.times(e.losses).plus(n))
	l.add(Quantity{Name: "losses at another start", Way: BySum, Length: 2, Times: n, With: true, losses: true})
	if _, ok := prob.Evaluate[0].(dsbo.DiagonalOracle); ok {
		l.add(Quantity{Name: "diagonal of the Hessian", Way: BySum, Length: l.q, Wire: coarse, Times: n, With: true})
	}
}

// addModels lists what the models at the end send, and what is made of them.
func (l *listing) addModels() {
	n := Range{2, l.Experience.Models, 16 + candidates.Descents}
	compared := exactly(1)
	if l.Config.Problem.Nonconvex {
		n.Most, compared = 16+candidates.Halvings, Range{1, 3, 3} // with the other solution of each, too
		if l.Held != nil {
			compared = exactly(1)
		}
	}
	switch {
	case l.Ending.Parts > 0:
		n = exactly(2) // one penalty and the answer
		l.addStructures()
	case l.Ending.Alone:
		n, compared, l.Simpler, l.Rows = exactly(1), exactly(0), 0, nil
		fallthrough
	default:
		l.addSolutions(n, Range{0, 0, 1})
	}
	l.addNumbers("losses and right answers", scoreNumbers, n)
	l.addNumbers("losses of two models", compareNumbers, compared)
	for _, sum := range l.Ending.Sums {
		l.addNumbers(sum.Name, sum.Length, exactly(1))
	}
	for _, sum := range l.Ending.Often {
		l.addNumbers(sum.Name, sum.Length, sum.Times)
	}
	if n := l.Ending.Importances; n > 0 { // where a network is kept
		l.addNumbers("losses without a feature", n, Range{0, 1, 1})
	}
	if e := l.Ending; e.Model > 0 && e.Parts == 0 {
		all := *l
		all.p, all.q, all.suffix = cmp.Or(e.X, l.p), e.Model, ", all rows"
		all.addSolutions(exactly(e.Solves), exactly(e.Solves))
		all.addNumbers("losses and right answers", scoreNumbers, exactly(e.Solves))
		l.list = all.list
	}
	if l.Simpler > 0 {
		simpler := *l
		simpler.p, simpler.q, simpler.suffix, simpler.Held, simpler.Config.Problem.Nonconvex = 1, l.Simpler,
			", simpler model", nil, false
		n := Range{2, DefaultExperience.Models, 16}
		simpler.addSolutions(n, exactly(1))
		simpler.addNumbers("losses and right answers", scoreNumbers, n)
		simpler.addNumbers("losses of two models", compareNumbers, exactly(1))
		l.list = simpler.list
	}
	for _, row := range l.Rows {
		l.add(Quantity{Name: row.Name, Way: ByRow, Length: row.Length, Times: exactly(1)})
	}
}

// addStructures lists what the choice among structures of penalties sends: of each some strengths
// of the models of all folds, one after the other, and the models of all rows.
func (l *listing) addStructures() {
	// of a structure, and of a solution, on five tables
	const least, strengths, most, products = 3, 4, 25, 12
	n := Range{candidates.LeastStructures, candidates.MostStructures - 2, candidates.MostStructures}
	tried := n.times(Range{least, strengths, most})
	parts := *l
	parts.q, parts.suffix, parts.lower = l.Ending.Parts, ", all folds", true
	parts.addExact(tried, exactly(1), effortOf(products, 2))
	parts.addNumbers("losses of the rows that a model has not seen, and squares", 3, tried)
	parts.addNumbers("slopes by the shares of structures", candidates.LeastStructures, Range{1, 20, 100})
	rows := parts
	rows.q, rows.suffix = l.Ending.Model, ", all rows"
	rows.addExact(n.Times(float64(l.Ending.Solves)), exactly(l.Ending.Solves), effortOf(products, 2))
	l.list = rows.list
	l.addNetworks()
}

// addNetworks lists what the choice among networks sends: each is solved for at some strengths
// without the first fold, and the best without each of the others and with all rows.
func (l *listing) addNetworks() {
	folds := float64(l.Ending.Parts / l.Ending.Model)
	ends := float64(l.Ending.Solves)
	for _, q := range l.Ending.Networks { // not all of which need be tried
		one := *l
		one.q, one.suffix = q, ", network"
		tried := Range{0, 3, candidates.MostNetworkSolutions}
		again := Range{0, (folds - 1 + ends) / float64(len(l.Ending.Networks)), folds - 1 + ends}
		one.addDescents(tried.plus(again))
		starts := Range{0, float64(folds * ends), float64(folds * ends)} // losses of models of all rows at the start
		one.addNumbers("validation and training loss", 2, tried.plus(again).plus(starts))
		one.addNumbers("losses of rows, squares and products", candidates.NetworkNumbers, Range{0, 1, 1}.plus(again))
		l.list = one.list
	}
}

// addDescents lists what n solutions by BFGS send. A loss travels with the change of the gradient.
// It travels alone after a shortened step, and where a line search tries several lengths.
func (l *listing) addDescents(n Range) {
	fine, change := min(l.wire, network.BF16), network.BF16
	if fine == network.Float64 {
		change = fine
	}
	steps := Range{1, 70, candidates.MostProducts} // usual: networks of dsbo tune take 40 to 150
	l.addSum("gradients", l.q, fine, n.times(Range{1, 4, candidates.MostProducts}))
	l.addSum("changes of gradients", l.q, change, n.times(steps.plus(exactly(1))))
	l.add(Quantity{Name: "training loss", Way: BySum, Length: 2, With: true, losses: true, Times: n.times(steps)})
	l.addNumbers("training loss, alone", 2, n.times(Range{0, 10, 4 * candidates.MostProducts}))
}

// addSolutions lists what n models send, which are found by a number of solvers, or by training.
func (l *listing) addSolutions(n, solvers Range) {
	if l.Held == nil {
		if l.Config.Problem.Nonconvex { // from two starts; from one where the second has another length
			n = n.times(Range{1, 2, 2})
		}
		l.addExact(n, solvers, l.modelEffort())
		return
	}
	m, gradients := algo.Clone(l.Held), 0
	if m.Init(l.p, l.q, l.Config.K) != nil {
		return // Init was checked before the plan
	}
	for k := range l.Config.K {
		gradients += m.Cost(k).Averages
	}
	l.addSum("gradients on draws", l.q, l.wire, n.Times(float64(gradients)))
	l.addNumbers("validation loss", 1, n)
	l.addConsensus(n.Times(3), n.Times(2)) // at the start and at the end
}
