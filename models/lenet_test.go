package models_test

import (
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

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
