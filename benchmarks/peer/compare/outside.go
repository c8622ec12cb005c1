package main

import (
	"context"
	"fmt"
	"math"

	"dsbo/ad"
	"dsbo/internal/testkit"
)

// A node is one of a loss.
type node = *ad.Node

// A lossOf builds a loss of parameters and of data.
type lossOf func(y node, in []node) node

// An outsideModel is a loss that somebody from outside would write by ad alone: of n rows, of d
// features each, and of a vector of parameters. The peer's program has the same by PyTorch.
type outsideModel struct {
	rows, q int
	inputs  []ad.Input
	tables  []*ad.Table
	loss    lossOf
}

// outsideModels are the models by name, each as a function of n and d, with the sizes at which
// times are compared.
var outsideModels = []struct {
	name  string
	n, d  int
	build func(m *outsideModel, n, d int) lossOf
}{
	{"gaussian mixture", 2000, 16, gaussianMixture}, {"cox", 4000, 20, cox}, {"cox with ties", 4000, 20, coxWithTies},
	{"matrix factorization", 4000, 16, factorization}, {"infonce", 256, 64, infoNCE},
	{"causal attention", 64, 32, causalAttention}, {"vae", 500, 64, vae}, {"ordinal", 4000, 20, ordinal},
	{"quantiles", 2000, 20, quantiles}, {"gaussian process", 120, 4, gaussianProcess},
	{"negative binomial", 4000, 20, negativeBinomial}, {"probit", 4000, 20, probit},
	{"mixture density", 2000, 16, mixtureDensity}, {"transformer with padding", 64, 32, paddedTransformer},
	{"graphsage", 600, 16, graphSAGE}, {"graph network", 600, 16, graphNetwork}, {"neural ode", 500, 8, neuralODE},
	{"preferences", 500, 32, preferences}, {"u-net", 128, 4, uNet}, {"hypernetwork", 2000, 16, hypernetwork},
	{"task weights", 2000, 20, taskWeights}, {"physics-informed", 500, 16, physicsInformed}, {"lstm", 128, 16, lstm},
	{"residual block", 500, 32, residualBlock}, {"augmentation", 500, 20, augmentation},
}

// outsideTable is the comparison of all models at their sizes, on one thread.
func outsideTable() table {
	t := table{oneThread: true, columns: timesOf()}
	for _, o := range outsideModels {
		for _, kind := range []dtype{f32, f64} {
			t.rows = append(t.rows, row{part: "outside", title: fmt.Sprintf("%s, %s", o.name, kind),
				most: map[string]string{"Gradient": "0.8", "Cold": "0.8"}, program: torchOutside,
				args: []string{"--time", o.name, "--n", fmt.Sprint(o.n), "--d", fmt.Sprint(o.d),
					"--dtype", string(kind), "--seconds", ".5"},
				ours: func(context.Context) result {
					m := &outsideModel{rows: o.n}
					m.loss = o.build(m, o.n, o.d)
					return m.measure(kind, m.point(), numbers(102, m.q), .5)
				}})
		}
	}
	return t
}

// point returns the parameters at which a model is measured.
func (m *outsideModel) point() []float64 {
	return mapped(numbers(101, m.q), func(v float64) float64 { return .8 * v })
}

// numbers returns numbers between −½ and ½ that the peer's program finds too, to the bit.
func numbers(seed, count int) []float64 {
	list := make([]float64, count)
	for k := range list {
		list[k] = float64((k*k*31+k*7919+seed*104729)%10007)/10007 - .5
	}
	return list
}

// differentiate compiles a model and binds its data.
func (m *outsideModel) differentiate(single bool) *ad.Derivs {
	d := testkit.Get(ad.Differentiate(ad.Loss{Q: m.q, Rows: m.rows, Inputs: m.inputs, Float32: single,
		Build: func(_, y node, in []node) node { return m.loss(y, in) }}))
	for i, in := range m.inputs {
		table := m.tables[i]
		if single {
			table = testkit.Get(table.Float32())
		}
		testkit.OK(d.Bind(in.Name, table, nil))
	}
	return d
}

// parameter adds a matrix to the parameters, a vector where cols is 0, and returns what makes its
// node.
func (m *outsideModel) parameter(rows, cols int) func(y node) node {
	at := m.q
	m.q += rows * max(cols, 1)
	return func(y node) node {
		if cols == 0 {
			return ad.PartVec(y, at, rows)
		}
		return ad.Part(y, at, rows, cols)
	}
}

// batch adds data with a row for each example; of one column they are a vector.
func (m *outsideModel) batch(values []float64) {
	cols := len(values) / m.rows
	in := ad.Input{Name: fmt.Sprint("in", len(m.inputs)), Batch: true}
	if cols > 1 {
		in.Shape = []int{cols}
	}
	m.inputs = append(m.inputs, in)
	m.tables = append(m.tables, testkit.Get(ad.FloatTable(m.rows, cols, values)))
}

// features adds n rows of d numbers, drawn by the input's place as a seed, from 1 on.
func (m *outsideModel) features(d int) { m.batch(numbers(len(m.inputs)+1, m.rows*d)) }

// whole adds a matrix that is no batch.
func (m *outsideModel) whole(values []float64, rows, cols int) {
	m.inputs = append(m.inputs, ad.Input{Name: fmt.Sprint("in", len(m.inputs)), Shape: []int{rows, cols}})
	m.tables = append(m.tables, testkit.Get(ad.FloatTable(rows, cols, values)))
}

// hidden adds the parameters of a layer of units, and returns what makes it of h.
func (m *outsideModel) hidden(units, inputs int) func(y, h node) node {
	w, b := m.parameter(units, inputs), m.parameter(units, 0)
	return func(y, h node) node { return ad.Tanh(layer(h, w(y), b(y))) }
}

// mapped returns f of each number.
func mapped(list []float64, f func(v float64) float64) []float64 {
	for k, v := range list {
		list[k] = f(v)
	}
	return list
}

// counted returns f of 0, 1, ... count-1.
func counted(count int, f func(k int) int) []float64 {
	list := make([]float64, count)
	for k := range list {
		list[k] = float64(f(k))
	}
	return list
}

// marked returns count numbers that are 1 where is holds, else 0.
func marked(count int, is func(k int) bool) []float64 {
	return counted(count, func(k int) int {
		if is(k) {
			return 1
		}
		return 0
	})
}

// perRow returns the product of each row and a vector.
func perRow(h, v node) node { return ad.MatVec(h, v, false) }

// linear returns h Wᵀ.
func linear(h, w node) node { return ad.MatMul(h, w, false, true) }

// layer returns h Wᵀ + b.
func layer(h, w, b node) node { return ad.AddRow(linear(h, w), b) }

// squaredError returns the mean square of a − b.
func squaredError(a, b node) node { return ad.Mean(ad.Square(ad.Sub(a, b))) }

// logSumExp returns the logarithm of the sum of the exponentials of a vector.
func logSumExp(v node) node {
	n, _ := ad.Dims(v)
	return ad.SumAll(ad.RowLogSumExp(ad.Reshape(v, 1, n)))
}

func gaussianMixture(m *outsideModel, n, d int) lossOf {
	m.features(d)
	share, means, logs := m.parameter(3, 0), m.parameter(3, d), m.parameter(3, d)
	return func(y node, in []node) node {
		x, mean, log := in[0], means(y), logs(y)
		precision := ad.Exp(ad.Scale(-2, log))
		weighted := ad.Mul(mean, precision)
		quadratic := ad.Sub(linear(ad.Square(x), precision),
			ad.Scale(2, linear(x, weighted)))
		scores := ad.AddRow(ad.Scale(-.5, quadratic),
			ad.Sum(share(y), ad.Neg(ad.SumCols(log)), ad.Scale(-.5, ad.RowDot(mean, weighted))))
		return ad.Sub(logSumExp(share(y)), ad.Mean(ad.RowLogSumExp(scores)))
	}
}

func cox(m *outsideModel, n, d int) lossOf { // rows by falling time
	m.features(d)
	m.batch(mapped(numbers(2, n), step))
	weights := m.parameter(d, 0)
	return func(y node, in []node) node {
		score := perRow(in[0], weights(y))
		return ad.Neg(ad.Mean(ad.Mul(in[1], ad.Sub(score, ad.Log(ad.CumSum(ad.Exp(score)))))))
	}
}

// step is 1 above −0.1, else 0.
func step(v float64) float64 {
	if v > -.1 {
		return 1
	}
	return 0
}

// sign is 1 above −0.1, else −1.
func sign(v float64) float64 { return 2*step(v) - 1 }

func coxWithTies(m *outsideModel, n, d int) lossOf { // of three rows at a time, by Breslow
	m.features(d)
	m.batch(mapped(numbers(2, n), step))
	m.batch(counted(n, func(k int) int { return k / 3 }))
	weights, times := m.parameter(d, 0), (n+2)/3
	return func(y node, in []node) node {
		score, events, time := perRow(in[0], weights(y)), in[1], in[2]
		risk := ad.Log(ad.CumSum(ad.SegmentSum(ad.Exp(score), time, times)))
		return ad.Scale(1/float64(n), ad.Sub(ad.Dot(ad.SegmentSum(events, time, times), risk), ad.Dot(events, score)))
	}
}

func factorization(m *outsideModel, n, d int) lossOf {
	users, items := 5+n/20, 4+n/40
	m.batch(counted(n, func(k int) int { return k % users }))
	m.batch(counted(n, func(k int) int { return 7 * k % items }))
	m.features(1)
	u, v, a, b := m.parameter(users, d), m.parameter(items, d), m.parameter(users, 0), m.parameter(items, 0)
	return func(y node, in []node) node {
		rating := ad.Sum(ad.RowDot(ad.Gather(u(y), in[0]), ad.Gather(v(y), in[1])), ad.Gather(a(y), in[0]),
			ad.Gather(b(y), in[1]))
		return ad.Add(squaredError(rating, in[2]), ad.Scale(.01, ad.Dot(y, y)))
	}
}

func infoNCE(m *outsideModel, n, d int) lossOf { // two views of n rows
	m.features(d)
	m.features(d)
	weights := m.parameter(8, d)
	return func(y node, in []node) node {
		unit := func(x node) node {
			h := ad.Tanh(linear(x, weights(y)))
			return ad.RowScale(h, ad.Rsqrt(ad.RowDot(h, h)))
		}
		a, b := unit(in[0]), unit(in[1])
		return ad.Mean(ad.Sub(ad.RowLogSumExp(ad.Scale(2, linear(a, b))), ad.Scale(2, ad.RowDot(a, b))))
	}
}

func vae(m *outsideModel, n, d int) lossOf { // of two hidden numbers, with noise as data
	m.features(d)
	m.features(2)
	encoder, mean, log := m.hidden(8, d), m.parameter(2, 8), m.parameter(2, 8)
	decoder, out := m.hidden(8, 2), m.parameter(d, 8)
	return func(y node, in []node) node {
		h := encoder(y, in[0])
		mu, s := linear(h, mean(y)), linear(h, log(y))
		code := ad.Add(mu, ad.Mul(ad.Exp(s), in[1]))
		back := linear(decoder(y, code), out(y))
		divergence := ad.Sub(ad.Add(ad.Square(mu), ad.Exp(ad.Scale(2, s))), ad.Scale(2, s))
		return ad.Scale(1/float64(n), ad.Add(ad.SumAll(ad.Square(ad.Sub(back, in[0]))),
			ad.Scale(.5, ad.SumAll(divergence))))
	}
}

// classesOf returns n one-hot rows of some classes.
func classesOf(n, classes int) []float64 {
	return marked(n*classes, func(k int) bool { return 5*(k/classes)/3%classes == k%classes })
}

func ordinal(m *outsideModel, n, d int) lossOf { // four classes in their order
	m.features(d)
	m.batch(classesOf(n, 4))
	weights, first, gaps := m.parameter(d, 0), m.parameter(1, 0), m.parameter(2, 0)
	return func(y node, in []node) node {
		cuts := ad.CumSum(ad.ConcatRows(first(y), ad.Exp(gaps(y))))
		score := perRow(in[0], weights(y))
		below := ad.Sigmoid(ad.AddRow(ad.RepeatCol(ad.Neg(score), 3), cuts))
		one := ad.Uniform(1, score)
		upTo := ad.ConcatCols(below, ad.Reshape(one, n, 1))
		from := ad.ConcatCols(ad.Reshape(ad.Uniform(0, score), n, 1), below)
		return ad.Neg(ad.Mean(ad.Log(ad.RowDot(in[1], ad.Sub(upTo, from)))))
	}
}

func quantiles(m *outsideModel, n, d int) lossOf { // three, with smooth corners
	m.features(d)
	m.features(1)
	hidden, out := m.hidden(8, d), m.parameter(3, 8)
	return func(y node, in []node) node {
		guess := linear(hidden(y, in[0]), out(y))
		var losses []node
		for k, tau := range []float64{.1, .5, .9} {
			miss := ad.Sub(in[1], ad.Flatten(ad.Cols(guess, k, 1)))
			losses = append(losses,
				ad.Mean(ad.Add(ad.Scale(tau, miss), ad.Scale(.1, ad.Softplus(ad.Scale(-10, miss))))))
		}
		return ad.Sum(losses[0], losses[1:]...)
	}
}

func gaussianProcess(m *outsideModel, n, d int) lossOf { // log marginal likelihood
	m.features(d)
	m.features(1)
	lengths, size, noise := m.parameter(d, 0), m.parameter(1, 0), m.parameter(1, 0)
	return func(y node, in []node) node {
		x := ad.ColScale(in[0], ad.Exp(lengths(y)))
		norm := ad.RowDot(x, x)
		squares := ad.AddCol(ad.AddRow(ad.Scale(-2, linear(x, x)), norm), norm)
		eye := ad.NewConst(y, "eye", n, n, marked(n*n, func(k int) bool { return k/n == k%n }))
		scale, floor := ad.Exp(ad.Item(size(y), 0)), ad.Exp(ad.Item(noise(y), 0))
		k := ad.Add(ad.ScaleBy(scale, ad.Exp(ad.Scale(-.5, squares))), ad.ScaleBy(floor, eye))
		return ad.Scale(.5, ad.Add(ad.Dot(in[1], ad.Solve(k, in[1])), ad.LogDet(k)))
	}
}

func negativeBinomial(m *outsideModel, n, d int) lossOf {
	m.features(d)
	m.batch(counted(n, func(k int) int { return k * 7 % 5 }))
	weights, size := m.parameter(d, 0), m.parameter(1, 0)
	return func(y node, in []node) node {
		score, t := perRow(in[0], weights(y)), in[1]
		r := ad.Exp(ad.Item(size(y), 0))
		total := ad.Log(ad.Add(r, ad.Exp(score)))
		fit := ad.Sum(ad.Lgamma(ad.Add(r, t)), ad.Neg(ad.Lgamma(r)), ad.ScaleBy(ad.Item(size(y), 0), ad.ScaleBy(r,
			ad.Uniform(1, t))), ad.Mul(t, score), ad.Neg(ad.Mul(ad.Add(r, t), total)))
		return ad.Neg(ad.Mean(fit))
	}
}

func probit(m *outsideModel, n, d int) lossOf {
	m.features(d)
	m.batch(mapped(numbers(2, n), sign))
	weights := m.parameter(d, 0)
	return func(y node, in []node) node {
		return ad.Neg(ad.Mean(ad.LogNormalCDF(ad.Mul(in[1], perRow(in[0], weights(y))))))
	}
}

func mixtureDensity(m *outsideModel, n, d int) lossOf { // three normal distributions, of a network
	m.features(d)
	m.features(1)
	hidden, out, bias := m.hidden(8, d), m.parameter(9, 8), m.parameter(9, 0)
	return func(y node, in []node) node {
		o := layer(hidden(y, in[0]), out(y), bias(y))
		share, mean, log := ad.Cols(o, 0, 3), ad.Cols(o, 3, 3), ad.Cols(o, 6, 3)
		z := ad.Mul(ad.AddCol(ad.Neg(mean), in[1]), ad.Exp(ad.Neg(log)))
		scores := ad.Sum(share, ad.Neg(log), ad.Scale(-.5, ad.Square(z)))
		return ad.Offset(.5*math.Log(2*math.Pi), ad.Mean(ad.Sub(ad.RowLogSumExp(share), ad.RowLogSumExp(scores))))
	}
}
