package candidates

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// Networks are networks with one penalty for all weights, among which the cross-fitted loss
// chooses, and between the best of them and the best structure, which is linear.
type Networks struct {
	Of      []models.MLP                                         // the smallest first, at least one
	Problem func(data.Task, models.Model) (train.Problem, error) // makes the problem of a model on data
	Linear  *Structures
}

// A Network is a network that was tried, at the strength of its penalty chosen on the first fold.
// Its Loss is over the rows of the folds that have judged it.
type Network struct {
	runs.Structure
	Of    models.MLP  `json:"-"`
	Gain  runs.Gain   // against the linear model on the same rows
	Few   bool        // a few of these rows decide on the difference, which is within their chance
	Parts [][]float64 // its models, each without one of these folds

	sums [NetworkNumbers]float64 // over these rows, as judge has them
}

// Of the search for the strength of a network's penalty on the first fold: by how much it changes,
// how often it is changed to one side, and the most solutions that it takes.
const (
	networkStep          = 2
	networkSteps         = 5
	MostNetworkSolutions = 2 + networkSteps
)

// Choose tries the networks on the first fold, until one does not beat the one before by a standard
// error. It then tries the best of them fold by fold, until it is worse than the linear model by
// two errors. The best counts as better if its loss on all folds is lower by more than one error
// and by more than half a percent, unless a few rows decide that.
func (n Networks) Choose(ctx context.Context) (tried []*Network, best *Network, better bool, err error) {
	f := n.Linear.fit
	strength := -num.Log(2 * f.trainShare * f.rows) // of each weight; at first as by a prior of deviation 1
	tried, best, err = grow(n.Of, strength, func(one *Network, near float64, larger bool) error {
		err := n.tune(ctx, one, near, larger)
		f.watch.Log("%s, log-penalty %g: loss %.4g on the first of %d folds, linear %.4g", one.Name, one.Strength,
			float64(one.Loss), f.Model.Count, float64(one.Gain.LossAgainst))
		return err
	})
	if err != nil {
		return nil, nil, false, err
	}
	better, err = confirm(best, f.Model.Count, func(k int) error {
		prob, err := n.fold(k, best.Of)
		if err != nil {
			return err
		}
		m, err := n.solve(ctx, best, prob, best.Strength, nil, MostProducts)
		if err != nil {
			return err
		}
		return n.judge(ctx, best, prob, m)
	})
	return tried, best, better, err
}

// grow tries networks by tune until one does not beat the best so far. Each starts near the
// strength per weight that suits the one before.
func grow(of []models.MLP, strength float64, tune func(one *Network, near float64, larger bool) error) (
	tried []*Network, best *Network, err error) {
	for _, of := range of {
		one := &Network{Of: of}
		if one.Name = fmt.Sprintf("network of %d hidden units", of.Hidden[0]); len(of.Hidden) > 1 {
			one.Name = fmt.Sprintf("network of hidden units %v", of.Hidden)
		}
		_, q := of.Dims()
		size := num.Log(float64(q)) // the penalty is a mean over the weights
		if err := tune(one, math.Round(strength+size), best != nil); err != nil {
			return nil, nil, err
		}
		strength, tried = one.Strength-size, append(tried, one)
		last := best != nil && !one.beats(best)
		if best == nil || one.Loss < best.Loss {
			best = one
		}
		if last {
			break
		}
	}
	return tried, best, nil
}

// confirm judges the best network by further folds as long as there is hope, and reports whether it
// is better than the linear model on all.
func confirm(best *Network, folds int, judge func(k int) error) (better bool, err error) {
	for k := 1; k < folds; k++ {
		if !hopes(best.Gain) {
			return false, nil
		}
		if err := judge(k); err != nil {
			return false, err
		}
	}
	return Promises(best.Gain) && !best.Few, nil
}

// beats reports whether a network's loss is lower than another one's by more than a standard error.
func (n *Network) beats(other *Network) bool { return n.Loss+n.Error < other.Loss }

// hopes reports whether a network's cross-fitted loss so far is not higher than the linear one's by
// two standard errors.
func hopes(g runs.Gain) bool { return g.LossChange < 2*g.LossError }

// Promises reports whether a cross-fitted loss is lower than the one that it is compared with by
// more than a standard error, and by more than half a percent.
func Promises(g runs.Gain) bool {
	return -float64(g.LossChange) > max(float64(g.LossError), networkPromise*math.Abs(float64(g.LossAgainst)))
}

// NetworkNote returns a note on the networks tried, the best one's gain, and whether it is kept.
func NetworkNote(tried []*Network, best *Network, kept bool) string {
	var sizes []string
	for _, n := range tried {
		sizes = append(sizes, n.Name)
	}
	last := "The linear model is kept."
	switch {
	case kept:
		last = "The network is kept."
	case Promises(best.Gain) && best.Few:
		last = "As a few rows decide on that, the linear model is kept."
	}
	g := best.Gain
	return fmt.Sprintf("Tried by the same folds: %s. On %s that its models have not seen the loss of the %s, "+
		"the best on the first fold, is %.4g, of the linear model %.4g; the difference is %.2g ± %.2g. %s",
		strings.Join(sizes, ", "), wording.Count(g.Examples, "row"), best.Name, float64(g.Loss),
		float64(g.LossAgainst), float64(g.LossChange), float64(g.LossError), last)
}

// NetworkNumbers are how many numbers of an agent judge a network on a fold.
const NetworkNumbers = 10

// networkPromise is the share by which a network's loss must be below the linear loss, and the next
// strength's loss below the network's, for the search to continue.
const networkPromise = 0.005

// leastDeciders is the least effective number of rows, (Σ d²)²/Σ d⁴, behind a difference of losses.
// If fewer rows dominate it, as with counts of a heavy tail, the difference is chance and its
// standard error too small: in 3 of 5 draws of 300 counts with 2 to 4 such rows, new rows had a
// higher loss by a network whose loss had been lower by 1.2 to 1.9 errors. With fewer rows the
// evidence must be as strong as a mean of as many: the 95 % interval by Student's distribution must
// exclude 0. With 300 rows of y = a² − b, where a linear model is off by most in a few, a gain is 5
// errors by 4 rows: 3.2 are needed.
const leastDeciders = 8

// fold returns the problem of a network whose training examples are those outside of fold k, and
// whose validation examples are in it.
func (n Networks) fold(k int, of models.MLP) (p train.Problem, err error) {
	t := n.Linear.fit.Data
	t.Shards = slices.Clone(t.Shards)
	for i := range t.Shards {
		t.Shards[i].Holdout = data.Examples{}
		for _, e := range []*data.Examples{&t.Shards[i].Train, &t.Shards[i].Val} {
			if e.Len() == 0 { // of another process
				continue
			}
			if *e, err = ofPart(*e, k); err != nil {
				return p, err
			}
		}
	}
	return n.Problem(t, of)
}

// rowsOf returns the rows of examples that count in part k.
func rowsOf(e data.Examples, k int) (rows []int) {
	for row := range e.Len() {
		if e.Weight.At(row, k) != 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// ofPart returns the examples of part k. Weights are scaled by the part's share of all examples, so
// that the mean loss is the mean over all examples. If the part is empty, the result is the first
// example, with weight 0.
func ofPart(e data.Examples, k int) (data.Examples, error) {
	rows := rowsOf(e, k)
	if len(rows) == 0 {
		rows = []int{0}
	}
	part, err := e.Pick(rows)
	if err != nil {
		return part, err
	}
	share, weights := float64(len(rows))/float64(e.Len()), make([]float32, len(rows))
	for at, row := range rows {
		weights[at] = float32(share * e.Weight.At(row, k))
	}
	part.Weight, err = ad.Float32Table(len(weights), 1, weights)
	return part, err
}

// networkEffort returns the most gradients of a network's solution, and the steps from strength to
// strength. A larger network needs no smaller penalty per weight than the one before, up to
// rounding, and half of the gradients are enough to judge it.
func networkEffort(larger bool) (most int, steps []float64) {
	if larger {
		return MostProducts / 2, []float64{networkStep}
	}
	return MostProducts, []float64{networkStep, -networkStep}
}

// tune finds the strength of a network's penalty on the first fold, from near on. Each solution
// starts at the best model so far, until one is better by little.
func (n Networks) tune(ctx context.Context, one *Network, near float64, larger bool) error {
	prob, err := n.fold(0, one.Of)
	if err != nil {
		return err
	}
	most, steps := networkEffort(larger)
	best, err := searchNetwork(near, steps, func(strength float64, start []float64) (*Model, error) {
		return n.solve(ctx, one, prob, strength, start, most)
	})
	if err != nil {
		return err
	}
	one.Strength = best.X[0]
	return n.judge(ctx, one, prob, best)
}

// searchNetwork returns the best model of those at a strength and, step by step, to its sides, up
// to the first side where one is better.
func searchNetwork(near float64, steps []float64,
	at func(strength float64, start []float64) (*Model, error)) (*Model, error) {
	best, err := at(near, nil)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		for k := 1; k <= networkSteps; k++ {
			next, err := at(near+float64(step*float64(k)), best.Y)
			if err != nil {
				return nil, err
			}
			if !next.Below(best) {
				break
			}
			fall := best.Phi - next.Phi
			if best = next; float64(fall) < networkPromise*math.Abs(float64(next.Phi)) {
				break
			}
		}
		if best.X[0] != near {
			break
		}
	}
	return best, nil
}

// solve returns a network's model of the training examples of a problem. Its Φ is the loss on the
// validation examples.
func (n Networks) solve(ctx context.Context, one *Network, prob train.Problem, strength float64,
	start []float64, most int) (*Model, error) {
	prob.Of = ", network"
	solver := prob.Solver()
	solver.MaxProducts = most
	m := NewModel(one.Name, runs.Unknown(), []float64{strength})
	sol, err := solver.Descend(ctx, m.X, start)
	if err == nil {
		sol.Phi, _, err = prob.Losses(ctx, train.Fit{X: m.X, Y: sol.Y})
	}
	one.Products += sol.Products
	one.Solutions++
	m.Finder, m.Y, m.Phi, m.Steps = &Finder{Problem: prob, Symbol: "λ"}, sol.Y, runs.Number(sol.Phi), sol.Products
	m.Converged, m.Reached, m.effort = sol.Converged, true, "gradient"
	return m, err
}

// judge adds the examples of the next fold, by a model that has not seen them, to what judges a
// network: by sums.
func (n Networks) judge(ctx context.Context, one *Network, prob train.Problem, m *Model) error {
	f, k := n.Linear.fit, len(one.Parts)
	one.Parts = append(one.Parts, m.Y)
	added := make([]float64, len(one.sums)) // 1, u L, u D and so on, with D the change from the linear loss
	err := f.parts.Agents.MeanNumbers(ctx, "losses of unseen rows", added, func(i int, part []float64) error {
		clear(part)
		each, err := f.Problem.Each(i, train.ValSet, n.Linear.CrossFitted())
		if err != nil {
			return err
		}
		linear := slices.Clone(each.Losses)
		of, err := prob.Each(i, train.ValSet, m.Fit())
		if err != nil {
			return err
		}
		for at, row := range rowsOf(f.Data.Shards[i].Val, k) {
			l := of.Losses[at]
			addRow(part, of.Rows(at), f.weights[i][row], l, l-linear[row])
		}
		return nil
	})
	for at := range added {
		one.sums[at] += float64(added[at] * float64(f.parts.Agents.N()))
	}
	one.conclude()
	return err
}

// addRow adds some rows of weight u each, of loss l by a network and l−d by the linear model.
func addRow(sums []float64, rows, u, l, d float64) {
	ul, ud := float64(u*l), float64(u*d)
	square := float64(ud * ud)
	for at, v := range [...]float64{1, u, ul, ud, u * u, u * ul, ul * ul, u * ud, square, square * square} {
		sums[at] += float64(rows * v)
	}
}

// conclude finds the loss and the gain from the sums.
func (one *Network) conclude() {
	weight, squares := one.sums[1], one.sums[4]
	statistics := func(sum, usum, square float64) (mean, deviation runs.Number) {
		v := sum / weight
		variance := square - float64(2*v*usum) + float64(float64(v*v)*squares)
		return runs.Number(v), runs.Number(math.Sqrt(max(0, variance)) / weight)
	}
	one.Loss, one.Error = statistics(one.sums[2], one.sums[5], one.sums[6])
	one.Gain = runs.Gain{Set: runs.CrossFitted, Examples: int(math.Round(one.sums[0])), Loss: one.Loss,
		Accuracy: runs.Unknown(), AccuracyAgainst: runs.Unknown(), AccuracyChange: runs.Unknown(),
		AccuracyError: runs.Unknown()}
	one.Gain.LossChange, one.Gain.LossError = statistics(one.sums[3], one.sums[7], one.sums[8])
	one.Gain.LossAgainst = one.Loss - one.Gain.LossChange
	deciders := float64(one.sums[8]*one.sums[8]) / one.sums[9]
	one.Few = deciders < leastDeciders && !(float64(-one.Gain.LossChange) >
		float64(num.StudentQuantile(0.975, int(deciders)-1)*float64(one.Gain.LossError)))
}

// Model returns the model of a network that is kept on the examples of all folds, with its scores.
// Φ and the validation loss are cross-fitted.
func (n Networks) Model(ctx context.Context, kept *Network, all data.Task) (*Model, error) {
	m, err := n.Refit(ctx, kept, all, 1)
	if err != nil {
		return nil, err
	}
	m.X[0], m.Phi = kept.Strength, kept.Loss // beside the examples of a part, as of linear models
	return m, n.Linear.fit.addScores(ctx, m)
}

// Refit returns the model of a network on all examples, times as many as a fold's model has. It
// starts at the model of the fold with the least loss on them, so that a poor start, by which some
// solutions are poor, matters less.
func (n Networks) Refit(ctx context.Context, kept *Network, all data.Task, times float64) (*Model, error) {
	prob, err := n.Problem(all, kept.Of)
	if err != nil {
		return nil, err
	}
	x := []float64{overall(kept.Strength, n.Linear.fit.trainShare, times)}
	start, err := leastOf(kept.Parts, func(y []float64) (loss float64, err error) {
		_, loss, err = prob.Losses(ctx, train.Fit{X: x, Y: y})
		return loss, err
	})
	if err != nil {
		return nil, err
	}
	return n.solve(ctx, kept, prob, x[0], start, MostProducts)
}

// overall returns the strength over times as many rows as all folds have, whose penalties sum up to
// as much as at a strength over a part, a share of these rows.
func overall(strength, share, times float64) float64 { return strength + num.Log(share/times) }

// leastOf returns the model of the least loss, of equal ones the first; nil where none is a number.
func leastOf(models [][]float64, lossOf func(y []float64) (float64, error)) (best []float64, err error) {
	least := math.Inf(1)
	for _, y := range models {
		loss, err := lossOf(y)
		if err != nil {
			return nil, err
		}
		if loss < least {
			best, least = y, loss
		}
	}
	return best, nil
}
