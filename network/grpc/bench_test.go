package grpc

import (
	"fmt"
	"testing"

	"dsbo/pki"
)

// The vectors of package network's own benchmark: p = 200 numbers, MNIST's 7,840, and 8 MiB.
var benchLengths = []int{200, 7840, 1 << 20}

// BenchmarkMix times one exchange of all 8 agents of a ring with certificates on both sides.
func BenchmarkMix(b *testing.B) {
	for _, length := range benchLengths {
		b.Run(fmt.Sprintf("ring8/bytes=%d", 8*length), func(b *testing.B) { benchmarkMix(b, identities(8), length) })
	}
	b.Run("plain/ring8/bytes=62720", func(b *testing.B) { benchmarkMix(b, nil, 7840) })
}

func benchmarkMix(b *testing.B, ids []*pki.Identity, length int) {
	benchmarkRing(b, ids, length, func(m *Mixer) func() error {
		v := make([]float64, length)
		return func() error { return m.Mix(b.Context(), v, v) }
	})
}

// BenchmarkGather times one gathering of the rows of all 8 agents of a ring: 4 exchanges.
func BenchmarkGather(b *testing.B) {
	for _, length := range benchLengths[:2] {
		b.Run(fmt.Sprintf("ring8/bytes=%d", 8*length), func(b *testing.B) {
			benchmarkRing(b, identities(8), length, func(m *Mixer) func() error {
				rows := make([][]float64, 8)
				for i := range rows {
					rows[i] = make([]float64, length)
				}
				return func() error { return m.Gather(b.Context(), rows) }
			})
		})
	}
}

// benchmarkRing times what each of 8 agents repeats.
func benchmarkRing(b *testing.B, ids []*pki.Identity, length int, agent func(*Mixer) func() error) {
	w := newGraph("ring", 8)
	ms, closeAll := open(b, configs(w, ids))
	defer closeAll()
	run := func(rounds int) {
		succeed(b, ms, func(_ int, m *Mixer) error {
			exchange := agent(m)
			for range rounds {
				if err := exchange(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	run(2) // connects
	b.ReportAllocs()
	b.SetBytes(int64(8 * length * w.N()))
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
}
