package network_test

import (
	"errors"
	"fmt"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
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
			benchmarkMix(b, testkit.Get(network.New("complete", n, network.Options{})).W, 7840)
		})
	}
}

func benchmarkMix(b *testing.B, w *network.Matrix, length int) {
	l := network.NewLocal(w)
	run := func(rounds int) {
		testkit.OK(errors.Join(networktest.RunAll(w.N(), func(i int) error {
			return networktest.MixZeros(b.Context(), l.Mixer(i), rounds, length)
		})...))
	}
	run(2) // grows the slots
	b.ReportAllocs()
	b.SetBytes(int64(8 * length * w.N()))
	b.ResetTimer()
	run(b.N)
}

// BenchmarkAverage times one average over all 8 agents of a ring, beside the exchanges
// of BenchmarkMix.
func BenchmarkAverage(b *testing.B) {
	for _, wire := range wires {
		for _, length := range []int{200, 7840} {
			b.Run(fmt.Sprintf("ring8/%v/numbers=%d", wire, length), func(b *testing.B) {
				ends := averagers(newRing(8).W, network.AverageOptions{Wire: wire})
				vectors := drawn(8, length, 1, 10)
				run := func(rounds int) {
					testkit.OK(errors.Join(networktest.RunAll(len(ends), func(i int) error {
						for range rounds {
							if err := ends[i].Average(b.Context(), vectors[i]); err != nil {
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

// BenchmarkMixAdd times one exchange in place of all 8 agents of a ring, to which the last half of
// the vector is added: of MNIST's numbers, and of the numbers of a network.
func BenchmarkMixAdd(b *testing.B) {
	for _, length := range []int{7840, 1860000} {
		b.Run(fmt.Sprintf("numbers=%d", length), func(b *testing.B) {
			benchmarkMixAdd(b, length, func(m dsbo.Mixer, x []float64) error {
				return m.(dsbo.AddingMixer).MixAdd(b.Context(), x, x, -0.1, x[length/2:])
			})
		})
	}
}

func benchmarkMixAdd(b *testing.B, length int, exchange func(m dsbo.Mixer, x []float64) error) {
	const n = 8
	l := network.NewLocal(newRing(n).W)
	vectors := make([][]float64, n)
	for i := range vectors {
		vectors[i] = make([]float64, length)
	}
	run := func(rounds int) {
		testkit.OK(errors.Join(networktest.RunAll(n, func(i int) error {
			for range rounds {
				if err := exchange(l.Mixer(i), vectors[i]); err != nil {
					return err
				}
			}
			return nil
		})...))
	}
	run(2) // grows the slots
	b.ReportAllocs()
	b.ResetTimer()
	run(b.N)
}
