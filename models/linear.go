package models

import (
	"cmp"
	"slices"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// Linear is the model of tables: outputs Y a_e + b with a loss L, and a log-penalty for each group
// of features,
//
//	f_i(x, y) = mean_e w_e L(Y a_e + b, t_e)
//	g_i(x, y) = mean_e w_e L(Y a_e + b, t_e) + 1/(cd) Σ_kj e^{x_{r(j)}} Y_kj² + ½·10⁻⁶ ‖b‖²
//
// where y is the c×d matrix Y, row by row, then the c intercepts b; c = Outputs, d = Features, r(j)
// is the group of feature j, and w_e is 1 where examples have no weights. q = c(d + 1), and p is
// the number of groups: d for [PerFeature], 1 for [PerLayer] and [OnePenalty]. 1/(cd) is
// [Softmax]'s scale: x = 0 is a weak penalty, for any groups.
//
// The intercepts' ridge only makes g_i strongly convex: it changes probabilities of a class, and
// means of a target of deviation 1, by some 10⁻⁵. If L is [ShiftInvariant], the data do not
// determine Σ_k b_k. Then g_i also has the term ½·0.1/c (Σ_k b_k)², which makes the sum 0 and
// leaves differences of outputs as they are. With the ridge alone, a wire's rounding of gradients
// and products would cause a large step along that direction.
type Linear struct {
	Features, Outputs int        // Outputs: the number of classes, or of the numbers in a target
	Loss              OutputLoss // nil: CrossEntropy
	Penalties         Penalties  // nil: PerFeature
	Intercepts        []float64  // b at the start, such as the logarithm of a mean count; nil: 0
	Prior             Prior      // a term of f_i that keeps x together
	Level             Level      // intercepts of an agent's own
}

// interceptRidge is the coefficient of ½ ‖b‖².
const interceptRidge = 1e-6

// sumRidge is the coefficient of ½ (Σ_k b_k)²/c where the loss is [ShiftInvariant]: about the
// curvature of a class of one example in ten.
const sumRidge = 0.1

// layer returns the one layer.
func (l Linear) layer() dense { return dense{in: l.Features, out: l.Outputs} }

// Dims implements [Model].
func (l Linear) Dims() (p, q int) {
	return penaltiesOrDefault(l.Penalties).number(l.Features), l.layer().size()
}

// Check implements [Checker].
func (l Linear) Check(s data.Shard) error {
	return l.check(s, 1)
}

// check is Check for examples with the given number of weights each, if they have weights.
func (l Linear) check(s data.Shard, weights int) error {
	return cmp.Or(penaltiesOrDefault(l.Penalties).check(l.Features), l.Prior.check(),
		checkIntercepts(l.Intercepts, l.Outputs), l.Level.check(l.Loss),
		checkOutputs(s, l.Features, l.Outputs, lossOrDefault(l.Loss), weights))
}

// scale returns 1/(cd).
func (l Linear) scale() float64 { return 1 / float64(l.Outputs*l.Features) }

// Lower implements [Model].
func (l Linear) Lower(x, y *ad.Node, b Batch) *ad.Node {
	layer := l.layer()
	penalty := featurePenalty(penaltiesOrDefault(l.Penalties), ad.Exp(x), layer.matrix(y))
	return ad.Sum(l.trainingLoss(layer.outputs(y, b.X), b), ad.Scale(l.scale(), penalty),
		l.interceptPenalty(layer.vector(y)))
}

// interceptPenalty builds the terms of g_i that depend on the intercepts alone.
func (l Linear) interceptPenalty(intercepts *ad.Node) *ad.Node {
	penalty := ad.Scale(interceptRidge/2, ad.Dot(intercepts, intercepts))
	if _, ok := lossOrDefault(l.Loss).(ShiftInvariant); ok {
		penalty = ad.Add(penalty, ad.Scale(l.interceptCoupling()/2, ad.Square(ad.SumAll(intercepts))))
	}
	return penalty
}

// interceptCoupling returns the second derivative by any two intercepts of the term ½·0.1/c (Σ_k
// b_k)², which g_i has for a [ShiftInvariant] loss.
func (l Linear) interceptCoupling() float64 { return sumRidge / float64(l.Outputs) }

// Upper implements [Model].
func (l Linear) Upper(x, y *ad.Node, b Batch) *ad.Node {
	return l.Prior.add(meanLoss(judging(l.Loss), l.judged(l.layer().outputs(y, b.X), trained(b)), b), x)
}

// Score implements [Scorer].
func (l Linear) Score(_, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return score(judging(l.Loss), l.layer().outputs(y, b.X), b)
}

// Penalty implements [Penalized].
func (l Linear) Penalty(dst, x []float64) {
	penalties, layer := penaltiesOrDefault(l.Penalties), l.layer()
	row := dst[:l.Features]
	for j := range row {
		row[j] = 2 * l.scale() * num.Exp(x[penalties.group(j)])
	}
	for k := 1; k < l.Outputs; k++ {
		copy(dst[k*l.Features:], row)
	}
	linalg.Fill(layer.biases(dst), interceptRidge)
}

// Diagonal implements [Curved].
func (l Linear) Diagonal(_, y *ad.Node, b Batch) *ad.Node {
	if !l.knowsDiagonal() {
		return nil
	}
	layer, outputs := l.layer(), l.layer().outputs(y, b.X)
	if joint, ok := l.Loss.(JointLoss); ok {
		return l.withCoupling(ad.Place(joint.JointDiagonal(outputs, b), 0, layer.size()), y, layer)
	}
	curvature := meanCurvature(lossOrDefault(l.Loss), l.judged(outputs, b), b)
	return l.withCoupling(ad.Sum(layer.diagonal(curvature, b.X, layer.size()),
		l.levelDiagonal(curvature, b.X, 0, l.Features, layer.size())...), y, layer)
}

// knowsDiagonal reports whether the diagonal has a closed form: with a level it is implemented for
// one output and no slopes.
func (l Linear) knowsDiagonal() bool {
	return l.Level.Ridge == 0 || l.Outputs == 1 && l.Level.Slopes == nil
}

// withCoupling adds interceptCoupling to the entries of the intercepts if the loss is
// [ShiftInvariant].
func (l Linear) withCoupling(diagonal, y *ad.Node, layer dense) *ad.Node {
	if _, ok := lossOrDefault(l.Loss).(ShiftInvariant); !ok {
		return diagonal
	}
	each := ad.Uniform(l.interceptCoupling(), layer.vector(y))
	return ad.Add(diagonal, ad.Place(each, layer.in*layer.out, layer.size()))
}

// Joint implements [Joint].
func (l Linear) Joint() bool { return isJoint(l.Loss) || l.Level.Ridge > 0 }

// Start implements [Starter]: Intercepts, and 0 elsewhere.
func (l Linear) Start(y []float64) {
	clear(y)
	copy(l.layer().biases(y), l.Intercepts)
}

// Modulus implements [StronglyConvex].
func (l Linear) Modulus(x []float64) float64 {
	return min(2*l.scale()*num.Exp(slices.Min(x)), interceptRidge)
}
