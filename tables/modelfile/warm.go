package modelfile

import (
	"slices"

	"dsbo/models"
	"dsbo/tables"
	"dsbo/tables/features"
)

// Adapted returns a model with m's predictions for rows in another recipe's features. It is the
// start of a run that continues an earlier one, perhaps at other sites. nil: m predicts a target of
// another kind.
//
// A feature gets the weights of m's feature of the same name, in the new recipe's units. A word
// that was rare in m gets the weights of rare words; other features unknown to m get 0. Rows with
// missing numbers may be predicted differently, since the mean in their place may differ. A class
// gets the outputs of m's class of the same name, or 0 if m has none.
func (m *Model) Adapted(r features.Recipe) *Model {
	if r.Target.Kind != m.recipe.Target.Kind {
		return nil
	}
	layers := slices.Clone(m.Layers)
	layers[0] = layers[0].withInputs(m.recipe, r)
	last := len(layers) - 1
	layers[last] = layers[last].withOutputs(m.recipe.Target, r.Target)
	return &Model{recipe: r, Layers: layers, Origin: m.Origin}
}

// KnowsAny reports whether a model has a weight in its first layer and in its last one, by which it
// tells rows apart.
func (m *Model) KnowsAny() bool {
	for _, l := range []Layer{m.Layers[0], m.Layers[len(m.Layers)-1]} {
		if !slices.ContainsFunc(l.Weights, func(w float64) bool { return w != 0 }) {
			return false
		}
	}
	return true
}

// Y returns the weights in the layout of a model of the losses, of which [New] makes m again. nil:
// that has other layers.
func (m *Model) Y(of models.Layered) []float64 {
	layout := of.Layers()
	if len(layout) != len(m.Layers) {
		return nil
	}
	var y []float64
	for i, at := range layout {
		l := m.Layers[i]
		if l.In != at.In || l.Out != at.Out || l.Unit != at.Unit || (l.Bias != nil) != at.Bias {
			return nil
		}
		end := at.Offset + len(l.Weights)
		y = append(y, make([]float64, max(0, end+len(l.Bias)-len(y)))...)
		copy(y[at.Offset:], l.Weights)
		copy(y[end:], l.Bias)
	}
	return y
}

// A featureKey is what a feature means, in any recipe.
type featureKey struct {
	column, name string
	kind         tables.Kind
}

// keys returns the keys of all features, in their order.
func keys(r features.Recipe) []featureKey {
	var list []featureKey
	for _, f := range r.Features() {
		in := r.Input(f.Input)
		list = append(list, featureKey{in.Name, f.Name, in.Kind})
	}
	return list
}

// withInputs returns a first layer for the features of another recipe.
func (l Layer) withInputs(old, now features.Recipe) Layer {
	of, was, list := map[featureKey]int{}, old.Features(), now.Features()
	for j, key := range keys(old) {
		of[key] = j
	}
	made := Layer{In: len(list), Out: l.Out, Weights: make([]float64, l.Out*len(list)),
		Bias: slices.Clone(l.Bias), Unit: l.Unit}
	for j, key := range keys(now) {
		from, known := of[key]
		if !known { // as words that are not in the old recipe did
			from, known = of[featureKey{key.column, key.column + " (rare)", key.kind}]
		}
		if !known {
			continue
		}
		scale, shift := 1., 0.
		if key.kind != tables.Word && key.name == key.column { // else it is an indicator
			scale, shift = rescaling(old.Input(was[from].Input), now.Input(list[j].Input))
		}
		for k := range l.Out {
			w := l.Weights[k*l.In+from]
			made.Weights[k*made.In+j] = w * scale
			if made.Bias != nil {
				made.Bias[k] += float64(w * shift)
			}
		}
	}
	return made
}

// rescaling returns how the feature u' of a number, as an input has it now, becomes the feature it
// was: u = scale u' + shift.
func rescaling(old, now features.Input) (scale, shift float64) {
	unit := features.UnitScale(now.Unit, old.Unit)
	return unit * now.Deviation / old.Deviation, (float64(unit*now.Mean) - old.Mean) / old.Deviation
}

// withOutputs returns a last layer for another target of the same kind.
func (l Layer) withOutputs(old, now features.Target) Layer {
	made := Layer{In: l.In, Out: outputs(now), Unit: l.Unit, Weights: make([]float64, l.In*outputs(now))}
	if l.Bias != nil {
		made.Bias = make([]float64, made.Out)
	}
	for k := range made.Out {
		from, scale, shift := k, 1., 0.
		switch now.Kind {
		case features.Class:
			from = slices.Index(old.Classes, now.Classes[k])
		case features.Value:
			scale, shift = old.Deviation/now.Deviation, (old.Mean-now.Mean)/now.Deviation
		}
		if from < 0 {
			continue
		}
		for j, w := range l.Weights[from*l.In:][:l.In] {
			made.Weights[k*l.In+j] = w * scale
		}
		if l.Bias != nil {
			made.Bias[k] = float64(l.Bias[from]*scale) + shift
		}
	}
	return made
}
