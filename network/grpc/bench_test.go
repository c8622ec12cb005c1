package grpc

import (
	"fmt"
	"testing"

	"dsbo/network/networktest"
	"dsbo/network/pki"
)

// The vectors of package network's own benchmark: p = 200 numbers, MNIST's 7,840, and 8 MiB.
var benchLengths = []int{200, 7840, 1 << 20}

// BenchmarkMix times one exchange of all 8 agents of a ring with certificates on both sides. A
// gathering of their rows is 4 exchanges.
func BenchmarkMix(b *testing.B) {
	for _, length := range benchLengths {
		b.Run(fmt.Sprintf("ring8/bytes=%d", 8*length), func(b *testing.B) { benchmarkMix(b, identities(8), length) })
	}
	b.Run("plain/ring8/bytes=62720", func(b *testing.B) { benchmarkMix(b, nil, 7840) })
}

func benchmarkMix(b *testing.B, ids []*pki.Identity, length int) {
	w := newGraph("ring", 8)
	ms, closeAll := open(configs(w, ids))
	defer closeAll()
	run := func(rounds int) {
		succeed(ms, func(_ int, m *Mixer) error { return networktest.MixZeros(b.Context(), m, rounds, length) })
	}
	run(2) // connects
	b.ReportAllocs()
	b.SetBytes(int64(8 * length * w.N()))
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
}
