package network_test

import (
	"context"
	"strings"
	"testing"

	"dsbo/network"
)

// pair is agent i of two, each in a process of its own, whose gathers meet in a channel.
type pair struct {
	network.Team
	i         int
	out, into chan []float64
}

func (p pair) Local() []int { return []int{p.i} }

func (p pair) Gather(_ context.Context, rows [][]float64) error {
	p.out <- append([]float64{}, rows[p.i]...)
	copy(rows[1-p.i], <-p.into)
	return nil
}

func TestGatherBytes(t *testing.T) {
	for _, texts := range [][2]string{{"", ""}, {"a", ""}, {"abcd", "efghi"}, {strings.Repeat("λ", 100), "\x00\xff\x00"}} {
		a, b := make(chan []float64, 1), make(chan []float64, 1)
		got := make(chan [][]byte, 2)
		for i, p := range []pair{{i: 0, out: a, into: b}, {i: 1, out: b, into: a}} {
			go func() {
				all, err := network.GatherBytes(t.Context(), p, 2, func(int) []byte { return []byte(texts[i]) })
				if err != nil {
					t.Error(err)
				}
				got <- all
			}()
		}
		for range 2 {
			if all := <-got; len(all) != 2 || string(all[0]) != texts[0] || string(all[1]) != texts[1] {
				t.Errorf("%q; it must be %q", all, texts)
			}
		}
	}
}
