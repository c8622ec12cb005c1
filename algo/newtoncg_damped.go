package algo

import (
	"math"

	"dsbo/internal/linalg"
)

// dampedShares are the shares of a damped step that are tried; 0 is to stay.
var dampedShares = [...]float64{0, 1, 0.25, 0.0625}

// dampedShare returns the share of the step −s of y at which the averaged lower loss is least, for
// which the agents average all its values in one message. After a full step the damping falls to a
// third, after a small one or none it grows fourfold.
func (a *NewtonCG) dampedShare(w *turn) float64 {
	best := 0
	for j, share := range dampedShares {
		linalg.Comb(a.trial, 1, a.y, -share, a.s)
		_, a.losses[j] = values(w, a.x, a.trial, allExamples)
	}
	w.average(a.losses, a.losses)
	for j, loss := range a.losses {
		if loss < a.losses[best] { // NaN is no loss
			best = j
		}
	}
	a.fall = a.losses[0] - a.losses[best]
	switch dampedShares[best] {
	case 1:
		a.mu[0] = max(a.mu[0]/3, a.Damping/leastDamping)
	case 0.25:
	default:
		a.mu[0] *= 4
	}
	return dampedShares[best]
}

// leastDamping is how many times less than at the start the damping can become.
const leastDamping = 1e4

// A y that settles ends where two steps in a row lower its loss by less than settledShare of it
// each, or after mostSettling steps.
const (
	settledShare  = 0.03
	leastSettling = 2
	usualSettling = 10
	mostSettling  = 30
)

// freeze takes steps of y at the x of the start, where they are damped, until the lower loss hardly
// falls any more. What f tells of an x is the loss of its solution: along the way there f falls for
// y's sake whatever x is, and its gradient says of every penalty that it is too much. One agent's
// vote is enough to end it.
func (a *NewtonCG) freeze(w *turn) {
	if a.Damping == 0 {
		return
	}
	for calm, t := 0, 1; calm < leastSettling && t <= mostSettling && w.err == nil; t++ {
		renew := t%a.DgEvery == 0
		a.stepOfY(w, a.C, renew)
		a.tried[2]++
		if renew {
			a.tried[3]++
		}
		vote := 0.0
		// a smaller share says that the step was too long
		if a.share == 1 && !(a.fall > float64(settledShare*math.Abs(a.losses[0]))) {
			vote = 1
		}
		if a.averageNumber(w, vote) > 0 {
			calm++
		} else {
			calm = 0
		}
	}
}
