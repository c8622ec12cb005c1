package main

import (
	"math/rand/v2"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/models/nn"
)

// A growing is a model in several sizes, whose second derivatives are compared.
type growing struct {
	name  string
	model func(size int) (models.Model, data.Examples)
	sizes []int
	quick []int // none: not in a quick run
	dense int   // largest q of the whole Hessian
}

func secondOrder() []growing {
	return []growing{
		{"logistic", logisticOf, []int{100, 784, 2500, 7840, 100_000, 1_000_000}, []int{50, 100, 200}, 7840},
		{"softmax", softmaxOf, []int{10, 78, 250, 784, 10_000, 100_000}, []int{5, 10}, 7840},
		{"MLP 784-h-10", func(h int) (models.Model, data.Examples) {
			return models.MLP{Features: 784, Outputs: 10, Hidden: []int{h}, Penalties: models.PerLayer{}}, pictures(784)
		}, []int{1, 2, 4, 40, 400, 1200}, []int{1, 2}, 4000},
		{"LeNet", convolutions, []int{1, 2, 3, 10, 40}, []int{1}, 4000},
		{"attention", attention, []int{8, 16, 24, 64, 256}, []int{1, 2}, 4000},
	}
}

const secondOrderRows = 64

// logisticOf is the logistic loss of n features.
func logisticOf(q int) (models.Model, data.Examples) {
	e, r := pictures(q), rand.New(rand.NewPCG(uint64(q), 6))
	signs := make([]float64, secondOrderRows)
	for i := range signs {
		signs[i] = float64(2*r.IntN(2) - 1)
	}
	e.Target = testkit.Get(ad.FloatTable(len(signs), 1, signs))
	return models.Logistic{Features: q}, e
}

// softmaxOf is softmax regression of n features and ten classes.
func softmaxOf(n int) (models.Model, data.Examples) {
	return models.Softmax{Features: n, Classes: 10}, pictures(n)
}

// pictures makes examples of n bytes, with ten classes.
func pictures(features int) data.Examples {
	r := rand.New(rand.NewPCG(uint64(features), 5))
	pixels, labels := make([]uint8, secondOrderRows*features), make([]uint8, secondOrderRows)
	for i := range pixels {
		pixels[i] = uint8(r.IntN(256))
	}
	for i := range labels {
		labels[i] = uint8(r.IntN(10))
	}
	return data.Examples{X: testkit.Get(ad.ByteTable(len(labels), features, pixels, 1./255)),
		Target: testkit.Get(ad.LabelTable(labels, 10))}
}

// A layered is a network of ten classes, with one log-penalty.
type layered struct {
	params *nn.Params
	scores func(y, pictures *ad.Node) *ad.Node
}

func (m layered) Dims() (p, q int) { return 1, m.params.Len() }

func (m layered) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Mean(nn.CrossEntropy(m.scores(y, b.X), b.T))
}

func (m layered) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(m.Upper(x, y, b), ad.Mul(ad.Exp(ad.Item(x, 0)), ad.Dot(y, y)))
}

// convolutions has two of 5×5 pixels with stride 2, to n and 2n channels, and a dense layer.
func convolutions(n int) (models.Model, data.Examples) {
	ps := &nn.Params{}
	first := nn.NewConv(ps, "conv1", ad.Window{H: 28, W: 28, C: 1, KH: 5, KW: 5, Stride: 2}, n)
	second := nn.NewConv(ps, "conv2", first.Behind(5, 5, 2), 2*n)
	last := nn.NewDense(ps, "last", 4*4*2*n, 10)
	return layered{ps, func(y, pictures *ad.Node) *ad.Node {
		return last.Outputs(y, ad.Tanh(second.Outputs(y, ad.Tanh(first.Outputs(y, pictures)))))
	}}, pictures(784)
}

// attention has one head over 8 tokens of n numbers, with what a transformer's block has around it
// but the dense layers.
func attention(width int) (models.Model, data.Examples) {
	const tokens = 8
	ps := &nn.Params{}
	heads, norm := nn.NewAttention(ps, "attention", width, 1), nn.NewLayerNorm(ps, "norm", width)
	last := nn.NewDense(ps, "last", tokens*width, 10)
	return layered{ps, func(y, pictures *ad.Node) *ad.Node {
		in := ad.Reshape(pictures, secondOrderRows*tokens, width)
		out := norm.Outputs(y, ad.Add(in, heads.Outputs(y, in, secondOrderRows)))
		return last.Outputs(y, ad.Reshape(out, secondOrderRows, tokens*width))
	}}, pictures(tokens * width)
}
