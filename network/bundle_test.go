package network_test

import (
	"errors"
	"fmt"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// TestJoint: vectors that are averaged together have the bits that they have one after the other,
// and so has what is lost of them, whatever the scales; where these fit they take one exchange.
func TestJoint(t *testing.T) {
	const n = 5
	lengths, wires := []int{2, 1200, 70, 1200, 1200},
		[]network.Wire{network.Float64, network.Float32, network.BF16, network.Float32, network.Float32}
	for _, wire := range []network.Wire{network.Float32, network.Int8} {
		o := network.AverageOptions{Wire: wire, Seed: 3}
		joint, single := averagers(newRing(n).W, o), averagers(newRing(n).W, o)
		lost := [2][n][]float64{}
		for step, sizes := range [][]float64{
			{1, 1, 1, 1, 1}, {1, 2, 1, 1, 1}, {0x1p90, 1, 0x1p30, 1, 1}, {1, 1, 1, 0x1p60, 0x1p60},
			{1, 1, 0x1p-40, 0, 1}, {0, 0x1p40, 1, 0x1p40, 0x1p-40}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1},
		} {
			means := [2][n][][]float64{}
			testkit.OK(errors.Join(networktest.RunAll(2*n, func(k int) error {
				by, i := k/n, k%n
				if lost[by][i] == nil {
					lost[by][i] = make([]float64, lengths[2])
				}
				var vectors []network.Vector
				for k, length := range lengths {
					v := network.Vector{Wire: wires[k], Dst: drawn(n, length, sizes[k]*float64(1+step+k), 3)[i]}
					means[by][i] = append(means[by][i], v.Dst)
					vectors = append(vectors, v)
				}
				vectors[2].Lost = [][]float64{lost[by][i]}
				if by == 0 {
					return joint[i].AverageOn(t.Context(), vectors...)
				}
				for _, v := range vectors {
					if err := single[i].AverageOn(t.Context(), v); err != nil {
						return err
					}
				}
				return nil
			})...))
			for i := range n {
				for k, mean := range means[0][i] {
					sameNumbers(t, fmt.Sprintf("%v, step %d, vector %d", wire, step, k), mean, means[1][i][k])
				}
				sameNumbers(t, "what is lost", lost[0][i], lost[1][i])
			}
			most := 1
			if wire == network.Int8 {
				most = 2 // scales are asked for each time
			}
			if got := joint[0].Trip().Exchanges; step == 7 && got > most {
				t.Errorf("%v: %d exchanges where scales fit; there must be at most %d", wire, got, most)
			}
		}
	}
}
