package grpc_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"dsbo/internal/pki"
	"dsbo/network"
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
				v := make([]float64, length)
				for range rounds {
					if err := m.Mix(b.Context(), v, v); err != nil {
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

// BenchmarkStream is what BenchmarkMix is measured by: the same vectors on the same ring over
// plain TLS streams, one each edge, with nothing but a read of the whole vector and the sum.
func BenchmarkStream(b *testing.B) {
	for _, length := range benchLengths {
		b.Run(fmt.Sprintf("ring8/bytes=%d", 8*length), func(b *testing.B) { benchmarkStream(b, identities(b, 8), 8*length) })
	}
}

func benchmarkStream(b *testing.B, ids []*pki.Identity, size int) {
	n := len(ids)
	ends := make([][2]net.Conn, n) // of agent i to i-1 and to i+1
	for i := range n {
		j := (i + 1) % n
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		accepted := make(chan net.Conn, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				b.Error(err)
			}
			accepted <- c
		}()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		ends[i][1], ends[j][0] = tls.Client(c, ids[i].Client(j)), tls.Server(<-accepted, ids[j].Server())
		defer l.Close()
		defer ends[i][1].Close()
		defer ends[j][0].Close()
	}
	run := func(rounds int) {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				v := make([]byte, size)
				in := [2][]byte{make([]byte, size), make([]byte, size)}
				for range rounds {
					var round sync.WaitGroup
					for k, c := range ends[i] {
						round.Go(func() {
							if _, err := c.Write(v); err != nil {
								b.Error(err)
							}
						})
						round.Go(func() {
							if _, err := io.ReadFull(c, in[k]); err != nil {
								b.Error(err)
							}
						})
					}
					round.Wait()
				}
			})
		}
		wg.Wait()
	}
	run(2)
	b.ReportAllocs()
	b.SetBytes(int64(size * n))
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
}
