package kernel

import (
	"testing"
	"time"
)

// peak measures the billions of flops a second of one core on the active path: the kernel of outer
// products with strides of 0, whose loads are always the same few numbers. It is 0 for plain Go.
func peak[T Float]() float64 {
	if active == Generic {
		return 0
	}
	mr, lanes := outerTile[T]()
	const k = 5000
	x, y, z := random[T](mr), random[T](2*lanes), make([]T, mr*2*lanes)
	fastest := time.Hour
	for range 100 {
		fastest = min(fastest, timed(func() {
			outer[T](mr, 2, 1, 0, k, pointer(z), 2*lanes*size[T](), pointer(x), size[T](), 0, pointer(y), 0, 0)
		}, 1))
	}
	return float64(2*mr*2*lanes*k) / float64(fastest.Nanoseconds())
}

// BenchmarkPeak reports the peak that the matrix products are measured against.
func BenchmarkPeak(b *testing.B) {
	b.Run("float32", benchPeak[float32])
	b.Run("float64", benchPeak[float64])
}

func benchPeak[T Float](b *testing.B) {
	eachPathBench(b, func(b *testing.B) {
		if active == Generic {
			b.Skip("needs assembly")
		}
		best := 0.0
		for b.Loop() {
			best = max(best, peak[T]())
		}
		b.ReportMetric(best, "GFLOP/s")
		b.ReportMetric(0, "ns/op")
	})
}
