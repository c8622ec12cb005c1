package ad

import (
	"fmt"
	"math"

	"dsbo/ad/internal/engine"
)

// Functions with kinks. A derivative at a kink is one side's, or 0, as each function documents.
const (
	fnAbs  named = "Abs"
	fnSign named = "Sign"
	opMax  named = "Max"
	opMin  named = "Min"
)

// init defines the ops: the kernel of each, and the adjoints of its inputs by the adjoint g of its
// output.
func init() {
	define(map[named]definition{
		fnAbs: {cheap(computing(math.Abs)), slope(Sign)},
		fnSign: {cheap(computing(func(a float64) float64 {
			return oneIf[float64](a > 0) - oneIf[float64](a < 0) // 0 of a NaN
		})), noGrad},
		opMax: {cheap(computing2(func(a, b float64) float64 { return max(a, b) })),
			func(in nodes, _, g *Node) nodes { return either(g, in[0], in[1]) }},
		opMin: {cheap(computing2(func(a, b float64) float64 { return min(a, b) })),
			func(in nodes, _, g *Node) nodes { return either(g, in[1], in[0]) }},
	})
}

// either hands g to the first of two inputs where above > below, and to the second elsewhere.
func either(g, above, below *Node) nodes {
	first := Mul(g, Step(Sub(above, below)))
	return nodes{first, Sub(g, first)}
}

// Abs returns |a| elementwise; its derivative at 0 is taken as 0.
func Abs(a *Node) *Node { return apply1(fnAbs, a) }

// Sign returns 1 where a > 0, −1 where a < 0 and 0 where it is 0; its derivative is 0.
func Sign(a *Node) *Node { return apply1(fnSign, a) }

// Max returns the larger of a and b elementwise, with shapes broadcast. Where they are equal b
// has the derivative, as in ReLU(a) = max(a, 0).
func Max(a, b *Node) *Node {
	return opMax.orClip(a, b, func(c float64) (low, high float64) { return c, math.Inf(1) })
}

// orClip returns the node of two inputs, or, where the second is constant, a clip by limits made
// of it.
func (n named) orClip(a, b *Node, limits func(c float64) (low, high float64)) *Node {
	same := n.broadcast(a, b)
	if c, ok := constOf(same[1]); ok {
		low, high := limits(c)
		return Clip(same[0], low, high)
	}
	return newNode(n, same[0].Shape(), same...)
}

// Min returns the smaller of a and b elementwise, with shapes broadcast. Where they are equal
// b has the derivative.
func Min(a, b *Node) *Node {
	return opMin.orClip(a, b, func(c float64) (low, high float64) { return math.Inf(-1), c })
}

// clipRule keeps numbers in [low, high]; inside marks with 1 those strictly between.
type clipRule struct {
	low, high float64
	inside    bool
}

// Clip returns a elementwise, low where it is less and high where it is more, for constants low ≤
// high that may be infinite. Its derivative is 1 strictly between them and 0 elsewhere.
func Clip(a *Node, low, high float64) *Node {
	if !(low <= high) {
		failf("Clip: the lower bound must be at most the upper one; they are %v and %v", low, high)
	}
	return apply1(clipRule{low, high, false}, a)
}

func (r clipRule) String() string {
	if r.inside {
		return fmt.Sprintf("Inside(%v, %v)", r.low, r.high)
	}
	return fmt.Sprintf("Clip(%v, %v)", r.low, r.high)
}

func (r clipRule) grad(in nodes, _, g *Node) nodes {
	if r.inside {
		return nodes{nil}
	}
	return nodes{Mul(g, apply1(clipRule{r.low, r.high, true}, in[0]))}
}

func (r clipRule) lower(nodes) engine.Op {
	return cheap(mapping(clipTo[float32](r), clipTo[float64](r)))
}

// clipTo returns the function that clips entries to [low, high], or with r.inside its derivative, 1
// strictly inside.
func clipTo[T Float](r clipRule) func(dst, a []T) {
	low, high := T(r.low), T(r.high)
	return func(dst, a []T) {
		for i, v := range a {
			if dst[i] = min(max(v, low), high); r.inside {
				dst[i] = oneIf[T](low < v && v < high)
			}
		}
	}
}
