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

// lossRounding is the share of the loss by which values may differ though y is as good: the
// rounding of y and of its gradient in float32.
const lossRounding = 0x1p-23

// dampedShare returns the share of the step −s of y at which the averaged lower loss is least, and
// sets the damping that follows. One message averages the losses of all shares.
func (a *NewtonCG) dampedShare(w *Turn) (share float64) {
	w.average(LossesOfShorterSteps, a.losses, a.term.lowerLosses)
	share, a.mu[0], a.fall = dampedStep(a.losses, a.mu[0], a.Damping/leastDamping)
	return share
}

// dampedStep returns which of dampedShares is taken, by the lower losses there, the damping mu
// after it and the fall of the loss. The share is 1 where the loss of a full step is the least to
// rounding, as at an optimum, where steps are noise. After a full step that lowers the loss by more
// than rounding the damping falls to a third, but not below least. After none, or the least share,
// it grows fourfold.
func dampedStep(losses []float64, mu, least float64) (share, next, fall float64) {
	best := 0
	for j, loss := range losses {
		if loss < losses[best] { // never NaN, such as of a step too far
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

// damp sets damped to P(x) + μ diag |dg|. An entry of y without curvature of its own, such as an
// intercept that has no penalty, is damped as the mean entry is, and so are all where the data part
// has no curvature at all, such as in a loss that is piecewise linear.
func (a *NewtonCG) damp() {
	size, data := mean(a.e), 0.0 // mean entries of the diagonal of H, and of D
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

// singular is the share of the mean entry below which a diagonal counts as 0.
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

// freeze takes damped steps of y at the starting x until the lower loss hardly falls any more. Only
// then is f the loss of a lower solution: before, f falls because y moves, whatever x is, and its
// gradient points to less of every penalty. One agent's vote ends it.
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

// settling reports whether y takes step t, from 1 on, after calm ones in a row.
func settling(calm, t int) bool { return calm < leastSettling && t <= mostSettling }

// settled reports whether a full step left the lower loss nearly unchanged. A smaller share means
// that the step was too long.
func settled(share, fall, loss float64) bool {
	return share == 1 && !(fall > float64(settledShare*math.Abs(loss)))
}
