package tasks

import (
	"dsbo/algo"
	"dsbo/experiment"
)

// syntheticPresets are for summed losses, which are stiff and whose curvature grows like r²: all
// steps of y and z follow it.
func syntheticPresets() []experiment.Preset {
	return []experiment.Preset{
		// For methods in general: from α = 2 on some diverge, on some data.
		{Name: "descent", K: 100, Method: &algo.DSOBA{Alpha: "1", Beta: "auto", Gamma: "auto"}},
		// For methods for one agent, whose hypergradient grows with its examples as L does. Methods
		// of one loop diverge from 6/L on, where x outruns z.
		{Name: "one-agent", K: 100, Method: &algo.SOBA{Alpha: "3/L", Beta: "auto", Gamma: "auto"}},
		// MA-DSBO to the letter, on labels as the paper prints them. It names no steps: α is at
		// most 1, as it is a weight too.
		{Name: "paper", K: 100, DType: "float64",
			Flags:  experiment.ToTheLetter(map[string]string{"labels": "real", "reduce": "sum"}),
			Method: &algo.MADSBO{T: 10, N: 10, Alpha: "1", Beta: "auto", Gamma: "auto"}},
		// It lets y and z keep up with x where the curvatures are thousands of times apart:
		// momentum on both, z continues where it was, y is tracked. Each entry of λ has its own
		// scale of steps, which fall to 0: with constant ones x overtakes y and z in the end, and
		// the test loss turns up. Twice the lr takes a tenth off Φ, which is of the validation
		// examples, and nothing off the test loss.
		{Name: "madsbo_tuned", DType: "float64", K: 100, Method: &algo.Tuned{
			T: 20, N: 20, Alpha: "0.5", Beta: "0.7/L", Gamma: "0.65/L",
			WarmZ: true, TrackY: true, MomY: 0.95, MomZ: 0.95,
			XStep: "adam", Lr: "0.05*(1-k/K)", V: 0.95, Clip: []float64{-8, 8},
		}},
	}
}
