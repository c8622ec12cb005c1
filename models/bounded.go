package models

import "math"

// A Bounded is a [Model] whose losses change little with one example, as differential privacy
// needs: both losses are means over the examples of convex terms with bounded derivatives, and x
// enters the penalty alone.
type Bounded interface {
	Penalized
	// TermBounds bounds the term of an example whose features have norm at most c: the norm of its
	// gradient by y, and the largest eigenvalue of its Hessian by y. ok is false where the model's
	// settings have no such bounds.
	TermBounds(c float64) (gradient, curvature float64, ok bool)
}

// The cross-entropy's gradient by the logits is P − t, of norm √2 at most. Its Hessian diag P − P
// P' has no eigenvalue above ½.
const (
	crossEntropySlope     = math.Sqrt2
	crossEntropyCurvature = 0.5
)

// TermBounds implements [Bounded].
func (s Softmax) TermBounds(c float64) (gradient, curvature float64, ok bool) {
	return crossEntropySlope * c, crossEntropyCurvature * c * c, true
}

// TermBounds implements [Bounded], for means: |ψ′| ≤ 1 and ψ″ ≤ ¼.
func (l Logistic) TermBounds(c float64) (gradient, curvature float64, ok bool) {
	return c, c * c / 4, l.Mean
}

// A boundedLoss is an [OutputLoss] with bounded derivatives by the outputs of a row.
type boundedLoss interface {
	// bounds returns the largest norm of the gradient, and the largest eigenvalue of the Hessian,
	// with a number of outputs.
	bounds(outputs int) (slope, curvature float64)
}

func (CrossEntropy) bounds(int) (slope, curvature float64) {
	return crossEntropySlope, crossEntropyCurvature
}

func (h Huber) bounds(outputs int) (slope, curvature float64) {
	return h.delta() * math.Sqrt(float64(outputs)), 1
}

// TermBounds implements [Bounded]. With its intercept a row of features has one number more, 1.
func (l Linear) TermBounds(c float64) (gradient, curvature float64, ok bool) {
	loss, ok := lossOrDefault(l.Loss).(boundedLoss)
	if !ok {
		return 0, 0, false
	}
	slope, bend := loss.bounds(l.Outputs)
	square := float64(c*c) + 1
	return slope * math.Sqrt(square), bend * square, true
}
