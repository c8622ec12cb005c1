package network_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"dsbo/internal/must"
	"dsbo/network"
)

func TestAverageIsExactAndTheSameEverywhere(t *testing.T) {
	const n, length = 5, 200
	g := must.Get(network.Ring(n, 0.5))
	local := network.NewLocal(g.W)
	averages := must.Get(network.NewAverages(local, g.W, network.AverageOptions{}))
	rng := rand.New(rand.NewPCG(1, 2))
	vectors, got := make([][]float64, n), make([][]float64, n)
	for i := range vectors {
		vectors[i], got[i] = make([]float64, length), make([]float64, length)
		for k := range vectors[i] {
			vectors[i][k] = rng.NormFloat64() * math.Pow(10, float64(k%30-15))
		}
	}
	for range 3 {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { must.OK(averages.Agent(i).Average(t.Context(), got[i], vectors[i])) })
		}
		wg.Wait()
	}
	for k := range length {
		want, largest := 0.0, 0.0
		for i := range n {
			want += vectors[i][k] / n
		}
		for i := range n {
			for j := k - k%64; j < min(length, k-k%64+64); j++ {
				largest = max(largest, math.Abs(vectors[i][j]))
			}
			if got[i][k] != got[0][k] {
				t.Fatalf("entry %d: agents 0 and %d differ", k, i)
			}
		}
		if d := math.Abs(got[0][k] - want); d > 1e-15*largest {
			t.Errorf("entry %d is %g, not %g, where the largest is %g", k, got[0][k], want, largest)
		}
	}
}
