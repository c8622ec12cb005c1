package network_test

import (
	"errors"
	"fmt"
	"testing"

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
	l, vectors := network.NewLocal(w), zeros(w.N(), length)
	b.SetBytes(int64(8 * length * w.N()))
	measure(b, w.N(), func(i int) error { return l.Mixer(i).Mix(b.Context(), vectors[i], vectors[i]) })
}

// measure times what all agents do together, after two times by which their memory grows.
func measure(b *testing.B, n int, do func(i int) error) {
	run := func(rounds int) {
		testkit.OK(errors.Join(networktest.RunAll(n, func(i int) error {
			for range rounds {
				if err := do(i); err != nil {
					return err
				}
			}
			return nil
		})...))
	}
	run(2)
	b.ReportAllocs()
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
				b.SetBytes(int64(8 * length * len(ends)))
				measure(b, len(ends), func(i int) error { return ends[i].Average(b.Context(), vectors[i]) })
			})
		}
	}
}

// BenchmarkMixAdd times one exchange in place of all 8 agents of a ring, to which the last half of
// the vector is added: of MNIST's numbers, and of the numbers of a network.
func BenchmarkMixAdd(b *testing.B) {
	for _, length := range []int{7840, 1860000} {
		b.Run(fmt.Sprintf("numbers=%d", length), func(b *testing.B) {
			ends, vectors := averagers(newRing(8).W, network.AverageOptions{}), zeros(8, length)
			measure(b, len(ends), func(i int) error {
				x := vectors[i]
				return ends[i].MixAdd(b.Context(), x, x, -0.1, x[length/2:])
			})
		})
	}
}
