package candidates

import (
	"context"
	"fmt"
	"math"
	"slices"

	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
	"dsbo/train/exact"
)

// A CrossFit is a linear model with penalties of some structure, as a bilevel problem: of each part
// of the examples, which are the training examples of a fold, there is a model, and other examples
// validate it. What all parts share is one number, the strength of the penalties. How the
// penalties of a part's features differ follows from the rows of that part alone, so that
// validation examples judge a structure that has not seen them.
type CrossFit struct {
	Model    models.Folds  // with Apart
	Problem  train.Problem // of Model
	Data     data.Task     // of Problem
	All      train.Problem // of Model.Of, with a log-penalty for each feature, on the examples of all parts
	Blocks   Blocks        // the zero value: none are named
	Variance bool          // the loss is half of a square: it counts in units of the residual variance
	Lasso    *Lasso        // kept, whatever its loss; nil: none is asked for
	Watch    Watcher       // nil: nobody watches
}

// Blocks are features in groups that a user has named.
type Blocks struct {
	Names []string
	Of    []int // the place in Names of each feature's block
}

// A Structure is penalties of one structure at their best strength, with the models there.
type Structure struct {
	runs.Structure
	penalties [][]float64 // log-penalties of each part at strength 0, of a number a feature
	y         []float64   // the models of the parts
	from      *Structure  // whose weights in a part shape the part's penalties; nil: none do
	kappa     float64     // how: see reweight
}

// A whole is a structure's log-penalties of all examples, of a number a feature, and the model
// there.
type whole struct{ Penalties, Y []float64 }

// Structures are those that a run has tried.
//
//	null     all penalties so large that the weights are the gradients at 0, times a number
//	ridge    one penalty for all
//	S1 ...   reweighted: each feature's penalty by the size of its weight in the last of them
//	U½, U1   each feature's penalty by its gradient at 0
//	US1 ...  reweighted from there
//	blocks   one penalty for each block that the user has named
type Structures struct {
	List  []*Structure    // in this order, without null
	Tried []runs.Constant // cross-fitted losses of one penalty for all
	Best  *Structure      // see choose
	one   whole           // of one penalty for all
	best  whole           // of Best
	null  *Structure
	fit   *crossFit
}

// Of the chains: the most reweightings, and after how many without a lower loss each ends.
const (
	mostReweighted   = 6
	mostReweightedUp = 3
	mostRises        = 2
)

// How many structures a run tries, null not among them: a chain has one more than mostRises at
// least. Of all examples it solves for the model of one penalty, and for the best one's and what
// shapes it.
const (
	LeastStructures = 1 + 2*(1+mostRises) + 2
	MostStructures  = 1 + mostReweighted + 2 + mostReweightedUp + 1
	MostWholes      = 1 + 1 + mostReweighted
)

// nullPenalty is the logarithm of a penalty that outweighs any data.
const nullPenalty = 30

// Structures finds the best strength of each structure, and chooses one. near is a good penalty, if
// there is one for all.
func (c CrossFit) Structures(ctx context.Context, near float64) (*Structures, error) {
	f, err := c.newCrossFit(ctx)
	if err != nil {
		return nil, err
	}
	s := &Structures{fit: f}
	if s.null, err = f.null(); err != nil {
		return nil, err
	}
	ridge := f.newStructure("one penalty", nil, 0)
	if s.Tried, err = s.tune(ridge, near, s.null.y); err != nil {
		return nil, err
	}
	if c.Lasso != nil {
		return s, s.addLasso(ridge)
	}
	err = s.chain("reweighted", ridge, mostReweighted)
	byRoot, byGradient := f.newStructure("by √gradient", s.null, 0.5), f.newStructure("by gradient", s.null, 1)
	for _, st := range []*Structure{byRoot, byGradient} {
		if err == nil {
			_, err = s.tune(st, ridge.Strength, ridge.y)
		}
	}
	if err == nil {
		err = s.chain("by gradient, reweighted", byGradient, mostReweightedUp)
	}
	if err == nil && c.Blocks.Of != nil {
		err = s.tuneBlocks(ridge)
	}
	if err == nil {
		s.Best, err = choose(s.List, f.strengthPrior, f.beats)
	}
	if err == nil {
		s.one, err = f.whole(ridge)
	}
	if s.best = s.one; err == nil && s.Best != ridge {
		s.best, err = f.whole(s.Best)
	}
	return s, err
}

// chain reweights from a structure on, until the loss has not fallen often enough.
func (s *Structures) chain(name string, last *Structure, most int) error {
	var losses []float64
	for k := 1; !chainEnds(losses, most); k++ {
		next := s.fit.newStructure(fmt.Sprintf("%s %d", name, k), last, 1)
		if _, err := s.tune(next, last.Strength, last.y); err != nil {
			return err
		}
		last, losses = next, append(losses, float64(next.Loss))
	}
	return nil
}

// chainEnds reports whether a chain ends after structures of some losses: after the most, or where
// mostRises in a row are not below the least before them.
func chainEnds(losses []float64, most int) bool {
	least, rises := math.Inf(1), 0
	for _, loss := range losses {
		if rises++; loss < least {
			least, rises = loss, 0
		}
	}
	return len(losses) >= most || rises >= mostRises
}

// tune finds the strength of a structure near another one's, whose models are y, and adds the
// structure to the list. tried are the strengths, ascending, with their losses.
func (s *Structures) tune(st *Structure, near float64, y []float64) (tried []runs.Constant, err error) {
	search := s.fit.newSearch(st, y)
	if err := search.descend(near); err != nil {
		return nil, err
	}
	search.settleStrength()
	s.List = append(s.List, st)
	for _, strength := range search.strengths() {
		tried = append(tried, runs.Constant{Lambda: strength, Phi: search.tried[strength].loss})
	}
	return tried, nil
}

// A crossFit is a CrossFit whose structures are being found.
type crossFit struct {
	CrossFit                   // what they are of
	ctx        context.Context // of the search
	parts      *exact.Solver   // of the models of all parts
	all        *exact.Solver   // of the model of all examples
	weights    [][]float64     // of the rows of each agent's validation examples here, 1 together over all
	rows       float64         // validation examples of all agents, as many as would weigh alike
	trainShare float64         // of the examples that a part has
	watch      Watcher         // receives the models, in their order
	features   int             // of the linear model
	least      float64         // the weakest log-penalty of a part
}

// newCrossFit prepares the solvers, and finds how the validation examples weigh.
func (c CrossFit) newCrossFit(ctx context.Context) (*crossFit, error) {
	f := &crossFit{CrossFit: c, ctx: ctx, parts: newSolver(c.Problem), all: newSolver(c.All), watch: c.Watch,
		features: c.Model.Of.Features}
	if f.watch == nil {
		f.watch = unwatched{}
	}
	f.trainShare = 1 - 1/float64(c.Model.Count)
	f.weights = make([][]float64, len(c.Data.Shards))
	squares, agents := []float64{0}, f.parts.Agents
	err := agents.MeanNumbers(ctx, "squares of weights", squares, func(i int, part []float64) error {
		val := c.Data.Shards[i].Val
		w := make([]float64, val.Len())
		clear(part)
		for row := range w {
			for k := range val.Weight.Cols() {
				w[row] += val.Weight.At(row, k)
			}
			n := val.Rows(row)
			if w[row] /= float64(len(w)*agents.N()) * n; n == 0 { // it has no loss of its own
				w[row] = 0
			}
			part[0] += float64(n * w[row] * w[row])
		}
		f.weights[i] = w
		return nil
	})
	f.rows = 1 / (squares[0] * float64(agents.N()))
	f.least = f.leastPenalty()
	return f, err
}

// newSolver returns the solver of models of a problem. Its PhiTol is for hypergradients, which only
// give directions: Lower gets its own.
func newSolver(p train.Problem) *exact.Solver {
	s := p.RoughSolver()
	s.PhiTol, s.MostPairs = solutionTol, solverPairs
	return s
}

// newStructure returns a structure with the log-penalties of each part at strength 0, which the
// weights of from shape by kappa; nil: none do.
func (f *crossFit) newStructure(name string, from *Structure, kappa float64) *Structure {
	st := &Structure{Structure: runs.Structure{Name: name}, from: from, kappa: kappa}
	for k := range f.Model.Count {
		penalties := make([]float64, f.features)
		if from != nil {
			weights, _ := f.Model.Fold(from.y, k)
			penalties = f.reweight(kappa, weights)
		}
		st.penalties = append(st.penalties, penalties)
	}
	return st
}

// leastWeight is the share of the mean size of the weights at which a weight counts as none.
const leastWeight = 0.1

// reweight returns log-penalties that follow from weights,
//
//	c_j = ((w_j²/m² + δ²)/(1 + δ²))^−κ      with m² the mean of w_j², δ = 0.1
//
// where w_j² is the mean over the outputs.
func (f *crossFit) reweight(kappa float64, weights []float64) []float64 {
	squares, mean := make([]float64, f.features), 0.0
	for j, w := range weights {
		squares[j%f.features] += float64(w * w)
		mean += float64(w * w)
	}
	mean = max(mean/float64(f.features), math.SmallestNonzeroFloat64)
	for j, square := range squares {
		squares[j] = -kappa * num.Log((square/mean+leastWeight*leastWeight)/(1+leastWeight*leastWeight))
	}
	return squares
}

// whole finds a structure's model of all examples, after the one that shapes it. The sum of
// penalties over all rows is the same as in a part, which has fewer rows.
func (f *crossFit) whole(st *Structure) (w whole, err error) {
	if st.from == nil { // all parts have the same
		w.Penalties = slices.Clone(st.penalties[0])
	} else {
		from, err := f.whole(st.from)
		if err != nil {
			return w, err
		}
		w.Penalties = f.reweight(st.kappa, from.Y[:f.Model.Of.Outputs*f.features])
	}
	x := make([]float64, f.features)
	for j := range x {
		w.Penalties[j] = f.penalty(w.Penalties[j], st.Strength)
		x[j] = w.Penalties[j] + num.Log(f.trainShare)
	}
	sol, err := f.all.Lower(f.ctx, x, f.Model.Mean(st.y), solutionTol)
	w.Y = sol.Y
	st.Products += sol.Products
	st.Separate = st.Separate || f.weakestCounts(w)
	return w, err
}

// Models returns the models of all examples of one penalty and of the best structure, with their
// scores. Φ and the validation loss of both are cross-fitted.
func (s *Structures) Models(ctx context.Context) (one, best *Model, err error) {
	f, ridge := &Finder{Problem: s.fit.All, Symbol: "λ"}, s.List[0]
	one = NewModel(fmt.Sprintf("λ = %.3g for all", ridge.Strength), runs.Number(ridge.Strength), s.one.Penalties)
	one.Y, one.Phi, one.Steps = s.one.Y, ridge.Loss, ridge.Products
	best = NewModel("λ tuned", runs.Unknown(), s.best.Penalties)
	best.Y, best.Phi, best.FoundBy = s.best.Y, s.Best.Loss, FoundByStructures
	if s.Best.Lasso != nil {
		best.Name, best.FoundBy = s.Best.Name, FoundByPath
	}
	for _, st := range s.List {
		best.Steps += st.Products
	}
	for _, m := range []*Model{one, best} {
		m.Finder, m.Converged = f, true
		if err := s.fit.addScores(ctx, m); err != nil {
			return nil, nil, err
		}
	}
	return one, best, nil
}

// addScores scores a model of all examples, whose Φ is cross-fitted.
func (f *crossFit) addScores(ctx context.Context, m *Model) error {
	scores, err := m.Finder.Problem.Scores(ctx, m.Fit())
	m.ValLoss = m.Phi
	m.TestLoss, m.TestAccuracy = scores.Test.Numbers()
	f.watch.Found(m)
	return err
}

// CrossFitted returns the best structure's models of the parts.
func (s *Structures) CrossFitted() train.Fit { return s.fit.crossFitted(s.Best.y) }

// CrossFittedOne returns the models of the parts with one penalty for all.
func (s *Structures) CrossFittedOne() train.Fit { return s.fit.crossFitted(s.List[0].y) }

// Problem returns the problem of the models of all examples.
func (s *Structures) Problem() train.Problem { return s.fit.All }

// Penalties returns the log-penalties of the best structure's model of all examples, one a feature.
func (s *Structures) Penalties() []float64 { return s.best.Penalties }

// KeepsOne reports whether the best structure is one penalty for all.
func (s *Structures) KeepsOne() bool { return s.Best == s.List[0] }

// Note returns a sentence on the best structure and its result. It begins with what, such as "The
// tuned λ is".
func (s *Structures) Note(what string) string {
	note, one := "", float64(s.List[0].Loss)
	if s.Best.Lasso != nil {
		note = s.lassoNote(one)
	} else {
		note = fmt.Sprintf("%s %s, of %d structures of penalties the first that none surely beats on rows that its "+
			"models have not seen; its loss on them is %.4g", what, s.Best.Name, len(s.List), float64(s.Best.Loss))
		if !s.KeepsOne() {
			note += fmt.Sprintf("; with one penalty it is %.4g", one)
		}
	}
	if s.Best.Separate {
		note += ". The classes separate: probabilities near 0 and 1 are not to be trusted"
	}
	return note + "."
}

// Summaries returns the structures' entries of a run's summary. keeps is true if the run keeps the
// best one.
func (s *Structures) Summaries(keeps bool) (all []runs.Structure) {
	for _, st := range s.List {
		one := st.Structure
		one.Kept = keeps && st == s.Best
		all = append(all, one)
	}
	return all
}

// Refit returns the best structure's model of other examples, of which there are times as many as
// parts have together, with log-penalties beside the rows of a part. all is the problem of the
// linear model on them, of shards.
func (s *Structures) Refit(ctx context.Context, all train.Problem, shards []data.Shard, times float64) (train.Fit,
	error) {
	f := *s.fit
	f.ctx, f.all, f.trainShare = ctx, newSolver(all), f.trainShare/times
	var w whole
	var err error
	if s.Best.Lasso != nil {
		w, err = f.wholeLasso(s.Best, all, shards, s.best.Y)
	} else {
		w, err = f.whole(s.Best)
	}
	return train.Fit{X: w.Penalties, Y: w.Y}, err
}
