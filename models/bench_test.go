package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/models/nn"
)

// BenchmarkOracle times the oracle's questions on a new minibatch each, at a new point each, as a
// run asks them.
func BenchmarkOracle(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	mnist := byteShard(3750, 784, 10)
	for _, c := range []struct {
		name  string
		model models.Model
		shard data.Shard
		batch int
	}{
		{"softmax-784x10-batch1000", models.Softmax{Features: 784, Classes: 10}, mnist, 1000},
		{"softmax-784x10-full3750", models.Softmax{Features: 784, Classes: 10}, mnist, 0},
		{"mlp-784-32-10-batch1000", models.MLP{Features: 784, Outputs: 10}, mnist, 1000},
		{"lenet-batch256", models.LeNet{Side: 28, Classes: 10}, mnist, 256},
		{"hyperclean-784x10-batch1000", models.HyperClean{Features: 784, Classes: 10, Examples: 30000}, mnist, 1000},
		{"logistic-200-full500", models.Logistic{Features: 200}, signShard(500, 500, 200), 0},
		{"quadratic-5", quadratic(r, 5, 5), data.Shard{}, 0},
	} {
		for _, f32 := range []bool{true, false} {
			benchOracle(b, fmt.Sprintf("%s/f32=%v/", c.name, f32),
				testkit.Get(models.NewOracle(c.model, c.shard, models.Config{Batch: c.batch, Float32: f32})))
		}
	}
}

// benchOracle times the questions to one oracle.
func benchOracle(b *testing.B, name string, o *models.Oracle) {
	r := rand.New(rand.NewPCG(1, 1))
	p, q := o.Dims()
	x, y, v := normal(r, p, .1), normal(r, q, .1), normal(r, q, 1)
	dx, dy := make([]float64, p), make([]float64, q)
	for _, f := range []struct {
		name string
		set  dsbo.Set
		ask  func(s dsbo.Sample) error
	}{
		{"UpperGrad", dsbo.Upper, func(s dsbo.Sample) error { return o.UpperGrad(dx, dy, x, y, s) }},
		{"LowerGrad", dsbo.Lower, func(s dsbo.Sample) error { return o.LowerGrad(dy, x, y, s) }},
		{"HVP", dsbo.Curvature, func(s dsbo.Sample) error { return o.HVP(dy, x, y, v, s) }},
		{"JVP", dsbo.Curvature, func(s dsbo.Sample) error { return o.JVP(dx, x, y, v, s) }},
		{"Diagonal", dsbo.Curvature, func(s dsbo.Sample) error { return o.Diagonal(dy, x, y, s) }},
		{"HVP-same-point", dsbo.Whole, func(s dsbo.Sample) error { // as a solve asks: another direction each time
			y[0], v[0] = -y[0], -v[0] // takes back what is done before each question
			return o.HVP(dy, x, y, v, s)
		}},
	} {
		b.Run(name+f.name, func(b *testing.B) {
			b.ReportAllocs()
			testkit.OK(f.ask(dsbo.Sample{Set: f.set})) // compiles
			k := 0
			for b.Loop() {
				k++
				y[0] = -y[0]
				testkit.OK(f.ask(dsbo.Sample{Set: f.set, K: k}))
			}
		})
	}
}

// byteShard makes images whose pixels are mostly 0, as MNIST's are.
func byteShard(rows, pixels, classes int) data.Shard {
	r := rand.New(rand.NewPCG(2, 2))
	set := func() data.Examples {
		img, labels := make([]uint8, rows*pixels), make([]uint8, rows)
		for i := range img {
			if r.IntN(5) == 0 {
				img[i] = uint8(r.IntN(256))
			}
		}
		for i := range labels {
			labels[i] = uint8(r.IntN(classes))
		}
		x := testkit.Get(ad.ByteTable(rows, pixels, img, 1./255))
		target := testkit.Get(ad.LabelTable(labels, classes))
		return data.Examples{X: x, Target: target}
	}
	s := data.Shard{Train: set(), Val: set()}
	for i := range rows {
		s.Train.ID = append(s.Train.ID, i)
	}
	return s
}

// BenchmarkProcessors (benchmarks/results/deep-3.csv, -benchtime 50x) is a gradient and a
// product of 1,000 examples in float32, on one processor and on two by turns: the least times,
// and how many times as fast two are.
func BenchmarkProcessors(b *testing.B) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	s := byteShard(1000, 784, 10)
	for name, m := range map[string]models.Model{
		"mlp":         models.MLP{Features: 784, Outputs: 10, Hidden: []int{256, 128}},
		"lenet":       testkit.Get(models.ByName("lenet", models.Size{Features: 784, Classes: 10})),
		"transformer": newSequences(),
	} {
		p, q := m.Dims()
		x, y, v, dst := make([]float64, p), make([]float64, q), make([]float64, q), make([]float64, q)
		for j := range y {
			y[j], v[j] = .05*math.Sin(float64(j)), math.Cos(float64(j))
		}
		o := testkit.Get(models.NewOracle(m, s, models.Config{Float32: true}))
		b.Run(name, func(b *testing.B) {
			least := [2][2]float64{{math.Inf(1), math.Inf(1)}, {math.Inf(1), math.Inf(1)}} // by question, processors
			for b.Loop() {
				for two := range 2 {
					runtime.GOMAXPROCS(1 + two)
					for j := range y { // a point at which nothing is kept
						y[j] *= 1.0001
					}
					for k, ask := range []func() error{
						func() error { return o.LowerGrad(dst, x, y, dsbo.Sample{Set: dsbo.Whole}) },
						func() error { return o.HVP(dst, x, y, v, dsbo.Sample{Set: dsbo.Whole}) },
					} {
						begin := time.Now()
						testkit.OK(ask())
						least[k][two] = min(least[k][two], time.Since(begin).Seconds()*1e3)
					}
				}
			}
			for k, what := range []string{"gradient", "product"} {
				b.ReportMetric(least[k][0], what+"-ms")
				b.ReportMetric(least[k][0]/least[k][1], what+"-times")
			}
		})
	}
}

// sequences is a transformer of two blocks that reads the rows of a picture as a sequence.
type sequences struct {
	params      nn.Params
	embed, last nn.Dense
	positions   nn.Param
	blocks      [2]nn.TransformerBlock
}

func newSequences() *sequences {
	const width = 64
	s := new(sequences)
	s.embed = nn.NewDense(&s.params, "embed", 28, width)
	s.positions = s.params.Matrix("positions", 28, width, nn.Init{Deviation: .05})
	for i := range s.blocks {
		s.blocks[i] = nn.NewTransformerBlock(&s.params, fmt.Sprint("block", i), width, 4, 2*width)
	}
	s.last = nn.NewDense(&s.params, "last", width, 10)
	return s
}

func (s *sequences) Dims() (p, q int) { return 1, s.params.Len() }

func (s *sequences) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	h := nn.AddPositions(s.embed.Outputs(y, ad.Reshape(b.X, b.Rows*28, 28)), s.positions.Node(y))
	for _, block := range s.blocks {
		h = block.Outputs(y, h, b.Rows)
	}
	mean := ad.Scale(1./28, ad.TensorOf(h, b.Rows, 28, 64).Sum(1).Node)
	return ad.Mean(nn.CrossEntropy(s.last.Outputs(y, mean), b.T))
}

func (s *sequences) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(s.Upper(x, y, b), ad.Mul(ad.Exp(ad.Item(x, 0)), ad.SumAll(ad.Square(y))))
}
