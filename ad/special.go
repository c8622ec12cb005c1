package ad

import (
	"fmt"
	"math"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/num"
)

const (
	fnAtan         named = "Atan"
	fnLgamma       named = "Lgamma"
	fnLogNormalCDF named = "LogNormalCDF"
	fnErfc         named = "Erfc"
	fnNormalCDF    named = "NormalCDF"
	fnInverseMills named = "InverseMills" // φ/Φ, whose derivative is −φ/Φ (a + φ/Φ)
	fnMillsExcess  named = "MillsExcess"  // a + φ/Φ
	// opMillsProduct is the product of its last inputs, φ/Φ of the first and a + φ/Φ. Its
	// derivative is no sum of products, which cancel far to the left.
	opMillsProduct named = "MillsProduct"
)

// init defines the ops: the kernel of each, and the adjoints of its inputs by the adjoint g of its
// output.
func init() {
	millsProduct := cheap(kernels("rrr", productKernel, productKernel))
	millsProduct.InPlace = []int{0, 1, 2}
	define(map[named]definition{
		fnAtan: {computing(num.Atan),
			func(in nodes, _, g *Node) nodes { return nodes{Div(g, Offset(1, Square(in[0])))} }},
		fnLgamma:       {computing(num.Lgamma), slope(Digamma)},
		fnLogNormalCDF: {computing(num.LogNormalCDF), slope(inverseMills)},
		fnInverseMills: {mapping(kernel.InverseMills, kernel.InverseMills),
			func(in nodes, out, g *Node) nodes {
				excess := apply1(fnMillsExcess, in[0])
				return nodes{Neg(Mul(g, newNode(opMillsProduct, in[0].Shape(), in[0], out, excess)))}
			}},
		fnMillsExcess: {mapping(kernel.MillsExcess, kernel.MillsExcess), slope(millsExcessSlope(1))},
		opMillsProduct: {millsProduct, func(in nodes, _, g *Node) nodes {
			return nodes{Neg(Mul(g, millsExcessSlope(2)(in[0]))), nil, nil}
		}},
		fnNormalCDF: {mapping(kernel.NormalCDF, kernel.NormalCDF), slope(func(a *Node) *Node {
			return Scale(1/math.Sqrt(2*math.Pi), Exp(Scale(-.5, Square(a))))
		})},
		fnErfc: {computing(num.Erfc),
			slope(func(a *Node) *Node { return Scale(-2/math.SqrtPi, Exp(Neg(Square(a)))) })},
	})
}

func productKernel[T Float](c *call[T]) { kernel.MulTo(c.Dst.V, c.In[1].V, c.In[2].V) }

// Atan returns the arc tangent elementwise.
func Atan(a *Node) *Node { return apply1(fnAtan, a) }

// Lgamma returns log |Γ(a)| elementwise.
func Lgamma(a *Node) *Node { return apply1(fnLgamma, a) }

// Digamma returns the derivative of log Γ(a) elementwise.
func Digamma(a *Node) *Node { return Polygamma(0, a) }

// LogNormalCDF returns log Φ(a) elementwise, Φ being the standard normal distribution, without a
// cut-off in the tails: the logarithm of a probit model's probability.
func LogNormalCDF(a *Node) *Node { return apply1(fnLogNormalCDF, a) }

// NormalCDF returns Φ(a) elementwise, Φ being the standard normal distribution, accurate relative
// to Φ far to the left too.
func NormalCDF(a *Node) *Node { return apply1(fnNormalCDF, a) }

// Erfc returns 1 − erf(a) elementwise, accurate where it is small.
func Erfc(a *Node) *Node { return apply1(fnErfc, a) }

func inverseMills(a *Node) *Node { return apply1(fnInverseMills, a) }

func millsExcessSlope(n int) func(a *Node) *Node {
	return func(a *Node) *Node { return apply1(successiveRule{excessSlopes, n}, a) }
}

// Polygamma returns the derivative of order n of [Digamma] elementwise, n from 0 on.
func Polygamma(n int, a *Node) *Node {
	if n < 0 {
		failf("Polygamma: the order must be at least 0; it is %d", n)
	}
	return apply1(successiveRule{polygammas, n}, a)
}

// A successiveRule is the function of order n of a series, in which each is the derivative of the
// one before.
type successiveRule struct {
	of named
	n  int
}

const (
	polygammas   named = "Polygamma"
	excessSlopes named = "MillsExcessSlope" // of a + φ/Φ
)

func (r successiveRule) String() string { return fmt.Sprintf("%v(%d)", r.of, r.n) }
func (r successiveRule) grad(in nodes, _, g *Node) nodes {
	return nodes{Mul(g, apply1(successiveRule{r.of, r.n + 1}, in[0]))}
}
func (r successiveRule) lower(nodes) engine.Op {
	if r.of == polygammas {
		return computing(num.Polygamma(r.n))
	}
	return computing(num.MillsExcessSlope(r.n))
}
