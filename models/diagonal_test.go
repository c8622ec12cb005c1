package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestPenaltyIsAllThatDependsOnX: where x is the logarithms of penalties, the diagonal changes with
// x as the penalty does.
func TestPenaltyIsAllThatDependsOnX(t *testing.T) {
	classes, signs := classShard(30, 21, 5, 3), signShard(30, 21, 5)
	for _, c := range []struct {
		model models.Model
		shard data.Shard
	}{
		{models.Softmax{Features: 5, Classes: 3}, classes},
		{models.Logistic{Features: 5}, signs},
		{models.Logistic{Features: 5, Mean: true}, signs},
		{models.MLP{Features: 5, Outputs: 3, Hidden: []int{4}}, classes},
		{models.MLP{Features: 5, Outputs: 3, Hidden: []int{4}, Penalties: models.PerLayer{}}, classes},
		{models.MLP{Features: 5, Outputs: 3, Hidden: []int{4, 6}}, classes},
	} {
		o := testkit.Get(models.NewOracle(c.model, c.shard, models.Config{}))
		p, q := o.Dims()
		r := rand.New(rand.NewPCG(9, 9))
		y := normal(r, q, 1)
		var penalty, diagonal [2][]float64
		for i := range 2 {
			x := normal(r, p, 1)
			penalty[i], diagonal[i] = make([]float64, q), make([]float64, q)
			testkit.OK(o.Penalty(penalty[i], x))
			testkit.OK(o.Diagonal(diagonal[i], x, y, dsbo.Sample{Set: dsbo.Whole}))
		}
		for j := range q {
			got, want := penalty[1][j]-penalty[0][j], diagonal[1][j]-diagonal[0][j]
			if math.Abs(got-want) > 1e-12 || got == 0 {
				t.Errorf("%+v: entry %d of the penalty changes by %g, of the Hessian by %g", c.model, j, got, want)
			}
		}
	}
}

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
