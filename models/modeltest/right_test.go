package modeltest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/models/modeltest"
	"dsbo/models/nn"
)

// A network is made of layers: the outputs of classes from y and the features, the cross-entropy of
// their softmax, and one log-penalty for all of y.
type network struct {
	params  *nn.Params
	outputs func(y *ad.Node, b models.Batch) *ad.Node
}

func (n network) Dims() (p, q int)  { return 1, n.params.Len() }
func (n network) Start(y []float64) { n.params.Init(y, 1) }

func (n network) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Mean(nn.CrossEntropy(n.outputs(y, b), b.T))
}

func (n network) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	weight := ad.Scale(1/float64(n.params.Len()), ad.Exp(ad.Item(x, 0)))
	return ad.Add(n.Upper(x, y, b), ad.ScaleBy(weight, ad.Dot(y, y)))
}

func (n network) Penalty(dst, x []float64) { linalg.Fill(dst, 2*math.Exp(x[0])/float64(len(dst))) }

func (n network) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	z := n.outputs(y, b)
	return nn.CrossEntropy(z, b.T), ad.RowHit(z, b.T)
}

// mlp has dense layers of these sizes, the first of which is the features. Unit gives the values of
// hidden layer 1, 2, ...
func mlp(unit func(layer int, a *ad.Node) *ad.Node, sizes ...int) network {
	var ps nn.Params
	var layers []nn.Dense
	for i, in := range sizes[:len(sizes)-1] {
		layers = append(layers, nn.NewDense(&ps, fmt.Sprint(i), in, sizes[i+1]))
	}
	return network{&ps, func(y *ad.Node, b models.Batch) *ad.Node {
		h := layers[0].Outputs(y, b.X)
		for i, l := range layers[1:] {
			h = l.Outputs(y, unit(i+1, h))
		}
		return h
	}}
}

func relu(_ int, a *ad.Node) *ad.Node { return ad.ReLU(a) }

// both has tanh in its odd layers, and ReLU in the others.
func both(layer int, a *ad.Node) *ad.Node {
	if layer%2 == 1 {
		return ad.Tanh(a)
	}
	return ad.ReLU(a)
}

// representation has its hidden layer in x, and the head in y.
type representation struct{ hidden, head nn.Dense }

func represent(features, units, classes int) representation {
	return representation{nn.NewDense(new(nn.Params), "hidden", features, units),
		nn.NewDense(new(nn.Params), "head", units, classes)}
}

func (m representation) Dims() (p, q int) {
	return m.hidden.W.Len() + m.hidden.B.Len(), m.head.W.Len() + m.head.B.Len()
}

func (m representation) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Mean(nn.CrossEntropy(m.head.Outputs(y, ad.ReLU(m.hidden.Outputs(x, b.X))), b.T))
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
	return ad.Sum(m.Upper(x, y, b), ad.Mul(ad.Exp(ad.Item(x, 0)), ad.Dot(u, u)),
		ad.Mul(ad.Exp(ad.Item(x, 1)), ad.Dot(v, v)))
}

// examples makes n training and validation examples with features from feature and classes, or with
// times if there are none.
func examples(rows, features, classes int, feature func(r *rand.Rand, column int) float64) data.Shard {
	r := rand.New(rand.NewPCG(8, uint64(features)))
	set := func(rows int) data.Examples {
		v, target, labels := make([]float64, rows*features), make([]float64, rows), make([]uint8, rows)
		for i := range v {
			v[i] = feature(r, i%features)
		}
		for i := range target {
			if target[i] = r.ExpFloat64(); classes > 0 {
				labels[i] = uint8(r.IntN(classes))
			}
		}
		e := data.Examples{X: testkit.Get(ad.FloatTable(rows, features, v)),
			Target: testkit.Get(ad.FloatTable(rows, 1, target))}
		if classes > 0 {
			e.Target = testkit.Get(ad.LabelTable(labels, classes))
		}
		return e
	}
	return data.Shard{Train: set(rows), Val: set(rows - 9)}
}

func normal(r *rand.Rand, _ int) float64 { return r.NormFloat64() }

// pixel is mostly black, as MNIST's are.
func pixel(r *rand.Rand, _ int) float64 { return max(0, 1.5*r.Float64()-.7) }

// TestRightModels: networks of real size, with kinks wherever they like, and models that are no
// means over examples, raise no alarm. Package nn tries its other layers.
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
		{"representation", represent(784, 16, 10), examples(75, 784, 10, pixel), false},
		{"small representation", represent(20, 7, 3), examples(30, 20, 3, pixel), true},
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
