package tasks

import (
	"dsbo/algo"
	"dsbo/experiment"
)

// Presets of summed losses, which are stiff and whose curvature grows like r²: all steps of y and z follow it.
func (*synthetic) Presets() []experiment.Preset {
	return []experiment.Preset{syntheticTuned(), syntheticPaper()}
}

// syntheticPaper is MA-DSBO to the letter. α is at most 1, as it is a weight too: at that, Φ falls in every run.
func syntheticPaper() experiment.Preset {
	return experiment.Preset{
		Name:      "paper",
		Algorithm: "madsbo",
		Params:    algo.Params{K: 100, T: 10, N: 10, Alpha: algo.Constant(1)},
	}
}

// syntheticTuned lets y and z keep up with x where the curvatures are thousands of times apart: momentum on both, z continues
// where it was, y is tracked. Each entry of λ has its own scale of steps, which fall to 0: with constant ones x
// overtakes y and z in the end, and the test loss turns up. Twice the lr takes a tenth off Φ, which is of the validation
// examples, and nothing off the test loss.
func syntheticTuned() experiment.Preset {
	return experiment.Preset{
		Name:      "tuned",
		DType:     "float64",
		Algorithm: "madsbo_tuned",
		Params: algo.Params{
			K: 100, T: 20, N: 20, Alpha: algo.Constant(0.5),
			WarmZ: true, TrackY: true, MomY: 0.95, MomZ: 0.95,
			XStep: "adam", Lr: algo.Linear(0.05), V: 0.95, Clip: []float64{-8, 8},
		},
		BetaL: 0.7, GammaL: 0.65,
	}
}
