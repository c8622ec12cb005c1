package network_test

import (
	"errors"
	"fmt"
	"testing"

	"dsbo/internal/must"
	"dsbo/network"
	"dsbo/network/networktest"
)

// BenchmarkMix times one exchange of all 8 agents of a ring: vectors of p = 200 numbers, of
// MNIST's 7,840 and of a million; and of graphs in which everyone is a neighbour.
func BenchmarkMix(b *testing.B) {
	for _, length := range []int{200, 7840, 1 << 20} {
		b.Run(fmt.Sprintf("ring8/bytes=%d", 8*length), func(b *testing.B) { benchmarkMix(b, newRing(8).W, length) })
	}
	for _, n := range []int{8, 64} {
		b.Run(fmt.Sprintf("complete%d/bytes=62720", n), func(b *testing.B) {
			benchmarkMix(b, must.Get(network.New("complete", n, network.Options{})).W, 7840)
		})
	}
}

func benchmarkMix(b *testing.B, w *network.Matrix, length int) {
	l := network.NewLocal(w)
	run := func(rounds int) {
		must.OK(errors.Join(networktest.RunAll(w.N(), func(i int) error {
			return networktest.MixZeros(b.Context(), l.Mixer(i), rounds, length)
		})...))
	}
	run(2) // grows the slots
	b.ReportAllocs()
	b.SetBytes(int64(8 * length * w.N()))
	b.ResetTimer()
	run(b.N)
}

// BenchmarkAverage times one average over all 8 agents of a ring, beside the exchanges of BenchmarkMix.
func BenchmarkAverage(b *testing.B) {
	for _, wire := range wires {
		for _, length := range []int{200, 7840} {
			b.Run(fmt.Sprintf("ring8/%v/numbers=%d", wire, length), func(b *testing.B) {
				ends := averagers(newRing(8).W, network.AverageOptions{Wire: wire})
				vectors := drawn(8, length, 1, 10)
				run := func(rounds int) {
					must.OK(errors.Join(networktest.RunAll(len(ends), func(i int) error {
						for range rounds {
							if err := ends[i].Average(b.Context(), vectors[i], vectors[i]); err != nil {
								return err
							}
						}
						return nil
					})...))
				}
				run(2) // grows the words
				b.ReportAllocs()
				b.SetBytes(int64(8 * length * len(ends)))
				b.ResetTimer()
				run(b.N)
			})
		}
	}
}
