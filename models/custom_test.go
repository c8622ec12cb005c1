package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
	"dsbo/models/modeltest"
)

// The models of this file are what users write for themselves; each goes through the same suite.

func (r Ridge) Modulus(x []float64) float64 { return math.Exp(slices.Min(x)) }

// poisson is regression of counts, t_e ~ Poisson(e^{a_e'y}), with one log-penalty per feature.
type poisson struct{ features int }

func (m poisson) Dims() (p, q int) { return m.features, m.features }

func (m poisson) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	eta := ad.MatVec(b.X, y, false)
	return ad.Mean(ad.Sub(ad.Exp(eta), ad.Mul(b.T, eta)))
}

func (m poisson) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(m.Upper(x, y, b), ad.Scale(.5, ad.Dot(ad.Exp(x), ad.Square(y))))
}

func (m poisson) Modulus(x []float64) float64 { return math.Exp(slices.Min(x)) }

// factors completes a matrix of ratings by the product of two thin ones: an example is a pair (row,
// column) with its rating. The penalties of the two factors are tuned.
type factors struct{ rows, cols, rank int }

func (m factors) Dims() (p, q int) { return 2, (m.rows + m.cols) * m.rank }

func (m factors) split(y *ad.Node) (u, v *ad.Node) {
	return ad.Part(y, 0, m.rows, m.rank), ad.Part(y, m.rows*m.rank, m.cols, m.rank)
}

func (m factors) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	u, v := m.split(y)
	row := ad.MatVec(b.X, ad.NewConst(y, "first", 2, 0, []float64{1, 0}), false)
	col := ad.MatVec(b.X, ad.NewConst(y, "second", 2, 0, []float64{0, 1}), false)
	return ad.Mean(ad.Square(ad.Sub(ad.RowDot(ad.Gather(u, row), ad.Gather(v, col)), b.T)))
}

func (m factors) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	u, v := m.split(y)
	loss := m.Upper(x, y, b)
	for i, f := range []*ad.Node{u, v} {
		loss = ad.Add(loss, ad.ScaleBy(ad.SumAll(ad.Exp(ad.PartVec(x, i, 1))), ad.Dot(f, f)))
	}
	return loss
}

// conv is a small convolution network on images of side×side pixels: filters of 3×3, tanh, a
// dense layer; one log-penalty for each of the two.
type conv struct{ side, filters, classes int }

func (m conv) window() ad.Window {
	return ad.Window{H: m.side, W: m.side, C: 1, KH: 3, KW: 3, Stride: 1}
}

func (m conv) sizes() (taps, units int) {
	w := m.window()
	return m.filters * 9, w.OutH() * w.OutW() * m.filters
}

func (m conv) Dims() (p, q int) {
	taps, units := m.sizes()
	return 2, taps + m.classes*units
}

func (m conv) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	taps, units := m.sizes()
	maps := ad.MatMul(ad.Im2col(b.X, m.window()), ad.Part(y, 0, m.filters, 9), false, true)
	hidden := ad.Reshape(ad.Tanh(maps), b.Rows, units)
	logits := ad.MatMul(hidden, ad.Part(y, taps, m.classes, units), false, true)
	return ad.Scale(1/float64(b.Rows), ad.Sub(ad.SumAll(ad.RowLogSumExp(logits)), ad.Dot(b.T, logits)))
}

func (m conv) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	taps, units := m.sizes()
	filters, dense := ad.PartVec(y, 0, taps), ad.PartVec(y, taps, m.classes*units)
	penalty := ad.Add(ad.Place(ad.Dot(filters, filters), 0, 2), ad.Place(ad.Dot(dense, dense), 1, 2))
	return ad.Add(m.Upper(x, y, b), ad.Scale(.01, ad.Dot(ad.Exp(x), penalty)))
}

func TestCustomModels(t *testing.T) {
	counts := numberShard(60, 41, 4, func(r *rand.Rand) float64 { return float64(r.IntN(5)) })
	numbers := numberShard(75, 33, 5, (*rand.Rand).NormFloat64)
	for _, c := range []struct {
		name  string
		model models.Model
		shard data.Shard
	}{
		{"ridge", Ridge{5}, numbers},
		{"poisson", poisson{4}, counts},
		{"factors", factors{6, 7, 2}, ratings(6, 7)},
		{"convolution", conv{5, 3, 4}, classShard(70, 35, 25, 4)},
	} {
		t.Run(c.name, func(t *testing.T) { modeltest.TestModel(t, c.model, c.shard) })
	}
}

// ratings makes examples of pairs with normal ratings.
func ratings(rows, cols int) data.Shard {
	r := rand.New(rand.NewPCG(7, 7))
	set := func(n int) data.Examples {
		var pairs []float64
		for range n {
			pairs = append(pairs, float64(r.IntN(rows)), float64(r.IntN(cols)))
		}
		return data.Examples{X: table(n, 2, pairs), Target: table(n, 1, normal(r, n, 1))}
	}
	return data.Shard{Train: set(70), Val: set(31)}
}
