package candidates

import (
	"context"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/runs"
	"dsbo/train"
)

// Of the shares: by how many examples they are pulled to what is expected of them, what is expected
// of a structure beside one of a step less, the most solutions of the search for shares, and the
// share of the loss by which one more is to lower it.
const (
	shareRows    = 4
	stepShare    = 0.4
	mostShares   = 60
	sharePromise = 1e-6
)

// stack finds the shares α of the structures, at least 0 and 1 together, at which
//
//	mean loss of Σ_m α_m z_m  +  τ v/n Σ_m α_m log(α_m/π_m)
//
// is least: z_m are cross-fitted predictions, n the examples, τ = 4, and v the residual variance
// for squares, else 1. π_m are the shares that are expected, proportional to 0.4^k after k steps of
// a chain from one penalty for all on: with few rows, such as 100 of classes that can be told
// apart, the losses of many steps are alike by chance. It sets the answer.
func (s *Structures) stack() error {
	start, err := s.shared(s.expected())
	if err != nil {
		return err
	}
	search := newDownhill(start)
	for n := 0; n < mostShares && search.promise() > sharePromise*math.Abs(float64(search.best.Phi)); n++ {
		next, err := s.shared(search.trial())
		if err != nil {
			return err
		}
		search.accept(next)
	}
	shares := softmax(search.best.X)
	s.Y, s.Penalties = s.mean(shares), make([]float64, s.fit.features)
	for m, st := range s.List {
		st.Share = runs.Number(shares[m])
		for j, c := range st.penalties[s.fit.Model.Count] {
			s.Penalties[j] += float64(shares[m] * (c + st.Strength))
		}
	}
	s.Loss, s.Error, err = s.fit.losses(s.Y)
	return err
}

// expected returns log π, but for a number that is added to all.
func (s *Structures) expected() (logs []float64) {
	for _, st := range s.List {
		logs = append(logs, float64(st.steps)*num.Log(stepShare))
	}
	return logs
}

// softmax returns e^θ over their sum.
func softmax(theta []float64) []float64 {
	shares, sum, most := make([]float64, len(theta)), 0.0, slices.Max(theta)
	for m, t := range theta {
		shares[m] = num.Exp(t - most)
		sum += shares[m]
	}
	linalg.Scale(shares, 1/sum, shares)
	return shares
}

// mean returns the mean of the structures' models of the parts.
func (s *Structures) mean(shares []float64) []float64 {
	y := make([]float64, len(s.List[0].y))
	for m, st := range s.List {
		linalg.Axpy(y, shares[m], st.y)
	}
	return y
}

// pull is τ v/n.
func (s *Structures) pull() float64 {
	v := 1.0
	if s.fit.Variance {
		v = math.Inf(1)
		for _, st := range s.List {
			v = min(v, 2*float64(st.Loss))
		}
	}
	return shareRows * v / s.fit.rows
}

// shared returns the loss of the mean by the shares softmax(θ), with its pull, and the gradient by
// θ: an agent sends a number for each structure.
func (s *Structures) shared(theta []float64) (*Model, error) {
	f, shares, expected := s.fit, softmax(theta), softmax(s.expected())
	y := s.mean(shares)
	loss, _, err := f.losses(y)
	if err != nil {
		return nil, err
	}
	slopes := make([]float64, len(s.List)) // by the shares
	err = f.parts.Agents.MeanNumbers(f.ctx, slopes, func(i int, part []float64) error {
		p, q := f.Model.Dims()
		dx, dy := make([]float64, p), make([]float64, q)
		err := f.Problem.Oracles[i].UpperGrad(dx, dy, dx, y, dsbo.Sample{Set: dsbo.Whole})
		for m, st := range s.List {
			part[m] = linalg.Dot(dy, st.y)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	pull, along := s.pull(), 0.0
	for m, share := range shares {
		log := num.Log(max(share, 1e-12) / expected[m])
		loss += float64(pull * share * log)
		slopes[m] += float64(pull * (log + 1))
		along += float64(share * slopes[m])
	}
	m := NewModel("", runs.Unknown(), theta)
	m.Phi, m.Converged, m.gradient = runs.Number(loss), true, make([]float64, len(shares))
	for k, share := range shares {
		m.gradient[k] = share * (slopes[k] - along)
	}
	return m, nil
}

// Solution returns the answer's model of all examples, of the problem of [CrossFit.All].
func (s *Structures) Solution() []float64 {
	y := make([]float64, len(s.List[0].all))
	for _, st := range s.List {
		linalg.Axpy(y, float64(st.Share), st.all)
	}
	return y
}

// Refit returns the answer's model of other examples, of which there are times as many as parts
// have together: each structure is solved at its strength, in its order. all is the problem of the
// linear model on them.
func (s *Structures) Refit(ctx context.Context, all train.Problem, times float64) (y []float64, err error) {
	f := *s.fit
	f.ctx = ctx
	f.all, f.trainShare = newSolver(all), f.trainShare/times
	needed := map[*Structure]bool{}
	for _, st := range slices.Backward(s.List) { // a structure comes after the one that shapes it
		if needed[st] = needed[st] || st.Share > 0; needed[st] {
			needed[st.from] = true
		}
	}
	again := map[*Structure]*Structure{}
	for _, st := range append([]*Structure{s.null}, s.List...) {
		if !needed[st] {
			continue
		}
		one := *st
		one.penalties = slices.Clone(st.penalties)
		if st.from != nil {
			one.penalties[f.Model.Count] = f.reweight(st.kappa, again[st.from].part(&f, f.Model.Count))
		}
		if err := f.solveAll(&one); err != nil {
			return nil, err
		}
		if again[st] = &one; y == nil {
			y = make([]float64, len(one.all))
		}
		linalg.Axpy(y, float64(one.Share), one.all)
	}
	return y, nil
}
