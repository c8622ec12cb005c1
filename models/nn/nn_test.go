package nn_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/ad/adtest"
	"dsbo/internal/testkit"
	"dsbo/models/nn"
)

// A layer under test: its parameters and what it makes of rows of a number of columns, of n
// examples of a few rows each.
type layer struct {
	name      string
	cols, per int // of the rows that it reads; rows for each example
	build     func(ps *nn.Params) outputs
}

// outputs make of the rows h of n examples what a layer does, with parameters z.
type outputs = func(z, h *ad.Node, n int) *ad.Node

// plain is a layer whose outputs need no number of examples.
func plain(of func(z, h *ad.Node) *ad.Node) outputs {
	return func(z, h *ad.Node, _ int) *ad.Node { return of(z, h) }
}

var layers = []layer{
	{"Dense", 3, 1, func(ps *nn.Params) outputs { return plain(nn.NewDense(ps, "l", 3, 4).Outputs) }},
	{"Dense of one input and one output", 1, 1, func(ps *nn.Params) outputs {
		return plain(nn.NewDense(ps, "l", 1, 1).Outputs)
	}},
	{"Conv", 24, 1, func(ps *nn.Params) outputs {
		return plain(nn.NewConv(ps, "l", ad.Window{H: 4, W: 3, C: 2, KH: 3, KW: 2, Stride: 1, PadH: 1}, 3).Outputs)
	}},
	{"two convolutions with pooling", 36, 1, func(ps *nn.Params) outputs {
		a := nn.NewConv(ps, "a", ad.Window{H: 6, W: 6, C: 1, KH: 3, KW: 3, Stride: 1, PadH: 1, PadW: 1}, 2)
		b := nn.NewConv(ps, "b", ad.Window{H: 3, W: 3, C: 2, KH: 2, KW: 2, Stride: 1}, 3)
		return plain(func(z, h *ad.Node) *ad.Node {
			return ad.AvgPool(ad.Tanh(b.Outputs(z, ad.MaxPool(a.Outputs(z, h), a.Pool(2)))), b.Pool(2))
		})
	}},
	{"LayerNorm", 4, 1, func(ps *nn.Params) outputs { return plain(nn.NewLayerNorm(ps, "l", 4).Outputs) }},
	{"BatchNorm", 3, 1, func(ps *nn.Params) outputs { return plain(nn.NewBatchNorm(ps, "l", 3).Outputs) }},
	{"BatchNorm of images", 8, 1, func(ps *nn.Params) outputs { return plain(nn.NewBatchNorm(ps, "l", 2).Outputs) }},
	{"Embedding", 3, 1, func(ps *nn.Params) outputs {
		e := nn.NewEmbedding(ps, "l", 4, 3)
		return func(z, h *ad.Node, n int) *ad.Node {
			idx := make([]float64, n)
			for i := range idx {
				idx[i] = float64(i * i % 4)
			}
			return ad.Mul(h, e.Outputs(z, ad.NewConst(z, "indices", n, 0, idx)))
		}
	}},
	{"GELU", 3, 1, func(ps *nn.Params) outputs { return plain(func(_, h *ad.Node) *ad.Node { return nn.GELU(h) }) }},
	{"GRU", 3, 1, func(ps *nn.Params) outputs {
		g := nn.NewGRU(ps, "l", 3, 2)
		return plain(func(z, h *ad.Node) *ad.Node { return g.Next(z, ad.Sin(h), g.Next(z, h, nil)) })
	}},
	{"Attention with one head", 4, 3, func(ps *nn.Params) outputs { return nn.NewAttention(ps, "l", 4, 1).Outputs }},
	{"Attention with two heads", 4, 3, func(ps *nn.Params) outputs { return nn.NewAttention(ps, "l", 4, 2).Outputs }},
	{"Attention to itself alone", 2, 1, func(ps *nn.Params) outputs {
		return nn.NewAttention(ps, "l", 2, 2).Outputs
	}},
	{"CrossEntropy", 3, 1, func(ps *nn.Params) outputs {
		return func(z, h *ad.Node, n int) *ad.Node {
			hot := make([]float64, 3*n)
			for i := range n {
				hot[3*i+i%3] = 1
			}
			return nn.CrossEntropy(h, ad.NewConst(z, "hot", n, 3, hot))
		}
	}},
}

// parameters lays l out.
func (l layer) parameters() *nn.Params {
	ps := &nn.Params{}
	l.build(ps)
	return ps
}

// loss is a scalar of the layer's outputs for n examples in which all count, differently; x bends
// what the layer reads.
func (l layer) loss(n int, float32 bool) ad.Loss {
	ps := &nn.Params{}
	outputs := l.build(ps)
	return ad.Loss{P: l.cols, Q: ps.Len() + 1, Rows: n, Float32: float32,
		Inputs: []ad.Input{{Name: "h", Shape: []int{l.per * l.cols}, Batch: true}},
		Build: func(x, y *ad.Node, in []*ad.Node) *ad.Node {
			h := ad.Reshape(in[0], n*l.per, l.cols)
			h = ad.ScaleBy(ad.Item(y, ps.Len()), ad.Tanh(ad.AddRow(ad.ColScale(h, ad.Exp(x)), ad.Sin(x))))
			out := ad.Flatten(outputs(y, h, n))
			w := make([]float64, out.Shape().TotalSize())
			for i := range w {
				w[i] = 1 + .3*float64(i%5)
			}
			return ad.Dot(ad.Sin(out), ad.NewConst(y, "weights", len(w), 0, w))
		}}
}

// derivs compiles the loss on examples that are always the same.
func (l layer) derivs(n int, float32 bool) *ad.Derivs {
	d := testkit.Get(ad.Differentiate(l.loss(n, float32)))
	testkit.OK(d.Bind("h", testkit.Get(ad.FloatTable(n, l.per*l.cols, normal(n*l.per*l.cols, 5))), nil))
	return d
}

func normal(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(float32(r.NormFloat64()))
	}
	return v
}

// TestLayers: derivatives of each layer, of one example too, by differences; and float32 is close
// to float64.
func TestLayers(t *testing.T) {
	for _, l := range layers {
		t.Run(l.name, l.check)
	}
}

func (l layer) check(t *testing.T) {
	ps := l.parameters()
	testkit.OK(ps.Err())
	x, y := normal(l.cols, 2), append(normal(ps.Len(), 3), 1)
	adtest.Check(t, l.derivs(1, false), x, y)
	d := l.derivs(7, false)
	adtest.Check(t, d, x, y)
	adtest.Compare(t, l.derivs(7, true), d, x, y, 1e-3)
}

// values returns the layer's outputs for the rows h, with parameters z.
func (l layer) values(z, h []float64, n int) []float64 {
	ps := &nn.Params{}
	outputs := l.build(ps)
	var size int
	p := testkit.Get(ad.Compile(
		ad.Func{P: len(h), Q: max(ps.Len(), 1), Build: func(x, y *ad.Node, _ []*ad.Node) []*ad.Node {
			out := outputs(y, ad.Reshape(x, len(h)/l.cols, l.cols), n)
			size = out.Shape().TotalSize()
			return []*ad.Node{out}
		}}))
	dst := make([]float64, size)
	testkit.OK(p.Eval(dst, h, append(z, make([]float64, max(ps.Len(), 1)-len(z))...)))
	return dst
}

func named(name string) layer {
	return layers[slices.IndexFunc(layers, func(l layer) bool { return l.name == name })]
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) { // a few dozen roundings
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestBatchNorm: the means and variances of what is normalized.
func TestBatchNorm(t *testing.T) {
	for _, c := range []struct {
		name                 string
		rows, cols, channels int
	}{{"BatchNorm", 5, 3, 3}, {"BatchNorm of images", 3, 8, 2}} {
		l := named(c.name)
		z := make([]float64, l.parameters().Len())
		l.parameters().Init(z, 1)
		h := normal(c.rows*c.cols, 9)
		got := l.values(z, h, c.rows)
		groups := map[int][]int{} // the entries that are normalized together
		for i := range h {
			groups[i%c.channels] = append(groups[i%c.channels], i)
		}
		want := make([]float64, len(h))
		for _, group := range groups {
			mean, variance := 0., 0.
			for _, i := range group {
				mean += h[i] / float64(len(group))
			}
			for _, i := range group {
				variance += (h[i] - mean) * (h[i] - mean) / float64(len(group))
			}
			for _, i := range group {
				want[i] = (h[i] - mean) / math.Sqrt(variance+1e-5)
			}
		}
		near(t, c.name, got, want)
	}
}

// TestFunctions: GELU and the cross-entropy at numbers that are known.
func TestFunctions(t *testing.T) {
	near(t, "GELU", named("GELU").values(nil, []float64{0, 1, -2}, 1),
		[]float64{0, .8413447460685429, -2 * .02275013194817921})
	for x, want := range map[float64]float64{-8: -4.976768459417427e-15, -20: -5.507248237212467e-88} {
		if got := named("GELU").values(nil, []float64{x, 1, 1}, 1)[0]; math.Abs(got/want-1) > 1e-14 {
			t.Errorf("GELU(%v) is %v; it must be %v, which is small", x, got, want)
		}
	}
	near(t, "CrossEntropy", named("CrossEntropy").values(nil, []float64{0, 0, 0, 1, 3, 2}, 2),
		[]float64{math.Log(3), math.Log(math.Exp(1)+math.Exp(3)+math.Exp(2)) - 3})
}

// TestBadShapes: values that no layer can take are errors of the model, not panics.
func TestBadShapes(t *testing.T) {
	var ps nn.Params
	conv := nn.NewConv(&ps, "conv", ad.Window{H: 1, W: 1, C: 1, KH: 1, KW: 1, Stride: 1}, 1)
	batch, layer := nn.NewBatchNorm(&ps, "batch", 2), nn.NewLayerNorm(&ps, "layer", 2)
	attention, unit := nn.NewAttention(&ps, "attention", 2, 1), nn.NewGRU(&ps, "unit", 2, 1)
	table := nn.NewEmbedding(&ps, "table", 2, 2)
	for name, build := range map[string]func(z, h *ad.Node) *ad.Node{
		"Conv": conv.Outputs, "BatchNorm": batch.Outputs, "LayerNorm": layer.Outputs, "Embedding": table.Outputs,
		"Attention": func(z, h *ad.Node) *ad.Node { return attention.Outputs(z, h, 1) },
		"Attend":    func(_, h *ad.Node) *ad.Node { return nn.Attend(h, h, h, 2) },
		"GRU":       func(z, h *ad.Node) *ad.Node { return unit.Next(z, h, nil) },
	} {
		for what, value := range map[string]func(z *ad.Node) *ad.Node{
			"nil":      func(*ad.Node) *ad.Node { return nil },
			"3 by 3":   func(z *ad.Node) *ad.Node { return ad.Part(z, 0, 3, 3) },
			"a vector": func(z *ad.Node) *ad.Node { return ad.PartVec(z, 0, 3) },
		} {
			_, err := ad.Differentiate(
				ad.Loss{P: 1, Q: ps.Len(), Build: func(_, y *ad.Node, _ []*ad.Node) *ad.Node {
					return ad.SumAll(build(y, value(y)))
				}})
			fits := what == "a vector" && name == "Conv" || what != "nil" && name == "Embedding"
			if !fits && !errors.Is(err, dsbo.ErrShape) {
				t.Errorf("%s of %s: error %v, want one that matches ErrShape", name, what, err)
			}
		}
	}
}

func TestParams(t *testing.T) {
	ps := &nn.Params{Gain: 2}
	nn.NewDense(ps, "a", 8, 3)
	b := ps.Vector("b", 2, nn.Init{Mean: 7})
	if ps.Len() != 29 || b.Offset != 27 || ps.List()[1].Offset != 24 {
		t.Errorf("length %d, offset of b %d, parameters %v; want 29, 27 and biases from 24 on", ps.Len(),
			b.Offset, ps.List())
	}
	z, again := make([]float64, 29), make([]float64, 29)
	ps.Init(z, 5)
	ps.Init(again, 5)
	if !slices.Equal(z, again) {
		t.Error("two starts with one seed are different")
	}
	if ps.Init(again, 6); slices.Equal(z, again) {
		t.Error("two starts with two seeds are the same")
	}
	if z[0] == 0 || slices.ContainsFunc(z[24:27], func(v float64) bool { return v != 0 }) || z[27] != 7 || z[28] != 7 {
		t.Errorf("start %v, want normal weights, biases 0 and b 7", z)
	}
	if s := ps.String(); !strings.Contains(s, "a.weights") || !strings.Contains(s, "3×8") ||
		!strings.Contains(s, "from 27") {
		t.Errorf("listing %q, want names, shapes and offsets", s)
	}
	wide := &nn.Params{}
	nn.NewDense(wide, "w", 400, 300)
	start := make([]float64, wide.Len())
	wide.Init(start, 1)
	variance := 0.
	for _, w := range start[:120_000] {
		variance += w * w / 120_000
	}
	// The variance of n normal numbers has the relative deviation √(2/n): 0.004; this is five
	// times it.
	if math.Abs(400*variance-1) > .02 {
		t.Errorf("the weights' variance times the number of inputs is %v, want 1", 400*variance)
	}
}

func TestBadParams(t *testing.T) {
	for _, c := range []struct {
		want string
		add  func(ps *nn.Params)
	}{
		{`parameter "l.weights" must have at least 1 row; it has 0`,
			func(ps *nn.Params) { nn.NewDense(ps, "l", 3, 0) }},
		{`parameter "l.weights" must have at least 1 column; it has 0`,
			func(ps *nn.Params) { nn.NewDense(ps, "l", 0, 3) }},
		{`parameter "v" must have at least 1 row; it has -1`, func(ps *nn.Params) { ps.Vector("v", -1, nn.Init{}) }},
		{`names of parameters must be distinct; "l.weights" is there twice`,
			func(ps *nn.Params) { nn.NewDense(ps, "l", 2, 2); nn.NewDense(ps, "l", 2, 2) }},
		{`the width of attention "a" must be a multiple of its heads; they are 4 and 3`,
			func(ps *nn.Params) { nn.NewAttention(ps, "a", 4, 3) }},
		{`the width of attention "a" must be a multiple of its heads; they are 4 and 0`,
			func(ps *nn.Params) { nn.NewAttention(ps, "a", 4, 0) }},
	} {
		var ps nn.Params
		c.add(&ps)
		if err := ps.Err(); !errors.Is(err, dsbo.ErrConfig) || err.Error() != c.want {
			t.Errorf("error %v, want one that matches ErrConfig and says %q", err, c.want)
		}
	}
}
