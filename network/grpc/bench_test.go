package grpc_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"unsafe"

	"dsbo/network"
	"dsbo/network/grpc"
	"dsbo/pki"
)

// The vectors of package network's own benchmark: p = 200 numbers, MNIST's 7,840, and 8 MiB.
var benchLengths = []int{200, 7840, 1 << 20}

// BenchmarkMix times one exchange of all 8 agents of a ring with certificates on both sides.
func BenchmarkMix(b *testing.B) {
	for _, length := range benchLengths {
		b.Run(fmt.Sprintf("ring8/bytes=%d", 8*length), func(b *testing.B) { benchmarkMix(b, identities(b, 8), length) })
	}
	b.Run("plain/ring8/bytes=62720", func(b *testing.B) { benchmarkMix(b, nil, 7840) })
}

func benchmarkMix(b *testing.B, ids []*pki.Identity, length int) {
	benchmarkRing(b, ids, length, func(m *grpc.Mixer) func() error {
		v := make([]float64, length)
		return func() error { return m.Mix(b.Context(), v, v) }
	})
}

// BenchmarkGather times one gathering of the rows of all 8 agents of a ring: 4 exchanges.
func BenchmarkGather(b *testing.B) {
	for _, length := range benchLengths[:2] {
		b.Run(fmt.Sprintf("ring8/bytes=%d", 8*length), func(b *testing.B) {
			benchmarkRing(b, identities(b, 8), length, func(m *grpc.Mixer) func() error {
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
func benchmarkRing(b *testing.B, ids []*pki.Identity, length int, agent func(*grpc.Mixer) func() error) {
	g, err := network.Ring(8, 0.5)
	if err != nil {
		b.Fatal(err)
	}
	ms, closeAll := open(b, configs(b, g.W, ids))
	defer closeAll()
	run := func(rounds int) {
		var wg sync.WaitGroup
		for _, m := range ms {
			wg.Go(func() {
				exchange := agent(m)
				for range rounds {
					if err := exchange(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	run(2) // connects
	b.ReportAllocs()
	b.SetBytes(int64(8 * length * g.W.N()))
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
}

// streamExchange returns the exchange of one agent's vector over streams to its neighbours.
func streamExchange(row []network.Weight, agent int, conns map[int]net.Conn, length int) func() error {
	v := make([]float64, length)
	own := make([]float64, length)
	in := make([][]float64, len(row))
	for k, w := range row {
		in[k] = make([]float64, length)
		if w.Agent == agent {
			in[k] = own
		}
	}
	return func() error {
		copy(own, v)
		var round sync.WaitGroup
		errs := make([]error, 2*len(row))
		for k, w := range row {
			if w.Agent == agent {
				continue
			}
			round.Go(func() { _, errs[2*k] = conns[w.Agent].Write(bytesOf(own)) })
			round.Go(func() { _, errs[2*k+1] = io.ReadFull(conns[w.Agent], bytesOf(in[k])) })
		}
		round.Wait()
		network.Combine(v, row, in)
		return errors.Join(errs...)
	}
}

func bytesOf(v []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}
