package algo

import (
	"math"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// Search is what people tune by who have no hypergradient: whole trainings, each at an x of its
// own, of which the one of the least averaged f stays. An iteration is one training: y from 0 by T
// Newton steps, as [NewtonCG] takes them, each of N products, over the same exact averages. All
// agents have the same bits, and so try the same x.
//
// Iteration 0 tries x where it was set. The later ones try constants for all entries of x: of a
// grid of K − 1 even places in Clip ("grid"), drawn there ("random"), or where a Gaussian process
// through the losses so far expects the most improvement ("bayes": Jones, Schonlau, Welch 1998).
// With Each, random draws each entry of x by itself.
//
// X and Y are of the best training so far. The mixer must have Average of
// [dsbo.MixerCapabilities]. Draws: all examples.
type Search struct {
	// Rule chooses the constants that later iterations try
	Rule string    `json:"rule,omitzero" default:"random" must:"one of grid, random, bayes"`
	Each bool      `json:"each,omitzero"`                    // random entries of x, each by itself
	Clip []float64 `json:"clip,omitempty" default:"[-8, 8]"` // lo and hi, the box of x
	T    int       `json:"T,omitzero" default:"6"`           // Newton steps of a training
	N    int       `json:"N,omitzero" default:"16"`          // products of a Newton step
	Seed int       `json:"seed,omitzero" must:"at least 0"`  // of the draws of random and bayes

	methodState
	train        NewtonCG  // the training under way
	tried, found []float64 // for each iteration: the constant tried, and its averaged f
	most         int       // K
	process      process   // with rule bayes
}

// Traits implements [Described].
func (a *Search) Traits() Traits {
	return a.traits(Traits{KeepsBest: true, FullBatch: "trainings on all examples are compared"})
}

// Init implements [Method].
func (a *Search) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		c.require(!a.Each || a.Rule == "random", "each", "false, but with rule random", a.Each)
		c.require(a.Rule != "bayes" || K <= mostLosses, "K", "at most 500 with rule bayes", K)
		if !c.countable() {
			return
		}
		if a.most = K; a.Rule == "bayes" {
			a.process = newProcess(K)
		}
		a.train = NewtonCG{C: a.N, Most: 1, Start: "x0"}
		if c.err = a.train.Init(p, q, K); c.err != nil {
			return
		}
		a.averagesTerms()
		a.train.terms = a.terms
		a.tried, a.found = a.carried("tried", K), a.carried("found", K)
		for _, n := range a.train.named {
			switch n.Name { // later trainings start with these pairs; y and the diagonal are made anew
			case "pairs_v", "pairs_dv", "pairs_gram", "pairs_counts":
				a.named = append(a.named, n)
			}
		}
	})
}

// Cost of an iteration: a diagonal, T gradients and T·N products, averages of q numbers, and the
// average of one number, f.
func (a *Search) Cost(int) Cost {
	vectors := 1 + a.T*(1+a.N)
	return Cost{Averages: vectors + 1, AverageFloats: vectors*len(a.y) + 1,
		Calls: dsbo.Calls{LowerGrad: a.T, HVP: a.T * a.N, Diagonal: 1, Value: 1}}
}

// step is one training.
func (a *Search) step(w *Turn, k int) {
	t := &a.train
	a.propose(k, t.x)
	t.asked.begin(k)
	clear(t.y)
	t.splitHessian(w)
	t.renewDiagonal(w)
	for range a.T {
		t.stepOfY(w, a.N, false)
	}
	f := t.averageNumber(w, "validation loss", t.term.upperLoss)
	if w.err != nil {
		return
	}
	if a.found[k] = f; f < a.least(k) || math.IsNaN(a.least(k)) { // NaN: no training before had a number
		copy(a.x, t.x)
		copy(a.y, t.y)
	}
}

// least returns the least averaged f of the trainings before iteration k, NaN if all are.
func (a *Search) least(k int) float64 {
	least := math.NaN()
	for _, f := range a.found[:k] {
		if !(f >= least) && !math.IsNaN(f) {
			least = f
		}
	}
	return least
}

// propose sets x to what iteration k tries, and records the constant, if it is one. Draws depend
// only on the seed, the iteration and the entry, so that a resumed run repeats them.
func (a *Search) propose(k int, x []float64) {
	lo, width := a.Clip[0], a.Clip[1]-a.Clip[0]
	draw := func(i int) float64 { // of entry i, uniform in the box, by 53 bits of a hash
		of := num.SplitMix(uint64(a.Seed)) + uint64(k)*num.SplitMixStep
		return lo + float64(width*(float64(num.SplitMix(num.SplitMix(of)+uint64(i))>>11)/(1<<53)))
	}
	switch {
	case k == 0:
		copy(x, a.x)
		a.tried[0] = mean(x)
		return
	case a.Each:
		for i := range x {
			x[i] = draw(i)
		}
		return
	case a.Rule == "grid": // the middle of the k-th of K − 1 equal intervals
		a.tried[k] = lo + float64(width*(float64(k)-0.5))/float64(a.most-1)
	case a.Rule == "random":
		a.tried[k] = draw(0)
	default:
		a.tried[k] = a.mostImproving(k)
	}
	linalg.Fill(x, a.tried[k])
}

// mostImproving returns the most promising constant by the losses before iteration k.
func (a *Search) mostImproving(k int) float64 {
	lo, width := a.Clip[0], a.Clip[1]-a.Clip[0]
	for i, c := range a.tried[:k] {
		a.process.at[i], a.process.losses[i] = (c-lo)/width, a.found[i]
	}
	return lo + float64(width*a.process.mostImproving(k))
}
