package models

import (
	"math"
	"math/rand/v2"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// A dense is the place of a dense layer in y: out×in weights from offset off on, row by row, then
// out biases.
type dense struct{ off, in, out int }

// weights returns the layer's weights, a view of y: row k makes output k.
func (l dense) weights(y []float64) []float64 { return y[l.off:][: l.in*l.out : l.in*l.out] }

// biases returns the layer's biases, a view of y.
func (l dense) biases(y []float64) []float64 { return y[l.off+l.in*l.out:][:l.out:l.out] }

// size returns the number of weights and biases of the layer.
func (l dense) size() int { return l.out * (l.in + 1) }

// startWeights draws the weights of layers: normal numbers of variance gain/inputs. Biases are 0.
func startWeights(y []float64, layers []dense, gain float64, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	clear(y)
	for _, l := range layers {
		deviation, weights := math.Sqrt(gain/float64(l.in)), l.weights(y)
		for j := range weights {
			weights[j] = deviation * num.Normal(r)
		}
	}
}

// checkIntercepts checks where the biases of a last layer with a number of outputs are to start.
func checkIntercepts(b []float64, outputs int) error {
	if b == nil || len(b) == outputs && linalg.AllFinite(b) {
		return nil
	}
	return dsbo.ConfigErrorf(
		"intercepts at the start must be a finite number for each of %d outputs, or none; they are %v", outputs, b)
}

// checkHidden checks the units of hidden layers.
func checkHidden(layers []int) error {
	for l, units := range layers {
		if units < 1 {
			return dsbo.ConfigErrorf("hidden layer %d must have at least 1 unit; it has %d", l, units)
		}
	}
	return nil
}

// checkRidge checks a ridge with a default.
func checkRidge(of string, ridge float64) error {
	if ridge < 0 {
		return dsbo.ConfigErrorf("the ridge of %s must be positive, or 0 for the default; it is %g", of, ridge)
	}
	return nil
}

// matrix returns the layer's weights in the node y, out×in.
func (l dense) matrix(y *ad.Node) *ad.Node { return ad.Part(y, l.off, l.out, l.in) }

// vector returns the layer's biases in the node y.
func (l dense) vector(y *ad.Node) *ad.Node { return ad.PartVec(y, l.off+l.in*l.out, l.out) }

// outputs builds the layer's outputs for the rows of h.
func (l dense) outputs(y, h *ad.Node) *ad.Node {
	return ad.AddRow(ad.MatMul(h, l.matrix(y), false, true), l.vector(y))
}

// diagonal builds the layer's part of the diagonal of a loss's Hessian, with zeros elsewhere to the
// length q. curvature is as in denseDiagonal.
func (l dense) diagonal(curvature, h *ad.Node, q int) *ad.Node {
	return ad.Add(ad.Place(denseDiagonal(curvature, h), l.off, q), ad.Place(ad.SumRows(curvature), l.off+l.in*l.out, q))
}

// denseDiagonal builds the diagonal of the Hessian by the entries of W, row by row, of a loss of
// the outputs H·Wᵀ. curvature is the loss's second derivative by each output; the loss is a sum
// over the rows.
func denseDiagonal(curvature, h *ad.Node) *ad.Node {
	return ad.Flatten(ad.MatMul(curvature, ad.Square(h), true, false))
}
