package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"time"

	"dsbo/internal/kernel"
)

// limitOverFloor is what the time of MNIST in float32 is meant to be over the floor at most.
const limitOverFloor = 3

// A limit is what the machine can do, on all processors at once.
type limit struct {
	GFLOPS   float64 // best rate of float32 matrix products
	GFLOPS64 float64 // and of float64
	GBs      float64 // bandwidth of copying, bytes read and bytes written
}

// measureLimit measures each rate a number of times.
func measureLimit(tries int) limit {
	const size = 1 << 24 // numbers: well beyond the caches
	return limit{productRate[float32](tries), productRate[float64](tries),
		2 * 4 * size / 1e9 * callRate(tries, func() func() {
			dst, src := ones[float32](size), ones[float32](size)
			return func() { copy(dst, src) }
		}, 1)}
}

// productRate returns the best rate of matrix products of some sizes, in GFLOP/s.
func productRate[T kernel.Float](tries int) (best float64) {
	for _, s := range []struct {
		f       func(m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool)
		m, n, k int
		lda     int
	}{
		{kernel.GemmNN[T], 10, 32, 128, 128}, // all in the first-level cache
		{kernel.GemmNN[T], 100, 64, 64, 64},
		{kernel.GemmTN[T], 10, 784, 64, 10}, // the products of MNIST
		{kernel.GemmNT[T], 64, 10, 784, 784},
		{kernel.GemmNT[T], 64, 20, 784, 784},
		{kernel.GemmNN[T], 256, 1024, 1024, 1024}, // the sizes of deep networks
	} {
		flops := 2 * float64(s.m*s.n*s.k)
		ldb := s.n
		if s.lda == s.k && s.k > s.m {
			ldb = max(s.k, s.n)
		}
		rate := callRate(tries, func() func() {
			c, a, b := ones[T](s.m*s.n), ones[T](max(s.m, s.k)*s.lda), ones[T](max(s.n, s.k)*ldb)
			return func() { s.f(s.m, s.n, s.k, c, s.n, a, s.lda, b, ldb, false) }
		}, 1+int(2e7/flops))
		best = max(best, flops*rate/1e9)
	}
	return best
}

func ones[T kernel.Float](n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// callRate makes a call for each processor, runs each reps times at once, and returns the calls a
// second of all. It is the best of the tries: on a shared machine others show its other users.
func callRate(tries int, newCall func() func(), reps int) float64 {
	n := runtime.GOMAXPROCS(0)
	calls := make([]func(), n)
	for i := range calls {
		calls[i] = newCall()
	}
	best := math.Inf(1)
	for range tries {
		var wg sync.WaitGroup
		start := time.Now()
		for _, f := range calls {
			wg.Go(func() {
				for range reps {
					f()
				}
			})
		}
		wg.Wait()
		best = min(best, time.Since(start).Seconds())
	}
	return float64(n*reps) / best
}

// iterationWork is what an outer iteration of MA-DSBO on MNIST needs at the least, all
// agents together.
//
// Each draw of B examples has its rows read once, as bytes. A gradient is two products of B×d with
// d×c, a Hessian-vector product at a new draw three; the Jacobian-vector product reads no data. An
// exchange reads the vectors of an agent and its two neighbours, and writes one. Exponentials,
// draws and updates are not counted.
func iterationWork() (flops, bytes float64) {
	const d, c, b = 784, 10, 1000
	const p, q = d, c * d
	gradients, hvps := float64(2*loops), float64(loops-1)
	flops = agents * (gradients*2 + hvps*3) * 2 * b * q
	bytes = agents * ((gradients+hvps)*b*d + (3*loops*q+p)*8*4)
	return flops, bytes
}

// floor is the time in ms below which no program can be on this machine that multiplies by every
// byte, zeros too.
func (l limit) floor() (ms float64, why string) {
	flops, bytes := iterationWork()
	products, memory := flops/l.GFLOPS/1e6, bytes/l.GBs/1e6
	if products > memory {
		return products, "products"
	}
	return memory, "memory"
}

func (l limit) print(out io.Writer) {
	flops, bytes := iterationWork()
	floor, why := l.floor()
	fmt.Fprintf(out,
		"limit: best matrix product %.0f GFLOP/s in float32 and %.0f in float64, copy %.1f GB/s, all "+
			"processors together\n", l.GFLOPS, l.GFLOPS64, l.GBs)
	fmt.Fprintf(out, "  an MNIST iteration in f32 takes %.2f GFLOP and at least %.0f MB: floor %.1f ms (%s)\n",
		flops/1e9, bytes/1e6, floor, why)
}

// compare says how far a time in ms is from the floor.
func (l limit) compare(out io.Writer, ms float64) {
	floor, _ := l.floor()
	fmt.Fprintf(out, "  ours is %.2f times the floor, at most %d\n", ms/floor, limitOverFloor)
}
