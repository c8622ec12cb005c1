// Package models has bilevel problems, one file each: the upper loss f_i and the lower loss g_i of
// an agent, each written down once as a Gorgonia graph of ad's ops.
//
// A new model is a type with the three methods of [Model] in one file; package modeltest proves it.
// Further methods are optional, each with an interface of its own: [Scorer], [Checker], [Starter],
// [XStarter], [Shaper], [StronglyConvex], [Penalized], [Curved], [Layered], [Meant], [Baselined],
// [Simplified], [Restrained], [Masked], [Batched], [Joint], [Leveled], [Stopped]. [Register] gives
// a model of another module a name. An [OutputLoss] and [Penalties] make many models of one:
// [Linear] and [MLP] take both. [Programs.Oracle] turns a model and an agent's data into the oracle
// that an algorithm calls: gradients, Hessian-vector and Jacobian-vector products. [NewOracle] does
// for one agent alone.
//
// # Why no library
//
// Libraries of models come with one loss and its first gradient. A bilevel problem needs two losses
// of one model, in x and y, with products of second derivatives; written as graphs, they cost a
// model a few lines.
package models

import (
	"dsbo/ad"
	"dsbo/data"
)

// A Model is the bilevel problem of one agent. x has length p, y has length q.
//
// Lower and Upper build scalars from ad's ops (or from those Gorgonia ops that ad can replace) and
// are called once per batch size, for all agents of a process ([Programs]). g_i must be strongly
// convex in y for the methods' theory to hold.
type Model interface {
	// Dims returns p, the length of x, and q, the length of y.
	Dims() (p, q int)
	// Lower builds g_i(x, y) on a batch of training examples.
	Lower(x, y *ad.Node, b Batch) *ad.Node
	// Upper builds f_i(x, y) on a batch of validation examples.
	Upper(x, y *ad.Node, b Batch) *ad.Node
}

// A Loss is one of a model's two losses: its Lower or its Upper.
type Loss = func(x, y *ad.Node, b Batch) *ad.Node

// A Scorer is a [Model] that can score y, found at x, on examples. Without scores a run has no
// losses in its records and no standard errors in its verdict, which then compares Φ.
type Scorer interface {
	// Score builds two vectors with an entry for each example: its loss, without regularization and
	// whatever its weight is, and 1 where the prediction is right, 0 where it is wrong (nil for a
	// model without classes); where the model is several, the share of them that is right.
	Score(x, y *ad.Node, b Batch) (losses, hits *ad.Node)
}

// A Checker is a [Model] that checks its own settings, and whether an agent's data suit it.
// [NewOracle] calls Check first.
type Checker interface {
	// Check returns an error that names the part of s that does not fit, as [dsbo.ErrShape] or
	// [dsbo.ErrConfig].
	Check(s data.Shard) error
}

// A Starter is a [Model] with a better start than y = 0.
type Starter interface {
	// Start writes the start, the same for all agents, to y (length q).
	Start(y []float64)
}

// An XStarter is a [Model] with a start of x of its own, in place of one number for all entries.
type XStarter interface {
	// StartX writes the start, the same for all agents, to x (length p).
	StartX(x []float64)
}

// A Shaper is a [Model] whose y is a matrix, row by row. Files of y, such as a run's omega.npy, are
// written in this shape.
type Shaper interface {
	// Shape returns the matrix's size: rows times cols is q.
	Shape() (rows, cols int)
}

// A StronglyConvex is a [Model] whose lower loss is strongly convex with a known modulus.
type StronglyConvex interface {
	// Modulus returns a μ > 0 for which g_i(x, ·) is μ-strongly convex on any batch of any data.
	Modulus(x []float64) float64
}

// A Penalized is a [Model] whose lower loss has a penalty ½ Σ_j P_j(x) y_j², the same for all
// agents and data.
type Penalized interface {
	// Penalty writes P(x), whose entries are at least 0, to dst (length q).
	Penalty(dst, x []float64)
}

// A Curved is a [Model] with a closed form for the diagonal of its lower loss's Hessian.
type Curved interface {
	// Diagonal builds the diagonal of ∇²_yy g_i on a batch of training examples, a vector of length
	// q, exactly, and without P(x) where the model is [Penalized]. nil: it is not known for this
	// model's settings.
	Diagonal(x, y *ad.Node, b Batch) *ad.Node
}

// A Masked is a [Model] whose lower loss takes masks, such as dropout's. A mask is random numbers
// drawn from the draw's name, so that a draw's gradient and products share them, also after a
// resume and on another processor. [Batch.Column] returns a mask in Lower and Diagonal, and nil in
// Upper and Score. On all examples ([dsbo.Whole]) a mask is its mean: all 1, or all 0 for normal
// numbers.
type Masked interface {
	// Masks returns them, the same each time.
	Masks() []Mask
}

// A Batched is a [Model] with a loss that is neither the mean nor the sum of losses of single
// examples: an example's term depends on its batch, as with batch statistics or pairs of examples.
// Draws then estimate another loss than the loss of all examples. Without this marker, package
// modeltest reports such a dependence as a leak.
type Batched interface{ Batched() }

// A Joint is a [Model] with one loss of all examples of an agent, such as [Cox]. An example's term
// depends on the other examples, so a draw would have other terms, and oracles refuse to draw.
type Joint interface {
	// Joint reports whether it is one with its present loss.
	Joint() bool
}

// A Stopped is a [Model] with [ad.StopGradient] in its losses: some values have derivatives of 0 on
// purpose, so its derivatives are not the derivatives of its losses. Without this marker, package
// modeltest reports them as wrong.
type Stopped interface {
	// Stopped names the values without derivatives, and the reason.
	Stopped() string
}

// A Mask is a matrix with a row for each example of a draw, a vector where it has one column, of
// numbers that are 1/Keep with probability Keep, and else 0. A mask that is Normal has standard
// normal numbers in their place, such as the noise of a variational model, which are 0 on all
// examples.
type Mask struct {
	Name   string
	Cols   int
	Keep   float64 // in (0, 1]; 0 if Normal
	Normal bool
}

// A Batch is the examples of one draw, as nodes of a graph. Fields are nil where the agent's data
// lack them.
type Batch struct {
	Rows int      // number of examples
	X    *ad.Node // features, Rows×d
	T    *ad.Node // targets: one-hot classes (Rows×c), or a vector of numbers
	W    *ad.Node // vector: each example's weight, by which its loss is multiplied; nil: all 1
	ID   *ad.Node // vector: each example's index among all agents' training examples

	columns []column
}

// A column is a named input of a batch.
type column struct {
	name string
	node *ad.Node
}

// Column returns a named column of the examples ([data.Examples].Columns), and in Lower and
// Diagonal also a [Mask] of a [Masked] model: a matrix, or a vector where it has one column. nil:
// there is none of that name.
func (b Batch) Column(name string) *ad.Node {
	for _, c := range b.columns {
		if c.name == name {
			return c.node
		}
	}
	return nil
}

// weighted builds the entries of v, one an example, each times its example's weight.
func (b Batch) weighted(v *ad.Node) *ad.Node {
	if b.W == nil {
		return v
	}
	return ad.Mul(b.W, v)
}

// weightedRows builds the rows of the matrix m, one an example, each times its example's weight.
func (b Batch) weightedRows(m *ad.Node) *ad.Node {
	if b.W == nil {
		return m
	}
	return ad.RowScale(m, b.W)
}
