package ad

import (
	"fmt"
	"slices"

	"dsbo"
)

// fnOutputs marks the outputs of a model. It computes what it is given.
const fnOutputs named = "Outputs"

func init() {
	same := linear(func(g *Node) *Node { return g })
	define(map[named]definition{
		fnOutputs:  {kernels("r", copyKernel, copyKernel), same},
		argumentOp: {identity(), same},
	})
}

// Outputs returns a, marked as the outputs of a model inside of a loss ℓ(F(y)) + r(x, y): F is
// what comes before, ℓ and r, such as a penalty, what does not pass F on the way to y. A loss may
// mark several. Values and derivatives are those without the mark; [DerivsIn.GaussNewton] takes F
// as linear.
func Outputs(a *Node) *Node { return apply1(fnOutputs, a) }

// GaussNewton writes the product of v (length Q) with the generalized Gauss-Newton matrix of the
// loss by y,
//
//	J'(∇²ℓ)J + ∇²r
//
// to dst (length Q), where J is the Jacobian of the marked outputs by y (see [Outputs];
// Schraudolph 2002). It has no negative eigenvalue where ℓ and r are convex, whatever F is, and is
// the Hessian where F is linear. No matrix is formed: J v comes from a derivative of J'w by w, and
// the rest from reverse sweeps. It costs less than [DerivsIn.HVP]. A loss without marks fails
// with [dsbo.ErrCapability].
func (in *DerivsIn[V]) GaussNewton(dst, x, y, v []V) error {
	return in.compute(linearized, 1<<gnp, [derivCount][]V{gnp: dst}, x, y, v)
}

// MarksOutputs reports whether the loss marks outputs, without which it has no Gauss-Newton matrix.
func (d *Derivs) MarksOutputs() bool { return len(marks(d.loss.outs[0])) > 0 }

// gaussNewton builds the product of v with the Gauss-Newton matrix of cost by y; nil: it is 0.
func gaussNewton(cost, y, v *Node) (product *Node, err error) {
	defer catchMisuse(&err)
	marked := marks(cost)
	if len(marked) == 0 {
		return nil, fmt.Errorf("%w: the loss marks no outputs (ad.Outputs), by which there would be a Gauss-Newton "+
			"matrix", dsbo.ErrCapability)
	}
	slopes := gradient(cost, marked, append([]*Node{y}, marked...)...) // ∇r, and ∇ℓ by each of the marked
	var along *Node                                                    // ∇r'v + Σ ∇ℓ'(J v)
	if slopes[0] != nil {
		along = Dot(slopes[0], v)
	}
	tangents := make([]*Node, len(marked))
	for i, o := range marked {
		if tangents[i] = tangent(o, y, v); tangents[i] == nil || slopes[1+i] == nil {
			continue
		}
		along = added(along, Dot(slopes[1+i], tangents[i]))
	}
	if along == nil {
		return nil, nil
	}
	// The tangents are constants here, and the outputs ends: what is left is ∇²r v, and (∇²ℓ) J v
	// for each of the marked.
	ends := append(marked, slices.DeleteFunc(tangents, func(n *Node) bool { return n == nil })...)
	bent := gradient(along, ends, append([]*Node{y}, marked...)...)
	product = bent[0]
	for i, o := range marked {
		if bent[1+i] == nil {
			continue
		}
		if back := gradient(Dot(o, bent[1+i]), []*Node{bent[1+i]}, y)[0]; back != nil {
			product = added(product, back)
		}
	}
	return product, nil
}

// marks returns the marked nodes that cost depends on, inputs first.
func marks(cost *Node) (marked []*Node) {
	for _, n := range topological(cost) {
		if o, ok := n.Op().(*op); ok && o.rule == fnOutputs {
			marked = append(marked, n)
		}
	}
	return marked
}

// added builds a + b, where a may be nil, which is 0.
func added(a, b *Node) *Node {
	if a == nil {
		return b
	}
	return Add(a, b)
}
