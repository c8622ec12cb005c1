package tasks

import (
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/experiment"
)

// preset is the task's Preset: "tuned" is for penalties, and other x have a preset that
// is made for their model.
func (t *mnist) preset() string {
	for _, p := range otherPresets() {
		if slices.Contains(p.Models, t.model) {
			return p.Name
		}
	}
	return ""
}

// penaltyPresets tune penalties of a linear model.
func penaltyPresets() []experiment.Preset {
	return []experiment.Preset{
		// For methods in general: α is a step of x alone. x starts above 0, where y and z keep up:
		// from 0, methods of one loop take some 700 iterations until they show x the way down. With
		// 20 to 1000 examples an agent none diverges; by α = 50 some do.
		{Name: "descent", K: 300, X0: 2, Batch: 1000, Method: &algo.DSOBA{Alpha: "20", Beta: "auto", Gamma: "auto"}},
		// For methods for one agent. From α = 4 on soba and srba diverge, with 20 or 50 examples.
		{Name: "one-agent", K: 300, X0: 2, Batch: 1000, Method: &algo.SOBA{Alpha: "2", Beta: "auto", Gamma: "auto"}},
		// The paper's experiment on MNIST, and MA-DSBO to the letter, on all examples. The paper
		// names no steps: β is just below its bound, 2/L, and γ four fifths of its own.
		{Name: "paper", K: 100, Batch: 1000, Flags: experiment.ToTheLetter(map[string]string{"train": "0", "val": "0"}),
			Method: &algo.MADSBO{T: 10, N: 10, Alpha: "0.5", Beta: "0.5", Gamma: "auto"}},
		// It moves λ to where Φ is low. From λ = 0 the lower problem is so flat that y and z lag
		// far behind, and λ then moves the wrong way; from above they keep up. The rest makes them
		// keep up: z continues where it was, both have momentum and four times the paper's inner
		// steps, y is tracked, and each entry of λ has its own scale of steps, which shrink to
		// nothing over the run so that the last hypergradients belong to the last λ.
		{Name: "madsbo_tuned", K: 60, X0: 3.5, Batch: 1000, Method: &algo.Tuned{
			T: 40, N: 40, Alpha: "0.5", Beta: "0.2", Gamma: "0.1",
			WarmZ: true, TrackY: true, MomY: 0.9, MomZ: 0.9, ReuseB: true,
			XStep: "adam", Lr: "0.15*(1-k/K)", V: 0.95, Clip: []float64{-1, 12},
		}},
	}
}

// smallBox is the box of x that is no penalties.
var smallBox = []float64{-6, 12}

// allTrain has models that learn more than a linear one does train on half of all examples.
var allTrain = map[string]string{"train": "0"}

// otherPresets tune what is x of other models.
func otherPresets() []experiment.Preset {
	return []experiment.Preset{
		// Weights of hidden layers, some ten thousand at once, from their random start.
		{Name: "weights", Models: []string{"hyperrep"}, Flags: allTrain,
			Wire: "float32", K: 60, EvalEvery: 5, Patience: 2,
			Method: &algo.NewtonCG{Lr: "0.002*(1-k/K)", Clip: smallBox}},
		// Pixels of pictures and temperatures.
		{Name: "values", Models: []string{"temperature", distilled}, Flags: allTrain,
			Wire: "float32", K: 60, EvalEvery: 5, Patience: 2,
			Method: &algo.NewtonCG{Lr: "0.1*(1-k/K)", Clip: smallBox}},
		// A deep network is trained by draws of 32 examples an agent, and its few penalties are
		// tuned meanwhile.
		{Name: "draws", Models: []string{"lenet"}, Flags: allTrain,
			Wire: "float32", K: 40, EvalEvery: 20, Batch: 32, X0: 1,
			Method: &algo.AdamCG{T: 25, N: 4, Ly: "0.003*(1-k/K)", Lr: "0.4*(1-k/K)", Wait: 20}},
		// A weight for each training example, from ½.
		{Name: "cleaning", Models: []string{"hyperclean"}, Flags: allTrain,
			Wire: "float32", K: 30, EvalEvery: 5, Patience: 2,
			Method: &algo.NewtonCG{Start: "x0", Clip: smallBox}},
		// A weight for each training example of a network, from ½. The network first learns what
		// most labels of a kind agree on, which takes few steps; then each example's weight follows
		// how its loss and the loss of the validation examples fall together. By Hessians, which
		// have negative eigenvalues by then, z grows beyond all bounds.
		{Name: "cleaning-network", Models: []string{"hyperclean-mlp"}, Flags: allTrain,
			Wire: "float32", K: 30, EvalEvery: 10,
			Batch: 64, Matrix: dsbo.GaussNewton, Method: &algo.AdamCG{T: 10, N: 8, Mu: 0.02, Wait: 4, All: true,
				Ly: "0.003*(1-k/K)", Lr: "1.2*(1-k/K)"}},
	}
}
