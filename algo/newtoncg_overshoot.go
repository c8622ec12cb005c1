package algo

// mostGain times the largest gain of a step of y so far is the gain beyond which the step before
// was too long. Where y follows x, gains fall as x converges.
const mostGain = 8

// leastWait times the largest gain is the gain up to which x does not wait for y.
const leastWait = 1.0 / 1024

// An overshoot is the record of gains by which a step of y that was too long is found, as part of
// the state.
type overshoot []float64

// The numbers of an overshoot: the largest gain of full steps after iteration 0, 0 before them; 1
// once a step was too long; and the least gain since, 0 if there is none.
const (
	largestGain = iota
	overshot
	leastGain
	overshootNumbers
)

// found reports whether the gain of a step of y shows that the step before it was too long. With
// penalties near 0 a full step may pass over into saturated classes, where gradients are large and
// the Hessian is almost 0: the next step would be longer without bound.
func (o overshoot) found(gain float64) bool {
	largest := o[largestGain]
	return !o.past() && largest > 0 && !(gain <= float64(mostGain*largest)) // true for NaN
}

// past reports whether a step was too long in an iteration before.
func (o overshoot) past() bool { return o[overshot] == 1 }

// shareOfX records the gain of a step of y, and returns the share of x's step, given the one that
// follows from the share of y's. Once a step was too long it is as much smaller as the gain is
// larger than the least one since, so that y keeps up with x.
func (o overshoot) shareOfX(gain, share float64) float64 {
	if share == 1 {
		o[largestGain] = max(o[largestGain], gain)
	}
	if !o.past() {
		return share
	}
	if least := o[leastGain]; least == 0 || gain < least {
		o[leastGain] = gain
	}
	wait := max(o[leastGain], float64(leastWait*o[largestGain]))
	if !(gain > wait) { // true for NaN
		return share
	}
	return float64(share*wait) / gain
}

// goBack returns x and y to what they were before the last step of y, which was too long.
func (a *NewtonCG) goBack(w *Turn) {
	a.overshoot[overshot] = 1
	a.share = 0
	copy(a.x, a.xBefore)
	copy(a.y, a.yBefore)
	a.splitHessian(w)
}
