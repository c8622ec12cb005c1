package models_test

import (
	"math/rand/v2"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// classShard makes examples with normal features and random classes. IDs begin at 5, as the IDs of
// a later agent do.
func classShard(train, val, features, classes int) data.Shard {
	r := rand.New(rand.NewPCG(1, uint64(train+val)))
	target := func(rows int) *ad.Table {
		labels := make([]uint8, rows)
		for i := range labels {
			labels[i] = uint8(r.IntN(classes))
		}
		return testkit.Get(ad.LabelTable(labels, classes))
	}
	return shard(r, train, val, features, target)
}

// signShard makes examples with normal features and targets ±1.
func signShard(train, val, features int) data.Shard {
	return numberShard(train, val, features, func(r *rand.Rand) float64 { return float64(2*r.IntN(2) - 1) })
}

// numberShard makes examples with normal features and one number as target.
func numberShard(train, val, features int, number func(r *rand.Rand) float64) data.Shard {
	r := rand.New(rand.NewPCG(2, uint64(train+val)))
	return shard(r, train, val, features, func(rows int) *ad.Table {
		v := make([]float64, rows)
		for i := range v {
			v[i] = number(r)
		}
		return table(rows, 1, v)
	})
}

func shard(r *rand.Rand, train, val, features int, target func(rows int) *ad.Table) data.Shard {
	examples := func(rows int) data.Examples {
		return data.Examples{X: table(rows, features, normal(r, rows*features, 1)), Target: target(rows)}
	}
	s := data.Shard{Train: examples(train), Val: examples(val)}
	for i := range train {
		s.Train.ID = append(s.Train.ID, 5+i)
	}
	return s
}

func table(rows, cols int, v []float64) *ad.Table {
	return testkit.Get(ad.FloatTable(rows, cols, v))
}

func normal(r *rand.Rand, n int, deviation float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = deviation * r.NormFloat64()
	}
	return v
}

// quadratic makes the problem of one agent, with well-conditioned matrices.
func quadratic(r *rand.Rand, p, q int) models.Quadratic {
	definite := func(n int) []float64 {
		root := normal(r, n*n, 1)
		m := make([]float64, n*n)
		for i := range n {
			for j := range n {
				for k := range n {
					m[i*n+j] += root[i*n+k] * root[j*n+k] / float64(n)
				}
			}
			m[i*n+i]++
		}
		return m
	}
	return models.Quadratic{P: p, Q: q, A: definite(q), B: normal(r, q*p, 1), C: normal(r, q, 1),
		D: definite(q), T: normal(r, q, 1), E: definite(p), LinearTerm: normal(r, p, 1)}
}

// factors completes a matrix of ratings by the product of two thin ones: an example is a pair (row,
// column) with its rating. The penalties of the two factors are tuned.
type factors struct{ rows, cols, rank int }

func (m factors) Dims() (p, q int) { return 2, (m.rows + m.cols) * m.rank }

func (m factors) split(y *ad.Node) (u, v *ad.Node) {
	return ad.Part(y, 0, m.rows, m.rank), ad.Part(y, m.rows*m.rank, m.cols, m.rank)
}

func (m factors) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	u, v := m.split(y)
	row := ad.MatVec(b.X, ad.NewConst(y, "first", 2, 0, []float64{1, 0}), false)
	col := ad.MatVec(b.X, ad.NewConst(y, "second", 2, 0, []float64{0, 1}), false)
	return ad.Mean(ad.Square(ad.Sub(ad.RowDot(ad.Gather(u, row), ad.Gather(v, col)), b.T)))
}

func (m factors) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	u, v := m.split(y)
	loss := m.Upper(x, y, b)
	for i, f := range []*ad.Node{u, v} {
		loss = ad.Add(loss, ad.ScaleBy(ad.SumAll(ad.Exp(ad.PartVec(x, i, 1))), ad.Dot(f, f)))
	}
	return loss
}

// ratings makes examples of pairs with normal ratings.
func ratings(rows, cols int) data.Shard {
	r := rand.New(rand.NewPCG(7, 7))
	set := func(n int) data.Examples {
		var pairs []float64
		for range n {
			pairs = append(pairs, float64(r.IntN(rows)), float64(r.IntN(cols)))
		}
		return data.Examples{X: table(n, 2, pairs), Target: table(n, 1, normal(r, n, 1))}
	}
	return data.Shard{Train: set(70), Val: set(31)}
}

// meanVariance is a compositional problem over examples: a portfolio x of n assets whose returns
// are the rows of the data, valued by its mean return and its mean squared return.
func meanVariance(n int) models.Compositional {
	return models.Compositional{P: n, Q: 2,
		Inner: func(x *ad.Node, b models.Batch) *ad.Node {
			ret := ad.MatVec(b.X, x, false)
			mean := ad.Scale(1/float64(b.Rows), ad.SumAll(ret))
			square := ad.Scale(1/float64(b.Rows), ad.Dot(ret, ret))
			return ad.Add(ad.Place(mean, 0, 2), ad.Place(square, 1, 2))
		},
		Outer: func(y *ad.Node, _ models.Batch) *ad.Node {
			mean, square := ad.SumAll(ad.PartVec(y, 0, 1)), ad.SumAll(ad.PartVec(y, 1, 1))
			return ad.Sub(ad.Sub(square, ad.Mul(mean, mean)), mean)
		}}
}
