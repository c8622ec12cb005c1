package benchmarks

import (
	"testing"
	"time"

	"dsbo/internal/num"
)

// A contender is one way to compute the same thing.
type contender struct {
	name string
	run  func()
}

// contest lets the contenders take turns for the time of the benchmark and reports the median of
// each in microseconds, and the first one's as a multiple of the others'.
func contest(b *testing.B, cs ...contender) {
	b.Helper()
	times := make([][]float64, len(cs))
	for range 3 { // compile, allocate, warm the caches
		for _, c := range cs {
			c.run()
		}
	}
	for b.Loop() {
		for i, c := range cs {
			start := time.Now()
			c.run()
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/1e3)
		}
	}
	first := num.Median(times[0])
	b.ReportMetric(0, "ns/op") // the sum over contenders means nothing
	b.ReportMetric(first, cs[0].name+"-µs")
	for i, c := range cs[1:] {
		m := num.Median(times[i+1])
		b.ReportMetric(m, c.name+"-µs")
		b.ReportMetric(first/m, cs[0].name+"/"+c.name)
	}
}
