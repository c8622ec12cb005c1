// Package modelfile keeps the models of tables in files, and predicts by them: in plain Go, without
// the graphs of losses that trained them.
//
// A run folder gets three files of its model.
//
// # model.json
//
// A JSON object with all but the weights:
//
//	format   1; a program refuses a number, and a name, that it does not know
//	recipe   the [features.Recipe]: how a row becomes features, and what is predicted
//	layers   for each dense layer in, out, bias (a bool) and unit ("", "tanh" or "relu")
//	weights  file and sha256 (hexadecimal) of the file of weights, in the same folder
//	origin   where the model comes from: an [Origin]
//	baseline of survival times: the [assess.Baseline], by which predict -at has probabilities
//
// # model.safetensors
//
// The weights in the format of package safetensors: layer0.weight of shape [out, in], layer0.bias
// of [out] where there is one, layer1.weight and so on, as float64. That is the type in which they
// were trained; as float32, an output that is a sum of terms w·a would be off by up to 2⁻²⁴ Σ|w·a|,
// which is more than 1e-6 from Σ|w·a| = 17 on.
//
// # model.onnx
//
// The whole model from raw values to predictions, for any program that runs ONNX (opset 20 with
// ai.onnx.ml 3, as ONNX Runtime from 1.17 on). It has an input for each column that is used, by the
// column's name: float32 [N, 1] for numbers and times (in the recipe's unit), NaN where they are
// missing, float64 where float32 would make one of numbers that differ ([features.Input.IsWide]);
// string [N, 1] for words, nothing or a word of the recipe's missing_words where they are missing,
// with or without space around, as in tables. A model of sparse columns, as of LIBSVM files, has
// one input instead, "columns", float32 [N, columns]: column k of the file, from 1 on, is number
// k−1, and what the file leaves out is 0. Outputs are
//
//	prediction     string [N], the class; for values and counts float64 [N]
//	probabilities  float64 [N, classes], in the order of the recipe's; not for values and counts
//	survival       float64 [N, times], of no event up to each time of the input at, float64
//	               [times, 1], NaN beyond the horizon; of survival times with a baseline
//
// An output whose name is a column's has "_" behind it. The recipe is in the metadata under
// "recipe", as in model.json.
//
// # Prediction
//
// h is first the recipe's features; each layer replaces it by unit(W h + b). The last layer's
// outputs depend on the kind of the target. For classes they are logits: their softmax is the
// probabilities, and the first of the largest is the prediction. For a value it is (value − mean) /
// deviation. For a count it is the logarithm of its mean, and the prediction is that mean, at most
// the recipe's most. For survival times it is the logarithm of the hazard relative to the mean
// row's.
package modelfile

import (
	"slices"

	"dsbo"
	"dsbo/models"
	"dsbo/tables/assess"
	"dsbo/tables/features"
)

// A Model is a trained model of tables.
type Model struct {
	recipe features.Recipe
	Layers []Layer // from the features to the outputs
	Origin Origin
	// Baseline is the hazard of the mean row of a model of survival times; nil: not known.
	Baseline *assess.Baseline
}

// A Layer maps h to units of W h + b.
type Layer struct {
	In, Out int
	Weights []float64 // W, Out×In, row by row
	Bias    []float64 // b, Out numbers; nil: 0
	Unit    models.Unit
}

// An Origin is the program, data and run that a model comes from.
type Origin struct {
	Program string `json:"program"` // name and version of the program that trained it
	Made    string `json:"made"`    // RFC 3339
	Run     string `json:"run,omitempty"`
	Lambda  string `json:"lambda,omitempty"` // the file, in the model's folder, of the hyperparameters
}

// New makes a model of what a run has found: y at the end, in the layout of the model m of the
// losses. The layers are copies. Errors match [dsbo.ErrConfig] or [dsbo.ErrShape]: what does not
// fit together.
func New(r features.Recipe, m models.Layered, y []float64, o Origin) (*Model, error) {
	made := &Model{recipe: r, Origin: o}
	for i, l := range m.Layers() {
		end := l.Offset + l.Out*l.In
		if l.Bias {
			end += l.Out
		}
		if end > len(y) {
			return nil, dsbo.ShapeErrorf("y must have the weights of layer %d, up to number %d; it has %d", i,
				end, len(y))
		}
		layer := Layer{In: l.In, Out: l.Out, Unit: l.Unit, Weights: slices.Clone(y[l.Offset:][:l.Out*l.In])}
		if l.Bias {
			layer.Bias = slices.Clone(y[l.Offset+l.Out*l.In:][:l.Out])
		}
		made.Layers = append(made.Layers, layer)
	}
	return made, made.check()
}

// Recipe returns how rows become features, and what is predicted.
func (m *Model) Recipe() features.Recipe { return m.recipe }
