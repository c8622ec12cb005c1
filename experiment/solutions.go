package experiment

import (
	"cmp"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
)

// An Experience is what runs of a task took on average where that depends on what they find: a plan calls it usual.
type Experience struct {
	algo.Experience
	RecordProducts float64 // products with the Hessian by which a record's exact solution is found
	Models         float64 // models that are solved at the end
	ModelProducts  float64 // products of each
}

// An Experienced is a [Task] that knows what its runs took. Of others, plans count with what softmax on MNIST took.
type Experienced interface{ Experience() Experience }

// experience returns that of the run's task.
func (r *runner) experience() Experience {
	if t, ok := r.Task.(Experienced); ok {
		return t.Experience()
	}
	return Experience{algo.Experience{Constants: 3, FurtherShare: 0.35}, 70, 3, 65}
}

// An effort is what an exact solution asks for again and again.
type effort struct{ products, steps, losses Range }

// Products of a solution, and steps of Newton's method, from the least to the most that was seen on the tasks of this module.
const (
	leastProducts, mostProductsSeen = 4, 500
	leastSteps, mostStepsSeen       = 1, 30
	mostLossesSeen                  = 700 // where losses no longer fall but for their round-off
)

// recordEffort returns the effort of a record's exact solution: there a step of Newton's method takes some 45 products, and more for the
// gradient.
func (r *runner) recordEffort() effort { return effortOf(r.experience().RecordProducts, 45) }

// modelEffort returns the effort of a model at the end, where a step takes some 25 products. Where the lower problem is not convex it ends
// mostly by the bound of its products, which are not rounded after the first negative curvature, and many a step is tried in vain.
func (r *runner) modelEffort() effort {
	if r.problem.Nonconvex {
		return effort{Range{mostProducts / 10, mostProducts * .65, mostProducts}, Range{5, 18, 60}, Range{10, 60, 400}}
	}
	return effortOf(r.experience().ModelProducts, 25)
}

// effortOf returns the effort of a solution that usually takes so many products, and a step for so many of these.
func effortOf(products, perStep float64) effort {
	steps := 1 + products/perStep
	return effort{Range{leastProducts, products, mostProductsSeen}, Range{leastSteps, steps, mostStepsSeen}, Range{leastSteps, steps, mostLossesSeen}}
}

// exactQuantities lists what n exact solutions send, by so many solvers, each of which begins at the gradient that all of its solutions are
// relative to.
func (r *runner) exactQuantities(phase string, p, q int, n, solvers Range, e effort) []Quantity {
	if n.Most == 0 {
		return nil
	}
	fine, change, coarse := min(r.problem.Average.Wire, network.BF16), network.BF16, network.Int8
	switch {
	case fine == network.Float64:
		change, coarse = fine, fine
	case r.problem.Nonconvex:
		coarse = fine
	}
	gradients, changes := n, n.timesRange(e.steps)
	changes.add(Range{1, 2.3, 4}.timesRange(n)) // residuals of the adjoint system: at its start, and after each round
	changes.add(solvers)                        // the first gradient of a first solution is a change from that at the start
	losses := n.timesRange(e.losses)
	losses.add(n.Times(2)) // at the two points where a solution may start
	list := []Quantity{
		quantity(phase, "gradients", BySum, q, fine, gradients),
		quantity(phase, "validation gradients", BySum, p+q, fine, n),
		quantity(phase, "changes of gradients, residuals", BySum, q, change, changes),
		quantity(phase, "products with the Hessian", BySum, q, coarse, n.timesRange(e.products)),
		quantity(phase, "hypergradient", BySum, p, fine, n),
		quantity(phase, "training and validation loss", BySum, 2, network.Float64, losses),
	}
	if _, ok := r.problem.Evaluate[r.loaded.local[0]].(dsbo.DiagonalOracle); ok {
		list = append(list, quantity(phase, "diagonal of the Hessian", BySum, q, coarse, n))
	}
	return list
}

// modelQuantities lists what the models at the end send, and what is made of them.
func (r *runner) modelQuantities(p, q int) []Quantity {
	n := Range{2, r.experience().Models, 16}
	if r.problem.Nonconvex {
		n.Most += halvings
	}
	list := append(r.modelSolveQuantities(p, q, n, Range{0, 0, 1}),
		quantity(phaseModels, "losses and right answers", BySum, scoreNumbers, network.Float64, n),
		quantity(phaseModels, "losses of two models", BySum, compareNumbers, network.Float64, exactRange(1)))
	if t, ok := r.Task.(Finisher); ok {
		ending := t.Ending()
		for _, length := range ending.Sums {
			list = append(list, quantity(phaseModels, "counts of predictions or labels", BySum, length, network.Float64, exactRange(1)))
		}
		if ending.Model > 0 {
			for _, q := range r.modelSolveQuantities(cmp.Or(ending.X, p), ending.Model, exactRange(1), exactRange(1)) {
				q.Name += ", all rows"
				list = append(list, q)
			}
			list = append(list, quantity(phaseModels, "losses and right answers, all rows", BySum, scoreNumbers, network.Float64, exactRange(1)))
		}
	}
	if t, ok := r.Task.(Sited); ok && t.ComparesSites() && r.problem.Score != nil {
		list = append(list, quantity(phaseModels, "scores on the site's test rows", ByRow, siteNumbers, network.Float64, exactRange(1)))
		if n := r.Settings.Agents; t.ExchangesAlone() && n <= mostCrossed {
			list = append(list, quantity(phaseModels, "model of the site alone", ByRow, p+q, network.Float64, exactRange(1)),
				quantity(phaseModels, "scores of such models", ByRow, 2*n, network.Float64, exactRange(1)))
		}
	}
	return list
}

// modelSolveQuantities lists what n models send, which are found by so many solvers, or by training.
func (r *runner) modelSolveQuantities(p, q int, n, solvers Range) []Quantity {
	if held := r.trainingConfig(r.problem.Problem); held != nil {
		return r.trainedQuantities(held.Method, p, q, n)
	}
	return r.exactQuantities(phaseModels, p, q, n, solvers, r.modelEffort())
}

// trainedQuantities lists what n models send that are found by runs of a method that holds x still.
func (r *runner) trainedQuantities(m algo.Method, p, q int, n Range) []Quantity {
	if m.Init(p, q, r.Settings.Iterations) != nil {
		return nil // which has been checked
	}
	gradients := 0
	for k := range r.Settings.Iterations {
		gradients += m.Cost(k).Averages
	}
	list := []Quantity{
		quantity(phaseModels, "gradients on draws", BySum, q, r.problem.Average.Wire, n.Times(float64(gradients))),
		quantity(phaseModels, "validation loss", BySum, 1, network.Float64, n),
	}
	const records = 2 // at the start and at the end
	for _, c := range r.consensusQuantities(records, p, q) {
		c.Phase, c.Times = phaseModels, n.Times(c.Times.Usual)
		list = append(list, c)
	}
	return list
}
