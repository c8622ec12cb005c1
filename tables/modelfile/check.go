package modelfile

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/models"
	"dsbo/tables"
	"dsbo/tables/features"
)

// check returns an error for the first thing of a model that does not fit the rest.
func (m *Model) check() error {
	if err := checkRecipe(m.recipe); err != nil {
		return dsbo.ConfigErrorf("recipe: %w", err)
	}
	in := len(m.recipe.Features())
	if in == 0 {
		return dsbo.ConfigErrorf("recipe: there must be at least one feature")
	}
	if len(m.Layers) == 0 {
		return dsbo.ConfigErrorf("there must be at least one layer")
	}
	for i, l := range m.Layers {
		if err := l.check(in); err != nil {
			return dsbo.ConfigErrorf("layer %d: %w", i, err)
		}
		in = l.Out
	}
	if b := m.Baseline; b != nil && !b.IsValid() {
		return dsbo.ConfigErrorf("baseline: its edges must ascend from 0, and its hazard must not fall")
	}
	if want := outputs(m.recipe.Target); in != want {
		return dsbo.ConfigErrorf("the last layer must have %d outputs; it has %d", want, in)
	}
	if unit := m.Layers[len(m.Layers)-1].Unit; unit != models.Identity {
		return dsbo.ConfigErrorf("the last layer must have no unit; it has %q", unit)
	}
	return nil
}

// outputs returns how many outputs a model of a target has.
func outputs(t features.Target) int {
	if t.Kind == features.Class {
		return len(t.Classes)
	}
	return 1
}

// check returns an error if the layer is not one with n inputs.
func (l Layer) check(in int) error {
	switch {
	case l.In != in:
		return fmt.Errorf("it must have %d inputs; it has %d", in, l.In)
	case l.Out < 1 || l.Out > math.MaxInt/8/l.In || len(l.Weights) != l.Out*l.In:
		return fmt.Errorf("it must have a weight for each of %d outputs and %d inputs; it has %d", l.Out,
			l.In, len(l.Weights))
	case l.Bias != nil && len(l.Bias) != l.Out:
		return fmt.Errorf("it must have a bias for each of %d outputs; it has %d", l.Out, len(l.Bias))
	case !slices.Contains([]models.Unit{models.Identity, models.Tanh, models.ReLU}, l.Unit):
		return fmt.Errorf(`its unit must be "", "tanh" or "relu"; it is %q`, l.Unit)
	case !linalg.AllFinite(l.Weights) || !linalg.AllFinite(l.Bias):
		return fmt.Errorf("its weights must be finite")
	}
	return nil
}

// checkRecipe returns an error for the first part of a recipe that no prediction could follow.
func checkRecipe(r features.Recipe) error {
	var names []string
	for _, in := range r.Inputs {
		names = append(names, in.Name)
	}
	if err := checkDistinct("columns", names); err != nil {
		return err
	}
	for _, in := range r.Inputs {
		if err := checkInput(in); err != nil && in.Dropped == "" {
			return fmt.Errorf("column %s: %w", in.Name, err)
		}
	}
	if err := checkSparse(r); err != nil {
		return fmt.Errorf("sparse columns: %w", err)
	}
	switch t := r.Target; {
	case !utf8.ValidString(t.Name):
		return fmt.Errorf("the target's name must be UTF-8; it is %q", t.Name)
	case t.Kind == features.Class && len(t.Classes) < 2:
		return fmt.Errorf("there must be at least 2 classes; there are %d", len(t.Classes))
	case t.Kind == features.Class:
		return checkDistinct("classes", t.Classes)
	case t.Kind == features.Value:
		return checkScale(t.Mean, t.Deviation)
	case t.Kind == features.Survival && t.Event == "":
		return fmt.Errorf("times must have a column of events; it has no name")
	case t.Kind != features.Counts && t.Kind != features.Survival:
		return fmt.Errorf(`the target must be of kind "class", "value", "count" or "survival"; it is %q`, t.Kind)
	case !(t.Most >= 0):
		return fmt.Errorf("the largest prediction must be positive, or 0 for none; it is %g", t.Most)
	}
	return nil
}

// checkInput returns an error for an input whose fields do not suit its kind.
func checkInput(in features.Input) error {
	switch in.Kind {
	case tables.Word:
		if _, _, count := in.Layout(); count == 0 {
			return fmt.Errorf("it must have at least one feature")
		}
		return checkDistinct("words", in.Words)
	case tables.Time:
		if !slices.Contains([]string{"day", "s", "ms", "us", "ns"}, in.Unit) {
			return fmt.Errorf("a time's unit must be day, s, ms, us or ns; it is %q", in.Unit)
		}
		fallthrough
	case tables.Number:
		return checkScale(in.Mean, in.Deviation)
	}
	return fmt.Errorf("its kind must be number, word or time; it is %q", in.Kind)
}

// mostSparse is the largest number of sparse columns, the number of package tables.
const mostSparse = 1 << 27

// checkSparse returns an error for sparse columns that are too many, out of order or without a
// scale.
func checkSparse(r features.Recipe) error {
	s := r.Sparse
	switch {
	case s == nil:
		return nil
	case len(r.Inputs) > 0:
		return fmt.Errorf("there must be no inputs beside them; there are %d", len(r.Inputs))
	case s.Columns > mostSparse:
		return fmt.Errorf("there must be at most %d; there are %d", mostSparse, s.Columns)
	case len(s.Scales) != len(s.Indices):
		return fmt.Errorf("there must be a scale for each of %d features; there are %d", len(s.Indices), len(s.Scales))
	}
	last := 0
	for k, column := range s.Indices {
		if column <= last || column > s.Columns {
			return fmt.Errorf("indices must ascend from 1 to %d; %d follows %d", s.Columns, column, last)
		}
		if err := checkScale(0, s.Scales[k]); err != nil {
			return fmt.Errorf("index %d: %w", column, err)
		}
		last = column
	}
	return nil
}

func checkScale(mean, deviation float64) error {
	if math.IsNaN(mean) || math.IsInf(mean, 0) || !(deviation > 0) || math.IsInf(deviation, 0) {
		return fmt.Errorf("mean and deviation must be finite, and the deviation positive; they are %g and %g",
			mean, deviation)
	}
	return nil
}

// checkDistinct returns an error if some names are empty, not UTF-8, or alike.
func checkDistinct(what string, names []string) error {
	seen := map[string]bool{"": true}
	for _, name := range names {
		if !utf8.ValidString(name) || seen[name] {
			return fmt.Errorf("names of %s must differ, not be empty, and be UTF-8; there is %q", what, name)
		}
		seen[name] = true
	}
	return nil
}
