package algo

import (
	"math"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// findStart prepares for iteration 0: the diagonal, and the search for x. The search's first
// constant makes the mean diagonals of penalty and data equal, which takes both at x = 0.
func (a *NewtonCG) findStart(w *Turn) {
	a.mu[0] = a.Damping
	if a.Start == "search" {
		clear(a.x)
	}
	known := a.splitHessian(w)
	a.renewDiagonal(w)
	if a.Start != "search" || w.err != nil {
		a.freeze(w)
		return
	}
	if !known {
		w.err = dsbo.ConfigErrorf(
			`newtoncg: init must be "x0", with a start of x, where the oracle does not tell the penalty's part ` +
				`of the Hessian (Penalty of its capabilities): it is "search"`)
		return
	}
	kappa := num.Log(mean(a.dg) / mean(a.e)) // penalties are in proportion to e^x
	if math.IsNaN(kappa) || math.IsInf(kappa, 0) {
		w.err = dsbo.ConfigErrorf(
			`newtoncg: init must be "x0" where the mean diagonals of data and penalty are not both positive; `+
				`they are %g and %g`,
			mean(a.dg), mean(a.e))
		return
	}
	a.tryConstants(w, kappa)
}

// tryConstants tries the constants kappa, kappa − 1, ... for all entries of x, as long as the
// validation loss f falls by enough. Each takes one step of y from the y of the constant before,
// and with Damping as many more as y takes to settle. When f falls too little, x, y and the
// diagonal return to what they were at the constant before. One agent's vote for that is enough:
// agents vote so that all stop together even if rounding differs between them.
func (a *NewtonCG) tryConstants(w *Turn, kappa float64) {
	last, lastLoss := 0.0, 0.0 // the constant before and its validation loss
	for t := range w.steps(a.Constants) {
		copy(a.yOld, a.y)
		copy(a.dgOld, a.dg)
		linalg.Fill(a.x, kappa)
		a.splitHessian(w)
		if t > 0 { // findStart has found the first one
			a.renewDiagonal(w)
		}
		a.stepOfY(w, a.C, false)
		a.freeze(w)
		loss := a.averageNumber(w, "validation loss", a.term.upperLoss)
		a.tried[0]++
		if t > 0 && a.anyAgent(w, !fallen(loss, lastLoss)) {
			a.tried[1] = last
			linalg.Fill(a.x, last)
			copy(a.y, a.yOld)
			copy(a.dg, a.dgOld)
			return
		}
		last, lastLoss = kappa, loss
		a.tried[1] = kappa
		kappa--
	}
}

// fallen reports whether loss ≤ last − (1 − drop)|last|. Losses may be negative. If either is NaN
// it reports true, and the search goes on.
func fallen(loss, last float64) bool {
	share := drop
	if last < 0 {
		share = 2 - drop
	}
	return !(loss > float64(share*last))
}

// averageNumber returns the average over the agents of the number that t writes.
func (a *NewtonCG) averageNumber(w *Turn, name string, t term) float64 {
	w.average(name, a.number, t)
	return a.number[0]
}

// anyAgent reports whether an agent votes for something.
func (a *NewtonCG) anyAgent(w *Turn, votes bool) bool {
	if a.vote = 0; votes {
		a.vote = 1
	}
	return a.averageNumber(w, "votes", a.term.vote) > 0
}

// mean is the mean entry of v.
func mean(v []float64) float64 { return kernel.Sum(v) / float64(len(v)) }

// randomSigns fills dst with random signs, the same for the same name on all agents: the highest
// bit of a hash of the name and the entry.
func randomSigns(dst []float64, name uint64) {
	for i := range dst {
		dst[i] = 1 - 2*float64(num.SplitMix((uint64(i)+name<<32)*num.SplitMixStep)>>63)
	}
}
