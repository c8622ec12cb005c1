package candidates

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// A Lasso asks for the structure of a lasso or an elastic net, see [SparseProblem], beside one
// penalty of squares.
type Lasso struct {
	Ratio    float64      // α; 0: it is tuned
	OneError bool         // the strongest λ whose loss is within a standard error of the least one
	All      []data.Shard // of CrossFit.All
}

// Of paths: log λ falls by pathStep from the λ where all weights are 0, by longestPath at most, and
// by shortPath with more features than training examples of a part. A path ends after mostPathRises
// rises in a row, or one of more than a standard error. middleRatio is the first α of a tuned one.
const (
	pathStep      = 0.2
	longestPath   = 9.2
	shortPath     = 4.6
	mostPathRises = 6
	middleRatio   = 0.5
)

// Of the search that follows by the hypergradient: the most solutions, and the share of the loss by
// which one more is to lower it.
const (
	mostPathSearch = 12
	pathPromise    = 1e-7
)

// How many solutions of all parts a lasso has at most, and at how many hypergradients are found.
const (
	MostLassoSlopes    = 1 + mostPathSearch
	MostLassoSolutions = 2*longestPath/pathStep*1.5 + MostLassoSlopes
)

// A lassoSearch looks for λ, and α, of models of all parts.
type lassoSearch struct {
	*crossFit
	*SparseProblem
	st *Structure
}

// tuneLasso finds λ, and α where it is tuned: the one of a path on which the cross-fitted loss is
// least, and from there on downhill by the hypergradient.
func (f *crossFit) tuneLasso(st, null *Structure) error {
	parts, u, err := NewSparse(f.ctx, f.Problem, f.Data.Shards, f.Model, null.y)
	if err != nil {
		return err
	}
	s := &lassoSearch{f, parts, st}
	ratio := cmp.Or(f.Lasso.Ratio, middleRatio)
	st.Lasso = new(runs.Lasso)
	best, err := s.path(u, num.Log(max(parts.largest/ratio, leastStrength)), ratio)
	if err != nil {
		return err
	}
	search := newDownhill(best)
	for k := 0; k < mostPathSearch && search.promise() > pathPromise*math.Abs(float64(search.best.Phi)); k++ {
		next, err := s.at(search.trial(), search.best.Y)
		if err != nil {
			return err
		}
		search.accept(next)
	}
	theta, u := search.best.X, search.best.Y
	if f.Lasso.OneError {
		if theta, u, err = s.oneError(search.best); err != nil {
			return err
		}
	}
	strength, ratio := s.valuesOf(theta)
	y, err := s.At(u, strength, ratio, nearby)
	if err != nil {
		return err
	}
	t, err := f.judge(y)
	f.settleAt(st, theta[0], t)
	st.Name = "lasso"
	if ratio < 1 {
		st.Name = fmt.Sprintf("elastic net, α = %.3g", ratio)
	}
	st.Lasso.Lambda, st.Lasso.Ratio = strength, ratio
	st.Products = s.Products
	return err
}

// valuesOf returns λ and α of log λ and, where it is tuned, the logarithm of α/(1 − α).
func (s *lassoSearch) valuesOf(theta []float64) (strength, ratio float64) {
	if ratio = s.Lasso.Ratio; ratio == 0 {
		ratio = 1 / (1 + num.Exp(-theta[1]))
	}
	return num.Exp(theta[0]), ratio
}

// judged solves at λ and α from u on, which moves there, and judges.
func (s *lassoSearch) judged(u []float64, strength, ratio float64) (trial, error) {
	y, err := s.At(u, strength, ratio, nearby)
	if err != nil {
		return trial{}, err
	}
	s.st.Solutions++
	return s.judge(y)
}

// pathLength returns how far a path goes down in log λ, of features whose models have some rows.
func pathLength(features, rows float64) float64 {
	if features > rows {
		return shortPath
	}
	return longestPath
}

// isLost reports whether a loss is above another trial's by more than that one's standard error.
func (t trial) isLost(least trial) bool { return t.loss > least.loss+least.error }

// path returns the best model of a path from log λ = first on. u is the solution there.
func (s *lassoSearch) path(u []float64, first, ratio float64) (best *Model, err error) {
	far, rises := pathLength(float64(s.Model.Of.Features), s.rows*s.trainShare), 0
	theta, least := []float64{first}, trial{}
	if s.Lasso.Ratio == 0 {
		theta = append(theta, num.Log(ratio/(1-ratio)))
	}
	for k := 0; float64(k)*pathStep <= far && rises < mostPathRises; k++ {
		theta[0] = first - float64(pathStep*float64(k))
		t, err := s.judged(u, num.Exp(theta[0]), ratio)
		if err != nil {
			return nil, err
		}
		s.st.Lasso.Path = append(s.st.Lasso.Path, runs.LassoPoint{Lambda: num.Exp(theta[0]), Loss: runs.Number(t.loss),
			Error: runs.Number(t.error), Nonzero: s.Count(u)})
		rises++
		if best == nil || t.loss < least.loss {
			least, rises = t, 0
			best = NewModel("", runs.Unknown(), slices.Clone(theta))
			best.Y = slices.Clone(u)
		} else if t.isLost(least) {
			break
		}
	}
	return s.at(best.X, best.Y)
}

// at returns the models at theta, solved from u, with the hypergradient.
func (s *lassoSearch) at(theta, u []float64) (*Model, error) {
	m := NewModel("", runs.Unknown(), theta)
	m.Y, m.Converged = slices.Clone(u), true
	strength, ratio := s.valuesOf(theta)
	t, err := s.judged(m.Y, strength, ratio)
	if err != nil {
		return nil, err
	}
	byStrength, byRatio, err := s.Slopes(m.Y)
	m.Phi, m.gradient = runs.Number(t.loss), []float64{byStrength}
	if len(theta) > 1 {
		m.gradient = append(m.gradient, float64(byRatio*ratio*(1-ratio)))
	}
	return m, err
}

// oneError raises λ from the best one on while the loss is within a standard error of the least.
func (s *lassoSearch) oneError(best *Model) (theta, u []float64, err error) {
	strength, ratio := s.valuesOf(best.X)
	u = slices.Clone(best.Y)
	least, err := s.judged(u, strength, ratio)
	for err == nil && strength < s.largest/ratio {
		best.X[0] += pathStep / 2
		strength, _ = s.valuesOf(best.X)
		var t trial
		if t, err = s.judged(u, strength, ratio); err == nil && t.isLost(least) {
			best.X[0] -= pathStep / 2
			break
		}
	}
	return best.X, u, err
}

// wholeLasso finds a lasso's model of all examples, which shards have, from y on; nil: from 0.
func (f *crossFit) wholeLasso(st *Structure, all train.Problem, shards []data.Shard, y []float64) (w whole, err error) {
	one := models.Folds{Of: f.Model.Of, Count: 1}
	s, u, err := NewSparse(f.ctx, all, shards, one, y)
	if err != nil {
		return w, err
	}
	if y != nil {
		s.collapse(u, y)
	}
	w.Penalties = slices.Repeat([]float64{st.Strength}, f.features)
	w.Y, err = s.At(u, st.Lasso.Lambda, st.Lasso.Ratio, closest)
	st.Products += s.Products
	st.Lasso.Nonzero, st.Lasso.Of = int(s.Count(u)), f.features
	return w, err
}

// addLasso finds a lasso, which is the best structure.
func (s *Structures) addLasso(ridge *Structure) (err error) {
	s.Best = new(Structure)
	s.List = append(s.List, s.Best)
	if err = s.fit.tuneLasso(s.Best, s.null); err != nil {
		return err
	}
	if s.one, err = s.fit.whole(ridge); err != nil {
		return err
	}
	s.best, err = s.fit.wholeLasso(s.Best, s.fit.All, s.fit.Lasso.All, s.fit.Model.Mean(s.Best.y))
	return err
}

// lassoNote returns a lasso's λ and its result beside the loss of one penalty of squares.
func (s *Structures) lassoNote(one float64) string {
	l := s.Best.Lasso
	note := fmt.Sprintf("The %s with λ = %.4g gives weights to %d of %d features; its loss on rows that its models "+
		"have not seen is %.4g, that of one penalty of squares %.4g", s.Best.Name, l.Lambda, l.Nonzero, l.Of,
		float64(s.Best.Loss), one)
	if last := l.Path[len(l.Path)-1]; l.Lambda <= last.Lambda {
		note += ", and falls still at this λ, the weakest that was tried"
	}
	return note
}

// Lasso returns the lasso or elastic net that the run keeps; nil: none.
func (s *Structures) Lasso() *runs.Lasso { return s.Best.Lasso }

// LassoParts returns the models of the parts of a lasso; nil: there is none.
func (s *Structures) LassoParts() (all [][]float64) {
	if s.Best.Lasso == nil {
		return nil
	}
	for k := range s.fit.Model.Count {
		weights, intercepts := s.fit.Model.Fold(s.Best.y, k)
		all = append(all, slices.Concat(weights, intercepts))
	}
	return all
}
