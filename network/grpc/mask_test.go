package grpc

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// sentWords has agents that are all neighbours sum words a few times and returns the words that
// each but agent 0, the root, has sent it each time. The secrets are given, so that a test has
// one outcome.
func sentWords(t *testing.T, width int, times int, words func(agent int) []uint64) [][][]uint64 {
	t.Helper()
	const n = 4
	cs := configs(newGraph("complete", n), nil)
	frames := make([][][]byte, n)
	var mu sync.Mutex
	for i := range cs {
		cs[i].Secret = []byte{7, byte(i)}
		cs[i].Wrap = func(neighbour int, s Sender) Sender {
			if neighbour != 0 {
				return s
			}
			return frameLog{s, &mu, &frames[i]}
		}
	}
	ms, closeAll := open(cs)
	ctx := networktest.Context(t)
	succeed(ms, func(i int, m *Mixer) error {
		for range times {
			if err := m.Reduce(ctx, network.Sum, width, words(i)); err != nil {
				return err
			}
		}
		return m.Drain(ctx)
	})
	closeAll()
	sent := make([][][]uint64, n)
	for i, all := range frames[1:] {
		for _, frame := range all {
			if f := decoded(frame); f.kind == kindVector && len(f.data) > 0 {
				v := make([]uint64, len(words(0)))
				testkit.OK(network.UnpackWords(v, width, f.data))
				sent[1+i] = append(sent[1+i], v)
			}
		}
		if len(sent[1+i]) != times {
			t.Fatalf("agent %d sent %d payloads to the root; it must be %d", 1+i, len(sent[1+i]), times)
		}
	}
	return sent
}

// difference returns a − b mod 2^width, or of whole numbers.
func difference(a, b []uint64, width int) []uint64 {
	d, borrow := make([]uint64, len(a)), uint64(0)
	for i := range d {
		if width >= network.Whole {
			d[i], borrow = bits.Sub64(a[i], b[i], borrow)
		} else {
			d[i] = (a[i] - b[i]) & (^uint64(0) >> (64 - width))
		}
	}
	return d
}

// wantUniform checks that words look like uniform ones of n bits. Of N independent fair bits the
// number of ones has mean N/2 and standard deviation √N/2, and is further than 7 of these from the
// mean with a probability below 10⁻¹¹. With 2⁶ values of each word's 6 highest and of its 6 lowest
// bits, equally likely, Σ (count − E)²/E has mean 63 and standard deviation √126, and is above 63 +
// 12·√126 with a probability below 10⁻¹¹.
func wantUniform(t *testing.T, name string, words []uint64, width int) {
	t.Helper()
	width = min(width, 64)
	ones, n := 0, float64(len(words)*width)
	var high, low [64]float64
	for _, w := range words {
		ones += bits.OnesCount64(w)
		high[w>>(width-6)]++
		low[w&63]++
	}
	if d := math.Abs(float64(ones) - n/2); d > 7*math.Sqrt(n)/2 {
		t.Errorf("%s: %d of %.0f bits are ones", name, ones, n)
	}
	for k, counts := range [][64]float64{high, low} {
		expected, sum := float64(len(words))/64, 0.0
		for _, c := range counts {
			sum += (c - expected) * (c - expected) / expected
		}
		if sum > 63+12*math.Sqrt(126) {
			t.Errorf("%s: χ² of the highest and the lowest bits: %d of them have %.0f", name, k, sum)
		}
	}
}

// TestFramesSayNothing: the words that an agent sends are uniform when its own are all zero, and so
// are the differences of those of two exchanges with the same words, and of two agents with the
// same words. What all send together is the sum.
func TestFramesSayNothing(t *testing.T) {
	const length, times = 5000, 2 // more words than a chunk of a stream has
	for _, width := range []int{11, 16, 32, 64, network.Whole, network.Whole + 1} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			if testing.Short() && width != 11 && width != network.Whole {
				t.Skip("another width")
			}
			constant := func(v uint64) func(int) []uint64 {
				return func(int) []uint64 { return slices.Repeat([]uint64{v}, length) }
			}
			zero, same := sentWords(t, width, times, constant(0)), sentWords(t, width, times, constant(5))
			for i := 1; i < len(zero); i++ {
				for k := range times {
					wantUniform(t, fmt.Sprintf("agent %d, zeros, sum %d", i, k), zero[i][k], width)
					// A second run of the same name, settings and secrets has other streams.
					wantUniform(t, fmt.Sprintf("agent %d, sum %d of two runs", i, k),
						difference(same[i][k], zero[i][k], width), width)
				}
				wantUniform(t, fmt.Sprintf("agent %d, two exchanges", i), difference(same[i][0], same[i][1], width),
					width)
				if i > 1 {
					wantUniform(t, fmt.Sprintf("agents %d and 1", i), difference(same[i][0], same[1][0], width), width)
				}
			}
		})
	}
}
