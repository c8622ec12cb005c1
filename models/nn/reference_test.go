package nn_test

import (
	"fmt"
	"math"
	"testing"

	"dsbo/ad"
	"dsbo/internal/testkit"
	"dsbo/models/nn"
)

// steps applies a unit to the columns of h, three at a time.
func steps(h *ad.Node, next func(a *ad.Node)) {
	for i := range 3 {
		next(ad.Cols(h, 3*i, 3))
	}
}

// padded has sequences of three rows, of which the first of two ends after the second.
func padded(like *ad.Node, n int) *ad.Node {
	keep := make([]float64, 3*n)
	for i := range keep {
		if keep[i] = 1; i%6 == 2 {
			keep[i] = 0
		}
	}
	return nn.Padding(ad.NewConst(like, fmt.Sprint("keep ", n), n, 3, keep), 3)
}

// references are layers with what PyTorch 1.13 makes of them.
var references = []struct {
	layer
	examples int
	want     [3]float64 // see TestReferences
}{
	{layer{"LSTM", 9, 1, func(ps *nn.Params) outputs {
		l := nn.NewLSTM(ps, "l", 3, 2)
		return plain(func(z, h *ad.Node) *ad.Node {
			var state, memory *ad.Node
			steps(h, func(a *ad.Node) { state, memory = l.Next(z, a, state, memory) })
			return ad.ConcatCols(state, memory)
		})
	}}, 4, [3]float64{5.088520612673179, 3.2948987495780253, -3.998767690451477}},
	{layer{"GRU of three steps", 9, 1, func(ps *nn.Params) outputs {
		g := nn.NewGRU(ps, "l", 3, 2)
		return plain(func(z, h *ad.Node) *ad.Node {
			var state *ad.Node
			steps(h, func(a *ad.Node) { state = g.Next(z, a, state) })
			return state
		})
	}}, 4, [3]float64{-4.147989031650632, -4.356091529847964, 3.805553389763061}},
	{layer{"GroupNorm", 24, 1, func(ps *nn.Params) outputs {
		return plain(nn.NewGroupNorm(ps, "l", 4, 2).Outputs)
	}}, 3, [3]float64{6.11042791676492, 36.94440388696991, -0.4266861441148855}},
	{layer{"causal attention", 4, 3, func(ps *nn.Params) outputs {
		a := nn.NewAttention(ps, "l", 4, 2)
		return func(z, h *ad.Node, n int) *ad.Node { return a.Masked(z, h, n, nn.Causal(z, 3)) }
	}}, 2, [3]float64{-0.1991448800721547, -2.392078534385064, 5.194118712007169}},
	{layer{"attention to padded sequences", 4, 3, func(ps *nn.Params) outputs {
		a := nn.NewAttention(ps, "l", 4, 2)
		return func(z, h *ad.Node, n int) *ad.Node { return a.Masked(z, h, n, padded(z, n)) }
	}}, 2, [3]float64{-0.03942744978878743, -1.8551276758767414, 1.9535747153861578}},
	{layer{"causal attention to padded sequences", 4, 3, func(ps *nn.Params) outputs {
		a := nn.NewAttention(ps, "l", 4, 1)
		return func(z, h *ad.Node, n int) *ad.Node { return a.Masked(z, h, n, padded(z, n), nn.Causal(z, 3)) }
	}}, 2, [3]float64{0.009276300754142652, -1.5210071667297866, 4.792365292986683}},
	{layer{"TransformerBlock", 4, 3, func(ps *nn.Params) outputs {
		b := nn.NewTransformerBlock(ps, "l", 4, 2, 6)
		return func(z, h *ad.Node, n int) *ad.Node { return b.Outputs(z, h, n, nn.Causal(z, 3)) }
	}}, 2, [3]float64{0.49854459168642773, 9.00384790117451, -17.843587703023132}},
	{layer{"ResidualBlock", 24, 1, func(ps *nn.Params) outputs {
		return plain(nn.NewResidualBlock(ps, "l", 3, 2, 4, 3, 2).Outputs)
	}}, 2, [3]float64{7.802670802344993, 0.01088152718186386, 25.56132794114494}},
	{layer{"Conv in groups, with strides and dilations", 7 * 6 * 4, 1,
		func(ps *nn.Params) outputs {
			return plain(nn.NewGroupedConv(ps, "l", ad.Window{H: 7, W: 6, C: 4, KH: 3, KW: 2, Stride: 2, StrideW: 1,
				PadH: 1, PadW: 1, DilationH: 2, DilationW: 3}, 6, 2).Outputs)
		}}, 2, [3]float64{10.65604161562792, 71.96907771548717, 83.14785428933158}},
	{layer{"Embedding of sequences", 6, 1, func(ps *nn.Params) outputs {
		e := nn.NewEmbedding(ps, "l", 5, 3)
		return func(z, h *ad.Node, n int) *ad.Node {
			words := make([]float64, 2*n)
			for i := range words {
				words[i] = []float64{4, 0, 1, 1, 2, 4}[i%6]
			}
			vectors := e.Outputs(z, ad.NewConst(z, fmt.Sprint("words ", n), n, 2, words))
			return ad.Mul(ad.Reshape(vectors, n, 6), h)
		}
	}}, 3, [3]float64{-3.0195113062988983, -3.1530080026131433, 1.471387761156736}},
}

// TestReferences: of a loss Σ w_i sin(out_i) with weights 1, 1.3, 1.6, 1.9, 2.2, 1, ... the value,
// the product of the gradient by the parameters with cos 0, cos 1, ... and v'Hv for v = sin 0, sin
// 2, sin 4, ..., at parameters ½ sin 1, ½ sin 2, ... and inputs cos 0, cos .7, cos 1.4, ...
func TestReferences(t *testing.T) {
	for _, c := range references {
		t.Run(c.name, func(t *testing.T) {
			ps := &nn.Params{}
			outputs := c.build(ps)
			testkit.OK(ps.Err())
			q, rows := ps.Len(), c.examples*c.per
			h := make([]float64, rows*c.cols)
			for i := range h {
				h[i] = math.Cos(.7 * float64(i))
			}
			z, u, v, g, hv := make([]float64, q), make([]float64, q), make([]float64, q), make([]float64, q),
				make([]float64, q)
			for i := range z {
				z[i], u[i], v[i] = .5*math.Sin(float64(i+1)), math.Cos(float64(i)), math.Sin(float64(2*i))
			}
			d := testkit.Get(ad.Differentiate(ad.Loss{Q: q, Build: func(_, z *ad.Node, _ []*ad.Node) *ad.Node {
				out := ad.Flatten(outputs(z, ad.NewConst(z, "h", rows, c.cols, h), c.examples))
				w := make([]float64, out.Shape().TotalSize())
				for i := range w {
					w[i] = 1 + .3*float64(i%5)
				}
				return ad.Dot(ad.Sin(out), ad.NewConst(z, "weights", len(w), 0, w))
			}}))
			value := testkit.Get(d.ValueGrad(nil, g, nil, z))
			testkit.OK(d.HVP(hv, nil, z, v))
			got := []float64{value, 0, 0}
			for i := range z {
				got[1] += u[i] * g[i]
				got[2] += v[i] * hv[i]
			}
			near(t, "value, gradient and second derivative", got, c.want[:])
		})
	}
}

// TestReferenceDerivatives: so are the derivatives of all orders and in batches.
func TestReferenceDerivatives(t *testing.T) {
	for _, c := range references {
		t.Run(c.name, c.check)
	}
	layer{"causal attention of sequences that begin with padding or are nothing else", 4, 3,
		func(ps *nn.Params) outputs {
			a := nn.NewAttention(ps, "l", 4, 2)
			return func(z, h *ad.Node, n int) *ad.Node {
				keep := make([]float64, 3*n)
				for i := range keep {
					keep[i] = []float64{0, 1, 1, 0, 0, 0, 1, 1, 1}[i%9]
				}
				rows := ad.NewConst(z, fmt.Sprint("keep ", n), n, 3, keep)
				return a.Masked(z, h, n, nn.Causal(z, 3), nn.Padding(rows, 3))
			}
		}}.check(t)
}

// TestPositions: sines and cosines by the formula, added to each sequence; and dropout.
func TestPositions(t *testing.T) {
	h := normal(2*3*4, 6)
	l := layer{name: "positions", cols: 4, per: 3, build: func(*nn.Params) outputs {
		return func(z, h *ad.Node, _ int) *ad.Node {
			mask := ad.NewConst(z, "mask", 2, 12,
				[]float64{2, 0, 2, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0})
			return nn.Dropout(nn.Dropout(nn.AddPositions(h, nn.Sinusoids(z, 3, 4)), nil), mask)
		}
	}}
	want := make([]float64, len(h))
	for i := range h {
		position, angle := float64(i/4%3), float64(i/4%3)/100
		if i%4 < 2 {
			angle = position
		}
		want[i] = 2 * (h[i] + []func(float64) float64{math.Sin, math.Cos}[i%2](angle))
		if i == 1 || i == 3 || i == 13 || i == 23 {
			want[i] = 0
		}
	}
	near(t, "positions", l.values(nil, h, 2), want)
}
