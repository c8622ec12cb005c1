package modelfile

import (
	"math"

	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/tables/features"
)

// Predictions are a model's predictions of some rows.
type Predictions struct {
	Labels        []string  // the class of each row; nil for values and counts
	Probabilities []float64 // of all classes, row by row; nil for values and counts
	Values        []float64 // the value of each row, or the mean of its count; nil for classes
}

// Rows returns the number of rows.
func (p Predictions) Rows() int { return len(p.Labels) + len(p.Values) }

// Numbers returns the probabilities of a row, or its value alone.
func (p Predictions) Numbers(row int) []float64 {
	if p.Labels == nil {
		return p.Values[row : row+1]
	}
	classes := len(p.Probabilities) / len(p.Labels)
	return p.Probabilities[row*classes:][:classes]
}

// blockNumbers bounds the features of the rows that are predicted at once.
const blockNumbers = 1 << 18

// PredictAll calls visit with the predictions for all rows, in their order and in blocks, so that
// memory is bounded.
func PredictAll(m *Model, in *features.Encoder, visit func(Predictions) error) error {
	block := max(1, blockNumbers/len(m.recipe.Features()))
	for first := 0; first < in.Rows(); first += block {
		if err := visit(m.Predict(in, first, min(first+block, in.Rows()))); err != nil {
			return err
		}
	}
	return nil
}

// Predict returns the predictions for rows first to end−1 of a table, of which in is the encoder of
// the model's recipe. Several goroutines may call it.
func (m *Model) Predict(in *features.Encoder, first, end int) (p Predictions) {
	var places []int32
	var values []float64
	for row := first; row < end; row++ {
		places, values = in.Row(places[:0], values[:0], row)
		m.add(&p, m.outputs(places, values))
	}
	return p
}

// PredictFeatures returns the prediction for one row, such as an example, by its features that are
// not 0: their places, ascending, and their values.
func (m *Model) PredictFeatures(places []int32, values []float64) (p Predictions) {
	m.add(&p, m.outputs(places, values))
	return p
}

// outputs returns what the last layer makes of features.
func (m *Model) outputs(places []int32, values []float64) []float64 {
	h := m.Layers[0].outputs(places, values)
	for _, l := range m.Layers[1:] {
		all := make([]int32, len(h))
		for j := range all {
			all[j] = int32(j)
		}
		h = l.outputs(all, h)
	}
	return h
}

// outputs returns what the layer makes of inputs that are 0 but in some places.
func (l Layer) outputs(places []int32, values []float64) []float64 {
	out := make([]float64, l.Out)
	for k := range out {
		sum, weights := 0., l.Weights[k*l.In:][:l.In]
		for e, j := range places {
			sum += float64(weights[j] * values[e])
		}
		if l.Bias != nil {
			sum += l.Bias[k]
		}
		out[k] = unitValue(l.Unit, sum)
	}
	return out
}

// unitValue returns what a unit makes of its sum.
func unitValue(u models.Unit, sum float64) float64 {
	switch u {
	case models.Tanh:
		return num.Tanh(sum)
	case models.ReLU:
		return max(sum, 0)
	}
	return sum
}

// add adds the prediction for a row by the outputs of the last layer.
func (m *Model) add(p *Predictions, out []float64) {
	t := m.recipe.Target
	if t.Kind != features.Class {
		p.Values = append(p.Values, t.Decode(out[0]))
		return
	}
	best := 0
	softmax(out)
	for k, v := range out {
		if v > out[best] {
			best = k
		}
	}
	p.Labels, p.Probabilities = append(p.Labels, t.Classes[best]), append(p.Probabilities, out...)
}

// softmax replaces logits by probabilities.
func softmax(v []float64) {
	top, sum := math.Inf(-1), 0.
	for _, l := range v {
		top = max(top, l)
	}
	for k, l := range v {
		v[k] = num.Exp(l - top)
		sum += v[k]
	}
	for k := range v {
		v[k] /= sum
	}
}
