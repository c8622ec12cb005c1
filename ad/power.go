package ad

import (
	"fmt"
	"math"

	"dsbo/ad/internal/engine"
	"dsbo/internal/num"
)

// power is a^p for a constant p.
type power struct{ p float64 }

// Pow returns a^p elementwise for a constant p, 1 where p is 0. a may be negative where p is a
// whole number, and must not be 0 where a derivative that is asked for is infinite.
func Pow(a *Node, p float64) *Node {
	shapeOf(a)
	notNaN("Pow", p)
	switch p {
	case 0:
		return Uniform(1, a)
	case .5:
		return Sqrt(a)
	case 1:
		return a
	case 2:
		return Square(a)
	}
	return apply1(power{p}, a)
}

// Rsqrt returns 1/√a elementwise.
func Rsqrt(a *Node) *Node { return Pow(a, -.5) }

const opPower named = "Power"

// init defines the ops: the kernel of each, and the adjoints of its inputs by the adjoint g of its
// output.
func init() {
	define(map[named]definition{opPower: {computing2(num.Pow), func(in nodes, out, g *Node) nodes {
		a, b := in[0], in[1]
		zero := Uniform(0, a)
		byA := choice(Equal(b, zero), zero, Mul(b, Power(a, Offset(-1, b))))
		byB := choice(Mul(Equal(a, zero), GreaterEqual(b, zero)), zero, Mul(out, Log(a)))
		return nodes{Mul(g, byA), Mul(g, byB)}
	}}})
}

// Power returns a^b elementwise, with shapes broadcast. Where a is 0 and b at least 0 its
// derivative by b is taken as 0; where a is negative b must be a whole number, by which there is no
// derivative: it is NaN.
func Power(a, b *Node) *Node {
	same := opPower.broadcast(a, b)
	if p, ok := constOf(same[1]); ok {
		return Pow(same[0], p)
	}
	return newNode(opPower, shapeOf(same[0]), same...)
}

func (r power) String() string { return fmt.Sprintf("Pow(%v)", r.p) }
func (r power) grad(in nodes, _, g *Node) nodes {
	return nodes{Scale(r.p, Mul(g, Pow(in[0], r.p-1)))}
}
func (r power) lower(nodes) engine.Op { return computing(r.of) }

// halves is the largest |2p| for which a^p is made by products, and a square root: several times
// faster than a power.
const halves = 16

// of returns a^p. Small whole and half powers are products, which are faster than num.Pow.
func (r power) of(a float64) float64 {
	twice := math.Abs(2 * r.p)
	if twice != math.Trunc(twice) || twice > halves {
		return num.Pow(a, r.p)
	}
	v := 1.
	for range int(twice) / 2 {
		v *= a
	}
	if int(twice)%2 == 1 {
		v *= math.Sqrt(a)
	}
	if r.p < 0 {
		return 1 / v
	}
	return v
}
