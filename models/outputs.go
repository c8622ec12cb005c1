package models

import (
	"cmp"
	"math"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// An OutputLoss is a convex loss of a model's outputs for an example: [CrossEntropy], [Squared],
// [Huber], [Poisson], [Cox], or one of your own. Its methods build nodes for all rows of a batch at
// once, from outputs, a matrix with a row for each example, and the targets t of the batch: a
// matrix of that shape, or a vector where there is one output. A loss may also have Sum, with the
// arguments of Losses, which builds their sum with less work, and Hits, which builds a vector, 1
// for each row whose class is the predicted one and else 0.
type OutputLoss interface {
	// Check returns an error, as [dsbo.ErrShape] or [dsbo.ErrConfig], that names the setting of the
	// loss, or the targets, that do not suit this number of outputs.
	Check(targets *ad.Table, outputs int) error
	// Losses builds the loss of each row, a vector.
	Losses(outputs, t *ad.Node) *ad.Node
	// Slope builds the derivative of each row's loss by each of its outputs.
	Slope(outputs, t *ad.Node) *ad.Node
	// Curvature builds the second derivative of each row's loss by each of its outputs.
	Curvature(outputs, t *ad.Node) *ad.Node
	// CurvatureBehind builds, for each row, the second derivative of its loss by each value of h,
	// where the row's outputs are w h and w has a row for each output.
	CurvatureBehind(w, outputs, t *ad.Node) *ad.Node
}

// A summed is an [OutputLoss] with a Sum.
type summed interface {
	Sum(outputs, t *ad.Node) *ad.Node
}

// A classLoss is an [OutputLoss] of classes.
type classLoss interface {
	Hits(outputs, t *ad.Node) *ad.Node
}

// A ShiftInvariant is an [OutputLoss] that stays as it is when one number is added to all outputs
// of an example, or of all examples.
type ShiftInvariant interface {
	OutputLoss
	ShiftInvariant()
}

// A JointLoss is an [OutputLoss] in which a row's loss depends on the agent's other rows. The
// methods of OutputLoss include all rows; models of such a loss are [Joint].
type JointLoss interface {
	OutputLoss
	// JointLosses builds the loss of each row of a batch. Rows of weight 0 are excluded, also from
	// the others' losses.
	JointLosses(outputs *ad.Node, b Batch) *ad.Node
	// JointDiagonal builds the second derivatives of the mean over the batch, each row's loss times
	// its weight, by the entries of w, where outputs are X w.
	JointDiagonal(outputs *ad.Node, b Batch) *ad.Node
}

// isJoint reports whether a loss is a [JointLoss].
func isJoint(l OutputLoss) bool { _, ok := l.(JointLoss); return ok }

// CrossEntropy is the loss log Σ_k e^{o_k} − o_t of classes: t is the place of the 1 in the target,
// and P(k) = e^{o_k} / Σ e^{o}.
type CrossEntropy struct{}

// Check implements [OutputLoss]: targets are one-hot, with a column for each of at least
// two classes.
func (CrossEntropy) Check(targets *ad.Table, outputs int) error {
	if c := targets.Cols(); c != outputs || c < 2 {
		return dsbo.ShapeErrorf(
			"targets must have a column for each of the model's %d classes, at least 2; they have %d", outputs, c)
	}
	return nil
}

// Losses implements [OutputLoss].
func (CrossEntropy) Losses(logits, onehot *ad.Node) *ad.Node {
	return ad.Sub(ad.RowLogSumExp(logits), ad.RowDot(onehot, logits))
}

// Sum builds the sum of Losses with less work.
func (CrossEntropy) Sum(logits, onehot *ad.Node) *ad.Node {
	return ad.Sub(ad.SumAll(ad.RowLogSumExp(logits)), ad.Dot(onehot, logits))
}

// Slope implements [OutputLoss]: P − t.
func (CrossEntropy) Slope(logits, onehot *ad.Node) *ad.Node {
	return ad.Sub(ad.RowSoftmax(logits), onehot)
}

// Curvature implements [OutputLoss]: P(1 − P).
func (CrossEntropy) Curvature(logits, _ *ad.Node) *ad.Node {
	p := ad.RowSoftmax(logits)
	return ad.Mul(p, ad.Offset(1, ad.Neg(p)))
}

// CurvatureBehind implements [OutputLoss]: Σ_k P_k w_k² − (Σ_k P_k w_k)².
func (CrossEntropy) CurvatureBehind(w, logits, _ *ad.Node) *ad.Node {
	p := ad.RowSoftmax(logits)
	return ad.Sub(ad.MatMul(p, ad.Square(w), false, false), ad.Square(ad.MatMul(p, w, false, false)))
}

// Hits builds 1 where the largest logit belongs to the class.
func (CrossEntropy) Hits(logits, onehot *ad.Node) *ad.Node { return ad.RowHit(logits, onehot) }

// ShiftInvariant implements [ShiftInvariant].
func (CrossEntropy) ShiftInvariant() {}

// Squared is the loss ½ Σ_k (o_k − t_k)².
type Squared struct{}

// Check implements [OutputLoss]: a target is a number for each output.
func (Squared) Check(targets *ad.Table, outputs int) error { return checkNumbers(targets, outputs) }

// Losses implements [OutputLoss].
func (Squared) Losses(outputs, t *ad.Node) *ad.Node {
	return ad.Scale(.5, ad.SumCols(ad.Square(residuals(outputs, t))))
}

// Slope implements [OutputLoss].
func (Squared) Slope(outputs, t *ad.Node) *ad.Node { return residuals(outputs, t) }

// Curvature implements [OutputLoss]: 1.
func (Squared) Curvature(outputs, _ *ad.Node) *ad.Node { return ad.Uniform(1, outputs) }

// CurvatureBehind implements [OutputLoss].
func (s Squared) CurvatureBehind(w, outputs, t *ad.Node) *ad.Node {
	return separateCurvature(w, s.Curvature(outputs, t))
}

// Huber is the loss Σ_k h(o_k − t_k) with h(r) = ½ r² up to |r| = δ and δ (|r| − ½ δ) beyond:
// outliers pull with the force δ at most.
type Huber struct {
	Delta float64 // δ, in the unit of the targets; 0: 1
}

// delta returns δ, with its default for 0.
func (h Huber) delta() float64 { return cmp.Or(h.Delta, 1) }

// Check implements [OutputLoss]: δ is positive and finite, and a target is a number for
// each output.
func (h Huber) Check(targets *ad.Table, outputs int) error {
	if d := h.delta(); !(d > 0) || math.IsInf(d, 1) {
		return dsbo.ConfigErrorf("δ of the Huber loss must be positive and finite, or 0 for 1; it is %g", d)
	}
	return checkNumbers(targets, outputs)
}

// Losses implements [OutputLoss], as s (r − ½ s) with the slope s.
func (h Huber) Losses(outputs, t *ad.Node) *ad.Node {
	s := h.Slope(outputs, t)
	return ad.SumCols(ad.Mul(s, ad.Sub(residuals(outputs, t), ad.Scale(.5, s))))
}

// excess builds the distances of residuals r above δ and below −δ, where the loss turns from
// quadratic to linear.
func (h Huber) excess(r *ad.Node) (above, below *ad.Node) {
	return ad.Offset(-h.delta(), r), ad.Offset(-h.delta(), ad.Neg(r))
}

// Slope implements [OutputLoss]: r, at least −δ and at most δ.
func (h Huber) Slope(outputs, t *ad.Node) *ad.Node {
	r := residuals(outputs, t)
	above, below := h.excess(r)
	return ad.Add(ad.Sub(r, ad.ReLU(above)), ad.ReLU(below))
}

// Curvature implements [OutputLoss]: 1 for |r| ≤ δ, else 0.
func (h Huber) Curvature(outputs, t *ad.Node) *ad.Node {
	above, below := h.excess(residuals(outputs, t))
	return ad.Offset(1, ad.Neg(ad.Add(ad.Step(above), ad.Step(below))))
}

// CurvatureBehind implements [OutputLoss].
func (h Huber) CurvatureBehind(w, outputs, t *ad.Node) *ad.Node {
	return separateCurvature(w, h.Curvature(outputs, t))
}

// lossOrDefault returns l, or [CrossEntropy] for nil.
func lossOrDefault(l OutputLoss) OutputLoss {
	if l == nil {
		return CrossEntropy{}
	}
	return l
}

// judging returns the loss of a model's predictions, which for some losses l are bounded.
func judging(l OutputLoss) OutputLoss {
	if j, ok := l.(interface{ judging() OutputLoss }); ok {
		return j.judging()
	}
	return lossOrDefault(l)
}

// checkNumbers checks targets that are numbers, one for each output.
func checkNumbers(targets *ad.Table, outputs int) error {
	if c := targets.Cols(); c != outputs {
		return dsbo.ShapeErrorf("targets must have a number for each of the model's %d outputs; they have %d",
			outputs, c)
	}
	return nil
}

// residuals builds o − t.
func residuals(outputs, t *ad.Node) *ad.Node { return ad.Sub(outputs, targetsLike(outputs, t)) }

// targetsLike returns targets in the shape of the outputs: one output is a matrix of one column,
// its targets are a vector.
func targetsLike(outputs, t *ad.Node) *ad.Node {
	shape := outputs.Shape()
	return ad.Reshape(t, shape[0], shape[1])
}

// separateCurvature is CurvatureBehind of a loss that is a sum over the outputs, with
// that Curvature.
func separateCurvature(w, curvature *ad.Node) *ad.Node {
	return ad.MatMul(curvature, ad.Square(w), false, false)
}

// meanLoss builds the mean over the batch of the losses, each times the weight of its example where
// there are weights.
func meanLoss(l OutputLoss, outputs *ad.Node, b Batch) *ad.Node {
	outputs = ad.Outputs(outputs)
	if joint, ok := l.(JointLoss); ok {
		return ad.Scale(1/float64(b.Rows), ad.SumAll(b.weighted(joint.JointLosses(outputs, b))))
	}
	return meanOfRows(l, outputs, b)
}

// meanOfRows is meanLoss of losses of single rows, whose outputs it does not mark.
func meanOfRows(l OutputLoss, outputs *ad.Node, b Batch) *ad.Node {
	mean := 1 / float64(b.Rows)
	if b.W != nil {
		return ad.Scale(mean, ad.Dot(b.W, l.Losses(outputs, b.T)))
	}
	if l, ok := l.(summed); ok {
		return ad.Scale(mean, l.Sum(outputs, b.T))
	}
	return ad.Scale(mean, ad.SumAll(l.Losses(outputs, b.T)))
}

// meanCurvature builds the second derivatives of meanLoss by the outputs of each row.
func meanCurvature(l OutputLoss, outputs *ad.Node, b Batch) *ad.Node {
	return b.weightedRows(ad.Scale(1/float64(b.Rows), l.Curvature(outputs, b.T)))
}

// score is the Score of a model with these outputs.
func score(l OutputLoss, outputs *ad.Node, b Batch) (losses, hits *ad.Node) {
	if joint, ok := l.(JointLoss); ok {
		return joint.JointLosses(outputs, b), nil
	}
	if l, ok := l.(classLoss); ok {
		hits = l.Hits(outputs, b.T)
	}
	return l.Losses(outputs, b.T), hits
}

// checkOutputs is checkShard for models with outputs and a loss of them.
func checkOutputs(s data.Shard, features, outputs int, l OutputLoss, weights int) error {
	return checkShard(s, features, weights, func(e data.Examples) error { return l.Check(e.Target, outputs) })
}
