package modeltest_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
	"dsbo/models/modeltest"
)

// A kind is a model of a loss for each example, with a log-penalty on all of y, and the score that
// goes with it.
type kind struct {
	q    int
	each func(y *ad.Node, b models.Batch) *ad.Node
}

func (k kind) Dims() (p, q int) { return 1, k.q }

func (k kind) Upper(_, y *ad.Node, b models.Batch) *ad.Node { return ad.Mean(k.each(y, b)) }

func (k kind) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(k.Upper(x, y, b), ad.ScaleBy(ad.Exp(ad.Item(x, 0)), ad.Dot(y, y)))
}

func (k kind) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) { return k.each(y, b), nil }

func (k kind) Penalty(dst, x []float64) {
	for j := range dst {
		dst[j] = 2 * math.Exp(x[0])
	}
}

// counts is a Poisson regression of counts by their logarithm: e^o − t o with o = w'a + c.
func counts(features int) kind {
	return kind{features + 1, func(y *ad.Node, b models.Batch) *ad.Node {
		o := rate(y, b, features)
		return ad.Sub(ad.Exp(o), ad.Mul(b.T, o))
	}}
}

// rate builds w'a + c for each example.
func rate(y *ad.Node, b models.Batch, features int) *ad.Node {
	return ad.Add(ad.MatVec(b.X, ad.PartVec(y, 0, features), false),
		ad.ScaleBy(ad.Item(y, features), ad.Uniform(1, b.T)))
}

// grades is an ordinal regression: P(t ≤ k) = σ(θ_k − w'a), with thresholds θ that rise by e^δ.
func grades(features, classes int) kind {
	return kind{features + classes - 1, func(y *ad.Node, b models.Batch) *ad.Node {
		return gradesLoss(y, b, features, classes, false)
	}}
}

// gradesLoss builds −log P(t) for each example; where cumulative, −log P(≤ t).
func gradesLoss(y *ad.Node, b models.Batch, features, classes int, cumulative bool) *ad.Node {
	s := ad.MatVec(b.X, ad.PartVec(y, 0, features), false)
	threshold, below := ad.Item(y, features), ad.Scale(0, s) // P(< k)
	var all *ad.Node
	for k := range classes {
		upTo := ad.Uniform(1, s)
		if k < classes-1 {
			if k > 0 {
				threshold = ad.Add(threshold, ad.Exp(ad.Item(y, features+k)))
			}
			upTo = ad.Sigmoid(ad.Sub(ad.ScaleBy(threshold, ad.Uniform(1, s)), s))
		}
		p := upTo
		if !cumulative {
			p = ad.Sub(upTo, below)
		}
		is := ad.Reshape(ad.Cols(b.T, k, 1), b.Rows, 1)
		term := ad.SumCols(ad.Mul(is, ad.Reshape(ad.Log(p), b.Rows, 1)))
		if below = upTo; k == 0 {
			all = term
			continue
		}
		all = ad.Add(all, term)
	}
	return ad.Neg(all)
}

// machine is a factorization machine, of squared loss: w'a + ½ Σ_f ((v_f'a)² − Σ_j v_fj² a_j²).
func machine(features, rank int) kind {
	return kind{features * (1 + rank), func(y *ad.Node, b models.Batch) *ad.Node {
		v := ad.Part(y, features, rank, features)
		pairs := ad.Sub(ad.Square(ad.MatMul(b.X, v, false, true)), ad.MatMul(ad.Square(b.X), ad.Square(v), false, true))
		out := ad.Add(ad.MatVec(b.X, ad.PartVec(y, 0, features), false), ad.Scale(.5, ad.SumCols(pairs)))
		return ad.Scale(.5, ad.Square(ad.Sub(out, b.T)))
	}}
}

// elman reads an example's numbers one after the other into a state of a number of units: h ←
// tanh(a u + W h), and the output is v'h.
func elman(steps, units int) kind {
	return kind{units * (units + 2), func(y *ad.Node, b models.Batch) *ad.Node {
		return elmanLoss(y, b, steps, units, false)
	}}
}

// elmanLoss builds the squared loss of each example; where it leaks, the state begins at the state
// of the example before it.
func elmanLoss(y *ad.Node, b models.Batch, steps, units int, leaks bool) *ad.Node {
	in, w, out := ad.Part(y, 0, 1, units), ad.Part(y, units, units, units), ad.PartVec(y, units*(units+1), units)
	var h *ad.Node
	read := func(step int) {
		a := ad.MatMul(ad.Cols(b.X, step, 1), in, false, false)
		if h != nil {
			a = ad.Add(a, ad.MatMul(h, w, false, true))
		}
		h = ad.Tanh(a)
	}
	for step := range steps {
		read(step)
	}
	if leaks {
		h = ad.ConcatRows(ad.Scale(0, ad.Rows(h, 0, 1)), ad.Rows(h, 0, b.Rows-1))
		read(steps - 1)
	}
	return ad.Scale(.5, ad.Square(ad.Sub(ad.MatVec(h, out, false), b.T)))
}

// experts is a mixture of linear experts, which a gate weighs by the features: Σ_k softmax(G a)_k
// W_k a.
func experts(features, count int) kind {
	return kind{2 * count * features, func(y *ad.Node, b models.Batch) *ad.Node {
		return expertsLoss(y, b, features, count, ad.RowSoftmax)
	}}
}

func expertsLoss(y *ad.Node, b models.Batch, features, count int, shares func(*ad.Node) *ad.Node) *ad.Node {
	gate := shares(ad.MatMul(b.X, ad.Part(y, 0, count, features), false, true))
	out := ad.RowDot(gate, ad.MatMul(b.X, ad.Part(y, count*features, count, features), false, true))
	return ad.Scale(.5, ad.Square(ad.Sub(out, b.T)))
}

// normalized is a regression on features that have mean 0 and variance 1 in the batch: its losses
// are of a batch.
type normalized struct{ kind }

func (normalized) Batched() {}

// standardized is normalized without its claim.
func standardized(features int) kind {
	return kind{features, func(y *ad.Node, b models.Batch) *ad.Node {
		n := 1 / float64(b.Rows)
		centred := ad.AddRow(b.X, ad.Scale(-n, ad.SumRows(b.X)))
		h := ad.ColScale(centred, ad.Rsqrt(ad.Offset(1e-5, ad.Scale(n, ad.ColDot(centred, centred)))))
		return ad.Scale(.5, ad.Square(ad.Sub(ad.MatVec(h, y, false), b.T)))
	}}
}

// dropping leaves out features of training examples, and whole examples, at random, and adds noise:
// a mask that is a matrix, one that is a vector, and a normal one.
type dropping struct{ kind }

func (dropping) Masks() []models.Mask {
	return []models.Mask{{Name: "features", Cols: 4, Keep: .7}, {Name: "examples", Cols: 1, Keep: .5},
		{Name: "noise", Cols: 4, Normal: true}}
}

func (m dropping) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	noisy := ad.Add(b.X, ad.Scale(.1, b.Column("noise")))
	b.X = ad.RowScale(ad.Mul(noisy, b.Column("features")), b.Column("examples"))
	return m.kind.Lower(x, y, b)
}

func whole(r *rand.Rand, _ int) float64 { return float64(r.IntN(3)) }

// The data of the kinds, of examples that are neither a power of two nor below 8.
func numbers(features int) data.Shard { return examples(30, features, 0, normal) }

// TestKinds: right models of kinds that are no networks of layers, and one of statistics of the
// batch, raise no alarm.
func TestKinds(t *testing.T) {
	for name, c := range map[string]struct {
		m models.Model
		s data.Shard
	}{
		"Poisson":               {counts(4), examples(30, 4, 0, whole)},
		"ordinal":               {grades(4, 4), examples(30, 4, 4, normal)},
		"factorization machine": {machine(5, 2), numbers(5)},
		"recurrent":             {elman(4, 3), numbers(4)},
		"mixture of experts":    {experts(4, 3), numbers(4)},
		"batch statistics":      {normalized{standardized(4)}, numbers(4)},
		"dropout and noise":     {dropping{counts(4)}, examples(30, 4, 0, whole)},
	} {
		t.Run(name, func(t *testing.T) { modeltest.TestModel(t, c.m, c.s) })
	}
}

// Mistakes that such models make.
type (
	flatCounts   struct{ kind } // takes the curvature of counts for the curvature of squares
	convexCounts struct{ kind } // claims that e^o curves by 1 everywhere
	otherGrades  struct{ kind } // scores by P(≤ t)
	halfMachine  struct{ kind } // tells the penalty of the linear weights alone
	batchExperts struct{ kind } // has gates whose shares sum to 1 over the batch
	worseNorm    struct{ kind } // scores with the statistics of two rows less
)

func (m flatCounts) Diagonal(_, y *ad.Node, b models.Batch) *ad.Node {
	return ad.ConcatRows(ad.Scale(1/float64(b.Rows), ad.ColDot(b.X, b.X)), ad.Uniform(1, ad.PartVec(y, 0, 1)))
}

func (convexCounts) Modulus(x []float64) float64 { return 1 + 2*math.Exp(x[0]) }

func (m otherGrades) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return gradesLoss(y, b, 4, 4, true), nil
}

func (m halfMachine) Penalty(dst, x []float64) {
	clear(dst)
	m.kind.Penalty(dst[:5], x)
}

func (m batchExperts) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Mean(expertsLoss(y, b, 4, 3,
		func(a *ad.Node) *ad.Node { return ad.Transpose(ad.RowSoftmax(ad.Transpose(a))) }))
}

func (m worseNorm) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.Scale(1+2/float64(b.Rows), m.each(y, b)), nil
}

// TestMistakesOfKinds: the suite names such a model's fault.
func TestMistakesOfKinds(t *testing.T) {
	// over the batch, in place of each example's own rows
	attending := kind{4, func(y *ad.Node, b models.Batch) *ad.Node {
		shares := ad.RowSoftmax(ad.MatMul(b.X, b.X, false, true))
		return ad.Square(ad.Sub(ad.MatVec(ad.MatMul(shares, b.X, false, false), y, false), b.T))
	}}
	leaking := kind{15, func(y *ad.Node, b models.Batch) *ad.Node { return elmanLoss(y, b, 4, 3, true) }}
	for _, c := range []mistake{
		{flatCounts{counts(4)}, "diagonal", "exact is true"},
		{convexCounts{counts(4)}, "convexity", "claims at least"},
		{otherGrades{grades(4, 4)}, "score", "the upper loss must be the mean or the sum of the score's"},
		{halfMachine{machine(5, 2)}, "penalty", "which x enters by a penalty alone"},
		{leaking, "score", "where each example is there twice"},
		{batchExperts{experts(4, 3)}, "score", "the upper loss must be the mean or the sum of the score's"},
		{standardized(4), "leaks", "depends on the others of its batch"},
		{attending, "leaks", "depends on the others of its batch"},
		{worseNorm{standardized(4)}, "score", "where each example is there twice"},
	} {
		s := numbers(4)
		switch c.model.(type) {
		case otherGrades:
			s = examples(30, 4, 4, normal)
		case halfMachine:
			s = numbers(5)
		}
		c.test(t, s)
	}
}
