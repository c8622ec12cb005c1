package models_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// sparseTable makes rows of n values in random columns; every seventh row is empty.
func sparseTable(r *rand.Rand, rows, cols, each int) *ad.Table {
	starts, indices, values := []int{0}, make([]int32, 0, rows*each), make([]float32, 0, rows*each)
	row := make([]int32, each)
	for i := range rows {
		if i%7 != 3 {
			for e := range row {
				row[e] = int32(r.IntN(cols))
			}
			slices.Sort(row)
			for _, j := range slices.Compact(slices.Clone(row)) {
				indices, values = append(indices, j), append(values, float32(r.NormFloat64()))
			}
		}
		starts = append(starts, len(values))
	}
	return testkit.Get(ad.SparseTable(rows, cols, starts, indices, values))
}

// dense returns the numbers of a table as a dense one.
func dense(x *ad.Table) *ad.Table {
	v := make([]float64, 0, x.Rows()*x.Cols())
	for i := range x.Rows() {
		for j := range x.Cols() {
			v = append(v, x.At(i, j))
		}
	}
	return table(x.Rows(), x.Cols(), v)
}

// sparseShard replaces the features of s.
func sparseShard(s data.Shard, features, each int) data.Shard {
	r := rand.New(rand.NewPCG(7, 7))
	for _, e := range []*data.Examples{&s.Train, &s.Val} {
		e.X = sparseTable(r, e.Len(), features, each)
	}
	return s
}

// TestSparseIsDense: an oracle answers as an oracle of the same numbers in dense tables, on all
// examples and on draws.
func TestSparseIsDense(t *testing.T) {
	for _, c := range []struct {
		model models.Model
		shard data.Shard
	}{
		{models.Linear{Features: 60, Outputs: 3}, weighted(classShard(50, 31, 1, 3))},
		{models.Linear{Features: 60, Outputs: 1, Loss: models.Squared{}}, valueShard(50, 31, 1)},
		{models.MLP{Features: 60, Outputs: 3, Hidden: []int{4}}, classShard(50, 31, 1, 3)},
		{models.Softmax{Features: 60, Classes: 3}, classShard(50, 31, 1, 3)},
		{models.Logistic{Features: 60}, signShard(50, 31, 1)},
		{models.HyperClean{Features: 60, Classes: 3, Examples: 60}, classShard(50, 31, 1, 3)},
	} {
		sparse := sparseShard(c.shard, 60, 8)
		whole := sparse
		whole.Train.X, whole.Val.X = dense(sparse.Train.X), dense(sparse.Val.X)
		r := rand.New(rand.NewPCG(1, 2))
		p, q := c.model.Dims()
		x, y, v := normal(r, p, 1), normal(r, q, 1), normal(r, q, 1)
		for _, f32 := range []bool{false, true} {
			for _, name := range []dsbo.Sample{{Set: dsbo.Whole}, {Set: dsbo.Lower, K: 3}} {
				cfg := models.Config{Batch: 20, Float32: f32}
				ask := func(s data.Shard) [][]float64 {
					return answers(testkit.Get(models.NewOracle(c.model, s, cfg)), name, x, y, v)
				}
				got, want := ask(sparse), ask(whole)
				tol := 1e-13
				if f32 {
					tol = 1e-5
				}
				for i := range want {
					size := max(slices.Max(want[i]), -slices.Min(want[i]))
					for j := range want[i] {
						if !(math.Abs(got[i][j]-want[i][j]) <= tol*size) {
							t.Fatalf("%T, float32=%v, %v: answer %d, entry %d is %g, of dense tables %g", c.model, f32,
								name, i, j, got[i][j], want[i][j])
						}
					}
				}
			}
		}
	}
}

// answers asks an oracle for the losses, all gradients, both products and the diagonal.
func answers(o *models.Oracle, name dsbo.Sample, x, y, v []float64) [][]float64 {
	p, q := o.Dims()
	list := make([][]float64, 5)
	for i, n := range []int{q, q, q, p, q} {
		list[i] = make([]float64, n)
	}
	testkit.OK(o.UpperGrad(nil, list[0], x, y, name))
	testkit.OK(o.LowerGrad(list[1], x, y, name))
	testkit.OK(o.HVP(list[2], x, y, v, name))
	testkit.OK(o.JVP(list[3], x, y, v, name))
	testkit.OK(o.Diagonal(list[4], x, y, name))
	f, g := testkit.Get2(o.Values(x, y, name))
	return append(list, []float64{f, g})
}

// wide is data as text has them: many features, few of which an example has.
func wide(rows, features, each int) data.Shard {
	r := rand.New(rand.NewPCG(4, 4))
	examples := func() data.Examples {
		labels := make([]uint8, rows)
		for i := range labels {
			labels[i] = uint8(r.IntN(2))
		}
		return data.Examples{X: sparseTable(r, rows, features, each), Target: testkit.Get(ad.LabelTable(labels, 2))}
	}
	return data.Shard{Train: examples(), Val: examples()}
}

// TestSparseMemory: nothing makes a dense copy, not even of a tile of rows: a copy of one set of
// examples would take 800 MB in float32.
func TestSparseMemory(t *testing.T) {
	const features = 100_000
	s := wide(2000, features, 50)
	m := models.Linear{Features: features, Outputs: 2}
	p, q := m.Dims()
	x, y, v := make([]float64, p), make([]float64, q), make([]float64, q)
	y[0], v[q-1] = 1, 1
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	answers(testkit.Get(models.NewOracle(m, s, models.Config{Float32: true})), dsbo.Sample{Set: dsbo.Whole}, x, y, v)
	testkit.Get2(testkit.Get(models.NewScore(m, s.Val, true)).Sums(x, y))
	runtime.ReadMemStats(&after)
	// A vector of length q takes 0.8 MB in a program and 1.6 MB in the answers.
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
		t.Errorf("%d MB were allocated", used>>20)
	} else {
		t.Logf("%d MB were allocated", used>>20)
	}
}

// TestLiveVectors: what the oracle of a deep network holds for gradients of both losses and
// products, on draws and on all examples, is a few vectors of the length of y, in float32, and a
// tile for a processor that helps.
func TestLiveVectors(t *testing.T) {
	testkit.Long(t, "700,000 weights")
	for _, processors := range []int{1, 2} { // which help each other
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			liveVectors(t, processors)
		})
	}
}

func liveVectors(t *testing.T, processors int) {
	m := models.MLP{Features: 784, Outputs: 10, Hidden: []int{512, 512}}
	s := byteShard(160, 784, 10)
	p, q := m.Dims()
	x, y, v := make([]float64, p), make([]float64, q), make([]float64, q)
	dx, dy := make([]float64, p), make([]float64, q)
	m.Start(y)
	copy(v, y)
	before := num.LiveBytes()
	o := testkit.Get(models.NewOracle(m, s, models.Config{Batch: 128, Float32: true}))
	for _, sample := range []dsbo.Sample{{Set: dsbo.Curvature}, {Set: dsbo.Whole}} {
		_, _, err := o.Values(x, y, sample)
		testkit.OK(errors.Join(err, o.LowerGrad(dy, x, y, sample), o.HVP(dy, x, y, v, sample),
			o.JVP(dx, x, y, v, sample), o.UpperGrad(dx, dy, x, y, sample)))
	}
	vectors := (num.LiveBytes() - before) / float64(4*q)
	t.Logf("%.1f vectors", vectors)
	if most := float64(10 + 2*processors); vectors > most {
		t.Errorf("the oracle holds %.1f vectors of the length of y, want at most %g", vectors, most)
	}
	runtime.KeepAlive(o)
	runtime.KeepAlive([][]float64{x, y, v, dx, dy})
}

// TestAgentsMemory: an agent of many has its vectors and its examples, as bytes; what their
// conversion to numbers takes, it shares with all.
func TestAgentsMemory(t *testing.T) {
	const agents, rows = 24, 200
	m := models.Softmax{Features: 784, Classes: 10}
	s := byteShard(rows, 784, 10)
	p, q := m.Dims()
	x, y, dst := make([]float64, p), make([]float64, q), make([]float64, q)
	programs := models.NewPrograms(m)
	one := func(agent int) *models.Oracle {
		o := testkit.Get(programs.Oracle(s, models.Config{Agent: agent, Float32: true}))
		_, _, err := o.Values(x, y, dsbo.Sample{Set: dsbo.Whole})
		testkit.OK(errors.Join(err, o.Diagonal(dst, x, y, dsbo.Sample{Set: dsbo.Whole}),
			o.Double().Diagonal(dst, x, y, dsbo.Sample{Set: dsbo.Whole})))
		return o
	}
	oracles := []*models.Oracle{one(0)} // and what all share
	before := num.LiveBytes()
	for agent := range agents {
		oracles = append(oracles, one(1+agent))
	}
	each := (num.LiveBytes() - before) / agents / float64(8*q)
	t.Logf("%.1f vectors an agent", each)
	if each > 8 { // the numbers of all rows in float64 are 20, in float32 10
		t.Errorf("an agent holds %.1f vectors of the length of y, want at most 8", each)
	}
	runtime.KeepAlive(oracles)
}
