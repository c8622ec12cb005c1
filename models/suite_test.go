package models_test

import (
	"math/rand/v2"
	"testing"

	"dsbo/ad/adtest"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/models/modeltest"
)

// TestNamedModels proves each model that has a name.
func TestNamedModels(t *testing.T) {
	for _, c := range namedCases() {
		t.Run(c.name, func(t *testing.T) { modeltest.TestModel(t, c.model, c.shard) })
	}
}

func namedCases() (cases []modelCase) {
	for classes, shard := range map[int]data.Shard{3: classShard(30, 21, 5, 3), 0: signShard(30, 21, 5)} {
		for _, name := range models.NamesFor(classes) {
			size, shard := models.Size{Features: 5, Classes: classes, Examples: 40, Hidden: []int{4}}, shard
			if name == "lenet" { // it reads pictures
				size.Features = 16 * 16
				shard = classShard(30, 21, size.Features, classes)
			}
			cases = append(cases, modelCase{name, testkit.Get(models.ByName(name, size)), shard, true})
		}
	}
	return cases
}

// A modelCase is a model with one agent's data.
type modelCase struct {
	name  string
	model models.Model
	shard data.Shard
	quick bool // for -short, with TestNamedModels
}

// modelCases are what a name alone does not choose, with each loss, grouping of penalties, and
// weights.
func modelCases() []modelCase {
	r := rand.New(rand.NewPCG(3, 4))
	classes, values, counts := classShard(75, 43, 7, 4), valueShard(30, 21, 5), countShard(30, 21, 5)
	noise := numberShard(30, 21, 5, func(*rand.Rand) float64 { return 0 })
	half := make([]float64, 30)
	for row := range half {
		half[row] = float64(row%4) / 2
	}
	groups, squared := models.PerGroup{Of: []int{1, 0, 0, 2, 1, 1, 3}}, models.Squared{}
	linear := models.Linear{Features: 7, Outputs: 4}
	value := models.Linear{Features: 5, Outputs: 1, Loss: squared}
	policy := models.PolicyEvaluation{Features: 3, States: 7}
	return []modelCase{
		{"mlp of three layers", models.MLP{Features: 7, Outputs: 4, Hidden: []int{5, 3}, Seed: 2}, classes, false},
		{"mlp of one layer", models.MLP{Features: 7, Outputs: 4, Hidden: []int{}}, classes, false},
		{"mlp relu", models.MLP{Features: 7, Outputs: 4, Hidden: []int{8, 5}, ReLU: true}, classes, true},
		{"mlp default", models.MLP{Features: 7, Outputs: 4}, classes, false},
		{"hyperclean ridge", models.HyperClean{Features: 7, Classes: 4, Examples: 80, Ridge: .3}, classes, false},
		{"quadratic", quadratic(r, 4, 6), data.Shard{}, false},
		{"quadratic with noise", quadratic(r, 3, 5), noise, true},
		{"sine bowl", sineBowl(3, normal(r, 5*3, 1), normal(r, 5, 1), []float64{1, 2, 3, 4, 5}, normal(r, 5, 1),
			normal(r, 5, 1)), data.Shard{}, false},
		{"compositional of examples", meanVariance(5), noise, true},
		{"classes", linear, classes, false},
		{"classes in groups, weighted", models.Linear{Features: 7, Outputs: 4, Penalties: groups}, weighted(classes),
			false},
		{"prior", models.Linear{Features: 7, Outputs: 4, Prior: models.Prior{Deviation: 1.5, Rows: 40}}, classes,
			false},
		{"mlp, prior", models.MLP{Features: 5, Outputs: 1, Hidden: []int{3}, Loss: squared,
			Prior: models.Prior{Deviation: 2, Rows: 9, Residuals: true}}, values, false},
		{"one penalty", models.Linear{Features: 7, Outputs: 4, Penalties: models.OnePenalty{}}, classes, false},
		{"squared", value, values, false},
		{"squared, weighted", models.Linear{Features: 5, Outputs: 1, Loss: squared, Penalties: models.PerLayer{}},
			weighted(values), false},
		{"huber, weighted", models.Linear{Features: 5, Outputs: 1, Loss: models.Huber{Delta: .7}}, weighted(values),
			false},
		{"poisson", models.Linear{Features: 5, Outputs: 1, Loss: models.Poisson{}, Intercepts: []float64{.3}}, counts,
			false},
		{"poisson, weighted", models.Linear{Features: 5, Outputs: 1, Loss: models.Poisson{}}, weighted(counts), false},
		{"mlp in groups", models.MLP{Features: 7, Outputs: 4, Hidden: []int{5}, Penalties: groups}, weighted(classes),
			false},
		{"mlp, squared, per layer", models.MLP{Features: 5, Outputs: 1, Hidden: []int{6}, Loss: squared,
			Penalties: models.PerLayer{}}, weighted(values), false},
		{"mlp, huber", models.MLP{Features: 5, Outputs: 1, Hidden: []int{4}, Loss: models.Huber{},
			Penalties: models.OnePenalty{}}, values, false},
		{"mlp, poisson", models.MLP{Features: 5, Outputs: 1, Hidden: []int{4}, Loss: models.Poisson{}}, counts, false},
		{"softmax, weighted", models.Softmax{Features: 7, Classes: 4}, weighted(classes), false},
		{"logistic, weighted", models.Logistic{Features: 5}, weighted(signShard(30, 21, 5)), false},
		{"hyperclean, weighted", models.HyperClean{Features: 7, Classes: 4, Examples: 80}, weighted(classes), false},
		{"sparse", linear, sparseShard(weighted(classes), 7, 4), false},
		{"sparse mlp", models.MLP{Features: 7, Outputs: 4, Hidden: []int{4}}, sparseShard(classes, 7, 4), false},
		{"cox", models.Linear{Features: 5, Outputs: 1, Loss: models.Cox{}}, weighted(survivalShard(30, 21, 5)), true},
		{"cox, Breslow", models.Linear{Features: 5, Outputs: 1, Loss: models.Cox{Breslow: true}},
			survivalShard(30, 21, 5), false},
		{"cox in folds", models.Folds{Of: models.Linear{Features: 5, Outputs: 1, Loss: models.Cox{}}, Count: 3,
			Apart: true}, folded(survivalShard(30, 21, 5), 3, nil), true},
		{"folds", models.Folds{Of: linear, Count: 3}, folded(classes, 3, nil), false},
		{"folds, apart", models.Folds{Of: linear, Count: 3, Apart: true}, folded(classes, 3, nil), true},
		{"folds, weighted", models.Folds{Of: value, Count: 2}, folded(values, 2, table(30, 1, half)), false},
		{"level", models.Linear{Features: 5, Outputs: 1, Loss: models.Poisson{}, Level: models.Level{Ridge: .2}},
			weighted(counts), true},
		{"levels in folds", models.Folds{Of: models.Linear{Features: 5, Outputs: 1, Loss: models.Huber{Delta: .7},
			Level: models.Level{Ridge: .1}}, Count: 3, Apart: true}, folded(values, 3, nil), false},
		{"lenet per layer", lenet(true), classShard(12, 9, 16*16, 3), false},
		{"policy evaluation", unscored{policy, policy, policy, policy, policy, policy}, policyData().Shards[0], true},
	}
}

// TestModels proves each.
func TestModels(t *testing.T) {
	for _, c := range modelCases() {
		t.Run(c.name, func(t *testing.T) {
			if !c.quick {
				testkit.Longest(t, "one of each kind is enough")
			}
			modeltest.TestModel(t, c.model, c.shard)
		})
	}
}

// TestOnEveryPath: models are their closed forms, and the basic ones conform, whichever kernels do
// the work. What else the tests here show is of graphs, which all paths have alike; the kernels
// have tests of their own.
func TestOnEveryPath(t *testing.T) {
	adtest.Everywhere(t, "ClosedForm$|^TestModels$|^TestLeNetByHand$|^TestSparseIsDense$")
}
