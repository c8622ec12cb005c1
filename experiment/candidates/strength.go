package candidates

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"dsbo/internal/num"
	"dsbo/runs"
	"dsbo/train"
)

// Of solutions: PhiTol of models that a run keeps, the largest one of models of parts, by
// which strengths are compared, and the pairs of a solver's memory.
const (
	solutionTol = 1e-5
	roughestTol = 1e-3
	solverPairs = 30
)

// partsTol is PhiTol of the models of parts, a tenth of the share of a loss of n examples that its
// standard error is, where losses differ as much as they are large.
func partsTol(n float64) float64 { return min(roughestTol, 0.1/math.Sqrt(n)) }

// A trial is a structure at one strength.
type trial struct {
	y           []float64
	loss, error float64 // cross-fitted mean loss, and its standard error
	prior       float64 // how unlikely the strength is, in units of the loss
	wrong       float64 // share of the cross-fitted predictions of classes
}

// criterion is what strengths are chosen by: a penalty so weak that few examples have it lucky, as
// where classes can be separated or losses have heavy tails, has a large error.
func (t trial) criterion() float64 { return t.loss + t.error + t.prior }

// A strengthSearch looks for the best strength of a structure.
type strengthSearch struct {
	*crossFit
	st    *Structure
	start []float64 // models where none is known yet
	tried map[float64]trial
	// solve finds the structure at a strength from other models, to a tolerance
	solve func(strength float64, start []float64, tol float64) (trial, error)
}

// newSearch returns the search for the strength of a structure whose models may begin at start.
func (f *crossFit) newSearch(st *Structure, start []float64) *strengthSearch {
	return &strengthSearch{f, st, start, map[float64]trial{},
		func(strength float64, start []float64, tol float64) (trial, error) {
			return f.at(st, strength, start, tol)
		}}
}

// at returns the structure at a strength, from the nearest known one.
func (s *strengthSearch) at(strength float64) (trial, error) {
	if t, ok := s.tried[strength]; ok {
		return t, nil
	}
	start, tol := s.start, solutionTol
	if len(s.tried) > 0 {
		nearest := slices.MinFunc(s.strengths(), func(a, b float64) int {
			return cmp.Compare(math.Abs(a-strength), math.Abs(b-strength))
		})
		start, tol = s.tried[nearest].y, partsTol(s.rows)
	}
	t, err := s.solve(strength, start, tol)
	if err == nil {
		s.tried[strength] = t
	}
	return t, err
}

// at returns a structure at a strength, solved from start to a tolerance.
func (f *crossFit) at(st *Structure, strength float64, start []float64, tol float64) (trial, error) {
	x := make([]float64, 0, f.Model.Count*f.features)
	for _, penalties := range st.penalties {
		for _, c := range penalties {
			x = append(x, f.penalty(c, strength))
		}
	}
	sol, err := f.parts.Lower(f.ctx, x, start, tol)
	if err != nil {
		return trial{}, err
	}
	st.Products += sol.Products
	st.Solutions++
	t, err := f.judge(sol.Y)
	t.prior = f.strengthPrior(strength)
	return t, err
}

// strengths returns those that were tried, ascending.
func (s *strengthSearch) strengths() []float64 { return slices.Sorted(maps.Keys(s.tried)) }

// best returns the best strength so far.
func (s *strengthSearch) best() (strength float64) {
	least := math.Inf(1)
	for _, a := range s.strengths() {
		if c := s.tried[a].criterion(); c < least {
			strength, least = a, c
		}
	}
	return strength
}

// leastRefined is the least change of a strength that is worth a solution.
const leastRefined = 0.1

// refine tries the strength at which the parabola through the best one and its neighbors is lowest.
func (s *strengthSearch) refine() error {
	tried, best := s.strengths(), s.best()
	k := slices.Index(tried, best)
	if k < 1 || k+1 == len(tried) {
		return nil
	}
	below, above, least := tried[k-1], tried[k+1], s.tried[best].criterion()
	fall, rise := s.tried[below].criterion()-least, s.tried[above].criterion()-least
	left, right := best-below, above-best
	move := (float64(fall*right*right) - float64(rise*left*left)) / (2 * (float64(fall*right) + float64(rise*left)))
	if !(math.Abs(move) >= leastRefined) {
		return nil
	}
	_, err := s.at(best + move)
	return err
}

// settleStrength gives the structure its best strength.
func (s *strengthSearch) settleStrength() {
	best := s.best()
	s.settleAt(s.st, best, s.tried[best])
}

// settleAt gives a structure a strength, and what was found there.
func (f *crossFit) settleAt(st *Structure, strength float64, t trial) {
	st.Strength, st.y, st.Loss, st.Error = strength, t.y, runs.Number(t.loss), runs.Number(t.error)
	st.Separate = isClasses(f.Model.Of) && t.wrong == 0
}

// null finds the structure whose models have intercepts only, as its penalties outweigh any data.
// The loss has their mean over the weights, features times outputs: the strength makes up for that.
func (f *crossFit) null() (*Structure, error) {
	st, strength := f.newStructure("no feature", nil, 0), num.Log(float64(f.features*f.Model.Of.Outputs))+nullPenalty
	t, err := f.at(st, strength, nil, solutionTol)
	f.settleAt(st, strength, t)
	return st, err
}

// leastFall is the share of its standard error by which the criterion has to fall for a search to
// continue in a direction: very weak penalties are all alike, and so are very strong ones.
const leastFall = 1e-2

// descend tries strengths from one on: by ones up and down until the criterion falls no more, then
// where a parabola is lowest.
func (s *strengthSearch) descend(near float64) error {
	first, err := s.at(near)
	if err != nil {
		return err
	}
	for _, side := range []float64{1, -1} {
		least := first.criterion()
		for a := near + side; math.Abs(a) < nullPenalty; a += side {
			t, err := s.at(a)
			if err != nil {
				return err
			}
			if !(t.criterion() < least-float64(leastFall*t.error)) {
				break
			}
			least = t.criterion()
		}
		if s.best() != near {
			break // it falls to this side
		}
	}
	return s.refine()
}

// JudgedNumbers is the length of the sums by which models are judged.
const JudgedNumbers = 4

// judge returns the trial of the models of the parts: each validation example is judged by the
// models that have not seen it, by sums of the losses and of their squares.
func (f *crossFit) judge(y []float64) (trial, error) {
	var sums [JudgedNumbers]float64 // Σ u L, Σ u² L, Σ u² L², Σ u of wrong classes
	n := float64(f.parts.Agents.N())
	err := f.parts.Agents.MeanNumbers(f.ctx, "losses of unseen rows", sums[:], func(i int, part []float64) error {
		each, err := f.Problem.Each(i, train.ValSet, f.crossFitted(y))
		clear(part)
		for row, l := range each.Losses {
			n, u := each.Rows(row), f.weights[i][row]
			ul := float64(u * l)
			part[0] += float64(n * ul)
			part[1] += float64(n * u * ul)
			part[2] += float64(n * ul * ul)
			if each.Hits != nil && each.Hits[row] == 0 {
				part[3] += float64(n * u)
			}
		}
		return err
	})
	mean, deviation := weightedMean(sums[:], n, f.rows)
	return trial{y: y, loss: mean, error: deviation, wrong: float64(n * sums[3])}, err
}

// weightedMean returns Σ u L with its standard error, √Σ u² (L − Σ u L)², from the means over n
// agents of the sums Σ u L, Σ u² L and Σ u² L²; rows is 1/Σ u².
func weightedMean(sums []float64, n, rows float64) (mean, deviation float64) {
	mean = float64(n * sums[0])
	squares := float64(n*sums[2]) - float64(2*mean*n*sums[1]) + float64(mean*mean)/rows
	return mean, math.Sqrt(max(0, squares))
}

// crossFitted returns models of the parts, with an x on which scores do not depend.
func (f *crossFit) crossFitted(y []float64) train.Fit {
	return train.Fit{X: make([]float64, f.Model.Count*f.features), Y: y}
}
