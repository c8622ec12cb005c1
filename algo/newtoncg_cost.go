package algo

import (
	"math"

	"dsbo"
)

// Cost of an iteration: 2 + 2C averages of q numbers and one of p; 2C+1 Hessian-vector products, a
// gradient of f, one of g, and a Jacobian-vector product; when the diagonal is renewed, one average
// of q more, in the message of the gradient of g. Iteration 0 has three solves, of Cold products
// each, and before them a search of T constants: T(C+2) averages of q and 2T−1 of one number, TC
// products, and T diagonals, gradients of g and values. T is the number of constants tried, which
// is known after the iteration; before, Cost counts with the most. The products added by Most are
// counted after the iteration, from the state, which a resumed run has too. The first iteration
// after members changed has no pairs: it has the solves of iteration 0, its diagonal, and the
// product for z, also from the state. With Damping the search's steps of y continue until y
// settles; each costs C + 1 averages of q, one of one number, and now and then a diagonal. A step
// of y by shares costs one more average, of the shares' losses, and their values. These are the
// steps with Damping, in the first iteration after members changed, and after one was too long.
func (a *NewtonCG) Cost(k int) Cost {
	w := a.work(k, a.asked.isCold(k), a.Constants, mostSettling, 0)
	if asked, known := a.asked.products(k); known {
		w.products, w.shorter = asked, a.asked.isShorter(k)
		if k == 0 {
			w.constants, w.settling, w.renewed = int(a.tried[0]), int(a.tried[2]), int(a.tried[3])
		}
	}
	return a.costOf(k, w)
}

// A newtonWork is the work of an iteration.
type newtonWork struct {
	cold      bool // there are no pairs before it
	constants int  // number of constants that a search tries
	settling  int  // number of steps of y in freeze
	renewed   int  // number of diagonals renewed in freeze
	products  int  // number of products in all solves
	shorter   bool // steps of y go by shares
}

// work returns the work of iteration k, given the number of constants that a search tries, the
// number of steps y takes to settle at each, and the least number of products of a solve. Without a
// search y settles once, at the start of x.
func (a *NewtonCG) work(k int, cold bool, constants, settling, least int) newtonWork {
	damped := a.Damping > 0
	if k > 0 && !cold { // a step of y and one of z
		return newtonWork{products: 2 * max(a.C, least), shorter: damped}
	}
	w := newtonWork{cold: true, products: 3 * max(a.Cold, least), shorter: damped || k > 0} // two steps of y, one of z
	if k > 0 {
		return w
	}
	starts := 1 // at which y settles
	if a.Start == "search" {
		starts, w.constants = constants, constants
	}
	if damped {
		w.settling, w.renewed = starts*settling, starts*(settling/a.DgEvery)
	}
	w.products += (w.constants + w.settling) * max(a.C, least)
	return w
}

// costOf returns the cost of iteration k with this work.
func (a *NewtonCG) costOf(k int, w newtonWork) Cost {
	steps, diagonals, joined := 1, 0, 0 // steps of y; diagonals, and those that share a gradient's message
	switch {
	case k == 0:
		steps, diagonals, joined = 2+w.constants+w.settling, max(w.constants, 1)+w.renewed, w.renewed
	case w.cold:
		steps, diagonals, joined = 2, 1, 1
	case a.renews(k):
		diagonals, joined = 1, 1
	}
	byShares := 0 // steps of y that choose a share
	if w.shorter {
		byShares = steps
	}
	losses := byShares * ShorterSteps
	vectors := steps + 1 + w.products + diagonals   // gradients, the residual of z, and so on: q numbers each
	numbers := max(2*w.constants-1, 0) + w.settling // a loss of each constant, and votes but for the first
	return Cost{Averages: vectors + 1 + numbers + byShares, Joined: joined, Shorter: byShares,
		AverageFloats: vectors*len(a.y) + len(a.x) + numbers + losses,
		Calls: dsbo.Calls{UpperGrad: 1, LowerGrad: steps, HVP: w.products + min(k, 1), JVP: 1, Diagonal: diagonals,
			Value: w.constants + losses}}
}

// renews reports whether iteration k > 0 renews the diagonal.
func (a *NewtonCG) renews(k int) bool { return (k+1)%a.DgEvery == 0 }

// Forecast implements [Forecaster].
func (a *NewtonCG) Forecast(k int) (least, most Cost) {
	longest := a.work(k, false, a.Constants, mostSettling, a.Most)
	longest.shorter = longest.shorter || k > 0 // a step may have been too long
	return a.costOf(k, a.work(k, false, min(2, a.Constants), leastSettling, 0)), a.costOf(k, longest)
}

// A productLog has a number for each iteration, as part of the state: 0 before the iteration, and
// then 1 plus the number of products in its solves, so that it is not 0. A half is added in an
// iteration whose steps of y go by shares. The number is negative for an iteration that started
// without pairs because members had changed.
type productLog []float64

// begin opens the record of iteration k, with one product.
func (l productLog) begin(k int) { l[k] = 1 }

// add counts products of iteration k.
func (l productLog) add(k, products int) { l[k] += float64(products) }

// markShorter marks iteration k as one whose steps of y go by shares.
func (l productLog) markShorter(k int) { l[k] = math.Floor(l[k]) + 0.5 }

func (l productLog) isShorter(k int) bool { return l[k] != math.Trunc(l[k]) }

// markCold marks iteration k as a cold start, by the sign of its record.
func (l productLog) markCold(k int) { l[k] = -l[k] }

func (l productLog) isCold(k int) bool { return l[k] < 0 }

// products returns the products of iteration k, once it has begun.
func (l productLog) products(k int) (n int, known bool) { return int(math.Abs(l[k])) - 1, l[k] != 0 }
