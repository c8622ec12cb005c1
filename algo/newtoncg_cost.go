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
// steps with Damping, and the first step after members changed.
func (a *NewtonCG) Cost(k int) Cost {
	vectors, numbers, steps := 2+2*a.C, 0, 1 // averages of q numbers and of one, steps of y
	calls, joined := dsbo.Calls{UpperGrad: 1, HVP: 2*a.C + 1, JVP: 1}, 0
	switch {
	case k > 0 && !a.asked.isCold(k) && a.renews(k):
		vectors, joined, calls.Diagonal = vectors+1, 1, 1
	case k == 0 && a.Start == "search":
		t := a.Constants
		if a.tried[0] > 0 {
			t = int(a.tried[0])
		}
		vectors, numbers, steps = 3*(1+a.Cold)+t*(a.C+2), 2*t-1, 2+t
		calls.HVP, calls.Diagonal, calls.Value = 3*a.Cold+t*a.C, t, t
	case k == 0 || a.asked.isCold(k):
		vectors, joined, steps = 3*(1+a.Cold)+1, min(k, 1), 2
		calls.HVP, calls.Diagonal = 3*a.Cold+min(k, 1), 1
	}
	if k == 0 { // those in which y settled
		settling, diagonals := a.settling()
		vectors, numbers, steps = vectors+settling*(a.C+1)+diagonals, numbers+settling, steps+settling
		joined += diagonals
		calls.HVP, calls.Diagonal = calls.HVP+settling*a.C, calls.Diagonal+diagonals
	}
	calls.LowerGrad = steps
	if asked, known := a.asked.products(k); known {
		extra := asked - (calls.HVP - min(k, 1)) // beside the product H z, if k > 0
		vectors += extra
		calls.HVP += extra
	}
	cost := Cost{Averages: vectors + 1 + numbers, Joined: joined,
		AverageFloats: vectors*len(a.y) + len(a.x) + numbers, Calls: calls}
	if a.Damping > 0 || a.asked.isCold(k) {
		cost.Averages += steps
		cost.AverageFloats += steps * len(dampedShares)
		cost.Value += steps * len(dampedShares)
	}
	return cost
}

// settling returns the steps in which y settles before iteration 0, and the diagonals of these: the
// most, before they are known.
func (a *NewtonCG) settling() (steps, diagonals int) {
	switch {
	case a.Damping == 0:
		return 0, 0
	case a.tried[2] > 0:
		return int(a.tried[2]), int(a.tried[3])
	}
	constants := 1
	if a.Start == "search" {
		constants = a.Constants
	}
	return a.settlingOf(constants, mostSettling)
}

// settlingOf returns the steps in which y settles at n constants, with a number of steps each, and
// the diagonals of these.
func (a *NewtonCG) settlingOf(constants, each int) (steps, diagonals int) {
	return constants * each, constants * (each / a.DgEvery)
}

// renews reports whether iteration k > 0 renews the diagonal.
func (a *NewtonCG) renews(k int) bool { return (k+1)%a.DgEvery == 0 }

// Forecast implements [Forecaster].
func (a *NewtonCG) Forecast(k int) (least, most Cost) {
	costBy := func(constants, settling, most int) Cost {
		solves, products := 2, a.C // solves that Most extends, to most products, and their least
		// number
		b := *a
		further := 0 // of C products
		if k == 0 {
			solves, products = 3, a.Cold
			if a.Start == "search" {
				constants = min(constants, a.Constants)
				further = constants
			} else {
				constants = 1
			}
			b.tried = []float64{float64(constants), 0, 0, 0}
			if a.Damping > 0 {
				steps, diagonals := a.settlingOf(constants, settling)
				b.tried[2], b.tried[3] = float64(steps), float64(diagonals)
				further += steps
			}
		}
		extra := solves*max(0, most-products) + further*max(0, most-a.C)
		c := b.Cost(k)
		c.Averages, c.AverageFloats, c.HVP = c.Averages+extra, c.AverageFloats+extra*len(a.y), c.HVP+extra
		return c
	}
	return costBy(2, leastSettling, 0), costBy(a.Constants, mostSettling, a.Most)
}

// A productLog has the products of the solves of each iteration. It is part of the state: one
// number an iteration, which is 0 before it, and then one more than its products; negative for an
// iteration that began anew since members had changed.
type productLog []float64

// begin opens the record of iteration k, with one product.
func (l productLog) begin(k int) { l[k] = 1 }

// add counts products of iteration k.
func (l productLog) add(k, products int) { l[k] += float64(products) }

// markCold marks iteration k as a cold start, by the sign of its record.
func (l productLog) markCold(k int) { l[k] = -l[k] }

func (l productLog) isCold(k int) bool { return l[k] < 0 }

// products returns the products of iteration k, once it has begun.
func (l productLog) products(k int) (n int, known bool) { return int(math.Abs(l[k])) - 1, l[k] != 0 }
