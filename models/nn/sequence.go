package nn

import (
	"math"

	"dsbo/ad"
)

// GRU is a gated recurrent unit: with reset gates r, update gates u and candidates c, the state
// h becomes
//
//	r = σ(W_r a + U_r h + b_r)    u = σ(W_u a + U_u h + b_u)
//	c = tanh(W_c a + b_c + r ∘ (U_c h + d))
//	h ← (1 − u) ∘ c + u ∘ h
type GRU struct {
	W, U, B Param // the weights of r, u and c, one below the other
	D       Param
}

// NewGRU adds a unit with a number of inputs and of numbers of state, of normal weights and biases 0.
func NewGRU(ps *Params, name string, inputs, state int) GRU {
	return GRU{
		W: ps.Matrix(name+".inputs", 3*state, inputs, ps.weights(inputs)),
		U: ps.Matrix(name+".states", 3*state, state, ps.weights(state)),
		B: ps.Vector(name+".biases", 3*state, Init{}),
		D: ps.Vector(name+".candidates", state, Init{}),
	}
}

// Next builds the state after the inputs a, m × inputs, from the state h before, m × state; nil is
// the state 0.
func (g GRU) Next(z, a, h *ad.Node) *ad.Node {
	n := g.D.Rows
	in := ad.AddRow(ad.MatMul(a, g.W.Node(z), false, true), g.B.Node(z))
	if h == nil {
		reset, update := ad.Sigmoid(ad.Cols(in, 0, n)), ad.Sigmoid(ad.Cols(in, n, n))
		c := ad.Tanh(ad.Add(ad.Cols(in, 2*n, n), ad.ColScale(reset, g.D.Node(z))))
		return ad.Sub(c, ad.Mul(update, c))
	}
	old := ad.MatMul(h, g.U.Node(z), false, true)
	reset := ad.Sigmoid(ad.Add(ad.Cols(in, 0, n), ad.Cols(old, 0, n)))
	update := ad.Sigmoid(ad.Add(ad.Cols(in, n, n), ad.Cols(old, n, n)))
	c := ad.Tanh(ad.Add(ad.Cols(in, 2*n, n), ad.Mul(reset, ad.AddRow(ad.Cols(old, 2*n, n), g.D.Node(z)))))
	return ad.Add(c, ad.Mul(update, ad.Sub(h, c)))
}

// Attend builds softmax(Q Kᵀ/√d) V for each of n sequences: queries and keys have d columns, and
// keys and values as many rows. Each is the stacked matrices of all sequences; so is the result, a
// row for each query.
func Attend(queries, keys, values *ad.Node, n int) *ad.Node {
	_, d := ad.Dims(queries)
	scale := 1 / math.Sqrt(float64(d))
	scores := ad.BatchMatMul(ad.Scale(scale, queries), keys, n, false, true)
	return ad.BatchMatMul(ad.RowSoftmax(scores), values, n, false, false)
}

// Attention is self-attention with one head or more, each of which attends to its share of
// the columns.
type Attention struct {
	Q, K, V, O Param
	Heads      int
}

// NewAttention adds an attention of rows of n numbers, a multiple of the number of heads, of
// normal weights.
func NewAttention(ps *Params, name string, width, heads int) Attention {
	if heads < 1 || width%heads != 0 {
		ps.fail("the width of attention %q must be a multiple of its heads; they are %d and %d", name, width, heads)
	}
	matrix := func(what string) Param { return ps.Matrix(name+"."+what, width, width, ps.weights(width)) }
	return Attention{Q: matrix("queries"), K: matrix("keys"), V: matrix("values"), O: matrix("outputs"), Heads: heads}
}

// Outputs builds the outputs for n sequences of equal length whose rows are stacked in h, n·length
// × width.
func (a Attention) Outputs(z, h *ad.Node, n int) *ad.Node {
	project := func(w Param) *ad.Node { return ad.MatMul(h, w.Node(z), false, true) }
	q, k, v := project(a.Q), project(a.K), project(a.V)
	d := a.Q.Rows / a.Heads
	heads := make([]*ad.Node, a.Heads)
	for i := range heads {
		heads[i] = Attend(ad.Cols(q, i*d, d), ad.Cols(k, i*d, d), ad.Cols(v, i*d, d), n)
	}
	return ad.MatMul(ad.ConcatCols(heads...), a.O.Node(z), false, true)
}
