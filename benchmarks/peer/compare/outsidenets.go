package main

import (
	"math"
	"slices"

	"dsbo/ad"
	"dsbo/internal/testkit"
)

// The outside models that are networks.

// length is of the sequences of the models that read some.
const length = 8

// attend returns the attention of n sequences of rows of h, of width d, one head, with what is
// added to the scores, n × length·length.
func attend(h, q, k, v, mask node, n, d int) node {
	of := func(w node) node { return linear(h, w) }
	scores := ad.Scale(1/math.Sqrt(float64(d)), ad.BatchMatMul(of(q), of(k), n, false, true))
	scores = ad.Add(ad.Reshape(scores, n, length*length), mask)
	return ad.BatchMatMul(ad.RowSoftmax(ad.Reshape(scores, n*length, length)), of(v), n, false, false)
}

// masked returns n rows of length·length numbers that are −30 where hides, else 0.
func masked(n int, hides func(sequence, query, key int) bool) []float64 {
	return counted(n*length*length, func(k int) int {
		if hides(k/(length*length), k/length%length, k%length) {
			return -30
		}
		return 0
	})
}

func causalAttention(m *outsideModel, n, d int) lossOf {
	m.features(length * d)
	m.batch(masked(n, func(_, query, key int) bool { return key > query }))
	q, k, v := m.parameter(d, d), m.parameter(d, d), m.parameter(d, d)
	return func(y node, in []node) node {
		h := ad.Reshape(in[0], n*length, d)
		return squaredError(attend(h, q(y), k(y), v(y), in[1], n, d), h)
	}
}

// normal gives rows mean 0 and variance 1.
func normal(h node) node {
	_, width := ad.Dims(h)
	centred := ad.AddCol(h, ad.Scale(-1/float64(width), ad.SumCols(h)))
	variance := ad.Scale(1/float64(width), ad.RowDot(centred, centred))
	return ad.RowScale(centred, ad.Rsqrt(ad.Offset(1e-5, variance)))
}

func paddedTransformer(m *outsideModel, n, d int) lossOf { // two layers; sequence i has 3 to length rows
	m.features(length * d)
	m.batch(masked(n, func(sequence, _, key int) bool { return key >= 3+sequence%(length-2) }))
	type block struct{ q, k, v, w, o func(node) node }
	var blocks [2]block
	for i := range blocks {
		blocks[i] = block{m.parameter(d, d), m.parameter(d, d), m.parameter(d, d), m.parameter(2*d, d),
			m.parameter(d, 2*d)}
	}
	last := m.parameter(d, 0)
	return func(y node, in []node) node {
		h := ad.Reshape(in[0], n*length, d)
		for _, b := range blocks {
			h = ad.Add(h, attend(normal(h), b.q(y), b.k(y), b.v(y), in[1], n, d))
			hidden := ad.Tanh(linear(normal(h), b.w(y)))
			h = ad.Add(h, linear(hidden, b.o(y)))
		}
		first := ad.Cols(ad.Reshape(h, n, length*d), 0, d)
		return ad.Mean(ad.Softplus(perRow(first, last(y))))
	}
}

// source and target are the ends of edge k of a graph of n nodes, three of which leave each node.
func source(k, n int) int { return k % n }
func target(k, n int) int { return (k*5 + k/n + 1) % n }

func graphSAGE(m *outsideModel, n, d int) lossOf { // the batch is the edges
	m.rows = 3 * n
	m.whole(numbers(1, n*d), n, d)
	m.batch(counted(m.rows, func(k int) int { return source(k, n) }))
	m.batch(counted(m.rows, func(k int) int { return target(k, n) }))
	own1, others1, own2, others2 := m.parameter(8, d), m.parameter(8, d), m.parameter(2, 8), m.parameter(2, 8)
	return func(y node, in []node) node {
		next := func(h, own, others node) node {
			near := ad.Scale(1./3, ad.SegmentSum(ad.Gather(h, in[1]), in[2], n))
			return ad.Tanh(ad.Add(linear(h, own), linear(near, others)))
		}
		h := next(next(in[0], own1(y), others1(y)), own2(y), others2(y))
		return ad.Mean(ad.Square(h))
	}
}

func graphNetwork(m *outsideModel, n, d int) lossOf { // sums along edges by a sparse constant
	m.rows = 0
	m.whole(numbers(1, n*d), n, d)
	starts, indices, values := []int{0}, []int32{}, []float64{}
	for from := range n {
		var ends []int32
		for k := range 3 {
			ends, values = append(ends, int32(target(from+k*n, n))), append(values, 1./3)
		}
		slices.Sort(ends)
		indices = append(indices, ends...)
		starts = append(starts, len(indices))
	}
	near := testkit.Get(ad.NewSparseMatrix(n, n, starts, indices, values))
	w1, w2 := m.parameter(8, d), m.parameter(3, 8)
	return func(y node, in []node) node {
		h := ad.Tanh(ad.SparseMatMul(near, linear(in[0], w1(y)), false))
		return ad.Mean(ad.RowLogSumExp(ad.SparseMatMul(near, linear(h, w2(y)), false)))
	}
}

func neuralODE(m *outsideModel, n, d int) lossOf { // ten midpoint steps
	m.features(d)
	hidden, back := m.hidden(8, d), m.parameter(d, 8)
	return func(y node, in []node) node {
		slope := func(h node) node { return linear(hidden(y, h), back(y)) }
		times := ad.NewConst(y, "steps", 10, 0, slices.Repeat([]float64{.1}, 10))
		end, _ := ad.Scan(in[0], times, func(h, dt node) (next, out node) {
			middle := ad.Add(h, ad.ScaleBy(ad.Scale(.5, dt), slope(h)))
			return ad.Add(h, ad.ScaleBy(dt, slope(middle))), nil
		})
		return ad.Mean(ad.Square(end))
	}
}

func preferences(m *outsideModel, n, d int) lossOf { // of a policy over 5 answers, against a reference
	m.features(d)
	m.batch(classesOf(n, 5))
	m.batch(marked(5*n, func(k int) bool { return (5*(k/5)/3+1)%5 == k%5 }))
	m.features(1)
	weights := m.parameter(5, d)
	return func(y node, in []node) node {
		scores := linear(in[0], weights(y))
		log := ad.AddCol(scores, ad.Neg(ad.RowLogSumExp(scores)))
		margin := ad.Sub(ad.Sub(ad.RowDot(log, in[1]), ad.RowDot(log, in[2])), in[3])
		return ad.Mean(ad.Softplus(ad.Scale(-.5, margin)))
	}
}

func uNet(m *outsideModel, n, d int) lossOf { // 2d×2d pixels, d channels
	side := 2 * d
	m.features(side * side)
	outer, inner := same(side, 1), same(d, d)
	halves := ad.Window{H: side, W: side, C: d, KH: 2, KW: 2, Stride: 2}
	first, second, up, last := m.parameter(d, 9), m.parameter(d, 9*d), m.parameter(d, 4*d), m.parameter(2*d, 0)
	return func(y node, in []node) node {
		conv := func(h, filters node, w ad.Window) node {
			return ad.Tanh(ad.Reshape(linear(ad.Im2col(h, w), filters), n, w.OutH()*w.OutW()*d))
		}
		wide := conv(in[0], first(y), outer)
		deep := conv(ad.AvgPool(wide, halves), second(y), inner)
		back := ad.ConvTranspose(deep, up(y), halves, 1)
		pixels := ad.ConcatCols(ad.Reshape(wide, n*side*side, d), ad.Reshape(back, n*side*side, d))
		return squaredError(perRow(pixels, last(y)), ad.Flatten(in[0]))
	}
}

func hypernetwork(m *outsideModel, n, d int) lossOf { // a linear model for each row, made of two numbers
	m.features(d)
	m.features(2)
	m.features(1)
	hidden, out := m.hidden(8, 2), m.parameter(d, 8)
	return func(y node, in []node) node {
		return squaredError(ad.RowDot(in[0], linear(hidden(y, in[1]), out(y))), in[2])
	}
}

func taskWeights(m *outsideModel, n, d int) lossOf { // two tasks, whose weights are parameters
	m.features(d)
	m.features(1)
	m.batch(mapped(numbers(3, n), sign))
	hidden, first, second, logs := m.hidden(8, d), m.parameter(8, 0), m.parameter(8, 0), m.parameter(2, 0)
	return func(y node, in []node) node {
		h := hidden(y, in[0])
		values := squaredError(perRow(h, first(y)), in[1])
		classes := ad.Mean(ad.Softplus(ad.Neg(ad.Mul(in[2], perRow(h, second(y))))))
		a, b := ad.Item(logs(y), 0), ad.Item(logs(y), 1)
		return ad.Sum(ad.Mul(ad.Exp(ad.Neg(a)), values), ad.Mul(ad.Exp(ad.Neg(b)), classes), a, b)
	}
}

func physicsInformed(m *outsideModel, n, d int) lossOf { // u″ + u = 0 with u(t) of a network
	m.features(1)
	w, b, out := m.parameter(d, 1), m.parameter(d, 0), m.parameter(d, 0)
	return func(y node, in []node) node {
		u := perRow(ad.Tanh(layer(ad.Reshape(in[0], n, 1), w(y), b(y))), out(y))
		slope := testkit.Get(ad.Grad(ad.SumAll(u), in[0]))[0]
		bend := testkit.Get(ad.Grad(ad.SumAll(slope), in[0]))[0]
		start := ad.Dot(ad.Tanh(b(y)), out(y))
		return ad.Add(ad.Mean(ad.Square(ad.Add(bend, u))), ad.Square(ad.Offset(-1, start)))
	}
}

func lstm(m *outsideModel, n, d int) lossOf {
	m.features(length * d)
	w, u, b, out := m.parameter(4*d, d), m.parameter(4*d, d), m.parameter(4*d, 0), m.parameter(d, 0)
	return func(y node, in []node) node {
		var h, c node
		for t := range length {
			gates := layer(ad.Cols(in[0], t*d, d), w(y), b(y))
			if h != nil {
				gates = ad.Add(gates, linear(h, u(y)))
			}
			gate := func(k int) node { return ad.Cols(gates, k*d, d) }
			fresh := ad.Mul(ad.Sigmoid(gate(0)), ad.Tanh(gate(2)))
			if c != nil {
				fresh = ad.Add(fresh, ad.Mul(ad.Sigmoid(gate(1)), c))
			}
			c = fresh
			h = ad.Mul(ad.Sigmoid(gate(3)), ad.Tanh(c))
		}
		return ad.Mean(ad.Softplus(perRow(h, out(y))))
	}
}

func residualBlock(m *outsideModel, n, d int) lossOf { // with normalization in two groups
	m.features(2 * d)
	w1, w2 := m.parameter(2*d, 2*d), m.parameter(2*d, 2*d)
	return func(y node, in []node) node {
		groups := func(h node) node { return ad.Reshape(normal(ad.Reshape(h, 2*n, d)), n, 2*d) }
		h := ad.Tanh(groups(linear(in[0], w1(y))))
		h = ad.Add(in[0], groups(linear(h, w2(y))))
		return ad.Mean(ad.RowLogSumExp(h))
	}
}

func augmentation(m *outsideModel, n, d int) lossOf { // noise of a size for each feature, that is learnt
	m.features(d)
	m.features(d)
	m.batch(classesOf(n, 3))
	sizes, hidden, out := m.parameter(d, 0), m.hidden(8, d), m.parameter(3, 8)
	return func(y node, in []node) node {
		x := ad.Add(in[0], ad.ColScale(in[1], ad.Exp(sizes(y))))
		scores := linear(hidden(y, x), out(y))
		return ad.Mean(ad.Sub(ad.RowLogSumExp(scores), ad.RowDot(in[2], scores)))
	}
}
