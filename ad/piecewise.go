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
		fnAbs:  {cheap(mapping(absTo, absTo)), slope(Sign)},
		fnSign: {cheap(mapping(signTo, signTo)), noGrad},
		opMax: {cheap(combining(maxTo, maxTo)),
			func(in nodes, _, g *Node) nodes { return either(g, in[0], in[1]) }},
		opMin: {cheap(combining(minTo, minTo)),
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
	same := opMax.broadcast(a, b)
	a, b = same[0], same[1]
	if c, ok := constOf(b); ok {
		return Clip(a, c, math.Inf(1))
	}
	return newNode(opMax, a.Shape(), a, b)
}

// Min returns the smaller of a and b elementwise, with shapes broadcast. Where they are equal
// b has the derivative.
func Min(a, b *Node) *Node {
	same := opMin.broadcast(a, b)
	a, b = same[0], same[1]
	if c, ok := constOf(b); ok {
		return Clip(a, math.Inf(-1), c)
	}
	return newNode(opMin, a.Shape(), a, b)
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
	if !r.inside {
		return func(dst, a []T) {
			for i, v := range a {
				dst[i] = min(max(v, low), high)
			}
		}
	}
	return func(dst, a []T) {
		for i, v := range a {
			dst[i] = 0
			if low < v && v < high {
				dst[i] = 1
			}
		}
	}
}

func absTo[T Float](dst, a []T) {
	for i, v := range a {
		dst[i] = max(v, -v)
	}
}

// signTo sets dst to the signs of a; 0 and NaN have sign 0.
func signTo[T Float](dst, a []T) {
	for i, v := range a {
		switch {
		case v > 0:
			dst[i] = 1
		case v < 0:
			dst[i] = -1
		default:
			dst[i] = 0
		}
	}
}

func maxTo[T Float](dst, a, b []T) {
	for i, v := range a {
		dst[i] = max(v, b[i])
	}
}

func minTo[T Float](dst, a, b []T) {
	for i, v := range a {
		dst[i] = min(v, b[i])
	}
}
