package main

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestNetworkOfThePeer: a run with a network follows the trajectory of x̄ that the peer's program
// wrote for the same examples, start and W, on all examples in float64 (ref_torch_mpi.py --task
// golden --golden testdata/network.json): both programs compute the same.
func TestNetworkOfThePeer(t *testing.T) {
	var g struct {
		Network string
		K       int
		W       [][]float64
		Y0      []float64 `json:"y0"`
		Data    struct {
			Agents []struct {
				Xtr, Xval [][]float64
				Ytr, Yval []uint8
			}
		}
		Expected struct {
			XBar [][]float64 `json:"x_bar"`
		}
	}
	text := testkit.Get(os.ReadFile("testdata/network.json"))
	testkit.OK(json.Unmarshal(text, &g))
	var method algo.MADSBO
	testkit.OK(json.Unmarshal(text, &method))

	m := networkOf(g.Network)
	p, q := m.Dims()
	var agents []dsbo.Algorithm
	var oracles []dsbo.Oracle
	for i, a := range g.Data.Agents {
		s := data.Shard{Train: examplesOf(a.Xtr, a.Ytr), Val: examplesOf(a.Xval, a.Yval)}
		oracles = append(oracles, testkit.Get(models.NewOracle(m, s, models.Config{Agent: i})))
		agent := algo.Clone(&method)
		testkit.OK(agent.Init(p, q, g.K))
		copy(agent.Y(), g.Y0)
		agents = append(agents, agent)
	}
	mixers, mean := algotest.NewMixers(g.W), make([]float64, p)
	for k := range g.K {
		testkit.OK(algotest.Step(t.Context(), k, agents, oracles, mixers))
		want := g.Expected.XBar[k+1]
		for r := range mean {
			mean[r] = (agents[0].X()[r] + agents[1].X()[r] + agents[2].X()[r]) / 3
			// Some hundred sums of numbers of about 1, whose errors the steps do not let grow: far
			// below 1e-12.
			if math.Abs(mean[r]-want[r]) > 1e-12 {
				t.Fatalf("iteration %d: x̄ is %v, the peer's %v", k, mean, want)
			}
		}
	}
}

func examplesOf(rows [][]float64, labels []uint8) data.Examples {
	var x []float64
	for _, r := range rows {
		x = append(x, r...)
	}
	return data.Examples{X: testkit.Get(ad.FloatTable(len(rows), len(rows[0]), x)),
		Target: testkit.Get(ad.LabelTable(labels, 3))}
}
