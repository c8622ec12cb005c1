package nn

import (
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

// NewGRU adds a unit with some inputs and numbers of state, of normal weights and biases 0.
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
	if h == nil { // without products that are 0
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

// LSTM is a unit with long short-term memory: with gates i, f and o and candidates c, the memory m
// and the state h become
//
//	i = σ(W_i a + U_i h + b_i)    f = σ(W_f a + U_f h + b_f)
//	c = tanh(W_c a + U_c h + b_c)    o = σ(W_o a + U_o h + b_o)
//	m ← f ∘ m + i ∘ c    h ← o ∘ tanh m
type LSTM struct {
	W, U, B Param // the weights of i, f, c and o, one below the other
}

// NewLSTM adds a unit with some inputs and numbers of state, of normal weights and biases 0.
func NewLSTM(ps *Params, name string, inputs, state int) LSTM {
	return LSTM{
		W: ps.Matrix(name+".inputs", 4*state, inputs, ps.weights(inputs)),
		U: ps.Matrix(name+".states", 4*state, state, ps.weights(state)),
		B: ps.Vector(name+".biases", 4*state, Init{}),
	}
}

// Next builds the state and the memory after inputs a, m × inputs, from the previous ones, m ×
// state each; nil is 0.
func (l LSTM) Next(z, a, h, memory *ad.Node) (_, _ *ad.Node) {
	n := l.U.Cols
	sums := ad.AddRow(ad.MatMul(a, l.W.Node(z), false, true), l.B.Node(z))
	if h != nil {
		sums = ad.Add(sums, ad.MatMul(h, l.U.Node(z), false, true))
	}
	gate := func(k int) *ad.Node { return ad.Sigmoid(ad.Cols(sums, k*n, n)) }
	next := ad.Mul(gate(0), ad.Tanh(ad.Cols(sums, 2*n, n)))
	if memory != nil {
		next = ad.Add(ad.Mul(gate(1), memory), next)
	}
	return ad.Mul(gate(3), ad.Tanh(next)), next
}
