package models

import (
	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// Compositional is decentralized stochastic compositional optimization, the paper's problem (DSCO)
//
//	min_x  1/n Σ_i F_i(1/n Σ_j G_j(x))
//
// in its bilevel form, whose lower solution is y*(x) = 1/n Σ_j G_j(x):
//
//	f_i(x, y) = F_i(y)      g_i(x, y) = ½ ‖y‖² − y'G_i(x)
//
// p = P and q = Q. Inner builds G_i(x), of length Q, on a batch of training examples. Outer builds
// the scalar F_i(y) on a batch of validation examples. Both are exact for agents without examples.
type Compositional struct {
	P, Q  int
	Inner func(x *ad.Node, b Batch) *ad.Node
	Outer func(y *ad.Node, b Batch) *ad.Node
}

// IsCompositional reports whether m is a [Compositional], or embeds one. Methods for compositional
// problems are wrong for all other models.
func IsCompositional(m Model) bool {
	_, is := m.(interface{ compositional() })
	return is
}

func (Compositional) compositional() {}

// Dims implements [Model].
func (c Compositional) Dims() (p, q int) { return c.P, c.Q }

// Check implements [Checker].
func (c Compositional) Check(data.Shard) error {
	if c.Inner == nil || c.Outer == nil {
		return dsbo.ConfigErrorf("a compositional problem needs both Inner and Outer")
	}
	return nil
}

// Lower implements [Model].
func (c Compositional) Lower(x, y *ad.Node, b Batch) *ad.Node {
	return ad.Sub(ad.Scale(.5, ad.Dot(y, y)), ad.Dot(y, c.Inner(x, b)))
}

// Upper implements [Model].
func (c Compositional) Upper(_, y *ad.Node, b Batch) *ad.Node { return c.Outer(y, b) }

// Diagonal implements [Curved]: 1 in each entry.
func (c Compositional) Diagonal(_, y *ad.Node, _ Batch) *ad.Node {
	return ad.Uniform(1, y)
}

// Modulus implements [StronglyConvex].
func (c Compositional) Modulus([]float64) float64 { return 1 }
