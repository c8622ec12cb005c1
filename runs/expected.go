package runs

import (
	"math"

	"dsbo/internal/num"
)

// Of the gain to expect: by how many of their standard errors cross-fitted gains are too large, as
// structures and strengths of penalties were chosen by the same rows, and how much larger their
// errors are therefore; and what true gains are without a look at a run's own: of most problems
// normal with a spread of 0.04 of the loss, of one in five with ten times that.
const (
	crossFitOptimism = 0.7
	crossFitErrors   = 1.2
	gainSpread       = 0.04
	largeGains       = 0.2
	largeSpread      = 0.4
)

// KeptShare is the share of the gain to expect that remains of a model which is solved for with
// more rows than the judged one, as with more rows one penalty does better too.
const KeptShare = 0.65

// expectedGain returns by what share of the other model's loss the tuned model's is to be expected
// to be lower on new examples, where the first gain is of test examples, or of cross-fitted ones;
// not known of others. A gain that was found significant is on average larger than the true one,
// and one whose rows chose something is so always: by some of its errors, as the best of several
// choices is, whatever the size of the gain. With d ± s the gain on test examples, v ± w the
// cross-fitted one and e = 1.2 w,
//
//	g = (d/s² + (v − 0.7w)/e²) / (1/s² + 1/e²)
//
// and without v the mean of the true gain, given d, if true gains are as gainSpread has them.
func expectedGain(gains []Gain) Number {
	if len(gains) == 0 {
		return Unknown()
	}
	d, s := -gains[0].Share(), gains[0].shareOf(gains[0].LossError)
	switch set := gains[0].Set; {
	case set == CrossFitted:
		return unchosen(d, s)
	case set != Test || gains[0].few() || !d.Known() || !s.Known():
		return Unknown()
	case s == 0:
		return d
	}
	for _, g := range gains[1:] {
		if v, w := -g.Share(), g.shareOf(g.LossError); g.Set == CrossFitted && v.Known() && w > 0 {
			e := crossFitErrors * w
			sure, also := 1/Number(s*s), 1/Number(e*e)
			return (Number(d*sure) + Number(unchosen(v, w)*also)) / (sure + also)
		}
	}
	return shrunk(d, s)
}

// unchosen returns a cross-fitted gain v ± w less what is to be expected of the choice alone.
func unchosen(v, w Number) Number { return v - Number(crossFitOptimism*w) }

// shrunk returns the mean of a true gain of which d ± s was found.
func shrunk(d, s Number) Number {
	sum, weights := 0.0, 0.0
	for _, part := range [][2]float64{{1 - largeGains, gainSpread}, {largeGains, largeSpread}} {
		spread := float64(part[1] * part[1])
		variance := spread + float64(s*s)
		weight := part[0] * num.Exp(-float64(d*d)/(2*variance)) / math.Sqrt(variance)
		weights += weight
		sum += float64(weight*spread) / variance
	}
	if weights == 0 { // farther off than numbers tell: the wide one
		return d * largeSpread * largeSpread / (largeSpread*largeSpread + Number(s*s))
	}
	return d * Number(sum/weights)
}
