package ad

import (
	"fmt"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/num"
)

const (
	fnAtan         named = "Atan"
	fnLgamma       named = "Lgamma"
	fnLogNormalCDF named = "LogNormalCDF"
	fnInverseMills named = "InverseMills" // φ/Φ, whose derivative is −φ/Φ (a + φ/Φ)
	fnMillsExcess  named = "MillsExcess"  // a + φ/Φ, whose derivative is 1 − φ/Φ (a + φ/Φ)
)

func init() {
	define(map[named]definition{
		fnAtan: {computing(num.Atan),
			func(in nodes, _, g *Node) nodes { return nodes{Div(g, Offset(1, Square(in[0])))} }},
		fnLgamma:       {computing(num.Lgamma), slope(Digamma)},
		fnLogNormalCDF: {computing(num.LogNormalCDF), slope(inverseMills)},
		fnInverseMills: {mapping(kernel.InverseMills, kernel.InverseMills),
			func(in nodes, out, g *Node) nodes {
				return nodes{Neg(Mul(g, Mul(out, apply1(fnMillsExcess, in[0]))))}
			}},
		fnMillsExcess: {mapping(kernel.MillsExcess, kernel.MillsExcess),
			func(in nodes, out, g *Node) nodes {
				return nodes{Sub(g, Mul(g, Mul(out, inverseMills(in[0]))))}
			}},
	})
}

// Atan returns the arc tangent elementwise.
func Atan(a *Node) *Node { return apply1(fnAtan, a) }

// Lgamma returns log |Γ(a)| elementwise.
func Lgamma(a *Node) *Node { return apply1(fnLgamma, a) }

// Digamma returns the derivative of log Γ(a) elementwise.
func Digamma(a *Node) *Node { return Polygamma(0, a) }

// LogNormalCDF returns log Φ(a) elementwise, Φ being the standard normal distribution, without a
// cut-off in the tails: the logarithm of a probit model's probability.
func LogNormalCDF(a *Node) *Node { return apply1(fnLogNormalCDF, a) }

func inverseMills(a *Node) *Node { return apply1(fnInverseMills, a) }

// polygamma is a derivative of the digamma function.
type polygamma struct{ n int }

// Polygamma returns the derivative of order n of [Digamma] elementwise, n from 0 on.
func Polygamma(n int, a *Node) *Node {
	if n < 0 {
		failf("Polygamma: the order must be at least 0; it is %d", n)
	}
	return apply1(polygamma{n}, a)
}

func (r polygamma) String() string { return fmt.Sprintf("Polygamma(%d)", r.n) }
func (r polygamma) grad(in nodes, _, g *Node) nodes {
	return nodes{Mul(g, Polygamma(r.n+1, in[0]))}
}
func (r polygamma) lower(nodes) engine.Op {
	return computing(num.Polygamma(r.n))
}
