package models

import (
	"fmt"
	"slices"
	"strings"

	"dsbo"
)

// Size is the size of a task, for [ByName].
type Size struct {
	Features int
	Classes  int    // 0: targets are one column of +1 and -1
	Examples int    // training examples of all agents together
	Hidden   []int  // units of the hidden layers of a network; nil: its default
	Seed     uint64 // seed of a start
	// Means is the mean example of each class, one after the other, the start of a distilled data
	// set; nil: noise.
	Means []float64
}

// namedModels is the table of models with a name: a line here makes a model known to commands and
// to the conformance test.
var namedModels = []namedModel{
	{"softmax", true, func(s Size) Model { return Softmax{s.Features, s.Classes} }},
	{"mlp", true, func(s Size) Model { return newMLP(s, false) }},
	{"mlp-relu", true, func(s Size) Model { return newMLP(s, true) }},
	{"lenet", true, func(s Size) Model {
		return LeNet{Side: squareSide(s.Features), Classes: s.Classes, Seed: s.Seed}
	}},
	{"hyperrep", true, func(s Size) Model {
		return HyperRep{Features: s.Features, Classes: s.Classes, Hidden: s.Hidden, Seed: s.Seed}
	}},
	{"distilled", true, func(s Size) Model {
		return Distilled{Features: s.Features, Classes: s.Classes, Pictures: s.Means, Seed: s.Seed}
	}},
	{"temperature", true, func(s Size) Model { return Temperature{Features: s.Features, Classes: s.Classes} }},
	{"hyperclean", true, func(s Size) Model {
		return HyperClean{Features: s.Features, Classes: s.Classes, Examples: s.Examples, Ridge: cleanRidge}
	}},
	{"hyperclean-mlp", true, func(s Size) Model {
		return HyperCleanMLP{Net: newMLP(s, true), Examples: s.Examples, Ridge: cleanRidge}
	}},
	{"logistic", false, func(s Size) Model { return Logistic{Features: s.Features} }},
	{"logistic-mean", false, func(s Size) Model { return Logistic{Features: s.Features, Mean: true} }},
}

type namedModel struct {
	name    string
	classes bool // whether it takes classes; otherwise targets are +1 and -1
	build   func(Size) Model
}

// Register adds a model of another module to [ByName], and so to -model of commands. classes is
// whether the model takes classes or targets +1 and -1. It is for init functions, and panics if the
// name is taken.
func Register(name string, classes bool, build func(Size) Model) {
	if slices.Contains(Names(), name) {
		panic(fmt.Sprintf("models: a model named %q is registered already", name))
	}
	namedModels = append(namedModels, namedModel{name, classes, build})
}

// cleanRidge is the ridge of data hyper-cleaning: on MNIST with half of 5000 labels wrong, 0.001
// costs accuracy, and with 0.0001 weights begin to fit the validation examples alone.
const cleanRidge = 5e-4

// newMLP returns the network for a task of size s.
func newMLP(s Size, relu bool) MLP {
	return MLP{Features: s.Features, Outputs: s.Classes, Hidden: s.Hidden, ReLU: relu, Seed: s.Seed}
}

// Names returns the names that [ByName] knows.
func Names() []string { return append(NamesFor(2), NamesFor(0)...) }

// NamesFor returns the names of the models that fit a task with this number of classes, 0 for
// targets +1 and -1.
func NamesFor(classes int) []string {
	var names []string
	for _, m := range namedModels {
		if m.classes == (classes > 0) {
			names = append(names, m.name)
		}
	}
	return names
}

// ByName returns the model called name for a task of size s. It fails with [dsbo.ErrConfig] if
// there is no such model, or if the model does not fit the task: some need at least two classes,
// the others targets +1 and -1, which s.Classes = 0 stands for.
func ByName(name string, s Size) (Model, error) {
	for _, m := range namedModels {
		switch {
		case m.name != name:
			continue
		case m.classes && s.Classes < 2:
			return nil, dsbo.ConfigErrorf("model %q needs at least 2 classes; the task has %d",
				name, s.Classes)
		case !m.classes && s.Classes != 0:
			return nil, dsbo.ConfigErrorf("model %q needs targets +1 and -1; the task has %d classes",
				name, s.Classes)
		}
		return m.build(s), nil
	}
	return nil, dsbo.ConfigErrorf("a model must be one of %s; it is %q", strings.Join(Names(), ", "), name)
}
