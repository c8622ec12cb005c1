package models

import (
	"fmt"
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// Folds is K-fold cross-validation of a [Linear] model as one bilevel problem. Model y_k is trained
// on all examples but fold k, and validated on fold k,
//
//	f_i(x, y) = Σ_k f_i^k(y_k) + prior(x)      g_i(x, y) = 1/K Σ_k g_i^k(x_k, y_k)
//
// where f_i^k and g_i^k are the linear model's losses with column k of the weights, which
// [FoldWeights] makes. So every example both trains and tunes, which helps where examples are few.
// For a [JointLoss], f_i is one loss of all examples, each with the output of the model that was
// trained without it.
//
// All folds have the same x_k = x, unless Apart is set. Then x is a K×d matrix, row by row, of a
// log-penalty for each feature of each fold, so that a fold's penalties may be derived from its own
// training rows alone.
//
// y is one dense layer with the outputs of all folds: the weights of fold 1, row by row, the
// weights of fold 2 and so on, then the intercepts of all folds ([Folds.Fold]). A pass over the
// examples serves all folds. q is K times the linear model's, and so are memory and cost.
type Folds struct {
	Of    Linear
	Count int  // K, at least 2
	Apart bool // x is of each fold and feature, whatever Of.Penalties are
}

// Dims implements [Model].
func (m Folds) Dims() (p, q int) {
	p, q = m.Of.Dims()
	if m.Apart {
		p = m.Count * m.Of.Features
	}
	return p, m.Count * q
}

// layer returns the one layer.
func (m Folds) layer() dense { return dense{in: m.Of.Features, out: m.Count * m.Of.Outputs} }

// Fold returns the weights and the intercepts of fold k's model, views of y.
func (m Folds) Fold(y []float64, k int) (weights, intercepts []float64) {
	size, c := m.Of.Outputs*m.Of.Features, m.Of.Outputs
	return m.layer().weights(y)[k*size:][:size:size], m.layer().biases(y)[k*c:][:c:c]
}

// Mean returns the mean of the models of the folds: the linear model of all examples is not far.
func (m Folds) Mean(y []float64) []float64 {
	_, q := m.Of.Dims()
	mean := make([]float64, q)
	for k := range m.Count {
		weights, intercepts := m.Fold(y, k)
		linalg.Axpy(mean, 1/float64(m.Count), slices.Concat(weights, intercepts))
	}
	return mean
}

// Check implements [Checker].
func (m Folds) Check(s data.Shard) error {
	if m.Count < 2 {
		return dsbo.ConfigErrorf("folds must be at least 2; there are %d", m.Count)
	}
	for _, e := range []data.Examples{s.Train, s.Val} {
		if e.Len() > 0 && e.Weight == nil {
			return dsbo.ShapeErrorf("examples must have a weight for each of %d folds", m.Count)
		}
	}
	return m.Of.check(s, m.Count)
}

// batch returns the batch with the weights of fold k.
func (m Folds) batch(k int, b Batch) Batch {
	if b.W != nil {
		b.W = ad.MatVec(b.W, unitVector(b.W, k, m.Count), false)
	}
	return b
}

// unitVector builds the vector of n numbers that is 1 at index k and 0 elsewhere.
func unitVector(like *ad.Node, k, n int) *ad.Node {
	e := make([]float64, n)
	e[k] = 1
	return ad.NewConst(like, fmt.Sprintf("column %d of %d", k, n), n, 0, e)
}

// sum builds the sum over the folds of the scalar that of builds for fold k.
func (m Folds) sum(of func(k int) *ad.Node) *ad.Node {
	terms := make([]*ad.Node, m.Count)
	for k := range terms {
		terms[k] = of(k)
	}
	return ad.Sum(terms[0], terms[1:]...)
}

// outputs builds the outputs of each fold's model for all rows of the batch.
func (m Folds) outputs(y *ad.Node, b Batch) (folds []*ad.Node) {
	all := m.layer().outputs(y, b.X)
	for k := range m.Count {
		folds = append(folds, ad.Cols(all, k*m.Of.Outputs, m.Of.Outputs))
	}
	return folds
}

// penalties returns which weights of a fold share an entry of its x.
func (m Folds) penalties() Penalties {
	if m.Apart {
		return PerFeature{}
	}
	return penaltiesOrDefault(m.Of.Penalties)
}

// ownX returns the index in x at which the log-penalties of fold k begin: 0 unless Apart is set.
func (m Folds) ownX(k int) int {
	if m.Apart {
		return k * m.Of.Features
	}
	return 0
}

// Lower implements [Model].
func (m Folds) Lower(x, y *ad.Node, b Batch) *ad.Node {
	e, c, d := ad.Exp(x), m.Of.Outputs, m.Of.Features
	number := m.penalties().number(d)
	penalty := m.sum(func(k int) *ad.Node {
		own, weights, intercepts := ad.PartVec(e, m.ownX(k), number), ad.Part(y, k*c*d, c, d),
			ad.PartVec(y, m.Count*c*d+k*c, c) // behind the weights of all folds
		return ad.Add(ad.Scale(m.Of.scale(), featurePenalty(m.penalties(), own, weights)),
			m.Of.interceptPenalty(intercepts))
	})
	outputs := m.outputs(y, b)
	fit := m.sum(func(k int) *ad.Node { return m.Of.trainingLoss(outputs[k], m.batch(k, b)) })
	return ad.Scale(1/float64(m.Count), ad.Add(fit, penalty))
}

// Upper implements [Model]. A fold's level is fitted to its training rows; its loss is taken on the
// fold's own rows.
func (m Folds) Upper(x, y *ad.Node, b Batch) *ad.Node {
	if isJoint(m.Of.Loss) {
		outputs, all := m.jointOutputs(y, b)
		return m.Of.Prior.add(meanLoss(m.Of.Loss, outputs, all), x)
	}
	outputs := m.outputs(y, b)
	return m.Of.Prior.add(m.sum(func(k int) *ad.Node {
		return meanLoss(judging(m.Of.Loss), m.Of.judged(outputs[k], m.batch(k, trained(b))), m.batch(k, b))
	}), x)
}

// jointOutputs builds, for each row of a validation batch, the output of the model that was trained
// without it, and the batch with one weight a row, so that one joint loss has the rows of all
// folds. Of a row's validation weights only the one in the column of its fold is not 0: their sum
// is that weight, and the weighted mean of the outputs is that model's.
func (m Folds) jointOutputs(y *ad.Node, b Batch) (*ad.Node, Batch) {
	all, outputs := b, m.outputs(y, b)
	if b.W != nil {
		all.W = m.sum(func(k int) *ad.Node { return m.batch(k, b).W })
	}
	return m.mean(b, func(k int) *ad.Node { return ad.Flatten(outputs[k]) }), all
}

// Joint implements [Joint].
func (m Folds) Joint() bool { return m.Of.Joint() }

// noWeight is added to the weights in a score: for a row whose weights are all 0, mean then returns
// the plain mean over the models and not 0/0. Beside other weights it is negligible.
const noWeight = 1e-30

// Score implements [Scorer]. An example's score is the mean of the models' scores by its weights.
// For a validation example this is the score of the model that was trained without it. Test
// examples have no weights, so theirs is the plain mean over all models.
func (m Folds) Score(_, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	loss, outputs := judging(m.Of.Loss), m.outputs(y, b)
	if joint, ok := loss.(JointLoss); ok {
		if b.W == nil { // outputs of different models must not be compared in one risk set
			return m.mean(b, func(k int) *ad.Node { return joint.JointLosses(outputs[k], b) }), nil
		}
		return joint.JointLosses(m.jointOutputs(y, b)), nil
	}
	losses = m.mean(b, func(k int) *ad.Node { return loss.Losses(outputs[k], b.T) })
	if loss, ok := loss.(classLoss); ok {
		hits = m.mean(b, func(k int) *ad.Node { return loss.Hits(outputs[k], b.T) })
	}
	return losses, hits
}

// mean builds the mean over the models k of the vectors of(k), which have an entry for each row,
// weighted by column k of the batch's weights; without weights, the plain mean.
func (m Folds) mean(b Batch, of func(k int) *ad.Node) *ad.Node {
	if b.W == nil {
		return ad.Scale(1/float64(m.Count), m.sum(of))
	}
	weight := func(k int) *ad.Node { return ad.Offset(noWeight, m.batch(k, b).W) }
	return ad.Div(m.sum(func(k int) *ad.Node { return ad.Mul(weight(k), of(k)) }), m.sum(weight))
}

// Penalty implements [Penalized].
func (m Folds) Penalty(dst, x []float64) {
	linalg.Fill(m.layer().biases(dst), interceptRidge/float64(m.Count))
	for k := range m.Count {
		weights, _ := m.Fold(dst, k)
		for j := range weights {
			group := m.penalties().group(j % m.Of.Features)
			weights[j] = 2 * m.Of.scale() / float64(m.Count) * num.Exp(x[m.ownX(k)+group])
		}
	}
}

// Diagonal implements [Curved]. The weights and intercepts of a fold have the diagonal of [Linear],
// as no term depends on two folds. A joint loss has one output and does not depend on the
// intercept.
func (m Folds) Diagonal(_, y *ad.Node, b Batch) *ad.Node {
	if !m.Of.knowsDiagonal() {
		return nil
	}
	loss, layer, outputs := lossOrDefault(m.Of.Loss), m.layer(), m.outputs(y, b)
	var diagonal *ad.Node
	if joint, ok := loss.(JointLoss); ok {
		diagonal = m.sum(func(k int) *ad.Node {
			return ad.Place(joint.JointDiagonal(outputs[k], m.batch(k, b)), k*m.Of.Features, layer.size())
		})
	} else {
		var curvatures, levels []*ad.Node
		for k := range m.Count {
			own, d := m.batch(k, b), m.Of.Features
			curvatures = append(curvatures, meanCurvature(loss, m.Of.judged(outputs[k], own), own))
			levels = append(levels, m.Of.levelDiagonal(curvatures[k], b.X, k*d, m.Count*d+k, layer.size())...)
		}
		diagonal = ad.Sum(layer.diagonal(ad.ConcatCols(curvatures...), b.X, layer.size()), levels...)
	}
	return ad.Scale(1/float64(m.Count), m.Of.withCoupling(diagonal, y, layer))
}

// Start implements [Starter].
func (m Folds) Start(y []float64) {
	clear(y)
	for k := range m.Count {
		_, intercepts := m.Fold(y, k)
		copy(intercepts, m.Of.Intercepts)
	}
}

// Modulus implements [StronglyConvex].
func (m Folds) Modulus(x []float64) float64 { return m.Of.Modulus(x) / float64(m.Count) }

// FoldWeights returns the weights of [Folds] for examples that both train and validate, a column
// for each fold. of is each example's fold, 0 to count-1; weight is its own weight, one column
// (nil: 1). An example has its weight in the column of its fold in val, and in all other columns in
// train. Training weights are scaled up so that those of each fold have the sum of all weights: the
// losses are means over all rows, and penalties then weigh the same as without folds. It returns an
// error for a fold out of range.
func FoldWeights(of []int, count int, weight *ad.Table) (train, val *ad.Table, err error) {
	all, sums := 0.0, make([]float64, count) // sums of the weights: of all examples, and of each fold
	own := func(row int) float64 {
		if weight == nil {
			return 1
		}
		return weight.At(row, 0)
	}
	for row, k := range of {
		if k < 0 || k >= count {
			return nil, nil, dsbo.ConfigErrorf("folds must be from 0 to %d; that of row %d is %d",
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
			} else if left := all - sums[k]; left > 0 { // the sum of the weights that model k is trained with
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
