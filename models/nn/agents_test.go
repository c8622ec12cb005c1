package nn_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/models/nn"
)

// causal is a classifier of sequences by an attention with 4 heads to what came before.
func causal(length, features, width int) classifier {
	var ps nn.Params
	first, attention := nn.NewDense(&ps, "first", features, width), nn.NewAttention(&ps, "attention", width, 4)
	last := nn.NewDense(&ps, "last", width, 3)
	return classifier{&ps, func(y *ad.Node, b models.Batch) *ad.Node {
		h := first.Outputs(y, ad.Reshape(b.X, b.Rows*length, features))
		h = ad.Tanh(ad.Add(h, attention.Masked(y, h, b.Rows, nn.Causal(y, length))))
		return last.Outputs(y, ad.Scale(1/float64(length), ad.TensorOf(h, b.Rows, length, width).Sum(1).Node))
	}}
}

// BenchmarkAgents asks 64 agents of a process, each with 128 sequences of 32 rows, width 64, for a
// gradient and four products at a point, with the bound of what is kept that each alone has, and
// with a share of 640 MiB, as a run of 64 agents has it.
func BenchmarkAgents(b *testing.B) {
	const agents, rows, length, features = 64, 128, 32, 8
	m := causal(length, features, 64)
	p, q := m.Dims()
	for _, keep := range []int{0, 640 << 20 / agents} {
		b.Run(fmt.Sprintf("keep=%d", keep), func(b *testing.B) {
			before := num.LiveBytes()
			programs := models.NewPrograms(m)
			oracles := make([]*models.Oracle, agents)
			for i := range oracles {
				features := testkit.Get(ad.FloatTable(rows, length*features, normal(rows*length*features, uint64(i))))
				e := data.Examples{X: features, Target: testkit.Get(ad.LabelTable(make([]uint8, rows), 3))}
				c := models.Config{Agent: i, Keep: keep}
				oracles[i] = testkit.Get(programs.Oracle(data.Shard{Train: e, Val: e}, c))
			}
			x, y, v := []float64{-3}, normal(q, 1), normal(q, 2)
			dx, dy, whole := make([]float64, p), make([]float64, q), dsbo.Sample{Set: dsbo.Whole}
			for b.Loop() {
				y[0]++
				for _, o := range oracles {
					testkit.OK(o.LowerGrad(dy, x, y, whole))
					for range 3 {
						v[0]++
						testkit.OK(o.HVP(dy, x, y, v, whole))
					}
					testkit.OK(errors.Join(o.JVP(dx, x, y, v, whole), o.UpperGrad(dx, dy, x, y, whole)))
				}
			}
			b.ReportMetric((num.LiveBytes()-before)/1e6, "live-MB")
			runtime.KeepAlive(oracles)
		})
	}
}
