package site

import (
	"cmp"

	"dsbo"
	"dsbo/algo"
	"dsbo/experiment/candidates"
	"dsbo/network"
)

// What one of these takes, from the least to the most on the tasks of this module.
var (
	constants     = Range{2, 16}  // models of a search for the best constant
	products      = Range{4, 500} // with the Hessian, of an exact solution
	steps         = Range{1, 60}  // of Newton's method, of an exact solution
	losses        = Range{1, 700} // where they no longer fall but for their round-off
	strengths     = Range{3, 25}  // of a structure of penalties
	lassoSteps    = Range{1, 100}
	lassoProducts = Range{0, 3000}
	descentSteps  = Range{1, candidates.MostProducts}
	descentLosses = Range{0, 4 * candidates.MostProducts}
)

// wires returns the wires of an exact solution's vectors: of gradients, whose digits count, at
// least bf16; of changes between two of them, bf16; of products, of which steps need few digits,
// int8. A run in float64 has float64 for all.
func (l listing) wires() (fine, change, coarse network.Wire) {
	if l.wire == network.Float64 {
		return l.wire, l.wire, l.wire
	}
	return min(l.wire, network.BF16), network.BF16, network.Int8
}

// addSolutions lists what exact solutions at n values of x send: Newton's method for y and, unless
// only the lower problem is solved, the adjoint system for z and the hypergradient. If the lower
// problem is not convex, changes of gradients do not share messages, and products are as fine as
// gradients.
func (l listing) addSolutions(n Range) {
	if n.Most == 0 {
		return
	}
	prob := l.Config.Problem
	fine, change, coarse := l.wires()
	upper := n
	if l.lower {
		upper = Range{}
	}
	changes := Quantity{Name: "changes of gradients", Length: float64(l.q), Wire: change, With: true,
		Times: steps.Times(n).plus(Range{0, 1})} // from the gradient at a solver's start
	if prob.Nonconvex {
		coarse, changes.With = fine, false
	}
	l.addSum("gradients", l.q, fine, n)
	l.addSum("validation gradients", l.p+l.q, fine, upper)
	// Residuals after rounds of the adjoint system; those at its start travel with the validation
	// gradients, and gradients after steps with the losses there, unless many steps are tried.
	l.addSum("residuals", l.q, change, Range{0, 3}.Times(n))
	l.add(changes)
	l.addWith("residuals", l.q, change, upper)
	l.addSum("products with the Hessian", l.q, coarse, n.Times(products))
	l.addSum("hypergradient", l.p, fine, upper)
	l.addNumbers("f − Z'∇ᵧg", 2, Range{0, 1}.Times(upper))
	// Including the losses at the two points at which a solution may start.
	l.addNumbers("training and validation loss", 2, losses.plus(exactly(1)).Times(n))
	l.addWith("training and validation loss", 2, network.Float64, n)
	if of, err := dsbo.Capabilities(prob.Evaluate[0]); err == nil && of.Diagonal != nil {
		l.addWith("diagonal of the Hessian", l.q, coarse, n)
	}
}

// addTrained lists what models at n points x send that are found by training: the averages of all
// iterations of the held method, each about as long as a gradient, and three comparisons of copies,
// at the records before the first iteration and after the last, and at the end.
func (l listing) addTrained(n Range) {
	m, gradients := algo.Clone(l.Held), 0
	if m.Init(l.p, l.q, l.Config.K) != nil {
		return // Init was checked before the plan
	}
	for k := range l.Config.K {
		gradients += m.Cost(k).Averages
	}
	l.addSum("gradients", l.q, l.wire, n.Times(exactly(gradients)))
	l.addNumbers("training and validation loss", 2, n)
	l.addCopies(n.Times(exactly(3)))
}

// addScored lists what models at n points x send, which are solved for or found by training, and
// their losses.
func (l listing) addScored(n Range) {
	switch {
	case l.Held != nil:
		l.addTrained(n)
	case l.Config.Problem.Nonconvex: // from one start or two
		l.addSolutions(n.Times(Range{1, 2}))
	default:
		l.addSolutions(n)
	}
	l.addNumbers("losses and right answers", scoreNumbers, n)
}

// addModels lists what the models at the end send: the run's own models, the task's sums and models
// of more rows, and, where the run compares its models with others, a simpler model and the rows of
// each site.
func (l listing) addModels() {
	l.addCompared()
	for _, sum := range l.Ending.Sums {
		l.add(sum)
	}
	if e := l.Ending; e.Model > 0 && e.Parts == 0 { // a choice among structures has them in it
		all := l
		all.p, all.q, all.suffix = cmp.Or(e.X, l.p), e.Model, ", all rows"
		all.addScored(exactly(e.Solves))
	}
	if l.Ending.Parts == 0 && !l.Rivals {
		return
	}
	if l.Simpler > 0 {
		l.addSimpler()
	}
	for _, row := range l.Rows {
		l.add(row)
	}
}

// addCompared lists what the run's own models send, and comparisons of two of them: the models of
// the choice among structures (Parts), or the tuned model, the constants and further searches
// (Rivals), or the tuned model alone, which is compared with none.
func (l listing) addCompared() {
	compared := Range{1, 3}
	switch {
	case l.Ending.Parts > 0:
		l.addStructures()
		l.suffix = ", all rows"
		// Of one penalty and the best structure.
		l.addNumbers("losses and right answers", scoreNumbers, exactly(2))
		if l.Ending.Levels { // at most one for each strength, of intercepts and of slopes, and one for the best
			compared.Most += float64(2*len(candidates.LevelStrengths) + 1)
		}
	case l.Rivals:
		l.addScored(constants.plus(Range{0, candidates.Descents}))
	default:
		compared = Range{}
		l.addScored(exactly(1))
	}
	l.addNumbers("losses of two models", compareNumbers, compared)
}

// addSimpler lists what a simpler model sends, which is convex and has a single λ, and its
// comparison with the best.
func (l listing) addSimpler() {
	l.p, l.q, l.suffix, l.Held = 1, l.Simpler, ", simpler model", nil
	l.Config.Problem.Nonconvex = false
	l.addScored(constants)
	l.addNumbers("losses of two models", compareNumbers, exactly(1))
}

// addStructures lists what the choice among structures of penalties sends: for each structure, the
// folds' models at several strengths; for the best one, also models of all rows. With levels of
// sites everything may come twice. A lasso (Scales > 0), which has no levels, replaces all
// structures but two.
func (l listing) addStructures() {
	n, wholes := Range{candidates.LeastStructures, candidates.MostStructures}, Range{1, candidates.MostWholes}
	if l.Ending.Levels {
		n.Most, wholes.Most = 2*n.Most, 2*wholes.Most
	}
	if l.Ending.Scales > 0 {
		n = exactly(2) // null and ridge of candidates.Structures
		l.addLasso()
	}
	tried := n.Times(strengths)
	parts := l
	parts.q, parts.suffix, parts.lower = l.Ending.Parts, ", all folds", true
	parts.addSolutions(tried)
	parts.addNumbers("losses of unseen rows", candidates.JudgedNumbers, tried)
	parts.addNumbers("squares of weights", 1, n)
	parts.addNumbers("losses of two models", compareNumbers, Range{0, n.Most - 1})
	rows := parts
	rows.q, rows.suffix = l.Ending.Model, ", all rows"
	rows.addSolutions(wholes.Times(exactly(l.Ending.Solves)))
	l.addNetworks()
}

// addLasso lists what a lasso sends: for the models of all folds at each λ of a path and a search,
// and for the model of all rows, solved twice, at the chosen λ. Ending.Parts is the total length of
// the folds' models, each of length Ending.Model.
func (l listing) addLasso() {
	folds, ends := l.Ending.Parts/l.Ending.Model, l.Ending.Solves
	for _, of := range []struct {
		suffix string
		q      int
		times  Range
		parts  int
	}{{", lasso, all folds", l.Ending.Parts, Range{3, candidates.MostLassoSolutions}, folds},
		{", lasso, all rows", l.Ending.Model, exactly(2 * ends), 1}} {
		one := l
		one.suffix = of.suffix
		one.addNumbers("means and squares of features", candidates.ScaleNumbers(of.parts, l.Ending.Scales),
			exactly(max(1, ends/2)))
		one.addNumbers("gradients", of.q, of.times.Times(lassoSteps))
		one.addNumbers("products with the Hessian", of.q, of.times.Times(lassoProducts))
		if of.parts > 1 {
			one.addNumbers("validation gradients", of.q, Range{1, candidates.MostLassoSlopes})
			one.suffix = ", all folds"
			one.addNumbers("losses of unseen rows", candidates.JudgedNumbers, of.times)
		}
	}
}

// addNetworks lists what the choice among networks sends. Some networks may not be tried, so least
// counts are 0. Each is trained by BFGS at several strengths without the first fold; the best one
// also without each other fold, and on all rows. A loss shares the message of the gradient's
// change, unless the step was too long and is shortened.
func (l listing) addNetworks() {
	folds, ends := l.Ending.Parts/l.Ending.Model, l.Ending.Solves
	again := Range{0, float64(folds - 1 + ends)}
	tried := again.plus(Range{0, candidates.MostNetworkSolutions})
	fine, change, _ := l.wires()
	for _, q := range l.Ending.Networks {
		one := l
		one.suffix = ", network"
		one.addSum("gradients", q, fine, tried.Times(descentSteps))
		one.addSum("changes of gradients", q, change, tried.Times(descentSteps.plus(exactly(1))))
		one.addWith("training and validation loss", 2, network.Float64, tried.Times(descentSteps))
		one.addNumbers("training and validation loss", 2, tried.Times(descentLosses))
		// Including those at the starts of models of all rows.
		one.addNumbers("training and validation loss", 2, tried.plus(Range{0, float64(folds * ends)}))
		one.suffix = ", all folds"
		one.addNumbers("losses of unseen rows", candidates.NetworkNumbers, again.plus(Range{0, 1}))
	}
	if len(l.Ending.Networks) > 0 { // of the kept one
		l.suffix = ", network"
		l.addNumbers("losses and right answers", scoreNumbers, Range{0, 1})
		l.addNumbers("losses of two models", compareNumbers, Range{0, 1})
	}
}
