package runs

import "math"

// Of the gain to expect. Cross-fitted gains are too large by some of their standard errors, as the
// structure and the strengths of penalties were chosen by the same rows, and their errors are
// larger therefore. Of a gain on the rows that tuned each λ some share is left on others, with an
// error that has a part of its standard error and a part of the gain.
const (
	crossFitOptimism = 0.6
	crossFitErrors   = 1.3
	tunedShare       = 0.4
	tunedErrors      = 0.7
	tunedSpread      = 1.0 / 3
)

// KeptShare is the share of the gain to expect that remains of a model which is solved for with
// times as many rows as the judged one: with more rows one penalty does better too. Where rows are
// many beside features the gain is as 1/rows, and where they are few it is what it was; the root is
// between these.
func KeptShare(times float64) Number { return Number(1 / math.Sqrt(times)) }

// expectedGain returns by what share of the other model's loss the tuned model's is to be expected
// to be lower on new examples, where the first gain is of test examples, or of cross-fitted ones;
// not known of others. A gain that was found significant is on average larger than the true one, as
// chance has helped to find it. What the rows that chose the tuned model promise has no part in
// this chance. With d ± s the gain on test examples, and u ± e what [Gain.promised] has,
//
//	g = (d/s² + u/e²) / (1/s² + 1/e²)
//
// Without u nothing is known of how large gains are, and therefore none of what is to be taken off.
func expectedGain(gains []Gain) Number {
	if len(gains) == 0 {
		return Unknown()
	}
	if gains[0].Set == CrossFitted {
		u, _ := gains[0].promised()
		return u
	}
	d, s := -gains[0].Share(), gains[0].shareOf(gains[0].LossError)
	switch {
	case gains[0].Set != Test || gains[0].few():
		return Unknown()
	case s == 0:
		return d
	}
	for _, g := range gains {
		if u, e := g.promised(); e > 0 {
			sure, also := 1/Number(s*s), 1/Number(e*e)
			return (Number(d*sure) + Number(u*also)) / (sure + also)
		}
	}
	return Unknown()
}

// promised returns what gain is to be expected on other examples by a gain v ± w on examples that
// have chosen the tuned model, and its error: v − 0.6w ± 1.3w of cross-fitted ones, and
// 0.4v ± √((0.7w)² + (v/3)²) of validation examples, as the more hyperparameters they tuned, the
// less is left. Not known of others.
func (g Gain) promised() (gain, deviation Number) {
	v, w := -g.Share(), g.shareOf(g.LossError)
	switch g.Set {
	case CrossFitted:
		return v - Number(crossFitOptimism*w), crossFitErrors * w
	case Validation:
		e, s := tunedErrors*w, tunedSpread*v
		return tunedShare * v, Number(math.Sqrt(float64(float64(e)*float64(e)) + float64(float64(s)*float64(s))))
	}
	return Unknown(), Unknown()
}
