package nn_test

import (
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
	"dsbo/models/modeltest"
	"dsbo/models/nn"
)

// A classifier is a model whose scores are made of layers; x is the logarithm of the decay of
// all parameters.
type classifier struct {
	params *nn.Params
	scores func(y *ad.Node, b models.Batch) *ad.Node
}

func (c classifier) Dims() (p, q int)  { return 1, c.params.Len() }
func (c classifier) Start(y []float64) { c.params.Init(y, 3) }

func (c classifier) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Mean(nn.CrossEntropy(c.scores(y, b), b.T))
}

func (c classifier) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(c.Upper(x, y, b), ad.Mul(ad.Exp(ad.Item(x, 0)), ad.Dot(y, y)))
}

func (c classifier) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	scores := c.scores(y, b)
	return nn.CrossEntropy(scores, b.T), ad.RowHit(scores, b.T)
}

// convolutional has images of 4×4 pixels, two filters, and normalization over the batch.
func convolutional() classifier {
	var ps nn.Params
	conv := nn.NewConv(&ps, "conv", ad.Window{H: 4, W: 4, C: 1, KH: 3, KW: 3, Stride: 1, PadH: 1, PadW: 1}, 2)
	norm := nn.NewBatchNorm(&ps, "norm", 2)
	last := nn.NewDense(&ps, "last", 8, 3)
	return classifier{&ps, func(y *ad.Node, b models.Batch) *ad.Node {
		h := nn.GELU(norm.Outputs(y, conv.Outputs(y, b.X)))
		return last.Outputs(y, ad.AvgPool(h, conv.Pool(2)))
	}}
}

// recurrent reads 4×4 numbers as four steps of four.
func recurrent(units int) classifier {
	var ps nn.Params
	unit, last := nn.NewGRU(&ps, "unit", 4, units), nn.NewDense(&ps, "last", units, 3)
	return classifier{&ps, func(y *ad.Node, b models.Batch) *ad.Node {
		var state *ad.Node
		for step := range 4 {
			state = unit.Next(y, ad.Cols(b.X, 4*step, 4), state)
		}
		return last.Outputs(y, state)
	}}
}

// transformer reads 4×4 numbers as a sequence of four: attention and a dense layer, each beside its
// input, with normalization.
func transformer() classifier {
	var ps nn.Params
	place := ps.Vector("places", 16, nn.Init{Deviation: .5})
	before, attention := nn.NewLayerNorm(&ps, "before", 4), nn.NewAttention(&ps, "attention", 4, 2)
	between, dense := nn.NewLayerNorm(&ps, "between", 4), nn.NewDense(&ps, "dense", 4, 4)
	last := nn.NewDense(&ps, "last", 16, 3)
	return classifier{&ps, func(y *ad.Node, b models.Batch) *ad.Node {
		h := ad.Reshape(ad.AddRow(b.X, place.Node(y)), 4*b.Rows, 4)
		h = ad.Add(h, attention.Masked(y, before.Outputs(y, h), b.Rows))
		h = ad.Add(h, nn.GELU(dense.Outputs(y, between.Outputs(y, h))))
		return last.Outputs(y, ad.Reshape(h, b.Rows, 16))
	}}
}

// normalized is a classifier with statistics of the batch.
type normalized struct{ classifier }

func (normalized) Batched() {}

// block is a transformer's, of four tokens of 32 numbers, with a hidden layer of ReLU.
func block() classifier {
	var ps nn.Params
	first, block := nn.NewDense(&ps, "first", 4, 32), nn.NewTransformerBlock(&ps, "block", 32, 1, 32)
	hidden, last := nn.NewDense(&ps, "hidden", 32, 32), nn.NewDense(&ps, "last", 32, 3)
	return classifier{&ps, func(y *ad.Node, b models.Batch) *ad.Node {
		h := block.Outputs(y, first.Outputs(y, ad.Reshape(b.X, 4*b.Rows, 4)), b.Rows)
		mean := ad.Scale(.25, ad.TensorOf(h, b.Rows, 4, 32).Sum(1).Node)
		return last.Outputs(y, ad.ReLU(hidden.Outputs(y, mean)))
	}}
}

// causal is a classifier of sequences by an attention with 4 heads to what came before.
func causal(length, features, width int) classifier {
	var ps nn.Params
	first, attention := nn.NewDense(&ps, "first", features, width), nn.NewAttention(&ps, "attention", width, 4)
	last := nn.NewDense(&ps, "last", width, 3)
	return classifier{&ps, func(y *ad.Node, b models.Batch) *ad.Node {
		h := first.Outputs(y, ad.Reshape(b.X, b.Rows*length, features))
		h = ad.Tanh(ad.Add(h, attention.Masked(y, h, b.Rows, nn.Causal(y, length))))
		return last.Outputs(y, ad.Scale(1/float64(length), ad.TensorOf(h, b.Rows, length, width).Sum(1).Node))
	}}
}

// TestModels: models made of layers pass the conformance suite, small ones and some of real size.
// The ReLU and the pooling of the example's LeNet have kinks everywhere.
func TestModels(t *testing.T) {
	for _, c := range []struct {
		name  string
		model models.Model
		shard data.Shard
		quick bool // enough for -short
	}{
		{"convolutional", normalized{convolutional()}, pictures(11, 4, 3), true},
		{"recurrent", recurrent(3), pictures(11, 4, 3), true},
		{"recurrent of 24 units", recurrent(24), pictures(75, 4, 3), false},
		{"transformer", transformer(), pictures(11, 4, 3), true},
		{"transformer of width 32", block(), pictures(75, 4, 3), false},
		{"causal", causal(4, 4, 4), pictures(11, 4, 3), false},
		{"small lenet", NewLeNet(12, 3), pictures(11, 12, 3), true},
		{"lenet", NewLeNet(20, 10), pictures(30, 20, 10), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && !c.quick {
				t.Skip("takes long")
			}
			modeltest.TestModel(t, c.model, c.shard)
		})
	}
}
