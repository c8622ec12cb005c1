//go:build amd64 && !noasm

package kernel

import "testing"

// BenchmarkPeak measures the multiply-adds that one core can do: the kernel of outer products with
// strides of 0, which reads the same few numbers again and again.
func BenchmarkPeak(b *testing.B) {
	b.Run("float32", benchPeak[float32])
	b.Run("float64", benchPeak[float64])
}

func benchPeak[T Float](b *testing.B) {
	eachPathBench(b, func(b *testing.B) {
		mr, lanes := 10, 64/size[T]()
		switch active {
		case Generic:
			b.Skip("no assembly")
		case AVX2:
			mr, lanes = 6, 32/size[T]()
		}
		const k = 10000
		x, y, z := random[T](mr), random[T](2*lanes), make([]T, mr*2*lanes)
		rate(b, 2*mr*2*lanes*k, "GFLOP/s", func() {
			outerPanels[T](mr, 2, 1, 0, k, pointer(z), 2*lanes*size[T](), pointer(x), size[T](), 0, pointer(y), 0, 0)
		})
	})
}
