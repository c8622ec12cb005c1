package runs

import "math"

// Constants of the gain to expect on new examples, measured on data sets with large test sets. A
// cross-fitted gain is too large by crossFitOptimism standard errors, because the same rows chose
// the structure and strengths of penalties, and its error is crossFitErrors times as large. Of a
// gain on the rows that tuned each λ, a share of tunedShare remains, with an error of tunedErrors
// standard errors and tunedSpread of the gain itself.
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

// expectedGain returns the expected gain on new examples, as a share of the other model's loss, if
// the first gain is on test or cross-fitted examples; otherwise it is unknown. A gain on test
// examples that was found significant is too large on average, because chance helped to find it.
// The gain promised by the rows that chose the tuned model does not share that chance, so the two
// are averaged by their precision. With d ± s the gain on test examples and u ± e by
// [Gain.promised],
//
//	g = (d/s² + u/e²) / (1/s² + 1/e²)
//
// Without u the size of the excess is unknown, and so is the result; with s = 0 it is d.
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
			ofTest, ofPromise := 1/Number(s*s), 1/Number(e*e) // precisions
			return (Number(d*ofTest) + Number(u*ofPromise)) / (ofTest + ofPromise)
		}
	}
	return Unknown()
}

// promised returns what gain is to be expected on other examples by a gain v ± w on examples that
// have chosen the tuned model, and its error: v − 0.6w ± 1.3w of cross-fitted ones, and
// 0.4v ± √((0.7w)² + (v/3)²) of validation examples, as the more hyperparameters they tuned, the
// less is left. Not known of others, nor where the validation loss rose: nothing chose that.
func (g Gain) promised() (gain, deviation Number) {
	v, w := -g.Share(), g.shareOf(g.LossError)
	switch g.Set {
	case CrossFitted:
		return v - Number(crossFitOptimism*w), crossFitErrors * w
	case Validation:
		if v < 0 {
			break
		}
		e, s := tunedErrors*w, tunedSpread*v
		return tunedShare * v, Number(math.Sqrt(float64(float64(e)*float64(e)) + float64(float64(s)*float64(s))))
	}
	return Unknown(), Unknown()
}
