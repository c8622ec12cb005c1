package models

import (
	"fmt"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// Folds is cross-validation of a [Linear] model as one bilevel problem: K models y_1 ... y_K, of
// which each leaves another part of the examples out, a fold, and is validated by it,
//
//	f_i(x, y) = Σ_k f_i^k(y_k) + prior(x)      g_i(x, y) = 1/K Σ_k g_i^k(x, y_k)
//
// where f_i^k and g_i^k are the losses of the linear model whose examples have column k of the
// weights: validation examples are in fold k, training examples in all other folds. So every
// example both trains and tunes, and few examples tune x better than a part of them would.
// [FoldWeights] makes the weights. q is K times the linear model's, and so are memory and cost.
type Folds struct {
	Of    Linear
	Count int // K, at least 2
}

// Dims implements [Model].
func (m Folds) Dims() (p, q int) {
	p, q = m.Of.Dims()
	return p, m.Count * q
}

// Check implements [Checker].
func (m Folds) Check(s data.Shard) error {
	if m.Count < 2 {
		return dsbo.Errorf(dsbo.ErrConfig, "folds must be at least 2; there are %d", m.Count)
	}
	for _, e := range []data.Examples{s.Train, s.Val} {
		if e.Len() > 0 && e.Weight == nil {
			return dsbo.Errorf(dsbo.ErrShape, "examples must have a weight for each of %d folds", m.Count)
		}
	}
	return m.Of.check(s, m.Count)
}

// part returns model k's part of y, and the batch with the weights of fold k.
func (m Folds) part(k int, y *ad.Node, b Batch) (*ad.Node, Batch) {
	_, q := m.Of.Dims()
	if b.W != nil {
		b.W = ad.MatVec(b.W, unitVector(b.W, k, m.Count), false)
	}
	return ad.PartVec(y, k*q, q), b
}

// unitVector builds the vector of n numbers that is 1 at place k and else 0.
func unitVector(like *ad.Node, k, n int) *ad.Node {
	e := make([]float64, n)
	e[k] = 1
	return ad.NewConst(like, fmt.Sprintf("column %d of %d", k, n), n, 0, e)
}

// sum builds the sum of what of builds for each fold.
func (m Folds) sum(y *ad.Node, b Batch, of func(k int, y *ad.Node, b Batch) *ad.Node) *ad.Node {
	terms := make([]*ad.Node, m.Count)
	for k := range terms {
		part, batch := m.part(k, y, b)
		terms[k] = of(k, part, batch)
	}
	return ad.Sum(terms[0], terms[1:]...)
}

// Lower implements [Model].
func (m Folds) Lower(x, y *ad.Node, b Batch) *ad.Node {
	return ad.Scale(1/float64(m.Count),
		m.sum(y, b, func(_ int, y *ad.Node, b Batch) *ad.Node { return m.Of.Lower(x, y, b) }))
}

// Upper implements [Model].
func (m Folds) Upper(x, y *ad.Node, b Batch) *ad.Node {
	return m.Of.Prior.add(m.sum(y, b, func(_ int, y *ad.Node, b Batch) *ad.Node { return m.Of.fit(y, b) }), x)
}

// noWeight is added to the weights of models in a score, so that a row without any weight counts
// for all models alike.
const noWeight = 1e-30

// Score implements [Scorer]: the mean over the models by their weights for the example. That is the
// score of the model that left it out for validation examples, and of all models where examples
// have no weights, as test examples.
func (m Folds) Score(_, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	loss := lossOrDefault(m.Of.Loss)
	outputs := func(y *ad.Node) *ad.Node { return m.Of.layer().outputs(y, b.X) }
	losses = m.mean(y, b, func(y *ad.Node) *ad.Node { return loss.Losses(outputs(y), b.T) })
	if loss.Hits(outputs(m.first(y)), b.T) != nil {
		hits = m.mean(y, b, func(y *ad.Node) *ad.Node { return loss.Hits(outputs(y), b.T) })
	}
	return losses, hits
}

// first returns the first model's part of y.
func (m Folds) first(y *ad.Node) *ad.Node {
	part, _ := m.part(0, y, Batch{})
	return part
}

// mean builds the weighted mean over the models of a vector with an entry for each row.
func (m Folds) mean(y *ad.Node, b Batch, of func(y *ad.Node) *ad.Node) *ad.Node {
	if b.W == nil {
		return ad.Scale(1/float64(m.Count), m.sum(y, b, func(_ int, y *ad.Node, _ Batch) *ad.Node { return of(y) }))
	}
	weight := func(_ int, _ *ad.Node, b Batch) *ad.Node { return ad.Offset(noWeight, b.W) }
	weighted := m.sum(y, b, func(k int, y *ad.Node, b Batch) *ad.Node { return ad.Mul(weight(k, y, b), of(y)) })
	return ad.Div(weighted, m.sum(y, b, weight))
}

// Penalty implements [Penalized].
func (m Folds) Penalty(dst, x []float64) {
	_, q := m.Of.Dims()
	first := dst[:q]
	m.Of.Penalty(first, x)
	for j := range first {
		first[j] /= float64(m.Count)
	}
	for k := 1; k < m.Count; k++ {
		copy(dst[k*q:], first)
	}
}

// Diagonal implements [Curved].
func (m Folds) Diagonal(x, y *ad.Node, b Batch) *ad.Node {
	_, q := m.Of.Dims()
	return ad.Scale(1/float64(m.Count), m.sum(y, b, func(k int, y *ad.Node, b Batch) *ad.Node {
		return ad.Place(m.Of.Diagonal(x, y, b), k*q, m.Count*q)
	}))
}

// Start implements [Starter].
func (m Folds) Start(y []float64) {
	_, q := m.Of.Dims()
	for k := range m.Count {
		m.Of.Start(y[k*q:][:q])
	}
}

// Modulus implements [StronglyConvex].
func (m Folds) Modulus(x []float64) float64 { return m.Of.Modulus(x) / float64(m.Count) }

// FoldWeights returns the weights of [Folds] with a number of folds for examples that are both
// training and validation examples: of has the fold of each, and weight its own weight, one column
// (nil: 1). As training examples all others count a little more than once, so that the weights of a
// fold's model have the mean of the weights of all examples.
func FoldWeights(of []int, count int, weight *ad.Table) (train, val *ad.Table, err error) {
	all, sums := 0.0, make([]float64, count) // of weights, of all examples and of each fold
	own := func(row int) float64 {
		if weight == nil {
			return 1
		}
		return weight.At(row, 0)
	}
	for row, k := range of {
		if k < 0 || k >= count {
			return nil, nil, dsbo.Errorf(dsbo.ErrConfig, "folds must be from 0 to %d; that of row %d is %d",
				count-1, row, k)
		}
		all += own(row)
		sums[k] += own(row)
	}
	training, validation := make([]float32, len(of)*count), make([]float32, len(of)*count)
	for row, fold := range of {
		for k := range count {
			if k == fold {
				validation[row*count+k] = float32(own(row))
			} else if left := all - sums[k]; left > 0 {
				training[row*count+k] = float32(own(row) * all / left)
			}
		}
	}
	if train, err = ad.Float32Table(len(of), count, training); err != nil {
		return nil, nil, err
	}
	val, err = ad.Float32Table(len(of), count, validation)
	return train, val, err
}
