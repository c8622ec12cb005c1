package models

import (
	"fmt"
	"strings"

	"dsbo"
)

// Size is what a model has to know about its task.
type Size struct {
	Features, Classes int
	Examples          int    // training examples of all agents together
	Hidden            []int  // units of an MLP's hidden layers; nil: its default
	Seed              uint64 // of an MLP's start
}

// Names returns the names that [ByName] knows.
func Names() []string {
	return []string{"softmax", "mlp", "mlp-relu", "hyperclean", "logistic", "logistic-mean"}
}

// ByName returns the model that a command line names. It fails with [dsbo.ErrConfig] if there is no such
// model, or if it does not suit the task: logistic and logistic-mean want one column of ±1 (Classes 0), the
// others at least two classes.
func ByName(name string, s Size) (Model, error) {
	switch name {
	case "logistic", "logistic-mean":
		if s.Classes != 0 {
			return nil, fmt.Errorf("%w: model %q for %d classes: it wants targets +1 and -1", dsbo.ErrConfig, name, s.Classes)
		}
		return Logistic{Features: s.Features, Mean: name == "logistic-mean"}, nil
	case "softmax", "mlp", "mlp-relu", "hyperclean":
		if s.Classes < 2 {
			return nil, fmt.Errorf("%w: model %q for %d classes: want at least 2", dsbo.ErrConfig, name, s.Classes)
		}
	}
	switch name {
	case "softmax":
		return Softmax{s.Features, s.Classes}, nil
	case "mlp", "mlp-relu":
		return MLP{Features: s.Features, Classes: s.Classes, Hidden: s.Hidden, ReLU: name == "mlp-relu", Seed: s.Seed}, nil
	case "hyperclean":
		return HyperClean{Features: s.Features, Classes: s.Classes, Examples: s.Examples}, nil
	}
	return nil, fmt.Errorf("%w: no model %q: want %s", dsbo.ErrConfig, name, strings.Join(Names(), ", "))
}
