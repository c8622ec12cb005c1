package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestLayers: the cross-entropy of the layers' outputs is the loss that the model's Score has for
// each example.
func TestLayers(t *testing.T) {
	const d, c = 7, 4
	s := classShard(60, 33, d, c)
	for _, m := range []models.Model{
		models.Softmax{Features: d, Classes: c},
		models.Linear{Features: d, Outputs: c},
		models.MLP{Features: d, Outputs: c, Hidden: []int{}},
		models.MLP{Features: d, Outputs: c, Hidden: []int{5, 3}},
		models.MLP{Features: d, Outputs: c, Hidden: []int{6}, ReLU: true},
	} {
		t.Run(fmt.Sprintf("%+v", m), func(t *testing.T) {
			p, q := m.Dims()
			y := normal(rand.New(rand.NewPCG(4, 2)), q, 1)
			want := lossesOf(m, s.Val, make([]float64, p), y)
			for i := range s.Val.Len() {
				out := row(s.Val, i)
				for _, l := range m.(models.Layered).Layers() {
					out = outputs(l, y, out)
				}
				_, loss := probabilities(identity(c), out, c, s.Val.Target, i)
				if !(math.Abs(loss-want[i]) <= closedTol*max(1, want[i])) {
					t.Fatalf("loss of example %d by layers is %g, by Score %g", i, loss, want[i])
				}
			}
		})
	}
}

// outputs returns what the layer makes of h.
func outputs(l models.Layer, y, h []float64) []float64 {
	out := make([]float64, l.Out)
	for k := range out {
		out[k] = linalg.Dot(y[l.Offset+k*l.In:][:l.In], h)
		if l.Bias {
			out[k] += y[l.Offset+l.Out*l.In+k]
		}
		switch l.Unit {
		case models.Tanh:
			out[k] = math.Tanh(out[k])
		case models.ReLU:
			out[k] = max(out[k], 0)
		}
	}
	return out
}

// identity returns the identity matrix, row by row.
func identity(n int) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		m[i*n+i] = 1
	}
	return m
}

// lenet is a small network with a penalty for each input or for each layer.
func lenet(perLayer bool) models.LeNet {
	return models.LeNet{Side: 16, Classes: 3, Filters: [2]int{2, 3}, Hidden: 4, Seed: 1, PerLayer: perLayer}
}

// TestLeNetPerLayer: where all are alike, a penalty for each layer is the penalties of its inputs.
func TestLeNetPerLayer(t *testing.T) {
	shard := classShard(12, 9, 16*16, 3)
	var losses [2]float64
	for k, m := range []models.LeNet{lenet(false), lenet(true)} {
		o := testkit.Get(models.NewOracle(m, shard, models.Config{}))
		p, q := m.Dims()
		x, y := make([]float64, p), make([]float64, q)
		linalg.Fill(x, 1.5)
		m.Start(y)
		_, losses[k] = testkit.Get2(o.Values(x, y, dsbo.Sample{}))
	}
	if tolerance := 1e-13 * losses[0]; max(losses[0]-losses[1], losses[1]-losses[0]) > tolerance {
		t.Errorf("at equal penalties the loss with one for each input is %g, with one for each layer %g",
			losses[0], losses[1])
	}
}
