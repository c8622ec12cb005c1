package modeltest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/models/modeltest"
)

// A network is what users write for themselves: the outputs of classes from y and the features, the
// cross-entropy of their softmax, and one log-penalty for all of y.
type network struct {
	q       int
	outputs func(y *ad.Node, b models.Batch) *ad.Node
	start   float64 // deviation of the start
}

func (n network) Dims() (p, q int) { return 1, n.q }

func (n network) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	return crossEntropy(n.outputs(y, b), b)
}

func (n network) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(n.Upper(x, y, b), ad.ScaleBy(ad.Scale(1/float64(n.q), ad.SumAll(ad.Exp(x))), ad.Dot(y, y)))
}

func (n network) Start(y []float64) {
	r := rand.New(rand.NewPCG(1, 1))
	for j := range y {
		y[j] = n.start * r.NormFloat64()
	}
}

func (n network) Penalty(dst, x []float64) {
	for j := range dst {
		dst[j] = 2 * math.Exp(x[0]) / float64(len(dst))
	}
}

func (n network) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	z := n.outputs(y, b)
	return ad.Sub(ad.RowLogSumExp(z), ad.RowDot(b.T, z)), ad.RowHit(z, b.T)
}

func crossEntropy(z *ad.Node, b models.Batch) *ad.Node {
	return ad.Scale(1/float64(b.Rows), ad.Sub(ad.SumAll(ad.RowLogSumExp(z)), ad.Dot(b.T, z)))
}

// A reader takes matrices and vectors out of a vector, one after the other.
type reader struct {
	v   *ad.Node
	off int
}

func (r *reader) matrix(rows, cols int) *ad.Node {
	r.off += rows * cols
	return ad.Part(r.v, r.off-rows*cols, rows, cols)
}

func (r *reader) vector(n int) *ad.Node {
	r.off += n
	return ad.PartVec(r.v, r.off-n, n)
}

// dense maps the rows of h, of in numbers, to out numbers.
func (r *reader) dense(h *ad.Node, in, out int) *ad.Node {
	return ad.AddRow(ad.MatMul(h, r.matrix(out, in), false, true), r.vector(out))
}

// mlp has dense layers of these sizes, the first of which is the features. Unit gives the values of
// hidden layer 1, 2, ...
func mlp(unit func(layer int, a *ad.Node) *ad.Node, sizes ...int) network {
	q := 0
	for i, in := range sizes[:len(sizes)-1] {
		q += (in + 1) * sizes[i+1]
	}
	return network{q, func(y *ad.Node, b models.Batch) *ad.Node {
		r, h := &reader{v: y}, b.X
		for i, in := range sizes[:len(sizes)-1] {
			if i > 0 {
				h = unit(i, h)
			}
			h = r.dense(h, in, sizes[i+1])
		}
		return h
	}, .03}
}

func relu(_ int, a *ad.Node) *ad.Node { return ad.ReLU(a) }

// both has tanh in its odd layers, and ReLU in the others.
func both(layer int, a *ad.Node) *ad.Node {
	if layer%2 == 1 {
		return ad.Tanh(a)
	}
	return ad.ReLU(a)
}

// lenet has convolutions of 5×5 pixels with stride 2, to 8 and to 16 channels, of pictures of
// side×side pixels.
func lenet(side, classes int) network {
	first := ad.Window{H: side, W: side, C: 1, KH: 5, KW: 5, Stride: 2}
	second := ad.Window{H: first.OutH(), W: first.OutW(), C: 8, KH: 5, KW: 5, Stride: 2}
	units := second.OutH() * second.OutW() * 16
	conv := func(r *reader, h *ad.Node, w ad.Window, channels, rows int) *ad.Node {
		maps := ad.MatMul(ad.Im2col(h, w), r.matrix(channels, 25*w.C), false, true)
		return ad.ReLU(ad.Reshape(ad.AddRow(maps, r.vector(channels)), rows, w.OutH()*w.OutW()*channels))
	}
	return network{8*26 + 16*201 + classes*(units+1), func(y *ad.Node, b models.Batch) *ad.Node {
		r := &reader{v: y}
		h := conv(r, b.X, first, 8, b.Rows)
		return r.dense(conv(r, h, second, 16, b.Rows), units, classes)
	}, .1}
}

// layerNorm gives each row of h mean 0 and variance 1.
func layerNorm(h *ad.Node) *ad.Node {
	c := float64(h.Shape()[1])
	h = ad.AddCol(h, ad.Scale(-1/c, ad.SumCols(h)))
	return ad.RowScale(h, ad.Exp(ad.Scale(-.5, ad.Log(ad.Offset(1e-5, ad.Scale(1/c, ad.RowDot(h, h)))))))
}

// token takes columns t·width ... of h, whose rows are tokens side by side.
func token(h *ad.Node, t, width int) *ad.Node {
	cols := h.Shape()[1]
	pick := make([]float64, cols*width)
	for i := range width {
		pick[(t*width+i)*width+i] = 1
	}
	return ad.MatMul(h, ad.NewConst(h, fmt.Sprintf("token %d of %d", t, width), cols, width, pick), false, false)
}

// attention is a transformer's block: each example is a number of tokens of width numbers.
func attention(tokens, width, classes int) network {
	q := 3*width*width + 2*(width+1)*width + (width+1)*classes
	return network{q, func(y *ad.Node, b models.Batch) *ad.Node {
		r := &reader{v: y}
		wq, wk, wv := r.matrix(width, width), r.matrix(width, width), r.matrix(width, width)
		var in, keys, values []*ad.Node
		for t := range tokens {
			in = append(in, token(b.X, t, width))
			keys = append(keys, ad.MatMul(in[t], wk, false, false))
			values = append(values, ad.MatMul(in[t], wv, false, false))
		}
		var mean *ad.Node
		for t := range tokens {
			query := ad.MatMul(in[t], wq, false, false)
			var total, sum *ad.Node
			for s := range tokens {
				weight := ad.Exp(ad.Scale(1/math.Sqrt(float64(width)), ad.RowDot(query, keys[s])))
				value := ad.RowScale(values[s], weight)
				if s == 0 {
					total, sum = weight, value
					continue
				}
				total, sum = ad.Add(total, weight), ad.Add(sum, value)
			}
			out := layerNorm(ad.Add(in[t], ad.RowScale(sum, ad.Div(ad.Uniform(1, total), total))))
			if t == 0 {
				mean = out
				continue
			}
			mean = ad.Add(mean, out)
		}
		h := ad.Scale(1/float64(tokens), mean)
		hidden := ad.ReLU(r.dense(h, width, width))
		return r.dense(layerNorm(ad.Add(h, r.dense(hidden, width, width))), width, classes)
	}, .2}
}

// gru reads an example's tokens one after the other.
func gru(tokens, width, units, classes int) network {
	q := 3*(width+1)*units + 3*(units+1)*units + (units+1)*classes
	return network{q, func(y *ad.Node, b models.Batch) *ad.Node {
		var h *ad.Node
		for t := range tokens {
			r, in := &reader{v: y}, token(b.X, t, width)
			if h == nil {
				h = ad.Scale(0, r.dense(in, width, units))
				r.off = 0
			}
			gate := func() *ad.Node { return ad.Add(r.dense(in, width, units), r.dense(h, units, units)) }
			update, reset := ad.Sigmoid(gate()), ad.Sigmoid(gate())
			fresh := ad.Tanh(ad.Add(r.dense(in, width, units), ad.Mul(reset, r.dense(h, units, units))))
			h = ad.Add(fresh, ad.Mul(update, ad.Sub(h, fresh)))
		}
		r := &reader{v: y, off: 3*(width+1)*units + 3*(units+1)*units}
		return r.dense(h, units, classes)
	}, .3}
}

// representation has its hidden layer in x, and the head in y.
type representation struct{ features, units, classes int }

func (m representation) Dims() (p, q int) {
	return (m.features + 1) * m.units, (m.units + 1) * m.classes
}

func (m representation) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	h := ad.ReLU((&reader{v: x}).dense(b.X, m.features, m.units))
	return crossEntropy((&reader{v: y}).dense(h, m.units, m.classes), b)
}

func (m representation) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(m.Upper(x, y, b), ad.Scale(.005, ad.Dot(y, y)))
}

func (representation) Modulus([]float64) float64 { return .01 }

// cox is the partial likelihood of proportional hazards: an example's term depends on those who
// were still at risk.
type cox struct{ features int }

func (cox) Batched() {}

func (m cox) Dims() (p, q int) { return m.features, m.features }

func (m cox) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	hazard := ad.MatVec(b.X, y, false)
	atRisk := ad.Step(ad.Offset(1e-9, ad.Sub(ad.RepeatRow(b.T, b.Rows), ad.RepeatCol(b.T, b.Rows))))
	return ad.Mean(ad.Sub(ad.Log(ad.MatVec(atRisk, ad.Exp(hazard), false)), hazard))
}

func (m cox) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(m.Upper(x, y, b), ad.Scale(.5, ad.Dot(ad.Exp(x), ad.Square(y))))
}

// factors completes a matrix by the product of two thin ones: an example is a row's and a column's
// number, with the entry.
type factors struct{ rows, cols, rank int }

func (m factors) Dims() (p, q int) { return 2, (m.rows + m.cols) * m.rank }

func (m factors) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	r := &reader{v: y}
	u, v := r.matrix(m.rows, m.rank), r.matrix(m.cols, m.rank)
	row := ad.MatVec(b.X, ad.NewConst(y, "first", 2, 0, []float64{1, 0}), false)
	col := ad.MatVec(b.X, ad.NewConst(y, "second", 2, 0, []float64{0, 1}), false)
	return ad.Mean(ad.Square(ad.Sub(ad.RowDot(ad.Gather(u, row), ad.Gather(v, col)), b.T)))
}

func (m factors) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	loss, r := m.Upper(x, y, b), &reader{v: y}
	for i, n := range []int{m.rows, m.cols} {
		part := r.vector(n * m.rank)
		loss = ad.Add(loss, ad.ScaleBy(ad.SumAll(ad.Exp(ad.PartVec(x, i, 1))), ad.Dot(part, part)))
	}
	return loss
}

// examples makes n training and validation examples with features from feature and classes, or with
// times if there are none.
func examples(rows, features, classes int, feature func(r *rand.Rand, column int) float64) data.Shard {
	r := rand.New(rand.NewPCG(8, uint64(features)))
	set := func(rows int) data.Examples {
		v, target := make([]float64, rows*features), make([]float64, rows)
		for i := range v {
			v[i] = feature(r, i%features)
		}
		for i := range target {
			target[i] = r.ExpFloat64()
			if classes > 0 {
				target[i] = float64(r.IntN(classes))
			}
		}
		e := data.Examples{X: testkit.Get(ad.FloatTable(rows, features, v)),
			Target: testkit.Get(ad.FloatTable(rows, 1, target))}
		if classes > 0 {
			e.Target = testkit.Get(data.OneHot(e.Target, classes))
		}
		return e
	}
	return data.Shard{Train: set(rows), Val: set(rows - 9)}
}

func normal(r *rand.Rand, _ int) float64 { return r.NormFloat64() }

// pixel is mostly black, as MNIST's are.
func pixel(r *rand.Rand, _ int) float64 { return max(0, 1.5*r.Float64()-.7) }

// BenchmarkMillions runs the suite on a network with 1.9 million weights, which must raise no alarm
// either. What depends on the size is the same from 10⁵ weights on, so that tests have a
// smaller one.
func BenchmarkMillions(b *testing.B) {
	for b.Loop() {
		modeltest.TestModel(b, mlp(both, 784, 1024, 1024, 10), examples(75, 784, 10, pixel))
	}
}

// TestRightModels: networks of real size, with kinks wherever they like, and models that are no
// means over examples, raise no alarm.
func TestRightModels(t *testing.T) {
	index := func(r *rand.Rand, column int) float64 { return float64(r.IntN([]int{300, 200}[column])) }
	for _, c := range []struct {
		name  string
		m     models.Model
		s     data.Shard
		quick bool // enough for -short
	}{
		{"small mlp with ReLU", mlp(relu, 169, 24, 12, 3), examples(30, 169, 3, pixel), true},
		{"mlp with 109,000 weights", mlp(both, 784, 128, 64, 10), examples(75, 784, 10, pixel), false},
		{"lenet", lenet(28, 10), examples(75, 784, 10, pixel), false},
		{"small lenet", lenet(13, 3), examples(30, 169, 3, pixel), true},
		{"attention", attention(4, 32, 10), examples(75, 128, 10, normal), false},
		{"small attention", attention(3, 5, 3), examples(30, 15, 3, normal), true},
		{"gru", gru(5, 16, 24, 3), examples(75, 80, 3, normal), false},
		{"representation", representation{784, 16, 10}, examples(75, 784, 10, pixel), false},
		{"small representation", representation{20, 7, 3}, examples(30, 20, 3, pixel), true},
		{"cox", cox{12}, examples(75, 12, 0, normal), true},
		{"factors", factors{300, 200, 8}, examples(75, 2, 0, index), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && !c.quick {
				t.Skip("takes some seconds")
			}
			modeltest.TestModel(t, c.m, c.s)
		})
	}
}
