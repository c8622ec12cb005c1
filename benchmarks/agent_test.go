package benchmarks

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// BenchmarkOneAgent is the only agent of a process, with a network 784-1024-1024-10 and batches of
// 256 in float32, on one processor and on two.
func BenchmarkOneAgent(b *testing.B) {
	const rows, features, classes = 256, 784, 10
	m := models.MLP{Features: features, Outputs: classes, Hidden: []int{1024, 1024}, ReLU: true}
	o := testkit.Get(models.NewOracle(m, drawnShard(rows, features, classes), models.Config{Float32: true}))
	p, q := m.Dims()
	x, y, v, dst := make([]float64, p), make([]float64, q), make([]float64, q), make([]float64, q)
	m.Start(y)
	m.Start(v)
	s := dsbo.Sample{Set: dsbo.Whole}
	for _, c := range []struct {
		name string
		ask  func() error
	}{
		{"gradient", func() error { return o.LowerGrad(dst, x, y, s) }},
		{"HVP", func() error { return o.HVP(dst, x, y, v, s) }},
	} {
		for _, processors := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/processors=%d", c.name, processors), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				testkit.OK(c.ask()) // compiles
				for b.Loop() {
					y[0] += 1e-3 // another point: nothing is known of it
					testkit.OK(c.ask())
				}
			})
		}
	}
}

// drawnShard draws examples for training and validation, which are the same.
func drawnShard(rows, features, classes int) data.Shard {
	r := rand.New(rand.NewPCG(1, 2))
	numbers, labels := make([]float64, rows*features), make([]uint8, rows)
	for i := range numbers {
		numbers[i] = r.Float64()
	}
	for i := range labels {
		labels[i] = uint8(r.IntN(classes))
	}
	e := data.Examples{X: testkit.Get(ad.FloatTable(rows, features, numbers)),
		Target: testkit.Get(ad.LabelTable(labels, classes))}
	return data.Shard{Train: e, Val: e}
}
