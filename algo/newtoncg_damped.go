package algo

import "dsbo/internal/vec"

// dampedShares are the shares of a damped step that are tried; 0 is to stay.
var dampedShares = [...]float64{0, 1, 0.25, 0.0625}

// dampedShare returns the share of the step −s of y at which the averaged lower loss is least, for which the agents average all
// its values in one message. After a full step the damping falls to a third, after a small one or none it grows fourfold.
func (a *NewtonCG) dampedShare(w *turn) float64 {
	best := 0
	for j, share := range dampedShares {
		vec.Comb(a.trial, 1, a.y, -share, a.s)
		_, a.losses[j] = w.values(a.x, a.trial, allExamples)
	}
	w.average(a.losses, a.losses)
	for j, loss := range a.losses {
		if loss < a.losses[best] { // NaN is no loss
			best = j
		}
	}
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
