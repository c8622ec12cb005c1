package benchmarks

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// BenchmarkDepth makes the oracle of a network with many narrow layers, asks it for its first
// Hessian-vector product, and for a later one at another point.
func BenchmarkDepth(b *testing.B) {
	const rows, width, classes = 16, 8, 2
	shard := drawnShard(rows, width, classes)
	for _, layers := range []int{500, 2000, 8000} {
		b.Run(fmt.Sprintf("layers=%d", layers), func(b *testing.B) {
			m := models.MLP{Features: width, Outputs: classes, Hidden: slices.Repeat([]int{width}, layers)}
			p, q := m.Dims()
			x, y, v, dst := make([]float64, p), make([]float64, q), make([]float64, q), make([]float64, q)
			m.Start(y)
			m.Start(v)
			var first, later time.Duration
			for b.Loop() {
				began := time.Now()
				o := testkit.Get(models.NewOracle(m, shard, models.Config{}))
				testkit.OK(o.HVP(dst, x, y, v, dsbo.Sample{Set: dsbo.Whole}))
				first += time.Since(began)
				y[0] += 1e-3
				began = time.Now()
				testkit.OK(o.HVP(dst, x, y, v, dsbo.Sample{Set: dsbo.Whole}))
				later += time.Since(began)
			}
			b.ReportMetric(first.Seconds()/float64(b.N), "first-s")
			b.ReportMetric(1e3*later.Seconds()/float64(b.N), "later-ms")
		})
	}
}
