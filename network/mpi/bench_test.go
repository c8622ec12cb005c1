//go:build mpi && cgo

package mpi

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"dsbo/network"
)

// BenchmarkRankMix times the exchanges of a ring of 8 agents on the ranks of a job: vectors of p = 200 numbers,
// of MNIST's 7,840 and of 8 MiB. All ranks have to do equally many: -test.benchtime takes a count, such as 500x.
func BenchmarkRankMix(b *testing.B) {
	if world == nil {
		b.Skip("run by mpirun")
	}
	for _, length := range []int{200, 7840, 1 << 20} {
		b.Run(fmt.Sprintf("ring8/ranks=%d/bytes=%d", world.Size(), 8*length), func(b *testing.B) {
			g, err := network.Ring(8, 0.5)
			if err != nil {
				b.Fatal(err)
			}
			x, err := world.Exchange(b.Context(), g.W, Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			var times []time.Duration
			run := func(rounds int) {
				var wg sync.WaitGroup
				for k, i := range x.Local() {
					wg.Go(func() {
						v := make([]float64, length)
						for range rounds {
							start := time.Now()
							if err := x.Mixer(i).Mix(b.Context(), v, v); err != nil {
								b.Error(err)
								return
							}
							if k == 0 {
								times = append(times, time.Since(start))
							}
						}
					})
				}
				wg.Wait()
			}
			run(3) // grows the frames
			times = make([]time.Duration, 0, b.N)
			b.ReportAllocs()
			b.ResetTimer()
			run(b.N)
			b.StopTimer()
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "median-ns")
		})
	}
}
