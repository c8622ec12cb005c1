package benchmarks

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"
)

// BenchmarkHessian compares one Hessian-vector product with the whole Hessian in time and in memory
// that stays live, on the logistic task with 64 examples and q features. From q = 7840 on the whole Hessian's time is that of
// eight columns times q/8; its memory is q² numbers beside what the product needs. The last line
// gives the exponents with which both grow in q.
func BenchmarkHessian(b *testing.B) {
	const rows, wholeUpTo, denseUpTo = 64, 784, 7840
	var qs, hvpBytes, hessianBytes, hvpTimes, hessianTimes []float64
	for _, q := range []int{100, 784, 7840, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("q=%d", q), func(b *testing.B) {
			k := newTask(rows, rows, q, 1, true)
			before := liveHeap()
			e := k.derivs(b, false)
			dst := make([]float64, q)
			product := func() {
				k.next()
				if err := e.hvp(dst); err != nil {
					b.Fatal(err)
				}
			}
			product()
			memory := float64(liveHeap() - before)
			var times []float64
			for b.Loop() {
				times = append(times, seconds(product))
			}
			t := median(times)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(t*1e6, "HVP-µs")
			b.ReportMetric(memory/1e3, "HVP-KB")
			qs, hvpBytes, hvpTimes = append(qs, float64(q)), append(hvpBytes, memory), append(hvpTimes, t)
			if q > denseUpTo {
				return
			}
			var dense float64
			if q <= wholeUpTo {
				h := make([]float64, q*q)
				var runs []float64
				for range 3 { // the first one also brings h's pages in
					runs = append(runs, seconds(func() {
						if err := e.d.Hessian(h, k.x, k.y); err != nil {
							b.Fatal(err)
						}
					}))
				}
				dense = median(runs)
			} else {
				dense = seconds(func() {
					for range 8 {
						product()
					}
				}) * float64(q) / 8
			}
			all := memory + 8*float64(q)*float64(q)
			b.ReportMetric(dense*1e3, "Hessian-ms")
			b.ReportMetric(all/1e3, "Hessian-KB")
			hessianBytes, hessianTimes = append(hessianBytes, all), append(hessianTimes, dense)
			runtime.KeepAlive(e)
		})
	}
	if len(qs) < 5 || len(hessianBytes) < 3 {
		return // a part was asked for
	}
	b.Run("growth", func(b *testing.B) {
		for b.Loop() {
		}
		exponent := func(y []float64, from, to int) float64 { return math.Log(y[to]/y[from]) / math.Log(qs[to]/qs[from]) }
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(exponent(hvpBytes, 2, 4), "HVP-memory-exponent")
		b.ReportMetric(exponent(hessianBytes, 1, 2), "Hessian-memory-exponent")
		b.ReportMetric(exponent(hvpTimes, 2, 4), "HVP-time-exponent")
		b.ReportMetric(exponent(hessianTimes, 1, 2), "Hessian-time-exponent")
	})
}

func seconds(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers of the first had
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
