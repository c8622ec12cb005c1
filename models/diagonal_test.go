package models_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestExactDiagonals: closed forms are the same for all seeds, estimates are not.
func TestExactDiagonals(t *testing.T) {
	classes := classShard(30, 21, 5, 3)
	for _, c := range []struct {
		model models.Model
		shard data.Shard
		exact bool
	}{
		{models.Softmax{Features: 5, Classes: 3}, classes, true},
		{models.Logistic{Features: 5}, signShard(30, 21, 5), true},
		{models.HyperClean{Features: 5, Classes: 3, Examples: 40}, classes, true},
		{models.MLP{Features: 5, Outputs: 3, Hidden: []int{}}, classes, true},
		{models.MLP{Features: 5, Outputs: 3}, classes, true},
		{models.MLP{Features: 5, Outputs: 3, ReLU: true}, classes, true},
		{models.MLP{Features: 5, Outputs: 3, Hidden: []int{4, 4}}, classes, false},
		{quadratic(rand.New(rand.NewPCG(1, 1)), 3, 4), data.Shard{}, true},
		{factors{6, 7, 2}, ratings(6, 7), false},
		{models.Linear{Features: 5, Outputs: 1, Loss: models.Squared{}}, countShard(30, 21, 5), true},
		{models.Linear{Features: 5, Outputs: 1, Loss: models.Huber{}}, countShard(30, 21, 5), true},
		{models.Linear{Features: 5, Outputs: 1, Loss: models.Poisson{}}, countShard(30, 21, 5), true},
		{models.MLP{Features: 5, Outputs: 1, Loss: models.Squared{}}, countShard(30, 21, 5), true},
		{models.MLP{Features: 5, Outputs: 1, Loss: models.Huber{}}, countShard(30, 21, 5), true},
		{models.MLP{Features: 5, Outputs: 1, Loss: models.Poisson{}}, countShard(30, 21, 5), true},
	} {
		if got := exactDiagonal(c.model, c.shard); got != c.exact {
			t.Errorf("%T%+v: the same diagonal for two seeds is %v, want %v", c.model, c.model, got, c.exact)
		}
	}
}

// exactDiagonal reports whether the diagonal does not depend on the seed.
func exactDiagonal(m models.Model, s data.Shard) bool {
	var d [2][]float64
	for seed := range d {
		o := testkit.Get(models.NewOracle(m, s, models.Config{Seed: uint64(seed)}))
		p, q := o.Dims()
		r := rand.New(rand.NewPCG(9, 9))
		d[seed] = make([]float64, q)
		testkit.OK(o.Diagonal(d[seed], normal(r, p, 1), normal(r, q, 1), dsbo.Sample{Set: dsbo.Whole}))
	}
	return slices.Equal(d[0], d[1])
}
