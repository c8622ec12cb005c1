package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// random returns n normal numbers.
func random[T Float](n int) []T {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

// rate runs f again and again and reports the rate of the fastest batch, as billions of the given
// operations or bytes a second: on a shared machine the mean says more about the neighbours.
func rate(b *testing.B, each int, unit string, f func()) float64 {
	const batch = 20 * time.Microsecond
	reps := 1
	for timed(f, reps) < batch && reps <= 1<<20 {
		reps *= 2
	}
	fastest := time.Duration(math.MaxInt64)
	for b.Loop() {
		fastest = min(fastest, timed(f, reps))
	}
	best := float64(each) * float64(reps) / float64(fastest.Nanoseconds())
	b.ReportMetric(best, unit)
	b.ReportMetric(float64(fastest.Nanoseconds())/float64(reps), "ns/call")
	b.ReportMetric(0, "ns/op")
	return best
}

// timed returns how long reps calls of f take.
func timed(f func(), reps int) time.Duration {
	start := time.Now()
	for range reps {
		f()
	}
	return time.Since(start)
}

// A gemmShape is the sizes of a product: C is m×n, its sums have k terms.
type gemmShape struct{ m, n, k int }

func BenchmarkGemm(b *testing.B) { eachType(b, benchGemm[float32], benchGemm[float64]) }

// benchGemm has the products of small models and of the layers of networks, of 784-256-128-10 and
// 784-1024-1024-10 and of convolutions 5×5×8 and, with stride 2, 5×5×16: forward, for the gradient
// with respect to the weights, and for that with respect to the activations.
func benchGemm[T Float](b *testing.B) {
	shapes := map[string][]gemmShape{
		"NT": {{16, 10, 784}, {32, 10, 784}, {64, 10, 784}, {32, 128, 784}, {32, 10, 128}, {32, 20, 784},
			{16, 1, 200}, {64, 1, 200}},
		"TN": {{10, 784, 16}, {10, 784, 32}, {10, 784, 64}, {128, 784, 32}, {1, 200, 16}, {1, 200, 64}},
		"NN": {{32, 128, 10}, {32, 784, 10}, {32, 128, 128}, {32, 784, 128}},
	}
	for _, layer := range []struct{ in, out int }{{784, 256}, {256, 128}, {784, 1024}, {1024, 1024}, {1024, 10}} {
		for _, batch := range []int{64, 256} {
			shapes["NT"] = append(shapes["NT"], gemmShape{batch, layer.out, layer.in})
			shapes["TN"] = append(shapes["TN"], gemmShape{layer.out, layer.in, batch})
			shapes["NN"] = append(shapes["NN"], gemmShape{batch, layer.in, layer.out})
		}
	}
	for _, conv := range []struct{ pixels, filters, taps int }{{576, 8, 25}, {100, 16, 200}} {
		rows := 16 * conv.pixels
		shapes["NT"] = append(shapes["NT"], gemmShape{rows, conv.filters, conv.taps})
		shapes["TN"] = append(shapes["TN"], gemmShape{conv.filters, conv.taps, rows})
		shapes["NN"] = append(shapes["NN"], gemmShape{rows, conv.taps, conv.filters})
	}
	benchProducts[T](b, shapes)
}

// benchProducts reports the rates of products, also as shares of the peak.
func benchProducts[T Float](b *testing.B, shapes map[string][]gemmShape) {
	for _, p := range products[T]() {
		for _, s := range shapes[p.name] {
			m, n, k := s.m, s.n, s.k
			b.Run(fmt.Sprintf("%s_%dx%dx%d", p.name, m, n, k), func(b *testing.B) {
				eachPath(b, func(b *testing.B) {
					x, y, z := random[T](m*k), random[T](k*n), make([]T, m*n)
					lda, ldb := k, n
					if p.transA {
						lda = m
					}
					if p.transB {
						ldb = k
					}
					top := peak[T]()
					best := rate(b, 2*m*n*k, "GFLOP/s", func() { p.f(m, n, k, z, n, x, lda, y, ldb, false) })
					if top > 0 {
						b.ReportMetric(100*best/top, "%peak")
					}
				})
			})
		}
	}
}

// BenchmarkOthers has what is no product of dense matrices: functions, rows, sums and conversions
// of slices that lie in the second-level cache together, bytes, pools, sparse rows, and copies for
// comparison.
func BenchmarkOthers(b *testing.B) { eachType(b, benchOthers[float32], benchOthers[float64]) }

func benchOthers[T Float](b *testing.B) {
	const tile, outs, cols, n = 80, 10, 784, 10 * 784
	x, y, z, src := random[T](n), random[T](n), make([]T, n), make([]byte, tile*cols)
	bytes, rows := n*size[T](), make([]ByteRow, tile)
	for i := range rows {
		rows[i] = wholeByteRow(src[i*cols:][:cols])
	}
	w := Window{H: 24, W: 24, C: 8, KH: 2, KW: 2, Stride: 2}
	images, taps, picked := random[T](w.Pixels()), random[T](w.Patches()*w.C), random[T](w.Patches()*w.C)
	p := NewPooling[T](w)
	p.Largest(1, taps, images)
	idx, val := make([]int32, 75), random[T](75) // of 10⁵ columns
	for e := range idx {
		idx[e] = int32(e * 1331)
	}
	wide, u := make([]T, outs*100_000), make([]T, outs)
	var sink T
	run := func(name string, each int, unit string, f func()) {
		b.Run(name, func(b *testing.B) { eachPath(b, func(b *testing.B) { rate(b, each, unit, f) }) })
	}
	for _, fn := range functions[T]() {
		run(fn.name, 320, "Gentry/s", func() { fn.f(z[:320], x[:320]) })
	}
	for _, c := range []int{10, 20, 128} {
		run(fmt.Sprintf("RowSoftmax_32x%d", c), 32*c, "Gentry/s", func() { RowSoftmax(32, c, z, x) })
		run(fmt.Sprintf("RowLogSumExp_32x%d", c), 32*c, "Gentry/s", func() { RowLogSumExp(32, c, z, x) })
	}
	run("AddTo", 3*bytes, "GB/s", func() { AddTo(z, x, y) })
	run("MulTo", 3*bytes, "GB/s", func() { MulTo(z, x, y) })
	run("Axpy", 3*bytes, "GB/s", func() { Axpy(z, 1e-9, x) })
	run("Scale", 2*bytes, "GB/s", func() { Scale(z, 3, x) })
	run("Dot", 2*bytes, "GB/s", func() { sink += Dot(x, y) })
	run("Sum", bytes, "GB/s", func() { sink += Sum(x) })
	run("FromBytes", bytes+n, "GB/s", func() { FromBytes(z, src[:n], 1./255) })
	run("copy", 2*bytes, "GB/s", func() { copy(z, x) })
	run("BytesNT", 2*tile*cols*outs, "GFLOP/s", func() { BytesNT(tile, outs, cols, z, outs, rows, x, cols) })
	run("BytesTN", 2*tile*cols*outs, "GFLOP/s", func() { BytesTN(outs, cols, z, cols, x, outs, rows, false) })
	run("Largest", len(images)*size[T](), "GB/s", func() { p.Largest(1, taps, images) })
	run("Pick", len(images)*size[T](), "GB/s", func() { p.Pick(1, picked, taps, images) })
	run("Unpick", len(images)*size[T](), "GB/s", func() { p.Unpick(1, images, taps, picked) })
	run("SparseRowNT", 75*8, "GB/s", func() { SparseRowNT(u, idx, val, wide, 100_000) })
	run("SparseRowNN", 75*8, "GB/s", func() { SparseRowNN(u, idx, val, wide, outs) })
	run("SparseOuter", 75*8, "GB/s", func() { SparseOuter(wide, 100_000, u, idx, val) })
	run("SparseOuterT", 75*8, "GB/s", func() { SparseOuterT(wide, outs, u, idx, val) })
	if sink != sink {
		b.Error("not a number")
	}
}

// peak measures the billions of flops a second of one core on the active path: the kernel of outer
// products with strides of 0, whose loads are always the same few numbers. It is 0 for plain Go.
func peak[T Float]() float64 {
	if active == Generic {
		return 0
	}
	const k = 5000
	mr, lanes := outerTile[T]()
	x, y, z := random[T](mr), random[T](2*lanes), make([]T, mr*2*lanes)
	fastest := time.Hour
	for range 100 {
		fastest = min(fastest, timed(func() {
			outer[T](mr, 2, 1, lanes, k, 1, pointer(z), 2*lanes*size[T](), 0, pointer(x), size[T](), 0, 0, 0,
				pointer(y), 0, 0, 0, 0)
		}, 1))
	}
	return float64(2*mr*2*lanes*k) / float64(fastest.Nanoseconds())
}
