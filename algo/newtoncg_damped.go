package algo

import (
	"math"
)

// leastShare is the least share of a step that is tried. If y cannot move, x still does.
const leastShare = 0.0625

// dampedShares are the shares of a damped step of y that are tried: the first, 0, is to stay, and
// the second is a full step.
var dampedShares = [ShorterSteps]float64{0, 1, 0.25, leastShare}

const (
	// ShorterSteps is the number of losses that one average of a damped step has.
	ShorterSteps = 4
	// LossesOfShorterSteps is the name of that average.
	LossesOfShorterSteps = "training losses of shorter steps"
)

// lossRounding is the relative difference of two losses below which they count as equal: the
// rounding error of y and its gradient in float32.
const lossRounding = 0x1p-23

// dampedShare returns the share of the step −s of y at which the averaged lower loss is least, and
// sets the damping that follows. One message averages the losses of all shares.
func (a *NewtonCG) dampedShare(w *Turn) (share float64) {
	w.average(LossesOfShorterSteps, a.losses, a.term.lowerLosses)
	share, a.mu[0], a.fall = dampedStep(a.losses, a.mu[0], a.Damping/leastDamping)
	return share
}

// dampedStep chooses one of dampedShares, given the lower losses after each. It returns the share,
// the next damping, and by how much the loss falls. The share is the one of the least loss, but 1
// if a full step is as good to rounding: near an optimum losses differ by rounding alone. After a
// full step that lowers the loss by more than rounding, the damping mu is divided by 3, but is at
// least the given least. After share 0 or the least share it is multiplied by 4.
func dampedStep(losses []float64, mu, least float64) (share, next, fall float64) {
	best := 0
	for j, loss := range losses {
		if loss < losses[best] { // false for NaN, the loss of a step too long
			best = j
		}
	}
	stay, full := losses[0], losses[1]
	fall = stay - losses[best]
	rounding := float64(lossRounding * math.Abs(stay))
	if full-losses[best] <= rounding && dampedShares[best] != 1 {
		return 1, mu, fall
	}
	switch dampedShares[best] {
	case 1:
		if fall > rounding {
			mu = max(mu/3, least)
		}
	case 0.25: // the damping stays
	default:
		mu *= 4
	}
	return dampedShares[best], mu, fall
}

// damp sets damped to P(x) + μ |dg|. Where an entry has almost no curvature, such as an intercept
// without a penalty, or where the data have none at all, as with piecewise linear losses, the mean
// entry of the Hessian's diagonal replaces |dg|: otherwise damping would not limit the step there.
func (a *NewtonCG) damp() {
	size, data := mean(a.e), 0.0 // mean entries of the diagonals of H, once data is added, and of D
	for _, d := range a.dg {
		data += math.Abs(d) / float64(len(a.dg))
	}
	if size += data; size == 0 {
		size = 1
	}
	for i, d := range a.dg {
		d = math.Abs(d)
		if least := float64(singular * size); data < least || a.e[i]+d < least {
			d = size
		}
		a.damped[i] = a.e[i] + float64(a.mu[0]*d)
	}
}

// singular times the mean entry is the value below which an entry of a diagonal counts as 0.
const singular = 1e-10

// leastDamping is how many times less than at the start the damping can become.
const leastDamping = 1e4

// A y that settles ends where two steps in a row lower its loss by less than settledShare of it
// each, or after mostSettling steps.
const (
	settledShare  = 0.03
	leastSettling = 2
	mostSettling  = 30
)

// freeze takes damped steps of y at a fixed x until two in a row hardly lower the lower loss. Only
// then does f compare lower solutions: before, f falls because y moves, whatever x is, and its
// gradient asks for smaller penalties everywhere. A step counts as soon as one agent votes for it,
// so that all agents stop together.
func (a *NewtonCG) freeze(w *Turn) {
	if a.Damping == 0 {
		return
	}
	for calm, t := 0, 1; settling(calm, t) && w.err == nil; t++ {
		renew := t%a.DgEvery == 0
		a.stepOfY(w, a.C, renew)
		a.tried[2]++
		if renew {
			a.tried[3]++
		}
		calm++
		if !a.anyAgent(w, settled(a.share, a.fall, a.losses[0])) {
			calm = 0
		}
	}
}

// settling reports whether freeze takes step t, counted from 1, after calm steps in a row that
// hardly lowered the loss.
func settling(calm, t int) bool { return calm < leastSettling && t <= mostSettling }

// settled reports whether a full step left the lower loss nearly unchanged. A smaller share means
// that the step was too long.
func settled(share, fall, loss float64) bool {
	return share == 1 && !(fall > float64(settledShare*math.Abs(loss)))
}
